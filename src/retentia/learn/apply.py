"""Apply: what was learned from messages meets what is held, and the outcome is written in the same transaction.

The scope is locked, so what is read here is still true when it is written: a claim made from a message that was erased
meanwhile, or against a claim that has changed, cannot get in. `reconcile` decides; this reads, writes and tells.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from retentia.index.names import name_key
from retentia.learn.again import Again, said_again
from retentia.learn.edits import Edit, Seen, Split, edit
from retentia.learn.reconcile import Decision, New, reconcile
from retentia.learn.timeline import Held
from retentia.model.attributes import Attributes
from retentia.model.candidate import Candidate
from retentia.model.claim import Change, Claim, Revision
from retentia.model.ids import RecordId, id_bytes, id_text, new_id_bytes
from retentia.model.learned import Effect, Learned
from retentia.model.message import JSON
from retentia.model.provenance import Source, Trust
from retentia.model.record import ABOUT, PROFILE_KINDS, Kind, Status
from retentia.model.time import Moment
from retentia.store import beliefs, claims, records, schema
from retentia.store.claims import Standing
from retentia.write import indexed
from retentia.write.admission import dump
from retentia.write.items import content_key, link_sources
from retentia.write.place import Place
from retentia.write.rows import Draft, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """A candidate with its quote, and who said it when. `flag` tells in words why it is doubtful, "" when it is not.

    `source_kind` is the kind of record that its `message_id` names, None where somebody said it through a verb.
    """

    candidate: Candidate
    text: str
    at: Moment
    trust: Trust
    author: str
    flag: str = ""
    source_kind: Kind | None = Kind.MESSAGE

    @property
    def sources(self) -> tuple[Source, ...]:
        """The stretch that the candidate quotes; none where somebody said it through a verb."""
        if self.source_kind is None:
            return ()
        one = self.candidate
        return (Source(kind=self.source_kind.value, id=one.message_id, start=one.start, end=one.end),)


@dataclass(slots=True)
class _Slot:
    """What is held of one subject and attribute, and where it applies; it changes while a batch is reconciled."""

    held: dict[RecordId, Held] = field(default_factory=dict)


@dataclass(slots=True)
class _Batch:
    """What is to be written. `by_content` knows the items that are one with whatever says the same words."""

    by_content: dict[tuple[str, bytes], RecordId] = field(default_factory=dict)
    rows: dict[RecordId, Row] = field(default_factory=dict)
    sources: list[tuple[bytes, Source]] = field(default_factory=list)
    seen: list[bytes] = field(default_factory=list)
    begins: dict[RecordId, int] = field(default_factory=dict)
    ends: dict[RecordId, int] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    retracts: set[RecordId] = field(default_factory=set)
    revisions: list[Revision] = field(default_factory=list)


def learn(place: Place, taught: Sequence[Taught], attributes: Attributes) -> list[Learned]:
    """Reconcile candidates in order with what a scope holds, and write what follows; tell what became of each."""
    keyed = [_Keyed.of(one, attributes) for one in taught]
    slots = _read(place, keyed)
    batch = _Batch(by_content=_by_content(place, keyed))
    learned = [_take(one, slots, batch, now=place.transaction.now) for one in keyed]
    _write(place, batch)
    return learned


@dataclass(frozen=True, slots=True)
class _Keyed:
    """A candidate with its claim and the keys that it is compared by."""

    taught: Taught
    claim: Claim
    has_many: bool
    opposite: str
    subject_key: bytes
    value_key: bytes
    applies_key: bytes
    corrects_key: bytes

    @classmethod
    def of(cls, taught: Taught, attributes: Attributes) -> "_Keyed":
        one = taught.candidate
        known = attributes.of(one.attribute or one.kind.value)
        told = Claim(
            subject=one.subject,
            attribute=known.name,
            value=one.value,
            applies_to=one.applies_to,
            manner=one.manner,
        )
        return cls(
            taught,
            told,
            known.has_many,
            known.opposite,
            name_key(told.subject),
            name_key(told.value),
            name_key(told.applies_to) if told.applies_to else bytes(16),
            name_key(one.corrects) if one.corrects else b"",
        )

    @property
    def content(self) -> tuple[str, bytes] | None:
        """What makes it one item with whatever is kept of its kind in the same words; a fact is told by its claim."""
        kind = self.taught.candidate.kind
        return None if kind in PROFILE_KINDS else (kind.value, content_key(self.taught.text))

    @property
    def slot(self) -> tuple[bytes, str, bytes]:
        return self.subject_key, self.claim.attribute, self.applies_key

    @property
    def opposite_slot(self) -> tuple[bytes, str, bytes]:
        return self.subject_key, self.opposite, self.applies_key

    def new(self, *, now: int) -> New:
        one, at = self.taught.candidate, self.taught.at
        said = one.since or at
        return New(
            value=self.value_key.hex(),
            start=said.start,
            end=said.end,
            told_at=self.taught.at.start if self.taught.source_kind else now,
            ends_at=None if one.until is None else one.until.end,
            has_many=self.has_many,
            trust=self.taught.trust,
            manner=one.manner,
            is_flagged=self.taught.flag,
            is_not=one.is_not,
            is_correction=one.is_correction,
            corrects=self.corrects_key.hex(),
        )


def _read(place: Place, keyed: Sequence[_Keyed]) -> dict[tuple[bytes, str, bytes], _Slot]:
    """Read what is held about the slots; of attributes with many values only those values that are spoken of."""
    by_slot: dict[str, set[bytes]] = {}
    by_value: dict[bytes, set[bytes]] = {}
    slots: dict[tuple[bytes, str, bytes], _Slot] = {}
    for one in keyed:
        slots[one.slot] = _Slot()
        if one.opposite:
            slots[one.opposite_slot] = _Slot()
        if one.has_many:
            by_value.setdefault(one.subject_key, set()).update({one.value_key, one.corrects_key} - {b""})
        else:
            by_slot.setdefault(one.claim.attribute, set()).add(one.subject_key)
    found = claims.of_slots(place.transaction, place.scope_id, by_slot)
    found += claims.of_values(place.transaction, place.scope_id, by_value)
    again = _said_again(place, found)
    wrong = claims.taken_back(place.transaction, place.scope_id, [one.record_id for one in found if _is_wrong(one)])
    for standing in found:
        slot = slots.get((standing.subject_key, standing.attribute, standing.applies_key))
        if slot is not None and (standing.retracted_at is None or standing.status != Status.CANDIDATE):
            held = _held(standing, again.get(standing.record_id, ()), wrong.get(standing.record_id))
            slot.held[held.id] = held
    return slots


def _by_content(place: Place, keyed: Sequence[_Keyed]) -> dict[tuple[str, bytes], RecordId]:
    wanted = {one.content for one in keyed if one.content is not None}
    found = records.known_contents(place.transaction, place.scope_id, wanted) if wanted else {}
    return {known: id_text(record_id) for known, record_id in found.items()}


def _is_wrong(one: Standing) -> bool:
    return one.retracted_at is not None and one.status not in (Status.CANDIDATE, Status.REJECTED)


def _said_again(place: Place, found: Sequence[Standing]) -> dict[bytes, Sequence[Again]]:
    """Return when else it was said what was said more than once."""
    often = [one.record_id for one in found if one.seen_count > 1]
    bodies = beliefs.bodies(place.transaction, place.scope_id, often) if often else {}
    return {record_id: said_again(body) for record_id, body in bodies.items()}


def _held(standing: Standing, again: Sequence[Again], wrong_until: int | None) -> Held:
    return Held(
        id=id_text(standing.record_id),
        value=standing.value_key.hex(),
        status=Status(standing.status),
        valid_from=standing.valid_from,
        valid_to=standing.valid_to,
        said=((standing.said_start, standing.said_end), *(one.span for one in again)),
        wrong_until=standing.retracted_at if wrong_until is None else wrong_until,
        is_rejected=standing.status == Status.REJECTED,
    )


def _take(one: _Keyed, slots: Mapping[tuple[bytes, str, bytes], _Slot], batch: _Batch, *, now: int) -> Learned:
    slot = slots[one.slot]
    against = slots[one.opposite_slot] if one.opposite else _Slot()
    held = [*slot.held.values(), *(replace(other, is_opposite=True) for other in against.held.values())]
    decision = reconcile(one.new(now=now), held, now=now)
    known = batch.by_content.get(one.content) if one.content else None
    if known is not None and decision.effect in (Effect.ADD, Effect.PROPOSE):
        is_evidence = decision.effect is Effect.ADD
        reason = "known already, in the same words"
        decision = Decision(effect=Effect.SEEN_AGAIN, same=known, is_evidence=is_evidence, reason=reason)
    before = {was.id: was for was in held}
    record_id, status = decision.same, None
    if decision.effect in (Effect.ADD, Effect.PROPOSE):
        record_id, status = _add(one, decision, slot, batch, now=now)
    elif decision.same is not None:
        status = slot.held[decision.same].status if decision.same in slot.held else None
        if decision.is_evidence:
            _see_again(one, decision.same, decision, slot, batch)
    _note(batch, decision, one, record_id, before)
    for where in (slot, against):
        _end(one, decision, where, batch)
    return Learned(
        candidate=one.taught.candidate,
        effect=decision.effect,
        reason=decision.reason,
        record_id=record_id,
        status=status,
        ended=tuple(gone_id for gone_id, _ in decision.ends),
        retracted=decision.retracts,
        conflicts=decision.conflicts,
    )


def _see_again(one: _Keyed, same: RecordId, decision: Decision, slot: _Slot, batch: _Batch) -> None:
    batch.seen.append(id_bytes(same))
    batch.sources += [(id_bytes(same), source) for source in one.taught.sources]
    known = slot.held.get(same)
    if known is None:
        return
    if decision.valid_from is not None:
        batch.begins[same] = decision.valid_from
        known = replace(known, valid_from=decision.valid_from)
    said = one.taught.candidate.since or one.taught.at
    span = (said.start, said.end)
    if known.status is not Status.CANDIDATE and known.covers(said.start) and span not in known.said:
        of = one.taught.candidate.message_id if one.taught.source_kind else RecordId("")
        batch.edits.append(Seen(same, Again(said, of)))
        known = replace(known, said=(*known.said, span))
    slot.held[same] = known


def _end(one: _Keyed, decision: Decision, where: _Slot, batch: _Batch) -> None:
    """Let what ends end, what was never true be that, and what was said again behind its end begin anew."""
    for cut in decision.resumes:
        if cut.id in where.held and cut.resumes is not None:
            split = Split(cut.id, id_text(new_id_bytes()), cut.resumes, cut.until)
            batch.edits.append(split)
            where.held[split.to] = replace(
                where.held[cut.id], id=split.to, valid_from=split.valid_from, valid_to=split.valid_to
            )
    for gone_id, at in decision.ends:
        if gone_id in where.held:
            batch.ends[gone_id] = at
            where.held[gone_id] = replace(where.held[gone_id], valid_to=at)
    for gone_id in decision.retracts:
        if (gone := where.held.pop(gone_id, None)) is not None:
            batch.retracts.add(gone_id)
            if gone.is_believed:
                where.held[gone_id] = replace(gone, wrong_until=one.taught.at.start)


def _add(one: _Keyed, decision: Decision, slot: _Slot, batch: _Batch, *, now: int) -> tuple[RecordId, Status]:
    raw = new_id_bytes()
    record_id = id_text(raw)
    status = Status.STATED if decision.effect is Effect.ADD else Status.CANDIDATE
    batch.rows[record_id] = _row(one, decision, raw, status, recorded_at=now)
    if one.content and status is Status.STATED:
        batch.by_content[one.content] = record_id
    batch.sources += [(raw, source) for source in one.taught.sources]
    said = one.taught.candidate.since or one.taught.at
    slot.held[record_id] = Held(
        id=record_id,
        value=one.value_key.hex(),
        status=status,
        valid_from=decision.valid_from,
        valid_to=decision.valid_to,
        said=((said.start, said.end),),
    )
    return record_id, status


def _row(one: _Keyed, decision: Decision, record_id: bytes, status: Status, *, recorded_at: int) -> Row:
    candidate, taught = one.taught.candidate, one.taught
    body: dict[str, JSON] = {**candidate.body, **one.claim.body()}
    if status is Status.CANDIDATE:
        body["why"] = decision.reason
    draft = Draft(
        text=taught.text,
        moment=candidate.since or taught.at,
        trust=taught.trust,
        metadata=dump({ABOUT: Kind.DECISION.value}) if candidate.kind is Kind.DECISION else None,
        columns={
            "kind": candidate.kind,
            "status": status,
            "confidence": candidate.confidence,
            "importance": candidate.importance,
            "author": taught.author,
            "valid_from": decision.valid_from,
            "valid_to": decision.valid_to,
            "retracted_at": None,
            "body": dump(body),
        },
    )
    is_past = decision.valid_to is not None
    is_quote = taught.source_kind is not None
    known = draft.known(record_id, recorded_at)
    described = indexed.item(candidate.kind, is_past=is_past, is_quote=is_quote, **known)
    is_one = one.content is not None and status is Status.STATED and not is_past
    return draft.row(described, content_key=content_key(draft.text) if is_one else None)


def _note(batch: _Batch, decision: Decision, one: _Keyed, cause: RecordId | None, was: Mapping[RecordId, Held]) -> None:
    """Note what changes for items that were there before; those of this very batch are written as they end up."""
    change = Change.ENDED if decision.effect is Effect.END else Change.SUPERSEDED
    told: list[tuple[RecordId, Change, dict[str, JSON]]] = [
        (gone_id, change, {"valid_to": was[gone_id].valid_to}) for gone_id, _ in decision.ends
    ]
    wrong = Change.CORRECTED if one.taught.candidate.is_correction else Change.RETRACTED
    told += [(gone_id, wrong, {"retracted_at": None}) for gone_id in decision.retracts]
    if decision.effect is Effect.SEEN_AGAIN and decision.same is not None and decision.valid_from is not None:
        told.append((decision.same, Change.SEEN_AGAIN, {"valid_from": was[decision.same].valid_from}))
    for changed_id, what, before in told:
        batch.revisions.append(
            Revision(
                record_id=changed_id,
                version=0,  # given when it is written
                changed_at=0,
                change=what,
                author=one.taught.author,
                reason=decision.reason,
                cause=cause or (one.taught.candidate.message_id if one.taught.source_kind else None),
                before=before,
            )
        )


def _write(place: Place, batch: _Batch) -> None:
    transaction, scope_id = place.transaction, place.scope_id
    place.insert(schema.item, list(batch.rows.values()))
    new = {id_bytes(one) for one in batch.rows}
    split_from = {id_bytes(one.to): id_bytes(one.id) for one in batch.edits if isinstance(one, Split)}
    alone = beliefs.without_sources(transaction, {*batch.seen, *split_from.values()} - new - split_from.keys())
    named = {
        record_id: sources
        for record_id, sources in _by_item(batch.sources).items()
        # The person's own command needs no message, and must not go with one.
        if _root(record_id, split_from) not in alone
    }
    for record_id, sources in named.items():
        link_sources(transaction, record_id, sources)
    parted = edit(place, batch.edits) if batch.edits else set()
    beliefs.see_again(transaction, scope_id, [one for one in batch.seen if one not in parted])
    beliefs.change(
        transaction,
        scope_id,
        begins={id_bytes(one): at for one, at in batch.begins.items()},
        ends={id_bytes(one): at for one, at in batch.ends.items() if one not in batch.retracts},
        retracts=[id_bytes(one) for one in sorted(batch.retracts)],
        revisions=batch.revisions,
    )


def _root(record_id: bytes, split_from: Mapping[bytes, bytes]) -> bytes:
    while record_id in split_from:
        record_id = split_from[record_id]
    return record_id


def _by_item(sources: Iterable[tuple[bytes, Source]]) -> dict[bytes, list[Source]]:
    found: dict[bytes, list[Source]] = {}
    for record_id, source in sources:
        found.setdefault(record_id, []).append(source)
    return found
