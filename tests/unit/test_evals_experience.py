"""Recall of experiences on trajectories: what counts as found, and what as having done what was advised."""

import json
from pathlib import Path

import pytest

from retentia.errors import InvalidInput
from retentia.evals.experience import Replayed, figures, run_replay

ASKED = {"cancel": "Cancel my flight to Oslo", "bag": "Is my suitcase too heavy?"}


def trajectory(task: str, trial: int, reward: float, *calls: tuple[str, str]) -> dict[str, object]:
    made = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    said = [{"role": "user", "content": ASKED[task]}, {"role": "assistant", "tool_calls": made}]
    return {"task_id": task, "trial": trial, "reward": reward, "traj": said}


def replayed(tmp_path: Path, *told: dict[str, object]) -> Replayed:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(told), "utf-8")
    return run_replay(path, embedder=None, progress=lambda *_: None)


def test_only_tasks_that_were_solved_before_can_be_found(tmp_path: Path) -> None:
    done = replayed(
        tmp_path,
        trajectory("cancel", 0, 1.0),
        trajectory("bag", 0, 0.0),
        trajectory("cancel", 1, 1.0),
        trajectory("bag", 1, 1.0),
    )
    assert (done.questions, done.answerable, done.same_task_at_1, done.base_rate) == (2, 1, 1.0, 0.5)


def test_what_was_looked_up_on_the_way_is_not_what_was_advised(tmp_path: Path) -> None:
    cancelled = ("cancel_reservation", '{"reservation_id": "A1"}')
    done = replayed(
        tmp_path,
        trajectory("cancel", 0, 1.0, ("get_user_details", '{"user_id": "a"}'), cancelled),
        trajectory(
            "cancel", 1, 1.0, ("search_direct_flight", "{}"), ("cancel_reservation", '{ "reservation_id":"A1"}')
        ),
        trajectory("cancel", 1, 0.0, ("get_user_details", '{"user_id": "a"}')),
    )
    assert [attempt.agreement for _, attempt in done.held_out] == [1.0, 0.0]
    assert [experience.is_success for experience, _ in done.held_out] == [True, False]


def test_an_interval_that_cannot_be_told_is_left_out(tmp_path: Path) -> None:
    told = figures(replayed(tmp_path, trajectory("cancel", 0, 1.0), trajectory("cancel", 1, 1.0)))
    assert "advice_within_low" not in told
    assert str(told["advice_verdict"]).startswith("Cannot tell")


def test_one_trial_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at least two trials"):
        replayed(tmp_path, trajectory("cancel", 0, 1.0))
