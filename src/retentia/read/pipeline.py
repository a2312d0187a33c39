"""Reading, step by step: analyse and embed the query -> one snapshot -> search in one scope -> relevance cutoff ->
rows read again under the same scope -> fit into the budget -> explain.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from retentia.errors import EmbeddingFailed, InvalidInput
from retentia.index.columns import Columns
from retentia.index.ranking import RankedPassage, RankedRecord, Ranking
from retentia.index.signals import Weights
from retentia.index.tokenizer import QueryTerms, analyse_query
from retentia.model.ids import RecordId, id_bytes
from retentia.model.record import ITEM_KINDS, RECALLED_KINDS, ItemRecord, Kind, Record, Status
from retentia.model.scope import Scope
from retentia.providers.threads import one_blas_thread
from retentia.read.cutoff import relevance, threshold_for
from retentia.read.echoes import shown_once
from retentia.read.excerpt import choose_spans, excerpt
from retentia.read.explain import explain
from retentia.read.floor import Judge
from retentia.read.masks import everyday, mask, without, without_past
from retentia.read.outdated import Outdated, is_touched, outdated
from retentia.read.presence import Presence
from retentia.read.query import Hit, Query, Recall, Timing
from retentia.read.residents import Residents
from retentia.read.serving import Serving, ServingEmbedder
from retentia.read.standing import LONG_UNUSED, Circumstances, StandingWeights, by_standing, names_one
from retentia.store import records, scopes, sessions, uses
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.store.scopes import ScopeVersion
from retentia.tools.newer import Newer, newer_results
from retentia.tools.twins import twins_among

MAX_QUERY_CHARACTERS = 20_000
_CANDIDATES_FOR_FLOOR = 100
Vector = NDArray[np.float32]


class ReadPipeline:
    """Answers questions; see the module for the order of steps. Safe to use from many threads."""

    def __init__(
        self,
        database: Database,
        residents: Residents,
        embedding: ServingEmbedder,
        *,
        presence: Presence,
        count_tokens: Callable[[str], int],
        weights: Weights | None = None,
        standing: StandingWeights | None = None,
    ) -> None:
        self._database = database
        self._residents = residents
        self._embedding = embedding
        self._presence = presence
        self._count_tokens = count_tokens
        self._weights = weights or Weights()
        self._standing = standing or StandingWeights()
        # What the first question would otherwise wait for: the word lists, and finding the libraries that calculate.
        analyse_query("")
        with one_blas_thread():
            pass

    def run(self, query: Query, scope: Scope) -> Recall:
        """Find what is known, best first, or nothing with the reason."""
        if query.limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {query.limit}")
        text = query.text[:MAX_QUERY_CHARACTERS]
        serving = self._embedding.current()
        terms = analyse_query(text)
        vector, embed_ms, notes = self._embed(text, serving)
        started = time.perf_counter()
        keep = self._presence.enter()  # before the snapshot: what is erased after it comes with a notice
        with self._database.read(scope.tenant) as transaction:
            view, readable, limited = _seen(transaction, query, scope)
            if not view:
                return _nothing(f"nothing was ever remembered for {scope}")
            if view[0].generation != serving.generation:
                serving, vector = self._embedding.current(view[0].generation), None
                notes = (*notes, "the embedder was just changed; this answer was found by words only")
            answer = self._answer(transaction, query, terms, vector, view, serving, readable, limited, keep)
        timing = Timing(embed_ms=embed_ms, search_ms=(time.perf_counter() - started) * 1000)
        return replace(answer, notes=notes, timing=timing)

    def records_about(self, transaction: Transaction, topic: str, scope: Scope) -> set[bytes]:
        """Return the records that say every word of a topic, in any of its forms."""
        serving = self._embedding.current()
        view = scopes.view(transaction, scope)
        resident = self._residents.current(
            transaction, view, generation=serving.generation, dimension=serving.dimension, keep=False
        )
        with resident.lock:
            return resident.index.records_saying(analyse_query(topic))

    def _answer(
        self,
        transaction: Transaction,
        query: Query,
        terms: QueryTerms,
        vector: Vector | None,
        view: Sequence[ScopeVersion],
        serving: Serving,
        readable: View,
        limited: Mapping[int, frozenset[Kind]],
        keep: bool,
    ) -> Recall:
        resident = self._residents.current(
            transaction, view, generation=serving.generation, dimension=serving.dimension, keep=keep
        )
        with resident.lock:
            index = resident.index
            allowed = self._allowed(transaction, query, index.columns, readable)
            asks_past = query.as_of is not None or terms.asks_past
            is_about_now = not asks_past and index.columns.has_items
            if index.columns.has_past and not asks_past:
                allowed = without_past(index.columns, allowed)
            if limited:
                allowed = without(index.columns, allowed, _withheld(transaction, limited))
            stands = index.columns.has_items
            with one_blas_thread():  # one product of a matrix and a vector: where cores are busy, threads cost tenfold
                wanted = query.limit + (query.limit if stands else 0)  # for echoes, and for standing
                wanted = wanted if query.floor is None else max(wanted, _CANDIDATES_FOR_FLOOR)
                ranking = index.search(terms, vector, limit=wanted, allowed=allowed, weights=self._weights)
            pending = resident.pending
        known = relevance(ranking.evidence, serving.identity.name, len(index))
        threshold = query.min_relevance
        if threshold is None:  # with a floor each hit is judged by itself
            threshold = threshold_for(serving.identity.name) if query.floor is None else 0.0
        if known < threshold or not ranking.records:
            return _nothing(
                _why_nothing(ranking, known, threshold),
                relevance=known,
                threshold=threshold,
                filtered_count=ranking.filtered,
                pending_count=pending,
            )
        ranked: Sequence[RankedRecord] = ranking.records
        if query.floor is None:
            ranked = _enough(ranked, query.limit)
        found = records.fetch(transaction, readable, _by_kind(ranked))
        if query.floor is not None:
            judge = Judge(
                text=query.text[:MAX_QUERY_CHARACTERS],
                floor=query.floor,
                embedder=serving.identity.name,
                passages=len(index),
            )
            ranked = judge.meant(ranking, found)[: query.limit]
        if stands:
            circumstances = _circumstances(transaction, query, terms, found, readable)
            ranked = by_standing(ranked, found, circumstances, self._standing)
        kept = _without_twins(ranked, found)
        newer = newer_results(transaction, readable, list(kept.values()), until=query.until)
        replaced: dict[RecordId, Newer] = {}
        if is_about_now:
            stretches = outdated(transaction, readable, kept.values())
            ranked, replaced, instead = _behind(ranked, kept, stretches)
            if instead and not (query.is_filtered or limited):
                ranked, kept = [*instead, *ranked], {**kept, **_records_of(instead, stretches)}
        hits = self._hits(ranked, kept, {**newer, **replaced}, query)
        return Recall(
            hits=hits,
            reason=_why(hits, ranking, is_short=bool(ranked)),
            relevance=known,
            threshold=threshold,
            filtered_count=ranking.filtered,
            pending_count=pending,
        )

    def _embed(self, text: str, serving: Serving) -> tuple[Vector | None, float, tuple[str, ...]]:
        if serving.embedder is None or not text.strip():
            return None, 0.0, ()
        started = time.perf_counter()
        try:
            vector = serving.embedder.embed_query(text)
        except EmbeddingFailed as error:
            return None, 0.0, (f"found by words only, because the question could not be embedded: {error}",)
        return vector, (time.perf_counter() - started) * 1000, ()

    def _allowed(
        self, transaction: Transaction, query: Query, columns: Columns, view: View
    ) -> NDArray[np.bool_] | None:
        if not query.is_filtered:
            return everyday(columns, query.kinds or RECALLED_KINDS)
        session_ids = set()
        if query.session is not None:
            named = (sessions.find(transaction, scope_id, query.session) for scope_id in view.scope_ids)
            session_ids = {session_id for session_id in named if session_id is not None}
        return mask(columns, query, transaction, view, session_ids)

    def _hits(
        self,
        ranked: Sequence[RankedRecord],
        found: Mapping[bytes, Record],
        newer: Mapping[RecordId, Newer],
        query: Query,
    ) -> tuple[Hit, ...]:
        hits: list[Hit] = []
        left = query.token_budget
        there = ((entry, found.get(entry.record_id)) for entry in ranked)
        hits_of = (
            self._hit(entry, record, newer.get(record.id), consequential=query.consequential)
            for entry, record in there
            if record is not None
        )
        for hit in shown_once(hits_of):
            if left is not None:
                if hit.tokens > left:
                    continue
                left -= hit.tokens
            hits.append(hit)
            if len(hits) == query.limit:
                break
        return tuple(hits)

    def _hit(self, ranked: RankedRecord, record: Record, newer: Newer | None, *, consequential: bool) -> Hit:
        spans = choose_spans(ranked.passages)
        text = excerpt(record.text, spans)
        return Hit(
            record=record,
            score=ranked.score,
            text=text,
            spans=spans,
            tokens=self._count_tokens(text if newer is None else f"{text}\n{newer.text}"),
            signals=ranked.signals,
            reason=explain(ranked.signals),
            newer=newer,
            needs_confirmation=consequential and _is_unconfirmed(record),
        )


def _circumstances(
    transaction: Transaction, query: Query, terms: QueryTerms, found: Mapping[bytes, Record], view: View
) -> Circumstances:
    """Look up when the old items found were last shown, and whether the question lets old ones fade."""
    long_ago = transaction.now - LONG_UNUSED
    items = [key for key, record in found.items() if isinstance(record, ItemRecord) and record.recorded_at < long_ago]
    shown = uses.shown(transaction, view.scope_ids, items) if items else {}
    bounds = (query.since, query.until, query.as_of)
    names = terms.asks_when or terms.asks_past or any(bound is not None for bound in bounds) or names_one(query.text)
    last = {record_id: one.last_at for record_id, one in shown.items()}
    return Circumstances(now=transaction.now, shown=last, fades=not names)


def _seen(
    transaction: Transaction, query: Query, scope: Scope
) -> tuple[list[ScopeVersion], View, dict[int, frozenset[Kind]]]:
    """Return what a search may look into: its scope, what it shares, what is searched beside it, and what of that."""
    view = scopes.view(transaction, scope)
    named = dict(View.of(view, scope).scopes)
    limited: dict[int, frozenset[Kind]] = {}
    for shared in query.also:
        more = [entry for entry in scopes.view(transaction, shared.scope) if entry.scope_id not in named]
        view += more
        named.update(View.of(more, shared.scope).scopes)
        if shared.kinds:
            limited.update((entry.scope_id, shared.kinds) for entry in more)
    return view, View(named), limited


def _withheld(transaction: Transaction, limited: Mapping[int, frozenset[Kind]]) -> set[bytes]:
    """Return the records that lie in a scope of which only some kinds may be seen, and are of another kind."""
    found: set[bytes] = set()
    for scope_id, kinds in limited.items():
        found |= records.ids_besides(transaction, scope_id, kinds)
    return found


def _without_twins(ranked: Sequence[RankedRecord], found: Mapping[bytes, Record]) -> dict[bytes, Record]:
    """Leave out what a better record tells already: a call that was logged and is said in a message."""
    ordered = {entry.record_id: found[entry.record_id] for entry in ranked if entry.record_id in found}
    twins = twins_among(list(ordered.values()))
    return {record_id: record for record_id, record in ordered.items() if record.id not in twins}


def _behind(
    ranked: Sequence[RankedRecord], found: Mapping[bytes, Record], stretches: Mapping[RecordId, Sequence[Outdated]]
) -> tuple[Sequence[RankedRecord], dict[RecordId, Newer], list[RankedRecord]]:
    """Put what matches only where it is no longer so behind the rest, with a line that says what is so now.

    Return with it what is so now and was not found beside it, as it ranks: like the best of what it took the place of.
    """
    last: list[RankedRecord] = []
    told: dict[RecordId, Newer] = {}
    instead: dict[bytes, RankedRecord] = {}
    for entry in ranked:
        record = found.get(entry.record_id)
        known = stretches.get(record.id) if record is not None else None
        touched = is_touched([(part.start, part.end) for part in entry.passages], known) if known else None
        if record is not None and touched is not None:
            if newer := touched.newer():
                told[record.id] = newer
            if touched.is_partly:
                continue
            last.append(entry)
            if (now := touched.instead) is not None and id_bytes(now.id) not in found:
                whole = RankedPassage(0, 0, len(now.text), entry.score)
                fresh = replace(entry, record_id=id_bytes(now.id), kind=now.kind.value, passages=(whole,))
                instead.setdefault(id_bytes(now.id), fresh)
    behind = {entry.record_id for entry in last}
    rest = [entry for entry in ranked if entry.record_id not in behind]
    return [*rest, *last], told, list(instead.values())


def _records_of(
    instead: Sequence[RankedRecord], stretches: Mapping[RecordId, Sequence[Outdated]]
) -> dict[bytes, Record]:
    wanted = {entry.record_id for entry in instead}
    known = (one.instead for some in stretches.values() for one in some if one.instead is not None)
    return {id_bytes(record.id): record for record in known if id_bytes(record.id) in wanted}


def _is_unconfirmed(record: Record) -> bool:
    return isinstance(record, ItemRecord) and record.status is not Status.CONFIRMED


def _enough(ranked: Sequence[RankedRecord], limit: int) -> Sequence[RankedRecord]:
    """Return as many of the best as surely hold `limit` that are shown: each that only repeats another is one more."""
    shown = 0
    for place, entry in enumerate(ranked, start=1):
        shown += entry.kind not in ITEM_KINDS
        if shown == limit:
            return ranked[:place]
    return ranked


def _by_kind(ranked: Sequence[RankedRecord]) -> dict[Kind, list[bytes]]:
    wanted: dict[Kind, list[bytes]] = {}
    for entry in ranked:
        wanted.setdefault(Kind(entry.kind), []).append(entry.record_id)
    return wanted


def _nothing(
    reason: str, *, relevance: float = 0.0, threshold: float = 0.0, filtered_count: int = 0, pending_count: int = 0
) -> Recall:
    return Recall(
        hits=(),
        reason=reason,
        relevance=relevance,
        threshold=threshold,
        filtered_count=filtered_count,
        pending_count=pending_count,
    )


def _why_nothing(ranking: Ranking, known: float, threshold: float) -> str:
    if not ranking.records:
        held_back = f"; the filters held back {ranking.filtered} passages" if ranking.filtered else ""
        return f"nothing to search{held_back}" if held_back else "nothing is remembered here yet"
    return (
        f"nothing relevant is remembered: the best match has relevance {known:.2f}, "
        f"below the threshold of {threshold:.2f}"
    )


def _why(hits: Sequence[Hit], ranking: Ranking, *, is_short: bool) -> str:
    if not hits and not is_short:
        return "nothing here is named by the question, or near enough to it"
    if not hits:
        return "what was found does not fit into the token budget"
    held_back = f"; the filters held back {ranking.filtered} passages" if ranking.filtered else ""
    return f"{len(hits)} found{held_back}"
