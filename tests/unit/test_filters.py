import math
from collections.abc import Mapping

import pytest

from retentia.errors import InvalidFilter
from retentia.model.filters import parse_filter

RECORD = {
    "project": "atlas",
    "price": 213.0,
    "count": 0,
    "done": False,
    "note": None,
    "title": "",
    "tags": ["urgent", "db", 7],
    "created_at": "2026-06-01T19:00:00Z",
    "author": {"name": "Олена", "address": {"city": "Київ"}},
    "author.team": "core",
    "broken": math.nan,
}


def passes(spec: Mapping[str, object]) -> bool:
    return parse_filter(spec).matches(RECORD)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"project": "atlas"},
        {"project": {"eq": "atlas"}, "price": 213},
        {"price": {"gt": 200, "lte": 213}},
        {"count": 0},
        {"count": {"eq": 0.0}},
        {"count": {"gte": 0}},
        {"done": False},
        {"note": None},
        {"title": {"lt": "a"}},
        {"created_at": {"gte": "2026-06-01", "lt": "2026-07"}},
        {"project": {"in": ["zeus", "atlas"]}},
        {"project": {"in": {"atlas"}}},
        {"project": {"nin": ["zeus"]}},
        {"tags": {"contains": "urgent"}},
        {"tags": {"contains": 7.0}},
        {"project": {"contains": "tla"}},
        {"tags": ["urgent", "db", 7]},
        {"author.name": "Олена"},
        {"author.address.city": {"contains": "иїв"}},
        {"author.team": "core"},
        {"author": {"eq": {"name": "Олена", "address": {"city": "Київ"}}}},
        {"or": [{"project": "zeus"}, {"price": {"gt": 1}}]},
        {"and": [{"project": "atlas"}, {"done": False}]},
        {"not": {"project": "zeus"}},
        {"and": []},
    ],
)
def test_what_holds_matches(spec: Mapping[str, object]) -> None:
    assert passes(spec)


@pytest.mark.parametrize(
    "spec",
    [
        {"project": "Atlas"},
        {"project": "atlas", "price": 1},
        {"price": {"gt": 213}},
        {"price": {"gt": 200, "lt": 210}},
        {"project": {"in": []}},
        {"project": {"contains": "x"}},
        {"tags": "urgent"},
        {"author.name.first": "Олена"},
        {"tags.0": "urgent"},
        {"or": []},
        {"or": [{"project": "zeus"}, {"price": 1}]},
        {"not": {}},
    ],
)
def test_what_does_not_hold_does_not_match(spec: Mapping[str, object]) -> None:
    assert not passes(spec)


@pytest.mark.parametrize("key", ["count", "done", "note", "title"])
def test_zero_false_null_and_empty_text_are_there(key: str) -> None:
    assert passes({key: {"exists": True}})
    assert not passes({key: {"exists": False}})


@pytest.mark.parametrize("key", ["missing", "author.missing", "project.name", "missing.deeper"])
def test_a_missing_key_matches_only_what_asks_for_absence(key: str) -> None:
    matching = [{"exists": False}, {"ne": 1}, {"nin": [1]}, {"nin": []}]
    others = [{"exists": True}, {"eq": None}, {"in": [None]}, {"lt": 1}, {"gte": ""}, {"contains": ""}]
    assert all(passes({key: condition}) for condition in matching)
    assert not any(passes({key: condition}) for condition in others)


@pytest.mark.parametrize(
    "spec",
    [
        {"done": 0},
        {"count": False},
        {"done": {"in": [0, None, ""]}},
        {"done": {"lt": 1}},
        {"project": {"gt": 1}},
        {"price": {"lt": "300"}},
        {"note": {"lte": 0}},
        {"tags": {"gt": "a"}},
        {"tags": {"contains": "7"}},
        {"price": {"contains": "2"}},
        {"author": {"contains": "name"}},
        {"project": ["atlas"]},
    ],
)
def test_unlike_types_neither_match_nor_fail(spec: Mapping[str, object]) -> None:
    assert not passes(spec)


def test_nan_equals_and_exceeds_nothing() -> None:
    assert not any(passes({"broken": {name: 1}}) for name in ("eq", "gt", "gte", "lt", "lte"))
    assert passes({"broken": {"ne": 1, "exists": True}})


def test_every_operator_of_one_key_must_hold() -> None:
    assert not passes({"price": {"gt": 200, "ne": 213}})


@pytest.mark.parametrize(
    "spec",
    [
        {"price": {"$gte": 200}},
        {"price": {"between": [1, 2]}},
        {"price": {"gte": 200, "unit": "USD"}},
        {"price": {}},
        {"price": {"gt": None}},
        {"price": {"gt": True}},
        {"price": {"lt": [1]}},
        {"price": {"ne": math.nan}},
        {"price": math.nan},
        {"project": {"in": "atlas"}},
        {"project": {"nin": "atlas"}},
        {"project": {"nin": None}},
        {"project": {"nin": {"atlas": 1}}},
        {"project": {"nin": [object()]}},
        {"project": {"exists": 1}},
        {"project": {"exists": "no"}},
        {"project": b"atlas"},
        {"": 1},
        {"a..b": 1},
        {".": 1},
        {1: 1},
        {"$and": [{}]},
        {"AND": [{}]},
        {"and": {"project": "atlas"}},
        {"or": [None]},
        {"not": [{"project": "zeus"}]},
        {"not": None},
        {"a": {"eq": {1: 2}}},
    ],
)
def test_a_malformed_filter_is_refused(spec: Mapping[str, object]) -> None:
    with pytest.raises(InvalidFilter):
        parse_filter(spec)


@pytest.mark.parametrize("spec", [None, "project=atlas", [("project", "atlas")], 7])
def test_a_filter_that_is_no_mapping_is_refused(spec: object) -> None:
    with pytest.raises(InvalidFilter, match="must be a mapping"):
        parse_filter(spec)  # type: ignore[arg-type]


def test_a_bottomless_filter_is_refused() -> None:
    spec: dict[str, object] = {}
    value: list[object] = []
    for _ in range(5_000):
        spec, value = {"not": spec}, [value]
    with pytest.raises(InvalidFilter, match="nested deeper"):
        parse_filter(spec)
    with pytest.raises(InvalidFilter):
        parse_filter({"tags": value})
