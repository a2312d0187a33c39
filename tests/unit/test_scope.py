import pytest

from retentia import Scope
from retentia.errors import InvalidScope


def test_a_scope_is_a_value() -> None:
    assert Scope("acme", "anna") == Scope("acme", "anna", "default", "")
    assert len({Scope("acme", "anna"), Scope("acme", "anna"), Scope("acme", "anna", "work")}) == 2


def test_the_shared_part_of_an_agents_scope_has_no_agent() -> None:
    assert Scope("acme", "anna", "work", "coder").shared() == Scope("acme", "anna", "work")


@pytest.mark.parametrize("name", ["", " x", "x ", "a\x00b", "a\nb", "\ud83d", "x" * 201])
def test_names_that_cannot_be_told_apart_on_a_screen_are_refused(name: str) -> None:
    with pytest.raises(InvalidScope):
        Scope("acme", name)


def test_a_scope_that_is_not_text_is_refused() -> None:
    with pytest.raises(InvalidScope, match="must be text, not int"):
        Scope("acme", 7)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["anna@example.org", "Олена", "张伟", "a/b", "a%b", "o'hara", "x" * 200])
def test_any_other_name_will_do(name: str) -> None:
    assert Scope(name, name).user == name
