"""Whatever the arguments and results: writing them otherwise changes no key, saying something else does."""

import json
import unicodedata
from datetime import timedelta
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from retentia.store.tool_uses import ToolUse
from retentia.tools.calls import Pair, paired
from retentia.tools.causes import cause_of, message_of, pattern_of
from retentia.tools.condense import condense, truncated
from retentia.tools.freshness import FOR_EVER, CallAgain, Earlier, Effect, Reuse, ToolRule, decide
from retentia.tools.normalise import call_key, canonical, read_arguments, targets_of
from retentia.tools.series import series_of, value_at

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN_WORDS = st.text("abcxyz", min_size=1, max_size=6)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=12
)
ARGUMENTS = st.dictionaries(WORDS, VALUES, max_size=5)
DISTINCT = st.recursive(
    st.booleans() | st.integers(-5, 5) | PLAIN_WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN_WORDS, inner, max_size=3),
    max_leaves=8,
)


def reordered(value: Any, draw: Any) -> Any:
    if isinstance(value, dict):
        names = draw(st.permutations(sorted(value)))
        return {name: reordered(value[name], draw) for name in names}
    if isinstance(value, list):
        return [reordered(one, draw) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return float(value) if draw(st.booleans()) else value
    return value


@given(st.data(), ARGUMENTS)
def test_another_order_spacing_or_way_to_write_a_number_is_the_same_call(data: Any, arguments: dict[str, Any]) -> None:
    again = reordered(arguments, data.draw)
    spaced = json.dumps(again, indent=data.draw(st.none() | st.integers(0, 4)), ensure_ascii=data.draw(st.booleans()))
    assume(not read_arguments(spaced).secrets)  # digits that could be a card are masked in a text, not as a number
    expected = read_arguments(arguments).canonical
    assert read_arguments(again).canonical == expected
    assert read_arguments(f" {spaced}\n").canonical == expected


@given(st.dictionaries(PLAIN_WORDS, DISTINCT, max_size=4), st.dictionaries(PLAIN_WORDS, DISTINCT, max_size=4))
def test_other_values_are_another_call(one: dict[str, Any], other: dict[str, Any]) -> None:
    # Python takes true for 1, JSON does not: they are compared as they are written.
    is_same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical(one) == canonical(other)) == is_same
    assert (call_key("acme", "get", canonical(one)) == call_key("acme", "get", canonical(other))) == is_same


@given(VALUES)
def test_what_is_kept_has_the_same_key_as_what_was_given(value: Any) -> None:
    read = read_arguments(value)
    assert canonical(json.loads(json.dumps(read.value))) == read.canonical
    assert read_arguments(read.value).canonical == read.canonical


@given(WORDS)
def test_letters_that_are_composed_otherwise_are_the_same(text: str) -> None:
    assert canonical({"q": unicodedata.normalize("NFD", text)}) == canonical({"q": unicodedata.normalize("NFC", text)})


@given(st.integers() | st.text("0123456789.", min_size=1, max_size=6), VALUES)
def test_a_text_is_never_a_number(number: Any, rest: Any) -> None:
    assert canonical({"id": str(number), "rest": rest}) != canonical({"id": float(1), "rest": rest})


@given(VALUES)
def test_whatever_the_arguments_their_targets_are_texts(value: Any) -> None:
    assert all(isinstance(target, str) for target in targets_of(value))


@given(VALUES | st.text(max_size=5_000), st.integers(100, 800))
def test_what_is_condensed_is_never_longer_than_allowed_and_what_is_short_is_not_touched(
    value: Any, limit: int
) -> None:
    told = condense(value, limit)
    assert len(told) <= limit
    text = (
        value
        if isinstance(value, str)
        else ""
        if value is None
        else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    )
    assert len(text) > limit or told == text


@given(st.dictionaries(PLAIN_WORDS, st.integers(), min_size=1, max_size=8), st.text("ab ", min_size=600, max_size=900))
def test_the_numbers_of_a_long_result_are_kept(numbers: dict[str, int], text: str) -> None:
    told = condense({**numbers, "zz_text": text})
    assert all(f"{name}: {number}" in told for name, number in numbers.items())


