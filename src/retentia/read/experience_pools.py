"""Recall for a task: the pools of experiences that a process holds, one for each view that is asked.

A pool is made of the rows of experiences and the vectors of their tasks, and kept up like an index. Where a task has no
vector yet, or the store no embedder, likeness is that of its words: the cosine of the sets of their stems.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retentia.experience.pool import Best, Entry, Pool, Ranking
from retentia.index.tokenizer import analyse
from retentia.model.experience import Outcome
from retentia.model.record import ItemRecord, Kind
from retentia.model.scope import Scope
from retentia.providers.threads import one_blas_thread
from retentia.read.looks import Looks
from retentia.read.unit_vectors import vectors_of
from retentia.read.views import Held, Touched, Views
from retentia.store import experiences, passages, records
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.store.scopes import ScopeVersion

Stems = frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Only:
    """Which experiences may be found; None is any."""

    category: str | None = None
    outcome: Outcome | None = None
    strategy: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """An experience that bears on a task, read again from its row, with what it was ranked by."""

    record: ItemRecord
    similarity: float
    recency: float
    priority: float
    score: float


@dataclass(frozen=True, slots=True)
class Told:
    """Experiences as columns, one row each, the oldest first. `worth` is 1 for a success."""

    reward: NDArray[np.float64]
    worth: NDArray[np.float64]
    iterations: NDArray[np.int32]
    category: Sequence[str]
    ids: Sequence[bytes]


@dataclass(slots=True, kw_only=True)
class HeldPool(Held):
    """The pool of one view, and the words of the tasks that have no vector yet."""

    pool: Pool
    stems: dict[bytes, Stems] = field(default_factory=dict)

    @property
    def content(self) -> Pool:
        """The pool."""
        return self.pool


class Pools(Views[HeldPool]):
    """The pools in memory; see `Views`."""

    def _empty(self, dimension: int) -> HeldPool:
        return HeldPool(pool=Pool(dimension))

    def _load(
        self, held: HeldPool, transaction: Transaction, view: Sequence[ScopeVersion], generation: int, dimension: int
    ) -> None:
        held.pool, held.stems = Pool(dimension), {}
        for entry in view:
            _take_in(held, transaction, entry.scope_id, generation, None)

    def _apply(self, held: HeldPool, transaction: Transaction, touched: Touched, generation: int) -> None:
        everything = {record_id for ids in touched.values() for record_id in ids}
        held.pool.remove(everything)
        for record_id in everything & held.stems.keys():
            del held.stems[record_id]
        for scope_id, ids in touched.items():
            _take_in(held, transaction, scope_id, generation, ids)


class ExperienceReading(Looks[HeldPool]):
    """Finds the experiences that bear on a task. Safe to use from many threads."""

    def best(self, task: str, scope: Scope, *, limit: int, only: Only, by: Ranking) -> list[Found]:
        """Return the best experiences for a task, best first, each read again from its row under the same scope."""
        with self._look(scope, task) as look:
            transaction, held = look.transaction, look.held
            with held.lock, one_blas_thread():
                found = held.pool.best(
                    look.vector,
                    transaction.now,
                    k=limit,
                    by=by,
                    mask=_mask(held.pool, only),
                    worded=_by_words(held, task),
                )
            wanted = {Kind.EXPERIENCE: found.record_ids}
            rows = records.fetch(transaction, View.of(look.view, scope), wanted) if look.view else {}
        return _zipped(found, rows)

    def told(self, scope: Scope, *, category: str | None = None) -> Told:
        """Return all experiences, or those of a category, as columns."""
        with self._look(scope) as look, look.held.lock:
            return _columns(look.held.pool, category)


def _take_in(
    held: HeldPool, transaction: Transaction, scope_id: int, generation: int, ids: Collection[bytes] | None
) -> None:
    """Take in the experiences of a scope, all or some of them, with the vectors of their tasks."""
    rows = experiences.rows(transaction, scope_id, ids)
    vectors = vectors_of(transaction, scope_id, generation, [row.record_id for row in rows])
    unembedded = {row.record_id for row in rows if row.record_id not in vectors}
    held.stems.update(_stems_of(transaction, scope_id, unembedded))
    held.pool.add([_entry(row.record_id, row.at, json.loads(row.body), vectors.get(row.record_id)) for row in rows])


def _entry(record_id: bytes, at: int, body: Mapping[str, Any], vector: NDArray[np.float32] | None) -> Entry:
    return Entry(
        record_id=record_id,
        at=at,
        reward=float(body["reward"]),
        outcome=Outcome(body["outcome"]),
        category=str(body["category"]),
        strategy=str(body.get("strategy", "")),
        iterations=int(body["iterations"]),
        vector=vector,
    )


def _stems_of(transaction: Transaction, scope_id: int, ids: Collection[bytes]) -> dict[bytes, Stems]:
    found: dict[bytes, Stems] = {}
    for row in passages.load_passages(transaction, scope_id, ids) if ids else ():
        found[row.record_id] = found.get(row.record_id, frozenset()) | _stems(row.stems)
    return found


def _stems(packed: bytes) -> Stems:
    return frozenset(np.frombuffer(packed, dtype="<u4").tolist())


def _by_words(held: HeldPool, task: str) -> NDArray[np.float64] | None:
    """Return how like in words the tasks are that have no vector, by row of the pool."""
    if not held.stems:
        return None
    asked = _stems(analyse(task).stems)
    pool = held.pool
    found = np.zeros(len(pool.at.values))
    rows = np.flatnonzero(pool.is_live.values & ~pool.has_vector.values)
    for row, record_id in zip(rows.tolist(), pool.ids(rows), strict=True):
        said = held.stems.get(record_id, frozenset())
        found[row] = len(asked & said) / (len(asked) * len(said)) ** 0.5 if asked and said else 0.0
    return found


def _mask(pool: Pool, only: Only) -> NDArray[np.bool_] | None:
    asked = (
        (pool.category, only.category),
        (pool.outcome, None if only.outcome is None else only.outcome.value),
        (pool.strategy, only.strategy),
    )
    masks = [labels.is_any_of([name]) for labels, name in asked if name is not None]
    return np.logical_and.reduce(masks) if masks else None


def _zipped(found: Best, rows: Mapping[bytes, object]) -> list[Found]:
    columns = (found.similarity, found.recency, found.priority, found.score)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return [
        Found(record, *parts)
        for record_id, parts in zip(found.record_ids, numbers, strict=True)
        if isinstance(record := rows.get(record_id), ItemRecord)
    ]


def _columns(pool: Pool, category: str | None) -> Told:
    wanted = pool.is_live.values
    if category is not None:
        wanted = wanted & pool.category.is_any_of([category])
    rows = np.flatnonzero(wanted)
    rows = rows[np.lexsort((pool.record.values[rows, 1], pool.record.values[rows, 0], pool.at.values[rows]))]
    labels = pool.category.labels
    return Told(
        reward=pool.reward.values[rows],
        worth=pool.worth.values[rows],
        iterations=pool.iterations.values[rows],
        category=[labels[code] for code in pool.category.codes[rows].tolist()],
        ids=pool.ids(rows),
    )
