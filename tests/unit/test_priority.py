"""The formulas of prioritised replay, against values worked out by hand."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import InvalidInput
from retentia.experience.priority import EARLY, HALF_LIFE, LATE, STANDARD, WORTH, Weights, decayed, priority, recency
from retentia.model.experience import Outcome

DAY = 86_400.0
UNIT = st.floats(0, 1)


@pytest.mark.parametrize(
    ("outcome", "age", "expected"),
    [
        (Outcome.SUCCESS, 0.0, 0.92),  # .4 * .8 + .3 * 1 + .2 * 1 + .1 * 1
        (Outcome.SUCCESS, DAY, 0.77),  # recency .5
        (Outcome.SUCCESS, 3 * DAY, 0.6575),  # recency .125
        (Outcome.PARTIAL, 0.0, 0.87),
        (Outcome.PARTIAL, DAY, 0.72),
        (Outcome.PARTIAL, 3 * DAY, 0.6075),
        (Outcome.FAILURE, 0.0, 0.82),
        (Outcome.FAILURE, DAY, 0.67),
        (Outcome.FAILURE, 3 * DAY, 0.5575),
    ],
)
def test_a_priority_is_the_weighted_sum_of_likeness_recency_reward_and_outcome(
    outcome: Outcome, age: float, expected: float
) -> None:
    assert priority(0.8, float(recency(age)), 1.0, WORTH[outcome]) == pytest.approx(expected)


@pytest.mark.parametrize(("age", "expected"), [(0.0, 1.0), (DAY, 0.5), (3 * DAY, 0.125), (-5 * DAY, 1.0)])
def test_an_experience_fades_by_half_in_each_half_life_and_never_grows(age: float, expected: float) -> None:
    assert recency(age) == pytest.approx(expected)
    assert decayed(0.6, float(recency(age))) == pytest.approx(0.6 * expected)


def test_what_is_unlike_counts_as_nothing_alike() -> None:
    assert priority(-0.9, 0.0, 0.0, 0.0) == 0.0


def test_likeness_leads_early_and_recency_late() -> None:
    assert EARLY.similarity > STANDARD.similarity > LATE.similarity
    assert EARLY.recency < STANDARD.recency < LATE.recency


@pytest.mark.parametrize(
    "parts",
    [(-0.1, 0.6, 0.3, 0.2), (0.4, 0.3, 0.2, 0.2), (float("nan"), 0.3, 0.2, 0.1), (float("inf"), 0.3, 0.2, 0.1)],
)
def test_weights_that_are_negative_or_do_not_sum_to_one_are_refused(parts: tuple[float, ...]) -> None:
    names = ("similarity", "recency", "reward", "outcome")
    with pytest.raises(InvalidInput, match="sum to 1"):
        Weights(**dict(zip(names, parts, strict=True)))


@pytest.mark.parametrize("half_life", [timedelta(0), timedelta(days=-1)])
def test_a_half_life_that_is_not_positive_is_refused(half_life: timedelta) -> None:
    with pytest.raises(InvalidInput, match="half-life"):
        recency(1.0, half_life)


@given(UNIT, UNIT, UNIT, UNIT)
def test_a_priority_stays_between_nothing_and_all(
    similarity: float, recent: float, reward: float, worth: float
) -> None:
    assert 0.0 <= priority(similarity, recent, reward, worth) <= 1.0 + 1e-9


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 30 * DAY), UNIT, UNIT), min_size=1, max_size=20))
def test_arrays_give_what_each_number_gives(rows: list[tuple[float, float, float, float]]) -> None:
    alike, age, reward, worth = np.array(rows, dtype=np.float64).T
    together = priority(alike, recency(age), reward, worth)
    each = [priority(s, float(recency(a, HALF_LIFE)), r, w) for s, a, r, w in rows]
    assert together == pytest.approx(each)
