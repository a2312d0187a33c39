import inspect

from retentia import errors


def leaves() -> list[type[errors.RetentiaError]]:
    return [
        value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, errors.RetentiaError)
    ]


def test_every_error_stands_in_the_tree_that_opens_the_module() -> None:
    assert [error.__name__ for error in leaves() if error.__name__ not in (errors.__doc__ or "")] == []


def test_every_error_has_a_code_of_its_own_and_says_what_is_wrong_without_arguments() -> None:
    codes = [error.code for error in leaves()]
    assert len(codes) == len(set(codes))
    assert all(str(error()) for error in leaves() if error is not errors.MissingExtra)


def test_a_missing_extra_says_what_to_install() -> None:
    assert "pip install 'retentia[e5]'" in str(errors.MissingExtra("e5"))
