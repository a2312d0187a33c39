"""Consolidating a scope: read, decide, write; each write short, checked against what was read, and undoable.

Nothing is held while it is decided: what changed meanwhile is left as it is and looked at the next time. Each merge and
each topic is one transaction under the lock of the scope, so that two of these at once make nothing twice, and an
interruption leaves some of it done and none of it half. What goes lies in the bin.
"""

import functools
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from retentia.index.vectors import to_single
from retentia.learn import consolidate
from retentia.learn.consolidate import TOPIC, ConsolidationSettings, Merge, Raise
from retentia.learn.topics import AT_ONCE, GATHERED, MOST_MEMBERS, Topic, gather
from retentia.lifecycle.bin import Bin
from retentia.model.consolidation import Consolidation, Merged, Surer, TopicMade
from retentia.model.ids import RecordId, id_bytes, id_text, new_id_bytes
from retentia.model.provenance import Source, Trust
from retentia.model.record import Importance, ItemRecord, Kind, Status
from retentia.model.scope import Scope
from retentia.security import audit
from retentia.security.audit import Action, Actor
from retentia.store import beliefs, generations, passages, records, retention, schema, scopes, topics
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.write import indexed
from retentia.write.admission import dump
from retentia.write.items import derive_also_from, link_sources
from retentia.write.place import Place
from retentia.write.rows import Draft

AUTHOR = "consolidation"
CAUSE = "consolidation"

Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class _Plan:
    merges: Sequence[Merge]
    raises: Sequence[Raise]
    topics: Sequence[Topic]
    replaced: Mapping[RecordId, tuple[RecordId, ...]]


