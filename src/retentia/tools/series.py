"""How a value moved: the same field of the results of the same call, over time. Pure."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.time import Moment
from retentia.tools.ages import ago
from retentia.tools.calls import Call, json_of

_NUMBER = re.compile(r"[-+]?\d+(?:[,']\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_MOST_LEAVES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value at one time. `change` is what it is above the number before, None where one of them is no number."""

    id: RecordId
    at: Moment | None
    called_at: int
    value: JSON
    number: float | None
    change: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The values of one field, oldest first. `now` is when it was asked for, in UTC microseconds."""

    name: str
    path: str
    points: tuple[Point, ...]
    now: int

    @property
    def change(self) -> float | None:
        """What the last number is above the first, None with fewer than two."""
        numbers = [point.number for point in self.points if point.number is not None]
        return numbers[-1] - numbers[0] if len(numbers) > 1 else None

    def text(self) -> str:
        """Tell the first and the last value in a line, "" without any."""
        if not self.points:
            return ""
        last = _told(self.points[-1], self.now)
        if len(self.points) == 1:
            return last
        return f"{_told(self.points[0], self.now)}, {last}{_movement(self.points[0].number, self.points[-1].number)}"


def series_of(name: str, calls: Iterable[Call], path: str | None, *, now: int) -> Series:
    """Gather the values of a field from calls that came back, in the order of their times.

    `path` names a field with dots, such as "quote.price" or "rows.0.total"; None takes the only number of a result. A
    result that has no such field is left out.
    """
    points: list[Point] = []
    before: float | None = None
    for call in sorted(calls, key=lambda call: call.called_at):
        if call.status != "ok" or call.full_bytes is not None or (value := value_at(call.result, path)) is None:
            continue
        number = number_of(value)
        change = None if number is None or before is None else _rounded(number - before)
        points.append(
            Point(id=call.id, at=call.at, called_at=call.called_at, value=value, number=number, change=change)
        )
        before = number if number is not None else before
    return Series(name=name, path=path or "", points=tuple(points), now=now)


def value_at(result: JSON, path: str | None) -> JSON:
    """Return the value of a field of a result, or its only number; None where there is none."""
    value = json_of(result)
    if path is None or path == "":
        numbers = [value for _, value in leaves(value) if number_of(value) is not None]
        return numbers[0] if len(numbers) == 1 else None
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, Sequence) and not isinstance(value, str) and step.lstrip("-").isdecimal():
            value = value[int(step)] if -len(value) <= int(step) < len(value) else None
        else:
            return None
    return value


def number_of(value: JSON) -> float | None:
    """Return a number, also from a text with exactly one, such as "$218.40"; None where there is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return _finite(value)
    if isinstance(value, str) and len(found := _NUMBER.findall(value)) == 1:
        return _finite(found[0].replace(",", "").replace("'", ""))
    return None


def leaves(value: JSON, path: str = "") -> Iterator[tuple[str, JSON]]:
    """Yield the single values of a result with their paths, at most some thousands."""
    waiting: list[tuple[str, JSON]] = [(path, value)]
    for _ in range(_MOST_LEAVES):
        if not waiting:
            return
        name, one = waiting.pop()
        inside: list[tuple[str, JSON]] = []
        if isinstance(one, Mapping):
            inside = [(f"{name}.{key}" if name else str(key), each) for key, each in one.items()]
        elif isinstance(one, Sequence) and not isinstance(one, str):
            inside = [(f"{name}.{number}" if name else str(number), each) for number, each in enumerate(one)]
        else:
            yield name, one
        waiting.extend(reversed(inside))


def moved(before: JSON, after: JSON, *, most: int = 3) -> list[str]:
    """Tell the single values in which two results differ, such as "price 213 → 218.4"; at most so many."""
    old, new = dict(leaves(json_of(before))), dict(leaves(json_of(after)))
    both = [name for name in new if name in old and old[name] != new[name]]
    both.sort(key=lambda name: number_of(new[name]) is None)  # numbers first
    told = [f"{name} {shown(old[name])} → {shown(new[name])}".strip() for name in both[:most]]
    return told + ([f"{len(both) - most} more"] if len(both) > most else [])


def shown(value: JSON) -> str:
    """Write a single value shortly: 218.40 is 218.4, a long text is cut."""
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.12g}"
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _told(point: Point, now: int) -> str:
    age = timedelta(microseconds=now - point.called_at)
    return f"{'now' if abs(age) < timedelta(minutes=1) else ago(age)} {shown(point.value)}"


def _movement(first: float | None, last: float | None) -> str:
    if first is None or last is None:
        return ""
    share = f", {(last - first) / abs(first):+.1%}" if first else ""
    return f" ({_rounded(last - first):+.12g}{share})"


def _rounded(difference: float) -> float:
    """Leave out what is only the noise of binary fractions."""
    return float(f"{difference:.12g}")


def _finite(value: float | str) -> float | None:
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None
