"""Which arguments are the same call, and which are not."""

import json
from types import MappingProxyType
from typing import Any

import pytest

from retentia.errors import ContentTooLarge, InvalidInput
from retentia.tools.normalise import call_key, canonical, parameters_of, read_arguments, target_key, targets_of

SAME: dict[str, tuple[Any, Any]] = {
    "another order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "an order further down": ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}),
    "a whole number with a point": ({"n": 1}, {"n": 1.0}),
    "zero below zero": ({"n": 0}, {"n": -0.0}),
    "arguments as JSON text": ({"q": "x"}, ' { "q" :\n "x" } '),
    "JSON in a text": ({"filter": {"a": [1, 2]}}, {"filter": '{ "a": [1, 2] }'}),
    "JSON in a text in a text": ({"f": {"a": [1]}}, {"f": '{"a": "[1]"}'}),
    "a parameter that is null": ({"q": "x", "limit": None}, {"q": "x"}),
    "nothing and null": (None, {}),
    "nothing and an empty list": ([], {}),
    "nothing and an empty text": ("", None),
    "blanks around a text": ({"q": " tea \n"}, {"q": "tea"}),
    "the case of a parameter": ({"Symbol": "TSLA"}, {"symbol": "TSLA"}),
    "composed and decomposed": ({"q": "Caf\u00e9"}, {"q": "Cafe\u0301"}),
    "a slash behind a URL": ({"url": "https://example.org/a/"}, {"url": "https://example.org/a"}),
    "a slash before a query": ({"url": "https://example.org/a/?q=1"}, {"url": "https://example.org/a?q=1"}),
    "the root of a host": ({"url": "https://example.org/"}, {"url": "https://example.org"}),
    "the case of scheme and host": ({"url": "HTTPS://Example.ORG/A"}, {"url": "https://example.org/A"}),
    "the usual port": ({"url": "https://example.org:443/a"}, {"url": "https://example.org/a"}),
    "a tuple": ({"a": (1, 2)}, {"a": [1, 2]}),
    "a mapping that is no dict": (MappingProxyType({"a": 1}), {"a": 1}),
}
DIFFERENT: dict[str, tuple[Any, Any]] = {
    "a text of digits and a number": ({"id": "1"}, {"id": 1}),
    "leading zeros": ({"id": "007"}, {"id": "7"}),
    "true and one": ({"n": True}, {"n": 1}),
    "false and nothing": ({"n": False}, {}),
    "zero and nothing": ({"n": 0}, {}),
    "an empty text and nothing": ({"q": ""}, {}),
    "the order of a list": ([1, 2], [2, 1]),
    "null in a list": ([1, None], [1]),
    "the case of a text": ({"q": "Python"}, {"q": "python"}),
    "blanks in a text": ({"code": "if x:\n  y"}, {"code": "if x:\n    y"}),
    "the case of a key further down": ({"data": {"A": 1}}, {"data": {"a": 1}}),
    "two parameters that differ in case": ({"A": 1, "a": 2}, {"A": 2, "a": 1}),
    "a fraction": ({"n": 1.5}, {"n": 1}),
    "large numbers": ({"n": 2**53}, {"n": 2**53 + 1}),
    "the case of a path": ({"url": "https://example.org/A"}, {"url": "https://example.org/a"}),
    "another port": ({"url": "https://example.org:8443/a"}, {"url": "https://example.org/a"}),
    "another fragment": ({"url": "https://example.org/a#b"}, {"url": "https://example.org/a"}),
    "the user of a URL": ({"url": "https://ann@example.org/a"}, {"url": "https://example.org/a"}),
    "half of JSON": ({"q": '{"a": 1'}, {"q": '{"a": 1}'}),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME.keys())
def test_arguments_that_mean_the_same_are_the_same_call(one: Any, other: Any) -> None:
    assert read_arguments(one).canonical == read_arguments(other).canonical


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_arguments_that_may_mean_something_else_are_another_call(one: Any, other: Any) -> None:
    assert read_arguments(one).canonical != read_arguments(other).canonical


