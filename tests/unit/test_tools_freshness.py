"""When a result still holds, by the rules that are shipped and by those of a tenant."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from retentia.errors import InvalidInput
from retentia.tools.ages import ago, in_words
from retentia.tools.freshness import (
    FOR_EVER,
    CallAgain,
    Earlier,
    Effect,
    FailedBefore,
    NeverSeen,
    Reuse,
    ToolRules,
    decide,
    names_of,
    shipped_rules,
)

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
OK = Earlier(status="ok", age=MINUTE, result={"price": 213})

HOLDS: dict[str, timedelta] = {
    "get_stock_price": 5 * MINUTE,
    "finance.getQuote": 5 * MINUTE,
    "get_weather": HOUR,
    "read_file": DAY,
    "web_search": DAY,
    "mcp__brave__brave_web_search": DAY,
    "calculator": FOR_EVER,
    "fetch_url": HOUR,
    "get_current_time": timedelta(0),
    "frobnicate": timedelta(0),
}
WRITES = {
    "send_email": Effect.WRITES,
    "sendEmail": Effect.WRITES,
    "mcp__github__create_issue": Effect.WRITES,
    "write_file": Effect.WRITES,
    "delete-record": Effect.WRITES,
    "get_or_create_user": Effect.WRITES,
    "bash": Effect.ANYTHING,
    "run_terminal_cmd": Effect.ANYTHING,
    "apply_patch": Effect.ANYTHING,
    "read_file": Effect.READS,
}


@pytest.mark.parametrize(("tool", "holds"), HOLDS.items())
def test_the_shipped_rules_say_how_long_a_result_holds(tool: str, holds: timedelta) -> None:
    assert shipped_rules().rule_for(tool).holds == holds


@pytest.mark.parametrize(("tool", "effect"), WRITES.items())
def test_the_shipped_rules_say_what_a_call_changes(tool: str, effect: Effect) -> None:
    rule = shipped_rules().rule_for(tool)
    assert rule.effect is effect
    assert effect is Effect.READS or isinstance(decide(OK, rule, fresh_for=DAY), CallAgain)


@pytest.mark.parametrize("method", ["POST", "put", " Patch ", "DELETE"])
def test_a_call_over_http_that_changes_something_is_a_write_whatever_the_tool(method: str) -> None:
    for arguments in ({"method": method}, f'{{"method": "{method}"}}'):
        assert shipped_rules().rule_for("http_request", arguments).effect is Effect.WRITES
    assert shipped_rules().rule_for("http_request", {"method": "GET"}).holds == HOUR


def test_a_result_holds_until_its_time_is_over_and_not_a_moment_longer() -> None:
    rule = shipped_rules().rule_for("get_price")
    assert decide(replace(OK, age=5 * MINUTE), rule) == Reuse(result={"price": 213}, age=5 * MINUTE)
    decided = decide(replace(OK, age=5 * MINUTE + timedelta(microseconds=1)), rule)
    assert decided == CallAgain("the result is from 5 minutes ago, and prices hold for 5 minutes")


def test_the_caller_may_say_how_fresh_it_must_be() -> None:
    rule = shipped_rules().rule_for("get_price")
    assert isinstance(decide(replace(OK, age=DAY), rule, fresh_for=2 * DAY), Reuse)
    assert isinstance(decide(OK, rule, fresh_for=timedelta(seconds=1)), CallAgain)


def test_what_was_never_called_and_what_failed_are_said_to_be() -> None:
    rule = shipped_rules().rule_for("get_price")
    assert decide(None, rule) == NeverSeen()
    failed = Earlier(status="error", age=MINUTE, cause="TimeoutError", message="no answer", failed_times=3)
    assert decide(failed, rule) == FailedBefore(cause="TimeoutError", message="no answer", times=3)


@pytest.mark.parametrize(
    ("earlier", "why"),
    [
        (replace(OK, status="open"), "no result is kept"),
        (replace(OK, is_cut=True), "only a part"),
        (replace(OK, hides_secret=True), "secret"),
        (replace(OK, written_by="write_file"), "'write_file' may have changed it"),
        (replace(OK, age=-HOUR), "the future of this clock"),
    ],
)
def test_a_doubt_about_the_earlier_result_lets_it_be_called_again(earlier: Earlier, why: str) -> None:
    decided = decide(earlier, shipped_rules().rule_for("read_file"))
    assert isinstance(decided, CallAgain)
    assert why in decided.why


def test_clocks_that_differ_by_seconds_are_no_doubt_and_a_calculation_has_no_age() -> None:
    ahead = replace(OK, age=-timedelta(seconds=5))
    assert decide(ahead, shipped_rules().rule_for("get_price")) == Reuse(result=OK.result, age=timedelta(0))
    assert isinstance(decide(replace(OK, age=-DAY), shipped_rules().rule_for("calculator")), Reuse)


def test_own_rules_come_before_the_shipped_ones() -> None:
    own = ToolRules.parse({"rule": [{"name": "ours", "tools": ["Get_Price"], "holds": "2 hours", "kept_days": 3}]})
    both = own.followed_by(shipped_rules())
    assert both.rule_for("get_price").holds == 2 * HOUR
    assert both.rule_for("getPrice").kept_days == 3
    assert both.rule_for("get_weather").holds == HOUR
    assert ToolRules.parse({"rule": []}).rule_for("get_price").holds == timedelta(0)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "list of"),
        ({"rule": {}}, "list of"),
        ({"rule": ["x"]}, "must be a table"),
        ({"rule": [{"name": "a"}]}, "list of patterns"),
        ({"rule": [{"tools": []}]}, "list of patterns"),
        ({"rule": [{"tools": ["a"], "holds": "soon"}]}, "'5 minutes'"),
        ({"rule": [{"tools": ["a"], "holds": 5}]}, "'5 minutes'"),
        ({"rule": [{"tools": ["a"], "effect": "some"}]}, "one of"),
        ({"rule": [{"tools": ["a"], "kept_days": 0}]}, "1 to"),
        ({"rule": [{"tools": ["a"], "max_result_kilobytes": True}]}, "1 to"),
        ({"rule": [{"tools": ["a"], "ttl": 3}]}, "unknown fields: ttl"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused_with_what_is_wrong(wrong: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        ToolRules.parse(wrong)


def test_a_name_is_compared_without_its_server_and_however_it_is_written() -> None:
    assert names_of("mcp__mail__sendEmail")[-1] == names_of("mail.send-email")[-1] == "send_email"
    assert names_of("send_email") == ("send_email",)
    assert names_of("server__") == ("server__",)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(milliseconds=3), "a moment"),
        (timedelta(seconds=1), "1 second"),
        (timedelta(seconds=119), "1 minute"),
        (2 * HOUR, "2 hours"),
        (13 * DAY, "13 days"),
        (14 * DAY, "2 weeks"),
        (45 * DAY, "1 month"),
        (800 * DAY, "2 years"),
    ],
)
def test_a_length_of_time_is_told_in_its_largest_unit(length: timedelta, words: str) -> None:
    assert in_words(length) == words
    assert ago(length) == f"{words} ago"


def test_what_lies_in_the_future_is_not_said_to_be_past() -> None:
    assert ago(-HOUR) == "in 1 hour"
