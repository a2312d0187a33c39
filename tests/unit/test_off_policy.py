"""What can be told of advice from attempts that are over: by hand, and what must hold of any."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.experience.off_policy import Attempt, report_on

ADVISED = frozenset({"look", "book"})


def attempt(task: str, *actions: str, reward: float) -> Attempt:
    return Attempt(task, frozenset(actions), ADVISED, reward)


def test_agreement_is_the_f1_of_the_actions() -> None:
    assert attempt("a", "look", "book", reward=1).agreement == 1.0
    assert attempt("a", "look", reward=1).agreement == pytest.approx(2 / 3)
    assert attempt("a", "cancel", reward=1).agreement == 0.0
    assert Attempt("a", frozenset(), frozenset(), 1.0).agreement == 1.0


def test_attempts_are_compared_within_their_task() -> None:
    """Easy tasks are followed and hard ones are not: over all it looks like help, within a task it is none."""
    easy = [attempt("easy", "look", "book", reward=1), attempt("easy", "cancel", reward=1)]
    hard = [attempt("hard", "cancel", reward=0)] * 3
    report = report_on([*easy, *hard])
    assert (report.attempts, report.followed, report.comparable) == (5, 1, 1)
    assert report.difference.value == pytest.approx(0.75)
    assert report.within.value == 0.0
    assert not report.within.is_sure
    assert report.verdict.startswith("Cannot tell")


def test_advice_that_helps_in_every_task_is_told_with_its_interval() -> None:
    tasks = [f"task {number}" for number in range(8)]
    good = [attempt(task, "look", "book", reward=1) for task in tasks]
    bad = [attempt(task, "cancel", reward=0) for task in tasks]
    report = report_on([*good, *bad])
    assert (report.within.value, report.within.low, report.within.high) == (1.0, 1.0, 1.0)
    assert report.always.value == pytest.approx(0.5)
    assert "better" in report.verdict
    assert "no proof" in report.verdict


def test_a_few_tasks_tell_nothing_however_alike_they_are() -> None:
    tasks = [f"task {number}" for number in range(5)]
    report = report_on(
        [attempt(task, "look", "book", reward=1) for task in tasks]
        + [attempt(task, "cancel", reward=0) for task in tasks]
    )
    assert report.within.value == 1.0
    assert not report.within.is_sure
    assert "in 5 tasks only" in report.verdict


def test_advice_that_harms_is_told_as_well() -> None:
    tasks = [f"task {number}" for number in range(8)]
    report = report_on(
        [attempt(task, "look", "book", reward=0) for task in tasks]
        + [attempt(task, "cancel", reward=1) for task in tasks]
    )
    assert "worse" in report.verdict


def test_without_attempts_nothing_can_be_told() -> None:
    report = report_on([])
    assert math.isnan(report.within.value)
    assert report.verdict.startswith("Cannot tell")


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sets(st.sampled_from(["look", "book", "cancel"])), st.floats(0, 1)),
        max_size=12,
    )
)
def test_what_is_told_does_not_depend_on_the_order_and_stays_in_bounds(
    rows: list[tuple[str, set[str], float]],
) -> None:
    attempts = [Attempt(task, frozenset(actions), ADVISED, reward) for task, actions, reward in rows]
    report = report_on(attempts)
    again = report_on(attempts[::-1])
    for one, other in ((report.difference, again.difference), (report.within, again.within)):
        assert one.value == pytest.approx(other.value, nan_ok=True)
        assert math.isnan(one.value) or -1 <= one.value <= 1
    assert report.followed == sum(one.followed for one in attempts)