def test_what_is_kept_of_arguments_gives_the_key_that_they_have() -> None:
    for one, other in [*SAME.values(), *DIFFERENT.values()]:
        for given in (one, other):
            read = read_arguments(given)
            assert canonical(json.loads(json.dumps(read.value))) == read.canonical


@pytest.mark.parametrize(
    "wrong", [float("nan"), float("inf"), {"a": object()}, {"a": {1, 2}}, {"a": b"x"}, {(1, 2): 3}]
)
def test_what_is_no_json_is_refused_with_a_reason(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="arguments must be JSON"):
        read_arguments(wrong)


def test_a_cycle_is_refused_however_often_it_goes_round() -> None:
    ring: list[Any] = []
    ring += [ring, ring]
    with pytest.raises(InvalidInput, match="arguments must be JSON"):
        read_arguments({"a": ring})


def test_arguments_nested_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidInput):
        read_arguments(deep)
    with pytest.raises(InvalidInput, match="200 levels"):
        read_arguments(json.loads("[" * 300 + "]" * 300))


def test_json_in_texts_that_is_nested_too_deep_stays_a_text() -> None:
    assert read_arguments({"q": "[" * 100_000 + "]" * 100_000}).canonical


def test_a_megabyte_is_compared_and_what_is_far_larger_is_refused() -> None:
    large = {"text": "word " * 200_000}
    assert read_arguments(large).canonical == read_arguments(json.dumps(large)).canonical
    with pytest.raises(ContentTooLarge, match="by a path or an address"):
        read_arguments({"text": "x" * 5_000_000})


def test_nul_and_halves_of_a_pair_have_keys() -> None:
    assert read_arguments({"q": "a\0b"}).canonical != read_arguments({"q": "ab"}).canonical
    assert read_arguments({"q": "\ud800"}).canonical == read_arguments({"q": "\ufffd"}).canonical
    assert call_key("acme", "\ud800", "") != call_key("acme", "x", "")


def test_a_secret_is_neither_kept_nor_compared() -> None:
    one, other = read_arguments({"password": "tulip-77"}), read_arguments({"password": "rose-88"})
    assert "tulip" not in one.canonical
    assert one.canonical == other.canonical
    assert one.hides_secret
    assert read_arguments({"key": "[secret:password]"}).hides_secret
    assert not read_arguments({"q": "tea"}).hides_secret


def test_a_key_is_of_its_tenant_tool_and_arguments_and_shows_nothing_of_them() -> None:
    key = call_key("acme", "get_price", '{"symbol": "TSLA"}')
    others = [
        call_key("globex", "get_price", '{"symbol": "TSLA"}'),
        call_key("acme", "get_quote", '{"symbol": "TSLA"}'),
        call_key("acme", "get_price", '{"symbol": "NVDA"}'),
        call_key("acme", 'get_price{"symbol": "TSLA"}', ""),
        target_key("acme", "get_price"),
    ]
    assert len({key, *others}) == 6
    assert len(key) == 16
    assert b"TSLA" not in key


def test_the_files_and_addresses_of_a_call_are_told_by_its_parameters() -> None:
    assert targets_of({"path": "./a//b.py"}) == targets_of('{"file_path": "a/b.py"}') == ("a/b.py",)
    assert targets_of({"Path": "a\\b.py"}) == targets_of({"path": "file://a/b.py"}) == ("a/b.py",)
    assert set(targets_of({"source": "a", "destination": "b"})) == {"a", "b"}
    assert targets_of({"paths": ["a", "b", 3]}) == ("a", "b")
    assert targets_of({"url": "https://Example.org/"}) == ("https://example.org",)
    assert targets_of({"text": "a/b.py"}) == targets_of(["a/b.py"]) == targets_of(None) == targets_of({"path": 3}) == ()


def test_parameters_are_read_from_json_text_too() -> None:
    assert parameters_of('{"a": 1}') == {"a": 1}
    assert parameters_of("a=1") == parameters_of([1]) == parameters_of(None) == {}
