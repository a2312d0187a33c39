import pytest

from retentia.learn.aliases import Entity, Likeness, propose_aliases


def pairs(*names: str) -> dict[tuple[str, str], Likeness]:
    found = propose_aliases([Entity(name=name) for name in names])
    return {(one.first.name, one.second.name): one.likeness for one in found}


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        ("Dr. Anna Meier", "Anna Meier", Likeness.TITLE),
        ("Acme GmbH", "Acme", Likeness.TITLE),
        ("A. Meier", "Anna Meier", Likeness.INITIALS),
        ("J. R. R. Tolkien", "John Ronald Reuel Tolkien", Likeness.INITIALS),
        ("Bob Smith", "Robert Smith", Likeness.NICKNAME),
        ("Катя Бондар", "Катерина Бондар", Likeness.NICKNAME),
        ("Олена Шевченко", "Olena Shevchenko", Likeness.SPELLING),
        ("Юрій Бойко", "Yuriy Boyko", Likeness.SPELLING),
        ("Володимир Зеленський", "Volodymyr Zelenskyy", Likeness.SPELLING),
        ("Київ", "Kyiv", Likeness.OTHER_NAME),
        ("Kiev", "Kyiv", Likeness.OTHER_NAME),
        ("München", "Munich", Likeness.OTHER_NAME),
    ],
)
def test_two_names_that_may_be_one_are_proposed_with_the_reason(one: str, other: str, likeness: Likeness) -> None:
    assert pairs(one, other) == {(one, other): likeness}
    assert pairs(other, one) == {(other, one): likeness}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann", "Anna"),
        ("user_1", "user_11"),
        ("Anna Meier", "Annika Meier"),
        ("Anna Meier", "Anna Maier-Schulz"),
        ("B. Meier", "Anna Meier"),
        ("Berlin", "Bern"),
        ("", "Anna"),
    ],
)
def test_names_that_only_look_alike_are_not_proposed(one: str, other: str) -> None:
    assert pairs(one, other) == {}


def test_two_people_of_one_name_stay_apart_where_something_contradicts() -> None:
    older, younger = (
        Entity(name="Anna Meier", type="person", key=key, unique={"birthday": born, "home": "Bonn"})
        for key, born in (("1", "1961-02-03"), ("2", "1994-05-06"))
    )
    assert propose_aliases([older, younger]) == []


def test_two_of_one_name_are_proposed_where_nothing_contradicts() -> None:
    one = Entity(name="Anna Meier", key="1", unique={"home": "Bonn", "birthday": "1961-02-03"})
    other = Entity(name="Anna Meier", key="2", unique={"home": "bonn"})
    (found,) = propose_aliases([one, other])
    assert (found.likeness, found.agree_in) == (Likeness.SAME, ("home",))
    assert found.reason == "'Anna Meier' and 'Anna Meier': the same name; they agree in home"


def test_things_of_different_types_are_never_one() -> None:
    assert propose_aliases([Entity(name="Acme GmbH", type="organisation"), Entity(name="Acme", type="city")]) == []


def test_a_first_name_alone_is_proposed_where_one_person_is_called_so() -> None:
    anna = Entity(name="Anna", type="person")
    (found,) = propose_aliases([anna, Entity(name="Anna Meier", type="person"), Entity(name="Tom Berg")])
    assert (found.second.name, found.likeness) == ("Anna Meier", Likeness.PART)
    assert propose_aliases([anna, Entity(name="Anna Meier"), Entity(name="Anna Berg")]) == []
