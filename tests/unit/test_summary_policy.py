import pytest

from retentia.errors import InvalidInput
from retentia.model.summary import OVERVIEW_LEVEL, SEGMENT_LEVEL
from retentia.store.summaries import Stretch
from retentia.working.summary import (
    Hole,
    SummaryPolicy,
    holes,
    next_overview,
    next_rollup,
    next_segment,
    standing,
)
from retentia.working.window import WindowMessage

ROLLING = SummaryPolicy()


def said(count: int, *, tokens: int = 10, grouped: range = range(0)) -> list[WindowMessage]:
    return [
        WindowMessage(id=f"m{seq}", seq=seq, role="user", tokens=tokens, group="g" if seq in grouped else "")
        for seq in range(1, count + 1)
    ]


def segments(*ends: int, level: int = SEGMENT_LEVEL) -> list[Stretch]:
    starts = (1, *(end + 1 for end in ends))
    return [Stretch(level, first, last, 15, 150) for first, last in zip(starts, ends, strict=False)]


@pytest.mark.parametrize(("count", "taken"), [(0, 0), (29, 0), (30, 15), (31, 16), (44, 29), (45, 30), (500, 30)])
def test_at_thirty_messages_all_but_the_last_fifteen_are_summarised(count: int, taken: int) -> None:
    assert next_segment(said(count), ROLLING, is_open=True) == taken


@pytest.mark.parametrize(("count", "taken"), [(11, 0), (12, 6), (13, 6), (40, 6)])
def test_by_turns_the_oldest_six_go_once_twelve_are_waiting(count: int, taken: int) -> None:
    assert next_segment(said(count), SummaryPolicy(kind="turns"), is_open=True) == taken


@pytest.mark.parametrize(
    ("ends", "taken"), [((), 0), ((3,), 3), ((3, 9, 14), 14), ((3, 9, 15), 9), ((20,), 0), ((19, 20), 0)]
)
def test_by_phases_only_what_is_over_and_not_of_the_last_messages_is_summarised(
    ends: tuple[int, ...], taken: int
) -> None:
    policy = SummaryPolicy(kind="phases")
    assert next_segment(said(20), policy, is_open=True, boundaries=ends) == taken


def test_closing_leaves_nothing_for_later_even_where_nothing_is_summarised_otherwise() -> None:
    assert next_segment(said(7), ROLLING, is_open=True, closing=True) == 7
    assert next_segment(said(7), SummaryPolicy(kind="off"), is_open=True, closing=True) == 7
    assert next_segment(said(70), SummaryPolicy(kind="off"), is_open=True) == 0
    assert SummaryPolicy(kind="off").due_at == 0


def test_a_hole_left_by_an_erasure_is_summarised_whole_however_short() -> None:
    assert next_segment(said(3), ROLLING, is_open=False) == 3


def test_a_tool_call_stays_with_its_results() -> None:
    assert next_segment(said(30, grouped=range(14, 18)), ROLLING, is_open=True) == 13
    assert next_segment(said(30, grouped=range(1, 18)), ROLLING, is_open=True) == 17
    assert next_segment(said(30, grouped=range(1, 31)), ROLLING, is_open=True) == 0
    assert next_segment(said(30, grouped=range(1, 31)), ROLLING, is_open=True, closing=True) == 30


def test_a_segment_ends_before_it_is_too_long_for_a_model_but_takes_one_message_of_any_length() -> None:
    policy = SummaryPolicy(segment_tokens=95)
    assert next_segment(said(30), policy, is_open=True) == 9
    assert next_segment(said(30, tokens=5000), policy, is_open=True) == 1


def test_what_no_summary_covers_is_named_and_the_end_is_always_open() -> None:
    assert holes([]) == [Hole(1, None)]
    assert holes(segments(15, 30)) == [Hole(31, None)]
    first, _, third = segments(15, 30, 47)
    assert holes([third, first]) == [Hole(16, 30), Hole(48, None)]
    assert holes([third]) == [Hole(1, 30), Hole(48, None)]


def test_the_highest_summaries_stand_for_what_lies_below_them() -> None:
    low = segments(15, 30, 45, 60)
    high = Stretch(2, 1, 30, 30, 300)
    assert standing([*low, high]) == [high, *low[2:]]
    assert standing([*low, high, Stretch(OVERVIEW_LEVEL, 1, 60, 60, 600)]) == [Stretch(OVERVIEW_LEVEL, 1, 60, 60, 600)]


def test_six_neighbours_make_one_of_the_next_level() -> None:
    low = segments(15, 30, 45, 60, 75, 90, 105)
    assert next_rollup(low[:5], ROLLING) == ()
    assert next_rollup(low, ROLLING) == low[:6]
    assert next_rollup([*low, Stretch(2, 1, 90, 90, 900)], ROLLING) == ()
    without_third = [*low[:2], *low[3:]]
    assert next_rollup(without_third, ROLLING) == ()  # a hole: first it is filled
    twos = [Stretch(2, first, first + 89, 90, 900) for first in range(1, 541, 90)]
    assert next_rollup(twos, ROLLING) == twos


def test_a_session_of_over_a_hundred_messages_has_an_overview_that_is_made_anew_every_second_segment() -> None:
    low = segments(15, 30, 45, 60, 75, 90, 105, 120)
    assert next_overview(low[:5], ROLLING) == ()
    assert next_overview(low[:6], ROLLING) == low[:6]
    overview = Stretch(OVERVIEW_LEVEL, 1, 90, 90, 900)
    assert next_overview([*low[:7], overview], ROLLING) == ()
    roll = Stretch(2, 1, 90, 90, 900)
    assert next_overview([*low, overview, roll], ROLLING) == [roll, *low[6:]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "sometimes"},
        {"threshold": 10, "keep_recent": 10},
        {"keep_recent": -1},
        {"max_recent_messages": 0},
        {"fan_in": 1},
        {"words": 5},
        {"longest": 0},
    ],
)
def test_a_policy_that_cannot_work_is_refused_with_the_reason(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        SummaryPolicy(**wrong)  # type: ignore[arg-type]
