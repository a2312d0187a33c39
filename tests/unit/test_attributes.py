"""The registry of attributes: names, aliases, and what a user's own table says."""

import pytest

from retentia.errors import InvalidInput
from retentia.model.attributes import shipped_attributes


def test_an_attribute_is_found_by_its_name_and_its_aliases_in_any_language() -> None:
    known = shipped_attributes()
    assert {known.of(name).name for name in ("home", "Wohnort", "WOHNORT", "місто", "lives_in")} == {"home"}


def test_what_nobody_registered_has_many_values() -> None:
    unknown = shipped_attributes().of("Lieblingsfarbe des Hundes")
    assert unknown.has_many
    assert unknown.name == "lieblingsfarbe_des_hundes"
    assert not shipped_attributes().knows("Lieblingsfarbe des Hundes")


def test_a_users_table_adds_attributes_and_says_otherwise_of_known_ones() -> None:
    own = shipped_attributes().extended(
        {"home": {"values": "many"}, "badge": {"values": "one", "aliases": ["Ausweis"]}}
    )
    assert own.of("Wohnort").has_many
    assert not own.of("ausweis").has_many
    assert not shipped_attributes().of("home").has_many


@pytest.mark.parametrize(
    "told", [{"x": {"values": "two"}}, {"x": "one"}, {"": {}}, {"x": {"aliases": "y"}}, {"x": {"colour": "red"}}]
)
def test_a_table_that_makes_no_sense_is_refused(told: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        shipped_attributes().extended(told)
