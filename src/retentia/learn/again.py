"""What was said again: when else, in the body of its item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retentia.errors import RetentiaError
from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.time import Moment, Precision

ALSO_SAID = "also_said"
_MOST = 64
"""So many times are kept of what is said over and over; the middle ones go first."""


@dataclass(frozen=True, slots=True)
class Again:
    """A time that something was said of once more, and the record that said so, "" where a person did by a verb."""

    at: Moment
    of: RecordId

    @property
    def span(self) -> tuple[int, int]:
        """[start, end) in UTC microseconds."""
        return self.at.start, self.at.end


def said_again(body: Mapping[str, JSON]) -> list[Again]:
    """Read when else the item with this body was said; what is not written like it is left out."""
    told = body.get(ALSO_SAID)
    found = [_again(one) for one in told] if isinstance(told, list) else []
    return [one for one in found if one is not None]


def with_times(body: Mapping[str, JSON], times: Sequence[Again]) -> dict[str, JSON]:
    """Return a body that tells these times beside its own."""
    rest = {name: value for name, value in body.items() if name != ALSO_SAID}
    kept = sorted(times, key=lambda one: one.span)
    half = _MOST // 2
    kept = kept if len(kept) <= _MOST else [*kept[:half], *kept[-half:]]
    return {**rest, ALSO_SAID: [_told(one) for one in kept]} if kept else rest


def _told(one: Again) -> JSON:
    at = one.at
    return {"start": at.start, "end": at.end, "precision": at.precision.value, "zone": at.zone, "of": one.of}


def _again(told: Any) -> Again | None:
    try:
        at = Moment(int(told["start"]), int(told["end"]), Precision(told["precision"]), str(told["zone"]))
        return Again(at, RecordId(str(told["of"])))
    except (KeyError, TypeError, ValueError, RetentiaError):
        return None
