"""Trajectories of agents, in the form of tau-bench (Yao et al. 2024): what was asked, what was called, the reward.

A file is a list of objects with `traj` (messages in OpenAI's form) and `reward`, and may have `task_id`, `trial` and
`info.task.instruction`. Each becomes an experience: its task is what the user opens with, its solution are its calls.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from retentia.errors import InvalidInput, RetentiaError
from retentia.model.experience import Experience, Feedback, Outcome, Task
from retentia.model.message import JSON
from retentia.model.time import Moment

_BEGAN = Moment.parse("2024-05-15T15:00:00Z").start
"""When tau-bench's first trial takes place; each further one is taken for a day later."""
_DAY = 86_400_000_000
_OPENING = 2
_MOST_OF_A_CALL = 200


class Describe(StrEnum):
    """What the description of a task is made of.

    FIRST is the user's first message, OPENING the first two (what is wanted, and by whom or for what), USER all that
    the user says, INSTRUCTION what the user was told to want, which an agent never sees.
    """

    FIRST = "first"
    OPENING = "opening"
    USER = "user"
    INSTRUCTION = "instruction"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, with its arguments as they were given."""

    name: str
    arguments: JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One attempt at a task. `experience.key` names its file, task and trial."""

    task_id: str
    trial: int
    calls: tuple[Call, ...]
    experience: Experience


def looks_like_trajectories(head: str) -> bool:
    """Tell by the beginning of a file whether it may hold trajectories."""
    return head.lstrip("\ufeff \t\r\n").startswith("[") and '"reward"' in head and '"task_id"' in head


def read_trajectories(path: Path, *, describe: Describe | str = Describe.OPENING) -> Iterator[Trajectory]:
    """Yield the trajectories of a JSON file, or of each in a folder, in order; raise InvalidInput naming the place."""
    wanted = _describe(describe)
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise InvalidInput(f"{str(path)!r} holds no JSON file with trajectories")
    for file in files:
        for place, given in enumerate(_list(file)):
            try:
                yield _trajectory(given, file.stem, place, wanted)
            except RetentiaError as error:
                raise InvalidInput(f"{str(file)!r}, trajectory {place}: {error}") from error


def _describe(given: Describe | str) -> Describe:
    if given not in set(Describe):
        raise InvalidInput(f"describe must be one of {', '.join(Describe)}, not {given!r}")
    return Describe(given)


def _list(file: Path) -> Sequence[Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{str(file)!r} is no JSON: {error}") from error
    if not isinstance(found, list):
        raise InvalidInput(f"{str(file)!r} must hold a list of trajectories")
    return found


def _trajectory(given: Any, name: str, place: int, describe: Describe) -> Trajectory:
    messages, reward = _field(given, "traj", list), _field(given, "reward", (int, float))
    task_id, trial = str(given.get("task_id", place)), _trial(given.get("trial", 0))
    calls = tuple(_calls(messages))
    experience = Experience(
        task=Task(description=_description(given, messages, describe)),
        solution="\n".join(_short(call) for call in calls),
        feedback=Feedback(reward=reward),
        outcome=_outcome(reward),
        at=Moment.at(_BEGAN + trial * _DAY),
        key=f"{name}/{task_id}/{trial}",
    )
    return Trajectory(task_id=task_id, trial=trial, calls=calls, experience=experience)


def _field(given: Any, name: str, kind: type | tuple[type, ...]) -> Any:
    value = given.get(name) if isinstance(given, Mapping) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidInput(f"it needs {name!r}")
    return value


def _trial(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"trial must be a whole number from 0 on, not {value!r}")
    return value


def _description(given: Mapping[str, Any], messages: Sequence[Any], describe: Describe) -> str:
    if describe is Describe.INSTRUCTION:
        info = given.get("info")
        task = info.get("task") if isinstance(info, Mapping) else None
        text = task.get("instruction") if isinstance(task, Mapping) else None
        return text if isinstance(text, str) else ""
    most = {Describe.FIRST: 1, Describe.OPENING: _OPENING}.get(describe)
    said = [one["content"] for one in messages if _is_said(one)]
    return "\n".join(said[:most])


def _is_said(one: Any) -> bool:
    return isinstance(one, Mapping) and one.get("role") == "user" and isinstance(one.get("content"), str)


def _calls(messages: Sequence[Any]) -> Iterator[Call]:
    for message in messages:
        calls = message.get("tool_calls") if isinstance(message, Mapping) else None
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping) and isinstance(function.get("name"), str):
                yield Call(function["name"], _arguments(function.get("arguments")))


def _arguments(given: Any) -> JSON:
    if not isinstance(given, str):
        return given  # type: ignore[no-any-return]  # JSON already
    try:
        return json.loads(given)  # type: ignore[no-any-return]  # JSON
    except (ValueError, RecursionError):
        return given


def _short(call: Call) -> str:
    told = f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})"
    return told if len(told) <= _MOST_OF_A_CALL else told[: _MOST_OF_A_CALL - 1] + "…"


def _outcome(reward: float) -> Outcome:
    return Outcome.SUCCESS if reward >= 1 else Outcome.FAILURE if reward <= 0 else Outcome.PARTIAL