@given(VALUES | st.text(max_size=2_000), st.integers(100, 2_000))
def test_what_is_kept_of_a_result_is_within_the_cap_or_whole(value: Any, limit: int) -> None:
    kept, full = truncated(value, limit)
    if full is None:
        assert kept is value
    else:
        assert full > limit >= len(str(kept).encode("utf-8", "replace"))


@given(st.text(max_size=500))
def test_any_error_has_a_cause_and_a_short_message(error: str) -> None:
    assert cause_of(error)
    assert len(message_of(error)) <= 160
    assert "\n" not in pattern_of(error)


@given(VALUES, st.none() | st.text("ab.01-", max_size=5))
def test_a_field_is_looked_for_in_anything(value: Any, path: str | None) -> None:
    value_at(value, path)
    assert series_of("x", [], path, now=0).points == ()


AGES = st.timedeltas(timedelta(days=-2), timedelta(days=400))
HOLDS = st.timedeltas(timedelta(0), timedelta(days=400)) | st.just(FOR_EVER)
EARLIER = st.builds(Earlier, status=st.just("ok"), age=AGES, written_by=st.sampled_from(["", "write_file"]))


@given(EARLIER, HOLDS, st.none() | HOLDS, st.sampled_from(Effect))
def test_nothing_with_an_effect_and_nothing_older_than_allowed_is_reused(
    earlier: Earlier, holds: timedelta, fresh_for: timedelta | None, effect: Effect
) -> None:
    decided = decide(earlier, ToolRule(name="x", holds=holds, effect=effect), fresh_for=fresh_for)
    allowed = holds if fresh_for is None else fresh_for
    if isinstance(decided, Reuse):
        assert effect is Effect.READS
        assert earlier.age <= allowed
        assert not earlier.written_by
    else:
        assert isinstance(decided, CallAgain)
        assert decided.why


@given(EARLIER, HOLDS, HOLDS)
def test_what_holds_for_a_shorter_time_holds_for_a_longer_one(
    earlier: Earlier, one: timedelta, other: timedelta
) -> None:
    assume(earlier.age >= timedelta(0))
    short, long = sorted((one, other))
    if isinstance(decide(earlier, ToolRule(name="x", holds=short)), Reuse):
        assert isinstance(decide(earlier, ToolRule(name="x", holds=long)), Reuse)


def use(number: int, *, kind: str, seq: int = 0, outcome: bytes | None = None, link: bytes | None = None) -> ToolUse:
    return ToolUse(
        record_id=number.to_bytes(16, "big"), part=0, kind=kind, session_id=b"s" * 16, seq=seq, name="get",
        call_key=b"k" * 16, link_key=link, target_key=None, outcome_key=outcome,
        status="ok" if kind == "tool_call" else "", called_at=number,
    )  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(["logged", "said", "both"]), st.integers(0, 2)), max_size=8))
def test_a_call_is_counted_once_be_it_logged_or_said_or_both(made: list[tuple[str, int]]) -> None:
    calls: list[ToolUse] = []
    outcomes: list[ToolUse] = []
    for number, (how, result) in enumerate(made):
        key = bytes([result]) * 16
        if how != "said":
            calls.append(use(3 * number, kind="tool_call", seq=3 * number, outcome=key))
        if how != "logged":
            link = number.to_bytes(16, "little")
            calls.append(use(3 * number + 1, kind="message", seq=3 * number + 1, link=link))
            said = use(3 * number + 2, kind="message", seq=3 * number + 2, link=link, outcome=key)
            outcomes.append(said._replace(call_key=None, name=None, status="ok"))
    pairs: list[Pair] = paired(calls, outcomes)
    logged = sum(how != "said" for how, _ in made)
    assert logged <= len(pairs) <= len(made)
    if all(how == "both" for how, _ in made):
        assert len(pairs) == len(made)
