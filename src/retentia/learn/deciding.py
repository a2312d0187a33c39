"""Deciding: how a person's word changes what is believed. Each change of an item is written with its revision."""

from collections.abc import Mapping, Sequence
from typing import Any

from retentia.errors import Conflict
from retentia.learn.apply import Taught
from retentia.model.belief import Belief
from retentia.model.candidate import PERSON, Candidate
from retentia.model.claim import Change, Revision
from retentia.model.ids import RecordId, id_bytes
from retentia.model.message import JSON
from retentia.model.provenance import Trust
from retentia.model.record import ItemRecord, Kind
from retentia.model.time import Moment
from retentia.store import beliefs
from retentia.write.place import Place


def check_version(record: ItemRecord, expected: int | None) -> None:
    """Raise Conflict where a record is not at the version that a writer has read; None expects nothing."""
    if expected is not None and record.version != expected:
        raise Conflict(
            f"{record.id!r} is at version {record.version}, not {expected}: it was changed meanwhile; read it again"
        )


def check_held(record: ItemRecord | None, expected: int, slot: str) -> None:
    """Raise Conflict where what is believed in a slot is not at the version that a writer has read; 0 is nothing."""
    version = 0 if record is None else record.version
    if version != expected:
        held = "nothing is believed there" if record is None else f"{record.id!r} at version {version} is believed"
        raise Conflict(f"{slot!r} was changed meanwhile: {held}, not version {expected}; read it again")


def change_item(
    place: Place,
    record: ItemRecord,
    change: Change,
    author: str,
    values: Mapping[str, Any],
    *,
    reason: str = "",
    cause: RecordId | None = None,
) -> None:
    """Change columns of an item, with the revision that tells it; raise Conflict where it was changed meanwhile."""
    before: dict[str, JSON] = {
        "status": record.status.value,
        "retracted_at": record.retracted_at,
        "valid_to": record.valid_to,
    }
    revision = Revision(
        record_id=record.id,
        version=record.version + 1,
        changed_at=place.transaction.now,
        change=change,
        author=author,
        reason=reason,
        cause=cause,
        before={name: before[name] for name in values if name in before},
    )
    beliefs.update_item(place.transaction, place.scope_id, id_bytes(record.id), revision, values)


def end_rivals(place: Place, rivals: Sequence[Belief], *, at: int, cause: RecordId, author: str) -> None:
    """End what cannot stand beside a belief that the person has confirmed."""
    changes = [
        Revision(
            record_id=one.record.id,
            version=0,  # given when it is written
            changed_at=0,
            change=Change.SUPERSEDED,
            author=author,
            reason="the person confirmed another value",
            cause=cause,
            before={"valid_to": None},
        )
        for one in rivals
    ]
    ends = {id_bytes(one.id): at for one in rivals}
    beliefs.change(place.transaction, place.scope_id, ends=ends, retracts=(), revisions=changes)


def told(
    kind: Kind,
    attribute: str,
    value: str,
    *,
    subject: str,
    applies_to: str,
    at: Moment,
    author: str,
    trust: Trust = Trust.PERSON,
    body: Mapping[str, JSON] | None = None,
) -> Taught:
    """Return what is said through a verb; the claim itself is its only source."""
    candidate = Candidate(
        kind=kind,
        subject=subject,
        attribute=attribute,
        value=value.strip(),
        message_id=RecordId(""),
        start=0,
        end=0,
        applies_to=applies_to.strip(),
        body={name: given for name, given in (body or {}).items() if name != "why"},
    )
    where = f" ({candidate.applies_to})" if candidate.applies_to else ""
    who = "" if subject == PERSON else f"{subject}, "
    text = f"{who}{attribute}: {candidate.value}{where}"
    return Taught(candidate=candidate, text=text, at=at, trust=trust, author=author, source_kind=None)
