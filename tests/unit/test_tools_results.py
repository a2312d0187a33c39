"""Results in a few lines, values over time, and failures by their causes."""

import json
from typing import Any

import pytest

from retentia.model.ids import RecordId
from retentia.model.record import Kind
from retentia.tools.calls import Call
from retentia.tools.causes import cause_of, looks_failed, message_of, pattern_of
from retentia.tools.condense import condense, truncated
from retentia.tools.failures import failures_of
from retentia.tools.series import moved, number_of, series_of, value_at
from retentia.tools.spoken import calls_in, outcomes_in

DAY = 86_400_000_000


def call(at: int, result: Any = None, *, error: str = "", name: str = "get", arguments: Any = None) -> Call:
    return Call(
        id=RecordId(str(at)), name=name, arguments=arguments, status="error" if error else "ok", result=result,
        error=error, called_at=at, at=None, session="s", kind=Kind.TOOL_CALL,
    )  # fmt: skip


def test_a_short_result_stays_as_it_is() -> None:
    assert condense("213 USD") == "213 USD"
    assert condense({"price": 213.0}) == '{"price":213.0}'
    assert condense(None) == ""


def test_a_long_list_is_told_by_its_length_its_first_and_last_entries_and_their_keys() -> None:
    rows = [{"id": number, "name": f"Person {number}"} for number in range(5_000)]
    told = condense(rows)
    assert len(told) <= 500
    assert "5000 entries" in told
    for piece in ("id: 0", "Person 0", "id: 4999", "Person 4999"):
        assert piece in told


def test_json_in_a_text_is_told_by_its_shape_too() -> None:
    rows = {"rows": list(range(2_000)), "total": 2_000}
    assert condense(json.dumps(rows)) == condense(rows)
    assert "total: 2000" in condense(rows)


def test_an_error_far_behind_in_an_object_is_told() -> None:
    found = {f"field_{number}": "x" * 100 for number in range(100)} | {
        "error": "symbol NVDX is not listed",
        "code": 404,
    }
    told = condense(found)
    assert len(told) <= 500
    assert "symbol NVDX is not listed" in told
    assert "404" in told
    assert "more keys" in told


def test_a_long_text_keeps_beginning_end_error_lines_numbers_and_names() -> None:
    noise = "the quick brown fox jumps over it again and again\n" * 100
    text = f"begin\n{noise}ValueError: bad symbol NVDX\n{noise}price of Tesla is $218.40 today\n{noise}the end"
    told = condense(text)
    assert len(told) <= 500
    assert told.startswith("begin")
    assert told.endswith("the end")
    for piece in ("ValueError: bad symbol NVDX", "$218.40", "Tesla"):
        assert piece in told


def test_a_result_beyond_the_cap_is_cut_and_says_so_in_bytes() -> None:
    assert truncated({"a": 1}, 100) == ({"a": 1}, None)
    kept, full = truncated("ä" * 1_000, 500)
    assert full == 2_000
    assert "cut: 2,000 bytes, 500 are kept" in str(kept)
    assert len(str(kept).encode()) <= 500
    kept, full = truncated({"rows": ["x" * 100] * 100}, 1_000)
    assert str(kept).startswith('{"rows":["xxx')
    assert full == len(json.dumps({"rows": ["x" * 100] * 100}, separators=(",", ":")))


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (
            "Traceback (most recent call last):\n  File x\nKeyError: 'a'\nretentia.errors.NotFoundError: no",
            "NotFoundError",
        ),
        ("requests.exceptions.ConnectionError: refused", "ConnectionError"),
        ("HTTP 404 from example.org", "HTTP 404"),
        ("request failed with status code 503", "HTTP 503"),
        ("the request timed out after 30 s", "timeout"),
        ("Rate limit reached", "rate limit"),
        ("permission denied: /etc/shadow", "permission denied"),
        ("no such file or directory", "not found"),
        ("it broke", "error"),
        ("", "error"),
    ],
)
def test_an_error_has_a_class(error: str, cause: str) -> None:
    assert cause_of(error) == cause


def test_the_message_of_a_traceback_is_its_last_line_and_its_pattern_has_no_numbers() -> None:
    trace = 'Traceback (most recent call last):\n  File "x.py", line 3\nValueError: row 17 is bad\n'
    assert message_of(trace) == "ValueError: row 17 is bad"
    assert pattern_of(trace) == pattern_of("ValueError: row 18 is bad") == "ValueError: row N is bad"