class Consolidator:
    """Consolidates scopes of one store, in the name of `actor`. Safe to run in several processes at once."""

    def __init__(self, database: Database, removed: Bin, *, actor: Actor, settings: ConsolidationSettings) -> None:
        self._database = database
        self._bin = removed
        self._actor = actor
        self._settings = settings

    def preview(self, scope: Scope) -> Consolidation:
        """Tell what would be done in exactly this scope, and do nothing."""
        plan = self._plan(scope)
        return Consolidation(
            merged=tuple(_merged(one, None) for one in plan.merges),
            topics=tuple(_made(one, plan, None) for one in plan.topics),
            surer=tuple(_surer(one) for one in plan.raises),
            is_preview=True,
        )

    def run(self, scope: Scope, *, undo_for: timedelta, stop: Stop = lambda: False) -> Consolidation:
        """Merge duplicates, write topics and raise confidence in exactly this scope; `stop` ends it between two steps.

        What goes can be restored for `undo_for`.
        """
        plan = self._plan(scope)
        merged, made, skipped = [], [], 0
        for merge in plan.merges:
            if stop():
                break
            removal = self._merge(scope, merge, undo_for)
            merged += [] if removal is None else [_merged(merge, removal)]
            skipped += removal is None
        surer = [] if stop() else self._raise(scope, plan.raises)
        for topic in plan.topics:
            if stop():
                break
            record_id = self._write(scope, topic, plan.replaced.get(_key(topic), ()), undo_for)
            made += [] if record_id is None else [_made(topic, plan, record_id)]
            skipped += record_id is None
        return Consolidation(merged=tuple(merged), topics=tuple(made), surer=tuple(surer), skipped=skipped)

    def _plan(self, scope: Scope) -> _Plan:
        with self._database.read(scope.tenant) as transaction:
            scope_id = scopes.find(transaction, scope)
            if scope_id is None:
                return _Plan((), (), (), {})
            known = records.believed(transaction, View({scope_id: scope}))
        merges = consolidate.merges(known)
        gone = {one.id for merge in merges for one in merge.gone}
        raises = [one for one in consolidate.raises(known) if one.record.id not in gone]
        if not self._settings.topics:
            return _Plan(merges, raises, (), {})
        return _Plan(merges, raises, *self._gather(scope, scope_id, [one for one in known if one.id not in gone]))

    def _gather(
        self, scope: Scope, scope_id: int, known: Sequence[ItemRecord]
    ) -> tuple[list[Topic], dict[RecordId, tuple[RecordId, ...]]]:
        """Return the topics to write, and by their first member the topics that they take the place of."""
        there = {one.id: tuple(source.id for source in one.sources) for one in known if consolidate.is_topic(one)}
        grouped = {member for members in there.values() for member in members}
        far = _without_near([one for one in known if one.kind in GATHERED], self._settings.events_near)
        free = [one for one in far if one.id not in there and one.id not in grouped][-AT_ONCE:]
        recent = {one: there[one] for one in sorted(there)[-AT_ONCE // MOST_MEMBERS :]}
        taken = {member for members in recent.values() for member in members}
        some = [*free, *(one for one in known if one.id in taken)]
        with self._database.read(scope.tenant) as transaction:
            vectors = _vectors(transaction, scope_id, some)
        found = gather(some, list(recent.values()), vectors)
        fresh, replaced = [], {}
        for topic in found:
            ids = {one.id for one in topic.members}
            instead = tuple(sorted(name for name, members in there.items() if ids & set(members)))
            if len(instead) == 1 and set(there[instead[0]]) == ids:
                continue
            fresh.append(topic)
            replaced[_key(topic)] = instead
        return fresh, replaced

    def _merge(self, scope: Scope, merge: Merge, undo_for: timedelta) -> RecordId | None:
        """Give one record the sources of its duplicates and put these into the bin; None where any has changed."""
        ids = [one.id for one in merge.gone]

        def prepare(transaction: Transaction, scope_id: int) -> Collection[bytes]:
            if not _is_unchanged(transaction, scope_id, [merge.kept, *merge.gone]):
                return ()
            kept = id_bytes(merge.kept.id)
            if not retention.extend(transaction, scope_id, kept, until=merge.expires_at):
                return ()
            sources = {source for one in merge.gone for source in one.sources}
            link_sources(transaction, kept, sorted(sources, key=lambda one: (one.kind, one.id, one.start)))
            derive_also_from(transaction, kept, [id_bytes(one) for one in ids])
            seen = {source.id for source in (*merge.kept.sources, *sources)}
            beliefs.count_sources(transaction, scope_id, {kept: len(seen)})
            return [id_bytes(one) for one in ids]

        done = self._bin.remove(scope, ids, cause=CAUSE, restorable_for=undo_for, actor=self._actor, prepare=prepare)
        return id_text(id_bytes(done.id)) if done.records else None

    def _raise(self, scope: Scope, raises: Sequence[Raise]) -> list[Surer]:
        if not raises:
            return []
        with self._noting(Action.WRITE), self._database.write(scope.tenant) as transaction:
            scope_id = scopes.find(transaction, scope)
            if scope_id is None:
                return []
            scopes.lock(transaction, [scope_id])
            there = beliefs.versions(transaction, scope_id, [id_bytes(one.record.id) for one in raises])
            still = [one for one in raises if there.get(id_bytes(one.record.id)) == one.record.version]
            beliefs.raise_confidence(transaction, scope_id, {id_bytes(one.record.id): one.confidence for one in still})
        return [_surer(one) for one in still]

    def _write(self, scope: Scope, topic: Topic, instead: Sequence[RecordId], undo_for: timedelta) -> RecordId | None:
        """Write a topic, after the ones it takes the place of are in the bin; None where a member has changed."""
        if instead:
            self._bin.remove(scope, instead, cause=CAUSE, restorable_for=undo_for, actor=self._actor)
        with self._noting(Action.WRITE), self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope)
            scopes.lock(transaction, [place.scope_id])
            members = [id_bytes(one.id) for one in topic.members]
            if not _is_unchanged(transaction, place.scope_id, topic.members):
                return None
            if topics.quoting(transaction, place.scope_id, members):  # another one has written it meanwhile
                return None
            record_id = new_id_bytes()
            draft = _draft(topic)
            described = indexed.item(Kind.KNOWLEDGE, **draft.known(record_id, transaction.now))
            place.insert(schema.item, [draft.row(described, content_key=None)])
            quoted = [Source(kind="item", id=one.id, end=len(one.text), role=topics.MEMBER) for one in topic.members]
            link_sources(transaction, record_id, quoted)
        return id_text(record_id)

    def _noting(self, action: Action) -> AbstractContextManager[None]:
        return self._database.noting(functools.partial(audit.log_writes, self._actor, action))


def _is_unchanged(transaction: Transaction, scope_id: int, known: Sequence[ItemRecord]) -> bool:
    """Tell whether records of a locked scope are there in the versions they were read in."""
    there = beliefs.versions(transaction, scope_id, [id_bytes(one.id) for one in known])
    return all(there.get(id_bytes(one.id)) == one.version for one in known)


def _vectors(transaction: Transaction, scope_id: int, known: Sequence[ItemRecord]) -> dict[str, NDArray[np.float32]]:
    """Return the mean of the vectors of each record that has one."""
    serving = generations.serving(transaction)
    if serving is None:
        return {}
    rows = passages.load_vectors(transaction, scope_id, serving.id, [id_bytes(one.id) for one in known])
    parts: dict[str, list[NDArray[np.float32]]] = {}
    for row in rows:
        parts.setdefault(id_text(bytes(row.record_id)), []).append(to_single(row.vector))
    return {record_id: np.mean(some, axis=0, dtype=np.float32) for record_id, some in parts.items()}


def _without_near(known: Sequence[ItemRecord], events_near: int) -> list[ItemRecord]:
    """Leave out the latest events, so many of them."""
    events = [one for one in known if one.kind is Kind.EVENT]
    events.sort(key=lambda one: (one.recorded_at if one.occurred is None else one.occurred.start, one.id))
    near = {one.id for one in events[max(0, len(events) - events_near) :]}
    return [one for one in known if one.id not in near]


def _draft(topic: Topic) -> Draft:
    trusts = Counter(one.trust for one in topic.members)
    least = next(trust for trust in (Trust.OUTSIDE, Trust.AGENT, Trust.PERSON) if trusts[trust])
    return Draft(
        text=topic.text,
        moment=None,
        trust=least,
        metadata=None,
        columns={
            "kind": Kind.KNOWLEDGE,
            "status": Status.STATED,
            "importance": Importance.NORMAL,
            "author": AUTHOR,
            "body": dump({TOPIC: topic.title, "members": len(topic.members)}),
        },
    )


def _key(topic: Topic) -> RecordId:
    return topic.members[0].id


def _merged(merge: Merge, removal: RecordId | None) -> Merged:
    return Merged(kept=merge.kept.id, gone=tuple(one.id for one in merge.gone), text=merge.kept.text, removal=removal)


def _made(topic: Topic, plan: _Plan, record_id: RecordId | None) -> TopicMade:
    members = tuple(one.id for one in topic.members)
    return TopicMade(title=topic.title, members=members, instead=plan.replaced.get(_key(topic), ()), id=record_id)


def _surer(one: Raise) -> Surer:
    return Surer(id=one.record.id, before=one.record.confidence, confidence=one.confidence)
