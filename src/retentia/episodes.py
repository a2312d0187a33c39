"""Episodes: what happened, what was promised, how things are done, and all that is remembered; the verbs for it.

Only what is believed is in it. What is proposed waits in the inbox of `retentia.facts`.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from retentia.doors import Doors
from retentia.errors import InvalidInput
from retentia.learn.believed import changes_of, item_at
from retentia.learn.commitments import CLOSED_AS, promise_of
from retentia.learn.deciding import change_item, check_version
from retentia.learn.episode_words import EPISODIC, kinds_named
from retentia.learn.remembered import SHOWN_FIRST, read_cursor, remembered, within_budget, write_cursor
from retentia.lifecycle.reindex import renew
from retentia.model.candidate import PERSON
from retentia.model.claim import Change
from retentia.model.commitment import CommitmentStatus
from retentia.model.episode import (
    Episode,
    EpisodeSearch,
    Procedure,
    Promise,
    RememberedPage,
)
from retentia.model.ids import RecordId, id_bytes
from retentia.model.message import When
from retentia.model.provenance import Source
from retentia.model.record import ITEM_KINDS, Importance, ItemRecord, Kind
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.read.query import Query, Recall
from retentia.read.when import split_time
from retentia.store import records
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.working.procedures import fitting, task_of
from retentia.working.tokens import EstimatingCounter
from retentia.write.items import check_sources
from retentia.write.place import Place

Times: TypeAlias = "str | tuple[When | None, When | None] | None"
"""A phrase ("last month", "am letzten Dienstag", "минулого тижня"), or [since, until) with None for open."""

_MOST = 1_000
_MORE = 5
"""So many times as many are searched for where a topic or an importance leaves some out."""


class Episodes:
    """What happened and how things are done, by scope. Every verb takes the scope; safe to use from many threads."""

    def __init__(
        self,
        database: Database,
        doors: Doors,
        *,
        zone: str,
        recall: Callable[[Query, Scope], Recall],
        about: Callable[[Transaction, str, Scope], set[bytes]],
    ) -> None:
        self._database = database
        self._doors = doors
        self._zone = zone
        self._recall = recall
        self._records_about = about

    def behind(self, doors: Doors) -> "Episodes":
        """Return the same verbs behind other doors."""
        return Episodes(self._database, doors, zone=self._zone, recall=self._recall, about=self._records_about)

    def search_episodes(
        self,
        query: str = "",
        *,
        scope: Scope,
        when: Times = None,
        topic: str = "",
        importance: Importance | str | None = None,
        limit: int = 10,
    ) -> EpisodeSearch:
        """Find events, decisions and commitments by meaning, by time, by topic or by all of these.

        `query` may name the time itself ("what did we decide last month?"); `when` takes its place. `topic` wants all
        its words, in any form. Without words of its own a question is answered by time, the latest first. Raises
        InvalidInput for a phrase that names no time.
        """
        if limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {limit}")
        wanted = None if importance is None else Importance(importance)
        with self._doors.reading(scope, EPISODIC) as show:
            now = Moment.at(self._database.now(), self._zone)
            question, since, until = _timed(query, when, now)
            kinds = kinds_named(question)
            if kinds is None:
                found, reason = self._by_meaning(question, scope, since, until, topic, wanted, limit)
            else:
                found = self._by_time(scope, kinds, since, until, topic, wanted, limit)
                reason = f"{len(found)} found by time" if found else "nothing of that kind is remembered of that time"
            seen = show([one.record for one in found])
            shown = [Episode(record=record, score=one.score) for one, record in zip(found, seen, strict=True)]
        return EpisodeSearch(episodes=tuple(shown), reason=reason, since=since, until=until)

    def list_open_items(self, *, scope: Scope, now: When | None = None) -> list[Promise]:
        """Return what is promised and not done: what is overdue first, then what is due next, then what has no due."""
        at = self._database.now() if now is None else Moment.parse(now, zone=self._zone).start
        found = [one for one in self.commitments(scope=scope, now=at) if one.closed_at is None]
        return sorted(found, key=lambda one: (one.due is None, one.due.end if one.due else one.record.recorded_at))

    def commitments(self, *, scope: Scope, now: int | None = None, limit: int = _MOST) -> list[Promise]:
        """Return what was promised, done and dropped among it, the latest first; `now` in UTC microseconds."""
        with self._doors.reading(scope, (Kind.COMMITMENT,)) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                at = transaction.now if now is None else now
                found = records.items_within(transaction, view, (Kind.COMMITMENT,), since=None, until=None, limit=limit)
                changes = changes_of(transaction, view, found)
            return [promise_of(record, changes.get(record.id, ()), now=at, zone=self._zone) for record in show(found)]

    def close(
        self,
        record_id: str,
        *,
        scope: Scope,
        how: CommitmentStatus | str = CommitmentStatus.DONE,
        evidence: str | None = None,
        author: str = PERSON,
        expected_version: int | None = None,
    ) -> Promise:
        """Say that a commitment is done or dropped; `evidence` is the record that shows it. Its history keeps both.

        Raises NotFound, InvalidInput for what is closed already or no commitment, and Conflict.
        """
        if how not in CLOSED_AS:
            raise InvalidInput(f"a commitment is closed as 'done' or 'dropped', not {str(how)!r}")
        with self._doors.reading(scope, (Kind.COMMITMENT,)) as show:
            with self._doors.writing(scope, (Kind.COMMITMENT,)), self._database.write(scope.tenant) as transaction:
                place = Place(transaction, scope)
                record = _open_commitment(place, record_id, expected_version)
                cause = None if evidence is None else RecordId(evidence)
                if cause is not None:
                    check_sources(transaction, scope, [Source(kind=Kind.MESSAGE.value, id=cause)])
                change_item(
                    place,
                    record,
                    Change.CLOSED,
                    self._doors.author(author),
                    {"valid_to": transaction.now, "content_key": None},
                    reason=str(how),
                    cause=cause,
                )
                closed = item_at(place, record.id)
                renew(transaction, place.scope_id, [closed])
                changes = changes_of(transaction, View({place.scope_id: scope}), [closed])
                now = transaction.now
            return promise_of(show([closed])[0], changes[closed.id], now=now, zone=self._zone)

    def procedures_for(self, task: str = "", *, scope: Scope, limit: int = 10) -> list[Procedure]:
        """Return how things are done for the person: what is for this task first, then what applies everywhere."""
        with self._doors.reading(scope, (Kind.PROCEDURE,)) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                known = records.latest_items(transaction, view, (Kind.PROCEDURE,), limit=_MOST)
            chosen = fitting(known, task)[:limit]
            seen = show([one.record for one in chosen])
            return [
                Procedure(record=record, task=task_of(record), match=one.match)
                for one, record in zip(chosen, seen, strict=True)
            ]

    def list_what_you_remember(
        self, *, scope: Scope, after: str = "", limit: int = 50, token_budget: int = 1500
    ) -> RememberedPage:
        """Return what is believed now, kind by kind, in plain language: with status, where it applies, and sources.

        A page has at most `limit` entries and `token_budget` tokens, but always one entry. Raises InvalidInput for
        what is no cursor.
        """
        if limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {limit}")
        first, last_id = read_cursor(after)
        count = EstimatingCounter().count
        with self._doors.reading(scope, ITEM_KINDS) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                found: list[ItemRecord] = []
                for kind in SHOWN_FIRST[first:]:
                    more = limit + 1 - len(found)
                    found += records.items_held(transaction, view, kind, after=last_id, limit=more) if more else []
                    last_id = None
                counts = records.counts(transaction, view)
            entries, tokens = within_budget([remembered(one) for one in found[:limit]], token_budget, count)
            entries = [remembered(one) for one in show(found[: len(entries)])]
        cursor = write_cursor(found[len(entries) - 1]) if entries and len(entries) < len(found) else ""
        kept = {kind.value: counts.get(kind.value, 0) for kind in Kind if kind not in ITEM_KINDS}
        return RememberedPage(entries=tuple(entries), kept=kept, tokens=tokens, cursor=cursor)

    def _by_meaning(
        self,
        question: str,
        scope: Scope,
        since: int | None,
        until: int | None,
        topic: str,
        importance: Importance | None,
        limit: int,
    ) -> tuple[list[Episode], str]:
        more = _MORE if topic or importance else 1
        asked = Query(text=question, limit=limit * more, kinds=frozenset(EPISODIC), since=since, until=until)
        answer = self._recall(asked, scope)
        about = self._about(topic, scope)
        found = [
            Episode(record=hit.record, score=hit.score)
            for hit in answer
            if isinstance(hit.record, ItemRecord) and _passes(hit.record, about, importance)
        ]
        return found[:limit], answer.reason if found else "nothing like it is remembered, or nothing of that time"

    def _by_time(
        self,
        scope: Scope,
        kinds: Sequence[Kind],
        since: int | None,
        until: int | None,
        topic: str,
        importance: Importance | None,
        limit: int,
    ) -> list[Episode]:
        about = self._about(topic, scope)
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            found = records.items_within(
                transaction,
                view,
                kinds,
                since=since,
                until=until,
                importance=importance,
                limit=limit if about is None else _MOST,
            )
        return [Episode(record=one) for one in found if _passes(one, about, None)][:limit]

    def _about(self, topic: str, scope: Scope) -> set[bytes] | None:
        if not topic.strip():
            return None
        with self._database.read(scope.tenant) as transaction:
            return self._records_about(transaction, topic, scope)


def _timed(query: str, when: Times, now: Moment) -> tuple[str, int | None, int | None]:
    """Return what is asked, without its time, and that time."""
    if when is None:
        return split_time(query, now)
    if isinstance(when, str):
        timed = split_time(when, now)
        if timed.since is None and timed.until is None:
            moment = Moment.parse(when, zone=now.zone)
            return query, moment.start, moment.end
        return query, timed.since, timed.until
    since, until = (None if one is None else Moment.parse(one, zone=now.zone).start for one in when)
    return query, since, until


def _passes(record: ItemRecord, about: Collection[bytes] | None, importance: Importance | None) -> bool:
    is_about = about is None or id_bytes(record.id) in about
    return is_about and (importance is None or record.importance is importance)


def _open_commitment(place: Place, record_id: str, expected_version: int | None) -> ItemRecord:
    record = item_at(place, record_id)
    check_version(record, expected_version)
    if record.kind is not Kind.COMMITMENT:
        raise InvalidInput(f"{record_id!r} is a {record.kind.value}, only commitments are closed")
    if record.valid_to is not None or record.retracted_at is not None:
        raise InvalidInput(f"{record_id!r} was closed already")
    return record
