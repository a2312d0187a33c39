from typing import Any

import pytest

from retentia.providers.chat.json_schema import is_strict, problem

PERSON: dict[str, Any] = {
    "$defs": {"Name": {"type": "string", "minLength": 1, "maxLength": 5}},
    "type": "object",
    "properties": {
        "name": {"$ref": "#/$defs/Name"},
        "age": {"anyOf": [{"type": "integer", "minimum": 0, "exclusiveMaximum": 150}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
        "is_known": {"type": "boolean"},
        "kind": {"const": 1},
        "scores": {"type": "object", "additionalProperties": {"type": "number", "maximum": 1}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Ann"},
        {"name": "Ann", "age": 3},
        {"name": "Ann", "age": 3.0},
        {"name": "Ann", "age": None},
        {"name": "Ann", "tags": ["a", "b"], "is_known": True, "kind": 1, "scores": {"x": 0.5}},
        {"name": "Ann", "more": "is let through"},
    ],
)
def test_a_value_that_fits_has_no_problem(value: object) -> None:
    assert problem(value, PERSON) == ""


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], "the answer is not of type object"),
        ({}, "the answer lacks 'name'"),
        ({"name": 1}, "the answer.name is not of type string"),
        ({"name": ""}, "the answer.name is shorter than allowed"),
        ({"name": "secret"}, "the answer.name is longer than allowed"),
        ({"name": "Ann", "age": -1}, "the answer.age fits none of the choices"),
        ({"name": "Ann", "age": 150}, "the answer.age fits none of the choices"),
        ({"name": "Ann", "age": True}, "the answer.age fits none of the choices"),
        ({"name": "Ann", "age": 1.5}, "the answer.age fits none of the choices"),
        ({"name": "Ann", "tags": ["a", "secret"]}, "the answer.tags[1] is none of the allowed values"),
        ({"name": "Ann", "tags": []}, "the answer.tags is shorter than allowed"),
        ({"name": "Ann", "tags": ["a", "a", "a"]}, "the answer.tags is longer than allowed"),
        ({"name": "Ann", "is_known": 1}, "the answer.is_known is not of type boolean"),
        ({"name": "Ann", "kind": True}, "the answer.kind is not the one allowed value"),
        ({"name": "Ann", "scores": {"secret": 2}}, "the answer.scores.* is larger than allowed"),
    ],
)
def test_a_problem_is_told_with_its_place_and_nothing_of_the_value(value: object, told: str) -> None:
    assert problem(value, PERSON) == told


def test_a_reference_that_leads_nowhere_or_in_a_circle_allows_everything() -> None:
    assert problem(1, {"$ref": "#/$defs/missing"}) == ""
    assert problem(1, {"$ref": "https://example.org/schema"}) == ""
    assert problem(1, {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}) == ""
    assert problem(1, {"not": {}}) == ""
    assert problem({"a": 1}, {"properties": {"a": False}}) == "the answer.a is not allowed"
    assert problem("x", {"allOf": [{"type": "string"}, {"minLength": 2}]}) == "the answer is shorter than allowed"


def test_a_schema_is_strict_when_each_object_requires_what_it_names_and_allows_no_more() -> None:
    inner = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}
    outer = {"type": "object", "properties": {"b": inner}, "required": ["b"], "additionalProperties": False}
    assert is_strict(outer)
    assert is_strict({"anyOf": [inner, {"type": "null"}]})
    assert not is_strict(PERSON)
    assert not is_strict({**outer, "properties": {"b": {**inner, "required": []}}})
    assert not is_strict({"type": "array", "items": {"type": "object"}})
