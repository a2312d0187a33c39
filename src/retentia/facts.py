"""Facts: what is believed of a person and of others, and the verbs by which a person decides about it.

A candidate is only in the inbox. What was said outright is stated, what the person confirmed is confirmed. Nothing is
overwritten: what changes ends, what was wrong is retracted, and both keep their history.

Every verb that writes takes `expected_version`, the version of the belief that its caller has read: where somebody else
has changed it meanwhile, the verb raises Conflict and changes nothing. Each change names its `author`.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from retentia.doors import Doors, Show
from retentia.errors import InvalidInput
from retentia.index.names import name_key
from retentia.learn.aliases import AliasProposal, Entity, propose_aliases
from retentia.learn.apply import Taught, learn
from retentia.learn.believed import beliefs_of, item_at, of_slot, with_changes
from retentia.learn.believed_graph import ALSO_CALLED, BelievedGraph
from retentia.learn.chains import Found, find_chains
from retentia.learn.deciding import change_item, check_held, check_version, end_rivals, told
from retentia.learn.relations import Relations
from retentia.lifecycle.reindex import renew
from retentia.masked import masked_belief
from retentia.model.attributes import Attributes
from retentia.model.belief import Belief, Profile, Proposal, as_known, current
from retentia.model.candidate import PERSON
from retentia.model.claim import Change
from retentia.model.ids import RecordId
from retentia.model.learned import Learned
from retentia.model.message import When
from retentia.model.provenance import Trust
from retentia.model.record import BELIEVED, ITEM_KINDS, PROFILE_KINDS, Kind, Status
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import records
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.write.items import check_sources
from retentia.write.place import Place


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

    def behind(self, doors: Doors) -> "Facts":
        """Return the same verbs behind other doors."""
        return Facts(self._database, doors, self.attributes, self.relations, zone=self._zone)

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
        found = self._about(scope, subject, with_history=known is not None)
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
        """Return all that was ever believed or proposed of an attribute, or of all, with its changes, oldest first.

        What was only proposed, or thrown out, is shown to the person alone.
        """
        name = self.attributes.of(attribute).name if attribute else ""
        return self._about(scope, subject, attribute=name, with_history=True)

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
        author: str = PERSON,
        expected_version: int | None = None,
    ) -> Learned:
        """Say that a subject has an attribute with a value, as the person's own word; others keep theirs.

        An attribute with one value takes this one from `at` on, now where it is not given; what held before is kept
        as past. `expected_version` is that of what is believed there now, of an attribute with many values of this
        value; 0 for nothing. Raises InvalidInput and Conflict.
        """
        if not attribute.strip() or not value.strip():
            raise InvalidInput("a fact needs an attribute and a value")
        taught = told(
            Kind.FACT,
            attribute,
            value,
            subject=subject,
            applies_to=applies_to,
            at=Moment.at(self._database.now(), self._zone) if at is None else self._moment(at),
            author=author,
        )
        return self._learn([taught], scope, expected_version=expected_version, confirmed=confirmed)[0]

    def learn(self, taught: Sequence[Taught], *, scope: Scope) -> list[Learned]:
        """Reconcile candidates in order with what is held, and keep what follows; tell what became of each.

        What they name as their source must be in the scope. Raises InvalidInput.
        """
        return self._learn(taught, scope)

    def chains(self, question: str, *, scope: Scope, limit: int = 5) -> Found:
        """Answer a question by following what is believed now, up to three steps from what it names; best first.

        Each chain has the statements that it rests on. Where there is none, the reason is told. Who sees personal data
        masked sees no chain that has some.
        """
        with self._doors.reading(scope, PROFILE_KINDS) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                graph = BelievedGraph(transaction, view, self.attributes)
                found = find_chains(question, graph, self.relations, limit=limit)
            told = [(chain, [graph.items[edge.source] for edge in chain.edges]) for chain in found.chains]
            whole = tuple(chain for chain, items in told if items == show(items))
        return found if len(whole) == len(told) else replace(found, chains=whole)

    def alias_proposals(self, *, scope: Scope) -> list[AliasProposal]:
        """Return which names, of whom or what something is believed, may be one, with the reason; nothing is merged.

        What the person said is one already, or called otherwise, is left out.
        """
        with self._doors.reading(scope, PROFILE_KINDS) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                found = records.items_about(transaction, view, statuses=BELIEVED, kinds=PROFILE_KINDS, is_current=True)
            held = beliefs_of(show(found))
        known = {
            frozenset((name_key(one.claim.subject), name_key(one.value)))
            for one in held
            if one.claim.attribute == ALSO_CALLED
        }
        proposed = propose_aliases(_entities(held, self.attributes))
        return [
            one for one in proposed if frozenset((name_key(one.first.name), name_key(one.second.name))) not in known
        ]

    def merge_names(self, name: str, other: str, *, scope: Scope, author: str = PERSON) -> Learned:
        """Say that two names are one, as the person's word: chains follow either; `retract` takes it back.

        Nothing that is believed under either name is changed. Raises InvalidInput where they are one name already.
        """
        if name_key(name) == name_key(other):
            raise InvalidInput(f"{name!r} and {other!r} are one name already")
        return self.set(ALSO_CALLED, other, subject=name, scope=scope, confirmed=True, author=author)

    def inbox(self, *, scope: Scope) -> list[Proposal]:
        """Return what waits for the person, oldest first: each with its quote, why it waits, and what speaks against.

        Proposals are of exactly this scope and of what its agents share.
        """
        with self._doors.reading(scope, ITEM_KINDS, proposals=True) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                waiting = records.items_about(transaction, view, statuses=(Status.CANDIDATE,), is_current=True)
                found = [self._proposal(transaction, view, one) for one in beliefs_of(waiting)]
            shown = _shown(show, [one.belief for one in found])
            return [
                replace(one, belief=belief, against=tuple(_shown(show, one.against)))
                for one, belief in zip(found, shown, strict=True)
            ]

    def confirm(
        self, record_id: str, *, scope: Scope, author: str = PERSON, expected_version: int | None = None
    ) -> Belief:
        """Believe what is proposed or stated as confirmed by the person; what it contradicts ends now."""
        author = self._doors.author(author)
        with self._doors.deciding(scope) as show:
            with self._database.write(scope.tenant) as transaction:
                place = Place(transaction, scope)
                confirmed = self._confirm(place, record_id, author, expected_version)
            return _shown(show, [confirmed])[0]

    def reject(
        self,
        record_id: str,
        *,
        scope: Scope,
        reason: str = "",
        author: str = PERSON,
        expected_version: int | None = None,
    ) -> Belief:
        """Throw out what is proposed or believed, for good: it is not proposed again; only the person can say it."""
        return self._drop(record_id, Change.REJECTED, scope, reason, author, expected_version)

    def retract(
        self,
        record_id: str,
        *,
        scope: Scope,
        reason: str = "",
        author: str = PERSON,
        expected_version: int | None = None,
    ) -> Belief:
        """Stop believing something, everywhere and at once; its history keeps it with the reason."""
        return self._drop(record_id, Change.RETRACTED, scope, reason, author, expected_version)

    def correct(
        self, record_id: str, value: str, *, scope: Scope, author: str = PERSON, expected_version: int | None = None
    ) -> Belief:
        """Put the right value in the place of a wrong one, confirmed, since the wrong one was believed."""
        if not value.strip():
            raise InvalidInput("say the right value")
        return self._replaced(record_id, Change.CORRECTED, scope, author, expected_version, value=value)

    def narrow(
        self,
        record_id: str,
        applies_to: str,
        *,
        scope: Scope,
        author: str = PERSON,
        expected_version: int | None = None,
    ) -> Belief:
        """Say that something holds only somewhere ("at work", "project X"), confirmed; elsewhere it is not believed."""
        if not applies_to.strip():
            raise InvalidInput("say where it applies")
        return self._replaced(record_id, Change.NARROWED, scope, author, expected_version, applies_to=applies_to)

    def _about(
        self, scope: Scope, subject: str, *, attribute: str = "", is_current: bool = False, with_history: bool = False
    ) -> list[Belief]:
        with self._doors.reading(scope, PROFILE_KINDS) as show:
            statuses = BELIEVED if is_current or not self._doors.decides(scope) else ()
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                found = beliefs_of(
                    records.items_about(
                        transaction,
                        view,
                        subject_key=name_key(subject),
                        attribute=attribute,
                        kinds=PROFILE_KINDS,
                        statuses=statuses,
                        is_current=is_current,
                    )
                )
                if with_history:
                    found = with_changes(transaction, view, found)
            return _shown(show, found)

    def _confirm(self, place: Place, record_id: str, author: str, expected_version: int | None = None) -> Belief:
        belief = _opened(place, record_id, expected_version)
        rivals = [] if belief.record.valid_to is not None else self._rivals(place, belief)
        if rivals:
            began = [one.record.valid_from or 0 for one in (belief, *rivals)]
            end_rivals(place, rivals, at=max(began), cause=belief.record.id, author=author)
        change_item(place, belief.record, Change.CONFIRMED, author, {"status": Status.CONFIRMED.value})
        return _renewed(place, belief.record.id)

    def _learn(
        self,
        taught: Sequence[Taught],
        scope: Scope,
        *,
        expected_version: int | None = None,
        confirmed: bool = False,
    ) -> list[Learned]:
        is_own_word = self._doors.decides(scope)
        taught = [
            replace(
                one,
                author=self._doors.author(one.author),
                trust=one.trust if is_own_word or one.trust is not Trust.PERSON else Trust.AGENT,
            )
            for one in taught
        ]
        kinds = {one.candidate.kind for one in taught}
        decided = self._doors.deciding(scope) if confirmed else nullcontext()
        with self._doors.writing(scope, kinds), decided, self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope)
            check_sources(transaction, scope, [source for one in taught for source in one.sources])
            if expected_version is not None:
                self._check_slot(place, taught[0], expected_version)
            learned = learn(place, taught, self.attributes)
            if confirmed:
                for told, one in zip(taught, learned, strict=True):
                    if one.record_id is not None:
                        self._confirm(place, one.record_id, told.author)
            return learned

    def _check_slot(self, place: Place, taught: Taught, expected: int) -> None:
        """Check the version of what is believed in the slot of a claim; 0 is that of nothing."""
        claim = taught.candidate
        attribute = self.attributes.of(claim.attribute)
        view = View({place.scope_id: place.scope})
        found = beliefs_of(
            records.items_about(
                place.transaction,
                view,
                subject_key=name_key(claim.subject),
                attribute=attribute.name,
                value_key=name_key(claim.value) if attribute.has_many else None,
                statuses=BELIEVED,
                is_current=True,
            )
        )
        here = [one for one in found if name_key(one.claim.applies_to) == name_key(claim.applies_to)]
        check_held(here[-1].record if here else None, expected, attribute.name)

    def _proposal(self, transaction: Transaction, view: View, belief: Belief) -> Proposal:
        against: tuple[Belief, ...] = ()
        if not self.attributes.of(belief.claim.attribute).has_many:
            beside = of_slot(transaction, view, belief)
            against = current(one for one in beside if one.claim.applies_to == belief.claim.applies_to)
        return Proposal(belief=belief, why=str(belief.record.body.get("why", "")), against=against)

    def _rivals(self, place: Place, belief: Belief) -> list[Belief]:
        """Return the current beliefs of the same slot with another value, where it has one value."""
        if self.attributes.of(belief.claim.attribute).has_many:
            return []
        same = name_key(belief.value)
        return [
            one
            for one in current(of_slot(place.transaction, View({place.scope_id: place.scope}), belief))
            if one.id != belief.id and one.claim.applies_to == belief.claim.applies_to and name_key(one.value) != same
        ]

    def _drop(
        self, record_id: str, change: Change, scope: Scope, reason: str, author: str, expected_version: int | None
    ) -> Belief:
        with self._doors.deciding(scope) as show:
            with self._database.write(scope.tenant) as transaction:
                place = Place(transaction, scope)
                belief = _opened(place, record_id, expected_version)
                values: dict[str, Any] = {"retracted_at": transaction.now, "content_key": None}
                if change is Change.REJECTED:
                    values["status"] = Status.REJECTED.value
                change_item(place, belief.record, change, self._doors.author(author), values, reason=reason)
                dropped = _renewed(place, belief.record.id)
            return _shown(show, [dropped])[0]

    def _replaced(
        self,
        record_id: str,
        change: Change,
        scope: Scope,
        author: str,
        expected_version: int | None,
        *,
        value: str = "",
        applies_to: str = "",
    ) -> Belief:
        author = self._doors.author(author)
        with self._doors.deciding(scope) as show:
            with self._database.write(scope.tenant) as transaction:
                place = Place(transaction, scope)
                old = _opened(place, record_id, expected_version)
                gone = {"retracted_at": transaction.now, "content_key": None}
                change_item(place, old.record, change, author, gone)
                renew(transaction, place.scope_id, [item_at(place, old.record.id)])
                taught = told(
                    old.record.kind,
                    old.claim.attribute,
                    value or old.value,
                    subject=old.claim.subject,
                    applies_to=applies_to or old.claim.applies_to,
                    at=old.record.occurred or Moment.at(transaction.now, self._zone),
                    author=author,
                    body=old.record.body,
                )
                learned = learn(place, [taught], self.attributes)[0]
                if learned.record_id is None:
                    raise InvalidInput(f"it cannot be kept so: {learned.reason}")
                fresh = item_at(place, learned.record_id)
                change_item(place, fresh, Change.CONFIRMED, author, {"status": Status.CONFIRMED.value})
                replaced = _renewed(place, learned.record_id)
            return _shown(show, [replaced])[0]

    def _moment(self, at: When) -> Moment:
        return Moment.parse(at, zone=self._zone)


def _shown(show: Show, found: Sequence[Belief]) -> list[Belief]:
    """Return beliefs as their reader may see them; what is masked in the record is masked in all of it."""
    seen = show([one.record for one in found])
    return [
        one if record is one.record else masked_belief(one, record) for one, record in zip(found, seen, strict=True)
    ]


def _opened(place: Place, record_id: str, expected_version: int | None) -> Belief:
    """Return a belief of exactly this scope, which is locked from now on.

    Raises NotFound, InvalidInput, and Conflict where it is not at the version that was read.
    """
    record = item_at(place, record_id)
    check_version(record, expected_version)
    if record.retracted_at is not None:
        raise InvalidInput(f"{record_id!r} was retracted already")
    (belief,) = beliefs_of([record]) or (None,)
    if belief is None:
        raise InvalidInput(f"{record_id!r} makes no claim; erase or keep it as what it is")
    return belief


def _renewed(place: Place, record_id: RecordId) -> Belief:
    """Let the index know how an item stands now, and return it."""
    record = item_at(place, record_id)
    renew(place.transaction, place.scope_id, [record])
    return beliefs_of([record])[0]


def _entities(held: Sequence[Belief], attributes: Attributes) -> list[Entity]:
    """Return whom and what something is believed of, the person apart, with what each has one value of."""
    unique: dict[str, dict[str, str]] = {}
    for one in held:
        if one.claim.subject != PERSON and one.claim.attribute != ALSO_CALLED:
            own = unique.setdefault(one.claim.subject, {})
            if not attributes.of(one.claim.attribute).has_many:
                own[one.claim.attribute] = one.value
    return [Entity(name=name, unique=own) for name, own in unique.items()]
