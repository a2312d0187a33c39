"""Facts: what is believed of a person and of others, and the verbs by which a person decides about it.

A candidate is only in the inbox. What was said outright is stated, what the person confirmed is confirmed. Nothing is
overwritten: what changes ends, what was wrong is retracted, and both keep their history.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

from retentia.errors import InvalidInput, NotFound
from retentia.index.names import name_key
from retentia.learn.apply import Taught, learn
from retentia.learn.believed_graph import BelievedGraph
from retentia.learn.chains import Found, find_chains
from retentia.learn.relations import Relations
from retentia.lifecycle.reindex import renew
from retentia.model.attributes import Attributes
from retentia.model.belief import Belief, Profile, Proposal, as_known, current
from retentia.model.candidate import PERSON, Candidate
from retentia.model.claim import Change, Revision, claim_of
from retentia.model.ids import RecordId, id_bytes
from retentia.model.learned import Learned
from retentia.model.message import JSON, When
from retentia.model.provenance import Trust
from retentia.model.record import ItemRecord, Kind, Status
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import beliefs, claims, records
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.write.place import Place

_BELIEVED = (Status.STATED, Status.CONFIRMED)
_OF_A_PROFILE = (Kind.FACT, Kind.PREFERENCE)


class Doors(Protocol):
    """What stands around each verb: who may use it, and the log."""

    def reading(self, scope: Scope) -> AbstractContextManager[Callable[[Sequence[ItemRecord]], None]]:
        """Open a read of a scope; what is shown is told to what it returns."""
        ...

    def writing(self, scope: Scope) -> AbstractContextManager[None]:
        """Open a write to a scope."""
        ...


class Facts:
    """What is believed in the memory of a scope. Every verb takes the scope; safe to use from many threads."""

    def __init__(
        self, database: Database, doors: Doors, attributes: Attributes, relations: Relations, *, zone: str
    ) -> None:
        self._database = database
        self._doors = doors
        self._zone = zone
        self.relations = relations
        self.attributes = attributes

    def profile(
        self,
        *,
        scope: Scope,
        subject: str = PERSON,
        as_of: When | None = None,
        known_at: When | None = None,
    ) -> Profile:
        """Return what is believed of a subject now; or what held at `as_of`, as it was known at `known_at`.

        `as_of` is event time, `known_at` recorded time; each is now where it is not given.
        """
        if as_of is None and known_at is None:
            return Profile(subject=subject, beliefs=tuple(self._about(scope, subject, is_current=True)))
        known = None if known_at is None else Moment.parse(known_at, zone=self._zone).start
        instant = self._database.now() if as_of is None else Moment.parse(as_of, zone=self._zone).start
        found = self._about(scope, subject, with_changes=known is not None)
        if known is not None:
            found = [
                replace(one, record=then)
                for one in found
                if (then := as_known(one.record, one.changes, known)) is not None
            ]
        return Profile(subject=subject, beliefs=tuple(one for one in found if one.holds_at(instant)))

    def get(self, attribute: str, *, scope: Scope, subject: str = PERSON) -> tuple[Belief, ...]:
        """Return what is believed now of one attribute, by its name or an alias."""
        return tuple(self._about(scope, subject, attribute=self.attributes.of(attribute).name, is_current=True))

    def history(self, attribute: str = "", *, scope: Scope, subject: str = PERSON) -> list[Belief]:
        """Return all that was ever believed or proposed of an attribute, or of all, with its changes, oldest first."""
        name = self.attributes.of(attribute).name if attribute else ""
        return self._about(scope, subject, attribute=name, with_changes=True)

    def set(
        self,
        attribute: str,
        value: str,
        *,
        scope: Scope,
        subject: str = PERSON,
        applies_to: str = "",
        at: When | None = None,
        confirmed: bool = False,
    ) -> Learned:
        """Say that a subject has an attribute with a value, as the person's own word; others keep theirs.

        An attribute with one value takes this one from `at` on, now where it is not given; what held before is kept
        as past. Raises InvalidInput.
        """
        if not attribute.strip() or not value.strip():
            raise InvalidInput("a fact needs an attribute and a value")
        learned = self.learn(
            [
                _told(
                    Kind.FACT,
                    attribute,
                    value,
                    subject=subject,
                    applies_to=applies_to,
                    at=Moment.at(self._database.now(), self._zone) if at is None else self._moment(at),
                    author=PERSON,
                )
            ],
            scope=scope,
        )[0]
        if confirmed and learned.record_id is not None:
            self.confirm(learned.record_id, scope=scope)
        return learned

    def learn(self, taught: Sequence[Taught], *, scope: Scope) -> list[Learned]:
        """Reconcile candidates in order with what is held, and keep what follows; tell what became of each."""
        with self._doors.writing(scope), self._database.write(scope.tenant) as transaction:
            return learn(Place(transaction, scope), taught, self.attributes)

    def chains(self, question: str, *, scope: Scope, limit: int = 5) -> Found:
        """Answer a question by following what is believed now, up to three steps from what it names; best first.

        Each chain has the statements that it rests on. Where there is none, the reason is told.
        """
        with self._doors.reading(scope) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                graph = BelievedGraph(transaction, view, self.attributes)
                found = find_chains(question, graph, self.relations, limit=limit)
            show([graph.items[edge.source] for chain in found.chains for edge in chain.edges])
        return found

    def inbox(self, *, scope: Scope) -> list[Proposal]:
        """Return what waits for the person, oldest first: each with its quote, why it waits, and what speaks against.

        Proposals are of exactly this scope and of what its agents share.
        """
        with self._doors.reading(scope) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                waiting = records.items_about(transaction, view, statuses=(Status.CANDIDATE,), is_current=True)
                found = [self._proposal(transaction, view, one) for one in _beliefs(waiting)]
            show([one.belief.record for one in found])
        return found

    def confirm(self, record_id: str, *, scope: Scope, author: str = PERSON) -> Belief:
        """Believe what is proposed or stated as confirmed by the person; what it contradicts ends now."""
        with self._doors.writing(scope), self._database.write(scope.tenant) as transaction:
            place, belief = self._opened(transaction, scope, record_id)
            rivals = [] if belief.record.valid_to is not None else self._rivals(transaction, place, scope, belief)
            if rivals:
                began = [one.record.valid_from or 0 for one in (belief, *rivals)]
                _end(transaction, place.scope_id, rivals, at=max(began), cause=belief.record.id, author=author)
            _change(
                transaction, place.scope_id, belief.record, Change.CONFIRMED, author, {"status": Status.CONFIRMED.value}
            )
            return self._renewed(transaction, place, scope, belief.record.id)

    def reject(self, record_id: str, *, scope: Scope, reason: str = "", author: str = PERSON) -> Belief:
        """Throw out what is proposed or believed, for good: it is not proposed again; only the person can say it."""
        return self._drop(record_id, Change.REJECTED, scope, reason, author)

    def retract(self, record_id: str, *, scope: Scope, reason: str = "", author: str = PERSON) -> Belief:
        """Stop believing something, everywhere and at once; its history keeps it with the reason."""
        return self._drop(record_id, Change.RETRACTED, scope, reason, author)

    def correct(self, record_id: str, value: str, *, scope: Scope, author: str = PERSON) -> Belief:
        """Put the right value in the place of a wrong one, confirmed, since the wrong one was believed."""
        return self._replaced(record_id, scope, author, Change.CORRECTED, value=value)

    def narrow(self, record_id: str, applies_to: str, *, scope: Scope, author: str = PERSON) -> Belief:
        """Say that something holds only somewhere ("at work", "project X"), confirmed; elsewhere it is not believed."""
        return self._replaced(record_id, scope, author, Change.NARROWED, applies_to=applies_to)

    def _about(
        self, scope: Scope, subject: str, *, attribute: str = "", is_current: bool = False, with_changes: bool = False
    ) -> list[Belief]:
        with self._doors.reading(scope) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                found = _beliefs(
                    records.items_about(
                        transaction,
                        view,
                        subject_key=name_key(subject),
                        attribute=attribute,
                        kinds=_OF_A_PROFILE,
                        statuses=_BELIEVED if is_current else (),
                        is_current=is_current,
                    )
                )
                if with_changes:
                    found = _with_changes(transaction, view, found)
            show([one.record for one in found])
        return found

    def _proposal(self, transaction: Transaction, view: View, belief: Belief) -> Proposal:
        against: tuple[Belief, ...] = ()
        if not self.attributes.of(belief.claim.attribute).has_many:
            against = current(
                other
                for other in _beliefs(_of_slot(transaction, view, belief))
                if other.claim.applies_to == belief.claim.applies_to
            )
        return Proposal(belief=belief, why=str(belief.record.body.get("why", "")), against=against)

    def _rivals(self, transaction: Transaction, place: Place, scope: Scope, belief: Belief) -> list[Belief]:
        """Return the current beliefs of the same slot with another value, where it has one value."""
        if self.attributes.of(belief.claim.attribute).has_many:
            return []
        same = name_key(belief.value)
        found = _beliefs(_of_slot(transaction, View({place.scope_id: scope}), belief))
        return [
            one
            for one in current(found)
            if one.id != belief.id and one.claim.applies_to == belief.claim.applies_to and name_key(one.value) != same
        ]

    def _drop(self, record_id: str, change: Change, scope: Scope, reason: str, author: str) -> Belief:
        with self._doors.writing(scope), self._database.write(scope.tenant) as transaction:
            place, belief = self._opened(transaction, scope, record_id)
            values: dict[str, Any] = {"retracted_at": transaction.now, "content_key": None}
            if change is Change.REJECTED:
                values["status"] = Status.REJECTED.value
            _change(transaction, place.scope_id, belief.record, change, author, values, reason=reason)
            return self._renewed(transaction, place, scope, belief.record.id)

    def _replaced(
        self, record_id: str, scope: Scope, author: str, change: Change, *, value: str = "", applies_to: str = ""
    ) -> Belief:
        if not (value or applies_to).strip():
            raise InvalidInput("say the right value" if change is Change.CORRECTED else "say where it applies")
        with self._doors.writing(scope), self._database.write(scope.tenant) as transaction:
            place, old = self._opened(transaction, scope, record_id)
            _change(
                transaction,
                place.scope_id,
                old.record,
                change,
                author,
                {"retracted_at": transaction.now, "content_key": None},
            )
            renew(transaction, place.scope_id, [_reread(transaction, place, scope, old.record.id)])
            said = old.record.occurred or Moment.at(transaction.now, self._zone)
            told = _told(
                old.record.kind,
                old.claim.attribute,
                value or old.value,
                subject=old.claim.subject,
                applies_to=applies_to or old.claim.applies_to,
                at=said,
                author=author,
                body=old.record.body,
            )
            learned = learn(place, [told], self.attributes)[0]
            if learned.record_id is None:
                raise InvalidInput(f"it cannot be kept so: {learned.reason}")
            fresh = _reread(transaction, place, scope, learned.record_id)
            _change(transaction, place.scope_id, fresh, Change.CONFIRMED, author, {"status": Status.CONFIRMED.value})
            return self._renewed(transaction, place, scope, learned.record_id)

    def _opened(self, transaction: Transaction, scope: Scope, record_id: str) -> tuple[Place, Belief]:
        """Return a belief of exactly this scope, which is locked from now on; raise NotFound, or InvalidInput."""
        place = Place(transaction, scope)
        record = _reread(transaction, place, scope, record_id)
        if record.retracted_at is not None:
            raise InvalidInput(f"{record_id!r} was retracted already")
        (belief,) = _beliefs([record]) or (None,)
        if belief is None:
            raise InvalidInput(f"{record_id!r} makes no claim; erase or keep it as what it is")
        return place, belief

    def _renewed(self, transaction: Transaction, place: Place, scope: Scope, record_id: str) -> Belief:
        """Let the index know how an item stands now, and return it."""
        record = _reread(transaction, place, scope, record_id)
        renew(transaction, place.scope_id, [record])
        return _beliefs([record])[0]

    def _moment(self, at: When) -> Moment:
        return Moment.parse(at, zone=self._zone)


def _beliefs(found: Sequence[ItemRecord]) -> list[Belief]:
    told = ((record, claim_of(record.body)) for record in found)
    known = [Belief(claim=claim, record=record) for record, claim in told if claim is not None]
    return sorted(known, key=_as_said)


def _as_said(belief: Belief) -> tuple[int, int, int, str]:
    starts = min((source.start for source in belief.record.sources), default=0)
    return belief.record.recorded_at, starts, belief.record.text.find(belief.value), belief.id


def _of_slot(transaction: Transaction, view: View, belief: Belief) -> list[ItemRecord]:
    return records.items_about(
        transaction, view, subject_key=name_key(belief.claim.subject), attribute=belief.claim.attribute
    )


def _with_changes(transaction: Transaction, view: View, found: Sequence[Belief]) -> list[Belief]:
    changes: dict[str, list[Revision]] = {}
    for one in claims.revisions(transaction, view.scope_ids, [id_bytes(belief.id) for belief in found]):
        changes.setdefault(one.record_id, []).append(one)
    return [replace(belief, changes=tuple(changes.get(belief.id, ()))) for belief in found]


def _reread(transaction: Transaction, place: Place, scope: Scope, record_id: str) -> ItemRecord:
    try:
        raw = id_bytes(record_id)
    except ValueError as error:
        raise InvalidInput(f"{record_id!r} is not an id: expected 32 hexadecimal digits") from error
    view = View({place.scope_id: scope})
    found = records.fetch(transaction, view, records.kinds_of(transaction, view, [raw])).get(raw)
    if not isinstance(found, ItemRecord):
        raise NotFound(f"nothing is known as {record_id!r} in {scope}")
    return found


def _change(
    transaction: Transaction,
    scope_id: int,
    record: ItemRecord,
    change: Change,
    author: str,
    values: Mapping[str, Any],
    *,
    reason: str = "",
) -> None:
    before: dict[str, JSON] = {"status": record.status.value, "retracted_at": record.retracted_at}
    revision = Revision(
        record_id=record.id,
        version=record.version + 1,
        changed_at=transaction.now,
        change=change,
        author=author,
        reason=reason,
        before={name: before[name] for name in values if name in before},
    )
    beliefs.update_item(transaction, scope_id, id_bytes(record.id), revision, values)


def _end(
    transaction: Transaction, scope_id: int, rivals: Sequence[Belief], *, at: int, cause: RecordId, author: str
) -> None:
    changes = [
        Revision(
            record_id=one.record.id,
            version=0,
            changed_at=0,
            change=Change.SUPERSEDED,
            author=author,
            reason="the person confirmed another value",
            cause=cause,
            before={"valid_to": None},
        )
        for one in rivals
    ]
    beliefs.change(transaction, scope_id, ends={id_bytes(one.id): at for one in rivals}, retracts=(), revisions=changes)


def _told(
    kind: Kind,
    attribute: str,
    value: str,
    *,
    subject: str,
    applies_to: str,
    at: Moment,
    author: str,
    body: Mapping[str, JSON] | None = None,
) -> Taught:
    """Return what a person says through a verb; the claim itself is its only source."""
    candidate = Candidate(
        kind=kind,
        subject=subject,
        attribute=attribute,
        value=value.strip(),
        message_id=RecordId(""),
        start=0,
        end=0,
        applies_to=applies_to.strip(),
        body={name: told for name, told in (body or {}).items() if name != "why"},
    )
    where = f" ({candidate.applies_to})" if candidate.applies_to else ""
    who = "" if subject == PERSON else f"{subject}, "
    text = f"{who}{attribute}: {candidate.value}{where}"
    return Taught(candidate=candidate, text=text, at=at, trust=Trust.PERSON, author=author, source_kind=None)
