"""Experiences as flat fields: how programs hand them in and how they stand in a line of JSONL."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeAlias

from retentia.errors import InvalidInput
from retentia.model.experience import UNIT, Experience, experience_from, reward_within
from retentia.model.message import JSON
from retentia.model.time import Moment

ExperienceLike: TypeAlias = Experience | Mapping[str, JSON]

_NAMES = {
    "id": "key",
    "description": "task",
    "message": "feedback",
    "at": "timestamp",
}
"""Other names that a field may have."""
_NESTED = ("task", "feedback")
FIELDS = (
    "key",
    "task",
    "category",
    "complexity",
    "solution",
    "reward",
    "reward_range",
    "feedback",
    "tests_passed",
    "tests_total",
    "outcome",
    "timestamp",
    "iterations",
    "strategy",
    "session",
)


def experience_given(given: ExperienceLike, *, now: Moment) -> Experience:
    """Read an experience from what a caller hands in; without a timestamp it ended now. Raises InvalidInput.

    A mapping has FIELDS, or `task` and `feedback` as mappings of their own. A timestamp is text, or Unix seconds.
    """
    if isinstance(given, Experience):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInput(f"an experience is an Experience or a mapping of its fields, not {type(given).__name__}")
    fields = _flat(given)
    description, timestamp = fields.pop("task", ""), fields.pop("timestamp", None)
    if not isinstance(description, str):
        raise InvalidInput(f"task must be text, not {description!r}")
    declared = fields.pop("reward_range", None)
    if declared is not None:
        fields["reward"] = reward_within(_reward(fields), _range(declared))
    return experience_from(description, fields, at=_moment(timestamp, now))


def fields_of(experience: Experience) -> dict[str, JSON]:
    """Return an experience as flat fields, which read back as it was."""
    told: dict[str, JSON] = {"task": experience.task.description, **experience.body()}
    return {name: told[name] for name in FIELDS if name in told} | {"timestamp": experience.at.iso()}


def _flat(given: Mapping[str, JSON]) -> dict[str, JSON]:
    fields: dict[str, JSON] = {}
    for name, value in given.items():
        if name in _NESTED and isinstance(value, Mapping):
            own = {"description": "task", "message": "feedback"}
            fields.update({own.get(inner, inner): one for inner, one in value.items()})
        else:
            fields[_NAMES.get(name, name)] = value
    if unknown := sorted(fields.keys() - set(FIELDS)):
        raise InvalidInput(f"an experience has no field {unknown[0]!r}; use {', '.join(FIELDS)}")
    return {name: value for name, value in fields.items() if value is not None}


def _reward(fields: Mapping[str, JSON]) -> float:
    value = fields.get("reward")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput(f"reward must be a number, not {value!r}")
    return value


def _range(declared: JSON) -> tuple[float, float]:
    if isinstance(declared, (list, tuple)) and len(declared) == len(UNIT):
        lowest, highest = declared
        if all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in declared):
            with suppress(OverflowError):
                return float(lowest), float(highest)
    raise InvalidInput(f"reward_range must be two numbers, the lowest and the highest reward, not {declared!r}")


def _moment(timestamp: JSON, now: Moment) -> Moment:
    match timestamp:
        case None:
            return now
        case bool():
            raise InvalidInput(f"timestamp must be a time, not {timestamp!r}")
        case int() | float():
            return Moment.from_unix(timestamp)
        case str():
            return Moment.parse(timestamp, zone=now.zone)
        case _:
            raise InvalidInput(f"timestamp must be text or Unix seconds, not {timestamp!r}")