def test_a_tool_message_that_begins_with_an_error_is_one() -> None:
    assert all(map(looks_failed, ["Error: no", "Traceback (most recent call last):", " ERROR: x", "Exception: y"]))
    assert not any(map(looks_failed, ["Errors are human", "no error: all good", "Error handling in Python", ""]))


def test_failures_are_grouped_by_cause_and_told_to_be_over() -> None:
    calls = [
        call(1, error="ValueError: row 1 is bad"), call(2, error="ValueError: row 2 is bad"), call(3, {"ok": True}),
        call(4, error="the request timed out", arguments={"q": 1}), call(5, 7, name="other"),
    ]  # fmt: skip
    first, second = failures_of(reversed(calls))
    assert (first.cause, first.count, first.first_at, first.last_at, first.is_over) == ("ValueError", 2, 1, 2, True)
    assert first.message == "ValueError: row 2 is bad"
    assert (second.cause, second.count, second.is_over) == ("timeout", 1, False)


def test_a_field_is_named_by_its_path_and_the_only_number_needs_no_name() -> None:
    assert value_at({"quote": {"price": 213.0}}, "quote.price") == 213.0
    assert value_at({"rows": [{"x": 1}, {"x": 2}]}, "rows.-1.x") == 2
    assert value_at('{"price": 213}', "price") == 213
    assert value_at({"symbol": "TSLA", "price": 213}, None) == 213
    assert value_at("$213.40", None) == "$213.40"
    for result, path in [({"a": 1, "b": 2}, None), ({"a": 1}, "b"), ([1], "5"), ("x", "a"), (None, None), (True, None)]:
        assert value_at(result, path) is None


@pytest.mark.parametrize(
    ("value", "number"),
    [(213, 213), ("$1,218.40", 1218.4), ("-3 °C", -3), ("1e3", 1000), ("3 of 4", None), (True, None), ("x", None),
     (float("nan"), None), (10**400, None), ("9" * 400, None)],
)  # fmt: skip
def test_a_number_is_read_from_what_holds_exactly_one(value: Any, number: float | None) -> None:
    assert number_of(value) == number


def test_a_series_is_oldest_first_with_the_change_from_one_to_the_next() -> None:
    calls = [call(9 * DAY, {"price": 218.40}), call(6 * DAY, {"price": 213.0}), call(7 * DAY, error="down")]
    found = series_of("get_price", calls, "price", now=9 * DAY)
    assert [(point.value, point.change) for point in found.points] == [(213.0, None), (218.4, 5.4)]
    assert found.text() == "3 days ago 213, now 218.4 (+5.4, +2.5%)"
    assert series_of("get_price", [], "price", now=0).text() == ""


def test_values_that_are_no_numbers_are_a_series_without_changes() -> None:
    found = series_of("state", [call(1, {"is": "open"}), call(2, {"is": "shut"})], "is", now=DAY)
    assert [(point.value, point.change) for point in found.points] == [("open", None), ("shut", None)]
    assert found.change is None


def test_what_moved_between_two_results_is_told_numbers_first() -> None:
    assert moved({"a": "x", "b": 1, "c": 3}, {"a": "y", "b": 2, "c": 3}) == ["b 1 → 2", "a x → y"]
    assert moved({"n": list(range(9))}, {"n": list(range(1, 10))})[-1] == "6 more"


def test_calls_and_outcomes_are_read_in_every_form_and_what_is_odd_is_passed_over() -> None:
    openai = {"tool_calls": [{"id": "c1", "function": {"name": "get", "arguments": '{"a":1}'}}, "odd", {"id": "c2"}]}
    assert [(one.id, one.name, one.arguments) for one in calls_in(openai)] == [("c1", "get", '{"a":1}')]
    blocks = {
        "content": [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c1", "name": "get", "input": {"a": 1}}]
    }
    assert [(one.id, one.name, one.arguments) for one in calls_in(blocks)] == [("c1", "get", {"a": 1})]
    (told,) = outcomes_in("213", {"tool_call_id": "c1"}, {})
    assert (told.id, told.result, told.is_error) == ("c1", "213", False)
    assert next(outcomes_in("Error: no", {"tool_call_id": "c1"}, {})).error == "Error: no"
    assert next(outcomes_in("no", {"tool_call_id": "c1"}, {"is_error": True})).is_error
    answered: Any = {"content": [
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "213"}]},
        {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
        {"type": "tool_result"},
    ]}  # fmt: skip
    assert [(one.id, one.result, one.is_error) for one in outcomes_in("", answered, {})] == [
        ("c1", "213", False), ("c2", "no", True),
    ]  # fmt: skip
