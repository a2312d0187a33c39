import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import InvalidFilter
from retentia.model.filters import parse_filter

keys = st.sampled_from(["a", "b", "c", "a.b", "b.c.a"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.5, -2.0])
    | st.sampled_from(["", "x", "xy"])
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
stored = st.recursive(
    scalars | st.just(math.nan), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
)
records = st.dictionaries(keys, stored, max_size=4)
ordered = st.integers(-3, 3) | st.floats(allow_nan=False) | st.sampled_from(["", "x", "xy"])
conditions = st.one_of(
    st.tuples(st.sampled_from(["eq", "ne", "contains"]), values),
    st.tuples(st.sampled_from(["in", "nin"]), st.lists(values, max_size=3)),
    st.tuples(st.sampled_from(["gt", "gte", "lt", "lte"]), ordered),
    st.tuples(st.just("exists"), st.booleans()),
).map(lambda pair: {pair[0]: pair[1]})
leaves = st.dictionaries(keys, conditions | scalars, max_size=2)
specs: st.SearchStrategy[dict[str, Any]] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"and": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=6,
)


def matches(spec: dict[str, Any], record: dict[str, Any]) -> bool:
    return parse_filter(spec).matches(record)


@given(specs, records)
def test_a_filter_answers_yes_or_no_for_every_record(spec: dict[str, Any], record: dict[str, Any]) -> None:
    assert matches(spec, record) in (True, False)


@given(specs, records)
def test_not_turns_the_answer_around_and_twice_restores_it(spec: dict[str, Any], record: dict[str, Any]) -> None:
    assert matches({"not": spec}, record) is not matches(spec, record)
    assert matches({"not": {"not": spec}}, record) is matches(spec, record)


@given(specs, specs, records)
def test_not_of_and_is_or_of_nots(one: dict[str, Any], other: dict[str, Any], record: dict[str, Any]) -> None:
    either_fails = {"or": [{"not": one}, {"not": other}]}
    both_fail = {"and": [{"not": one}, {"not": other}]}
    assert matches({"not": {"and": [one, other]}}, record) is matches(either_fails, record)
    assert matches({"not": {"or": [one, other]}}, record) is matches(both_fail, record)


@given(specs, specs, records)
def test_and_or_do_not_depend_on_order(one: dict[str, Any], other: dict[str, Any], record: dict[str, Any]) -> None:
    for word in ("and", "or"):
        assert matches({word: [one, other]}, record) is matches({word: [other, one]}, record)


@given(keys, values, records)
def test_ne_is_the_opposite_of_eq_and_nin_of_in(key: str, value: Any, record: dict[str, Any]) -> None:
    assert matches({key: {"ne": value}}, record) is not matches({key: {"eq": value}}, record)
    assert matches({key: {"nin": [value]}}, record) is not matches({key: {"in": [value]}}, record)
    assert matches({key: {"in": [value]}}, record) is matches({key: {"eq": value}}, record)


@given(keys, ordered, records)
def test_order_is_exclusive_and_agrees_with_equality(key: str, value: Any, record: dict[str, Any]) -> None:
    def holds(name: str) -> bool:
        return matches({key: {name: value}}, record)

    assert holds("lt") + holds("eq") + holds("gt") <= 1
    assert holds("lte") is (holds("lt") or holds("eq"))
    assert holds("gte") is (holds("gt") or holds("eq"))


@given(keys, records)
def test_exists_is_decided_either_way(key: str, record: dict[str, Any]) -> None:
    assert matches({key: {"exists": True}}, record) is not matches({key: {"exists": False}}, record)


junk = st.recursive(
    st.none() | st.text(max_size=4) | st.floats() | st.binary(max_size=2) | st.sampled_from(["eq", "and", "in", "nin"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["and", "or", "not", "in", "nin", "a", ""]), inner, max_size=2)
    ),
)


@given(junk, records)
def test_any_input_is_a_filter_or_a_named_error(spec: Any, record: dict[str, Any]) -> None:
    try:
        accepted = parse_filter(spec)
    except InvalidFilter:
        return
    assert accepted.matches(record) in (True, False)
