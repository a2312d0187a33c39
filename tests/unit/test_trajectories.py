"""Trajectories become experiences: what the user opens with, what was called, and the reward."""

import json
from pathlib import Path
from typing import Any

import pytest

from retentia.errors import InvalidInput
from retentia.ingest.trajectories import Call, Describe, looks_like_trajectories, read_trajectories
from retentia.model.experience import Outcome


def trajectory(**more: Any) -> dict[str, Any]:
    call = {"function": {"name": "get_user", "arguments": '{"user_id": "anna_1"}'}}
    given = {
        "task_id": 4,
        "trial": 1,
        "reward": 1.0,
        "info": {"task": {"instruction": "You want to rebook."}},
        "traj": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "I want to rebook."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "{}"},
            {"role": "user", "content": "I am anna_1."},
            {"role": "user", "content": "Thank you."},
        ],
    }
    return {**given, **more}


def written(tmp_path: Path, *given: dict[str, Any]) -> Path:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(given), "utf-8")
    return path


@pytest.mark.parametrize(
    ("describe", "expected"),
    [
        (Describe.FIRST, "I want to rebook."),
        (Describe.OPENING, "I want to rebook.\nI am anna_1."),
        (Describe.USER, "I want to rebook.\nI am anna_1.\nThank you."),
        (Describe.INSTRUCTION, "You want to rebook."),
    ],
)
def test_a_task_is_described_by_what_the_user_says(tmp_path: Path, describe: Describe, expected: str) -> None:
    (one,) = read_trajectories(written(tmp_path, trajectory()), describe=describe)
    assert one.experience.task.description == expected
    assert (one.task_id, one.trial, one.experience.key) == ("4", 1, "runs/4/1")
    assert one.calls == (Call("get_user", {"user_id": "anna_1"}),)
    assert one.experience.solution == 'get_user({"user_id": "anna_1"})'


@pytest.mark.parametrize(
    ("reward", "outcome"), [(1.0, Outcome.SUCCESS), (0.0, Outcome.FAILURE), (0.5, Outcome.PARTIAL)]
)
def test_the_reward_tells_the_outcome(tmp_path: Path, reward: float, outcome: Outcome) -> None:
    (one,) = read_trajectories(written(tmp_path, trajectory(reward=reward)))
    assert one.experience.outcome is outcome


def test_a_later_trial_is_a_later_experience(tmp_path: Path) -> None:
    first, second = read_trajectories(written(tmp_path, trajectory(trial=0), trajectory(trial=1)))
    assert first.experience.at.start < second.experience.at.start


@pytest.mark.parametrize(
    "broken",
    [
        {"traj": None},
        {"reward": None},
        {"reward": True},
        {"reward": 3},
        {"reward": 10**400},
        {"trial": -1},
        {"traj": []},
    ],
)
def test_a_trajectory_that_lacks_something_is_named_by_its_place(tmp_path: Path, broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="trajectory 1"):
        list(read_trajectories(written(tmp_path, trajectory(), trajectory(**broken))))


def test_what_is_no_file_of_trajectories_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{", "utf-8")
    for path, reason in ((tmp_path / "none.json", "cannot be read"), (tmp_path / "bad.json", "no JSON")):
        with pytest.raises(InvalidInput, match=reason):
            list(read_trajectories(path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="no JSON file"):
        list(read_trajectories(tmp_path / "empty"))
    with pytest.raises(InvalidInput, match="describe"):
        list(read_trajectories(written(tmp_path, trajectory()), describe="last"))


def test_a_file_of_trajectories_is_told_from_a_chat() -> None:
    assert looks_like_trajectories(json.dumps([trajectory()]))
    assert not looks_like_trajectories('[{"role": "user", "content": "hello"}]')


def test_what_is_nested_too_deep_is_no_file_of_trajectories(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000, "utf-8")
    with pytest.raises(InvalidInput, match="no JSON"):
        list(read_trajectories(path))


def test_arguments_nested_too_deep_stay_the_text_they_were_and_no_list_is_no_calls(tmp_path: Path) -> None:
    deep = {"tool_calls": [{"function": {"name": "dig", "arguments": "[" * 200_000}}]}
    said = {"role": "user", "content": "Dig."}
    (one,) = read_trajectories(written(tmp_path, trajectory(traj=[said, deep, {"tool_calls": 5}])))
    assert [call.name for call in one.calls] == ["dig"]
