"""Commitments as they stand: when they are due, by the words they were made in, and whether that is over. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from retentia.languages.periods import find_periods
from retentia.model.claim import Change, Revision
from retentia.model.commitment import CommitmentStatus, commitment_of
from retentia.model.episode import Promise
from retentia.model.record import ItemRecord
from retentia.model.time import Moment, Precision
from retentia.model.zone import first_instant, wall_time, zone_of

CLOSED_AS = (CommitmentStatus.DONE, CommitmentStatus.DROPPED)


def promise_of(record: ItemRecord, changes: Sequence[Revision], *, now: int, zone: str) -> Promise:
    """Read how a commitment stands at a time (UTC microseconds) from its item and the changes of it."""
    said = record.occurred or Moment.at(record.recorded_at, zone)
    words = str(record.body.get("due") or "")
    due, words = due_of(words or record.text, said) or (None, words)
    commitment = replace(commitment_of(str(record.body.get("value") or record.text), record.body), due=due)
    closed = next((one for one in reversed(changes) if one.change is Change.CLOSED), None)
    status = commitment.status(now)
    if closed is not None:
        status = next((one for one in CLOSED_AS if closed.reason == one), CommitmentStatus.DONE)
    elif record.valid_to is not None:
        status = CommitmentStatus.DROPPED
    return Promise(
        commitment=commitment,
        record=record,
        status=status,
        due_words=words,
        closed_at=closed.changed_at if closed is not None else record.valid_to,
        evidence=None if closed is None else closed.cause,
    )


def due_of(words: str, said: Moment) -> tuple[Moment, str] | None:
    """Read when something is due from the words of who promised it, at the time it was said; None for no time."""
    for period in find_periods(words, now=said, toward="future"):
        if period.until is None or period.role not in ("due", "when"):
            continue
        since = period.since
        if since is None:
            is_instant = period.precision is Precision.INSTANT
            since = period.until - 1 if is_instant else _last_day(period.until, said.zone)
        return Moment(since, period.until, period.precision, said.zone), period.words
    return None


def _last_day(until: int, zone: str) -> int:
    """Return where the last local day before an instant begins."""
    wall = wall_time(until - 1, zone)
    return first_instant(wall.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None), zone_of(zone))
