"""What an experience may be, and that it is read back as it was."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import InvalidInput
from retentia.model.experience import Experience, Feedback, Outcome, Task, experience_from, reward_within
from retentia.model.experience_fields import experience_given
from retentia.model.time import Moment

AT = Moment.parse("2026-06-01T10:00:00Z")
WORDS = st.text(st.characters(codec="utf-8"), max_size=30)


@st.composite
def experiences(draw: st.DrawFn) -> Experience:
    total = draw(st.integers(0, 50))
    return Experience(
        task=Task(
            description=draw(WORDS.filter(str.strip)),
            category=draw(st.sampled_from(["debugging", "testing", "unknown"])),
            complexity=draw(st.floats(0, 1)),
        ),
        solution=draw(WORDS),
        feedback=Feedback(
            reward=draw(st.floats(0, 1)),
            message=draw(WORDS),
            tests_passed=draw(st.integers(0, total)),
            tests_total=total,
        ),
        outcome=draw(st.sampled_from(Outcome)),
        at=AT,
        iterations=draw(st.integers(1, 9)),
        strategy=draw(WORDS),
        key=draw(WORDS),
        session=draw(WORDS),
    )


@given(experiences())
def test_an_experience_is_read_back_as_it_was(given_: Experience) -> None:
    assert experience_from(given_.task.description, given_.body(), at=given_.at) == given_


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), -0.1, 1.1, True, "good"])
def test_a_reward_that_is_not_between_nothing_and_one_is_refused(reward: float) -> None:
    with pytest.raises(InvalidInput, match="reward must be a number from 0 to 1"):
        Feedback(reward=reward)


@pytest.mark.parametrize(("passed", "total"), [(8, 7), (-1, 7), (0, -1), (1.5, 2), (True, True)])
def test_tests_that_cannot_be_counted_so_are_refused(passed: int, total: int) -> None:
    with pytest.raises(InvalidInput, match="tests"):
        Feedback(reward=0.5, tests_passed=passed, tests_total=total)


def test_without_tests_the_pass_rate_is_nothing() -> None:
    assert Feedback(reward=1.0).pass_rate == 0.0
    assert Feedback(reward=1.0, tests_passed=3, tests_total=4).pass_rate == 0.75


@pytest.mark.parametrize("change", [{"iterations": 0}, {"iterations": 1.5}, {"iterations": True}])
def test_attempts_are_counted_from_one(change: dict[str, int]) -> None:
    one = Experience(
        task=Task(description="x"), solution="", feedback=Feedback(reward=0), outcome=Outcome.FAILURE, at=AT
    )
    with pytest.raises(InvalidInput, match="iterations"):
        dataclasses.replace(one, **change)


@pytest.mark.parametrize("task", [{"description": "  "}, {"description": "x", "complexity": 1.2}])
def test_a_task_that_says_nothing_or_is_more_than_complex_is_refused(task: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Task(**task)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body", [{}, {"reward": 1}, {"reward": 1, "outcome": "won"}, {"reward": "1", "outcome": "success"}]
)
def test_a_body_that_lacks_what_an_experience_is_made_of_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        experience_from("x", body, at=AT)  # type: ignore[arg-type]


def test_a_reward_is_brought_from_its_declared_range_to_one() -> None:
    assert reward_within(7, (0, 10)) == 0.7
    assert reward_within(0, (-1, 1)) == 0.5
    for range_ in ((1, 1), (2, 1), (float("nan"), 1)):
        with pytest.raises(InvalidInput, match="range"):
            reward_within(1, range_)
    with pytest.raises(InvalidInput, match="from 0 to 10"):
        reward_within(11, (0, 10))


@pytest.mark.parametrize("name", ["iterations", "tests_total"])
def test_a_count_that_statistics_cannot_hold_is_refused(name: str) -> None:
    body = {"reward": 1, "outcome": "success", name: 2**31}
    with pytest.raises(InvalidInput, match=name):
        experience_from("x", body, at=AT)  # type: ignore[arg-type]
    assert experience_from("x", {**body, name: 2**31 - 1}, at=AT)  # type: ignore[dict-item]


@pytest.mark.parametrize("declared", [(-1.7e308, 1.7e308), (0, 10**400), (-(10**400), 0)])
def test_a_range_that_no_number_spans_is_refused(declared: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="range"):
        experience_given({"task": "x", "reward": 0, "reward_range": declared, "outcome": "partial"}, now=AT)
