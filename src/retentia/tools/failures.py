"""What failed, why, and how often. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from retentia.model.ids import RecordId
from retentia.tools.calls import Call
from retentia.tools.causes import cause_of, message_of, pattern_of
from retentia.tools.normalise import canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failures of one tool with one cause. Times in UTC microseconds; `message` and `id` are of the last one.

    `is_over` tells that the call which failed last has worked since.
    """

    name: str
    cause: str
    message: str
    count: int
    first_at: int
    last_at: int
    id: RecordId
    is_over: bool


def failures_of(calls: Iterable[Call]) -> list[Failure]:
    """Group failed calls by tool, class of error and message without its numbers; the most frequent first."""
    ordered = sorted(calls, key=lambda call: call.called_at)
    worked = {_same(call): call.called_at for call in ordered if call.status == "ok"}
    groups: dict[tuple[str, str, str], list[Call]] = {}
    for call in ordered:
        if call.status == "error":
            groups.setdefault((call.name, cause_of(call.error), pattern_of(call.error)), []).append(call)
    found = [
        Failure(
            name=name,
            cause=cause,
            message=message_of(some[-1].error),
            count=len(some),
            first_at=some[0].called_at,
            last_at=some[-1].called_at,
            id=some[-1].id,
            is_over=worked.get(_same(some[-1]), -1) > some[-1].called_at,
        )
        for (name, cause, _), some in groups.items()
    ]
    return sorted(found, key=lambda one: (-one.count, -one.last_at))


def _same(call: Call) -> tuple[str, str]:
    return call.name, canonical(call.arguments)
