"""Commitments as they stand: when they are due, by the words they were made in, and whether that is over. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from retentia.languages.periods import find_periods
from retentia.learn.dates import moment_of
from retentia.model.claim import Change, Revision
from retentia.model.commitment import CommitmentStatus, commitment_of
from retentia.model.episode import Promise
from retentia.model.record import ItemRecord
from retentia.model.time import Moment

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
    """Read when something is due from the words of who promised it, at the time it was said; None for no time.

    Of several times it is the first that is named as due ("by Friday").
    """
    named = [period for period in find_periods(words, now=said, toward="future") if period.role in ("due", "when")]
    bounded = [period for period in named if period.until is not None]
    best = next((period for period in bounded if period.role == "due"), bounded[0] if bounded else None)
    due = None if best is None else moment_of(best, said.zone)
    return None if best is None or due is None else (due, best.words)
