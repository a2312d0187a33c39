from typing import Any

import pytest

from retentia.errors import InvalidInput
from retentia.learn.relations import read_relations, shipped_relations
from retentia.learn.templates import check_template
from retentia.model.attributes import shipped_attributes


def test_every_relation_names_types_that_are_there_or_any() -> None:
    relations = shipped_relations()
    known = {*relations.types, "thing", "text", "genre", "kind"}
    named = {kind for one in relations.by_name.values() for kind in (one.subject, one.object)}
    assert named <= known


def test_a_relation_that_nobody_registered_has_many_objects() -> None:
    assert shipped_relations().of("mascot").has_many


def test_relations_and_attributes_are_one_registry() -> None:
    attributes = shipped_relations().attributes(shipped_attributes())
    assert not attributes.of("capital").has_many
    assert attributes.of("depends_on").has_many
    assert attributes.of("spouse").name == "partner"
    missing = [name for name in shipped_relations().by_name if attributes.of(name).name != name]
    assert missing == []


def test_a_relation_with_the_name_of_an_attribute_counts_its_values_alike() -> None:
    shipped = shipped_attributes()
    different = [
        relation.name
        for relation in shipped_relations().by_name.values()
        if relation.name in shipped.names() and shipped.of(relation.name).has_many != relation.has_many
    ]
    assert different == []


def test_types_are_kinds_of_others() -> None:
    relations = shipped_relations()
    assert relations.is_a("city", "place")
    assert relations.is_a("person", "agent")
    assert not relations.is_a("place", "city")
    assert not relations.is_a("person", "organisation")


def test_types_that_go_in_a_circle_end() -> None:
    circle = read_relations({"type": {"a": {"is": "b"}, "b": {"is": "a"}}})
    assert not circle.is_a("a", "c")


def test_a_user_replaces_a_relation_and_adds_words() -> None:
    more = shipped_relations().extended(
        {"relation": {"capital": {"values": "many"}}, "words": {"pronouns": ["yo"]}},
    )
    assert more.of("capital").has_many
    assert {"yo", "ich"} <= more.words("pronouns")
    assert not shipped_relations().of("capital").has_many


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"relations": {}}, "no table 'relations'"),
        ({"relation": []}, "'relation' is a table"),
        ({"relation": {"x": []}}, "relation 'x': it is a table"),
        ({"relation": {"x": {"value": "one"}}}, "relation 'x': it is a table"),
        ({"relation": {"x": {"values": "two"}}}, "'one' or 'many', not 'two'"),
        ({"relation": {"x": {"nouns": "y"}}}, "relation 'x': nouns is a list"),
        ({"relation": {"x": {"says": [""]}}}, "relation 'x': says is a list"),
        ({"type": {"x": {"word": []}}}, "type 'x'"),
        ({"words": {"stops": []}}, "words: it is a table"),
        ({"generic": {"known": [1]}}, "generic: known is a list"),
    ],
)
def test_what_is_wrong_in_the_data_is_named(data: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_relations(data)


@pytest.mark.parametrize("says", ["{s} likes it", "{s} (likes {o}", "likes"])
def test_a_sentence_without_its_two_or_with_an_open_bracket_is_refused(says: str) -> None:
    with pytest.raises(InvalidInput, match="template"):
        shipped_relations().extended({"relation": {"x": {"says": [says]}}})


def test_every_shipped_sentence_is_whole() -> None:
    for relation in shipped_relations().by_name.values():
        for says in relation.says:
            check_template(says)
