"""What advice holds to, whatever the traffic: one layer at a time, and none before a limit is reached."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.diagnose.advice_words import AdviceWords
from retentia.diagnose.advisor import Advice, Stand, advise
from retentia.diagnose.advisor_table import LANGUAGES, Group, Layer, shipped_table
from retentia.diagnose.traffic import Spread, Traffic
from retentia.errors import InvalidInput

TABLE = shipped_table()
NAMES = [layer.name for layer in TABLE.layers]
LADDER = [layer.name for layer in TABLE.ladder]
WHOLE = [one.name for one in fields(Traffic) if one.name != "one_off_share"]
numbers = st.integers(0, 60)
shares = st.floats(0, 1)
traffics = st.builds(Traffic, one_off_share=shares, **dict.fromkeys(WHOLE, numbers))
layers_on = st.sets(st.sampled_from(NAMES))


def stands(advice: Advice) -> dict[str, Stand]:
    return {one.name: one.stand for one in (*advice.ladder, *advice.beside)}


@given(traffics, layers_on)
def test_at_most_one_layer_of_the_ladder_is_next_and_it_was_off(traffic: Traffic, on: set[str]) -> None:
    advice = advise(traffic, on=on)
    following = [one.name for one in advice.ladder if one.stand is Stand.NEXT]
    assert len(following) <= 1
    assert not on.intersection(following)
    assert all(one.stand is not Stand.NEXT for one in advice.beside)


@given(traffics, layers_on)
def test_what_is_next_has_reached_its_threshold_and_what_is_not_needed_has_not(traffic: Traffic, on: set[str]) -> None:
    for one in (*(advice := advise(traffic, on=on)).ladder, *advice.beside):
        asked = all if one.layer.needs_all else any
        reached = not one.readings or asked(reading.holds for reading in one.readings)
        if one.stand is not Stand.OUTGROWN:
            assert reached == (one.stand in (Stand.ON, Stand.NEXT, Stand.LATER, Stand.ADVISED))


@given(traffics, layers_on)
def test_nothing_is_later_unless_a_lower_layer_is_next(traffic: Traffic, on: set[str]) -> None:
    seen = [one.stand for one in advise(traffic, on=on).ladder]
    if Stand.LATER in seen:
        assert Stand.NEXT in seen[: seen.index(Stand.LATER)]


@given(traffics, layers_on, st.sampled_from(["messages", "turns", "tokens"]), st.integers(0, 60))
def test_more_of_a_conversation_never_lowers_the_rung(traffic: Traffic, on: set[str], name: str, more: int) -> None:
    longer = replace(traffic, **{name: getattr(traffic, name) + more})
    rungs = [LADDER.index(advise(one, on=on).rung) for one in (traffic, longer)]
    assert rungs[0] <= rungs[1]


@given(traffics, layers_on)
def test_following_the_advice_step_by_step_ends_with_nothing_next(traffic: Traffic, on: set[str]) -> None:
    steps = 0
    while (following := advise(traffic, on=on).next) is not None:
        on, steps = {*on, following.name}, steps + 1
        assert steps <= len(LADDER)
    assert Stand.LATER not in stands(advise(traffic, on=on)).values()


@given(traffics, layers_on)
def test_where_people_do_not_come_back_nothing_that_lasts_is_needed(traffic: Traffic, on: set[str]) -> None:
    advice = advise(replace(traffic, one_off_share=0.9), on=on)
    lasting = [one.stand for one in advice.ladder if one.layer.group is Group.LASTING]
    assert set(lasting) <= {Stand.UNNEEDED, Stand.SPARE}


@given(traffics, layers_on)
def test_the_closest_number_has_not_reached_its_threshold(traffic: Traffic, on: set[str]) -> None:
    closest = advise(traffic, on=on).closest
    assert closest is None or (not closest.holds and 0 < closest.nearness <= 1)


@given(traffics, layers_on, st.sampled_from(LANGUAGES))
def test_every_advice_can_be_told_in_every_language(traffic: Traffic, on: set[str], language: str) -> None:
    advice, words = advise(traffic, on=on), AdviceWords(language)
    told = "\n".join((words.traffic(advice), *words.lines(advice), *(one.numbers for one in words.picture(advice))))
    assert "{" not in told
    assert len(words.picture(advice)) == len(NAMES)


@given(st.sampled_from([layer for layer in TABLE.layers if layer.triggers]), st.integers(1, 10**9))
def test_a_threshold_of_ones_own_decides(layer: Layer, number: int) -> None:
    changed = [one.measure for one in layer.triggers]
    table = TABLE.with_thresholds({layer.name: dict.fromkeys(changed, number)})
    for value, stand in ((number - 1, Stand.SPARE), (number + 1, Stand.ON)):
        measured: dict[str, Any] = dict.fromkeys(changed, value)
        assert stands(advise(Traffic(**measured), on=NAMES, table=table))[layer.name] is stand


@given(
    st.one_of(st.floats(max_value=0), st.sampled_from([float("nan"), float("inf"), True, "30", None, [30]]), st.text())
)
def test_what_is_no_number_above_0_is_no_threshold(given_value: object) -> None:
    with pytest.raises(InvalidInput, match="must be a number above 0"):
        TABLE.with_thresholds({"summary": {"messages": given_value}})


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(0, 39), st.integers(0, 50))
def test_a_long_session_is_never_shorter_when_one_grows(lengths: list[int], which: int, more: int) -> None:
    grown = [*lengths]
    grown[which % len(grown)] += more
    before, after = (Spread.of((one, some.count(one)) for one in set(some)) for some in (lengths, grown))
    assert before.total == after.total == len(lengths)
    assert before.long <= after.long
    assert before.median <= before.long <= before.largest == max(lengths)
    assert sum(one <= before.long for one in lengths) >= 0.9 * len(lengths)
