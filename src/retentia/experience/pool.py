"""The pool: the experiences of a view as columns and unit vectors, and the exact best of them for a task. Pure.

A score never falls when likeness rises, so a cheap upper bound of the cosine bounds the score: with orthonormal
directions B, q.x <= (Bq).(Bx) + |rest of q| * |rest of x|. The most promising are scored exactly, the k-th best of
them is a threshold, and every row whose bound reaches it is scored exactly as well: nothing is lost to the bound.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retentia.experience.priority import HALF_LIFE, STANDARD, WORTH, Order, Weights, decayed, priority, recency
from retentia.index.columns import Growing, Labels, empty, record_halves
from retentia.index.vectors import to_single
from retentia.model.experience import Outcome

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rows = NDArray[np.intp]

_DIRECTIONS = 32
_SAMPLE = 2048
_FEWEST_BOUNDED = 1024  # below, scoring every row is as quick
_REFIT_GROWTH = 4
_FIRST = 256
_BLOCK = 2048
_WIDENED = 128  # rows, so that they stay in the cache until they are multiplied
_FEWEST_DEAD = 1024
_SLACK = 1e-4  # more than all rounding of products of 512 numbers in single precision comes to
_SCORE_STEPS = 1e6
_SINGLE_SLACK = 1e-5  # more than the rounding of a score in single precision
_MICROSECONDS = 1e6


@dataclass(frozen=True, slots=True)
class Entry:
    """An experience as the pool holds it: when it ended, in microseconds, and the unit vector of its task, if any."""

    record_id: bytes
    at: int
    reward: float
    outcome: Outcome
    category: str
    strategy: str
    iterations: int
    vector: Singles | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What experiences are ranked by."""

    order: Order = Order.PRIORITISED
    weights: Weights = STANDARD
    half_life: timedelta = HALF_LIFE


@dataclass(frozen=True, slots=True)
class Best:
    """The best rows of a pool, best first; `scored` counts how many rows were scored exactly to find them."""

    rows: Rows
    record_ids: list[bytes]
    similarity: Floats
    recency: Floats
    priority: Floats
    score: Floats
    scored: int


class Pool:
    """Ranks experiences. Looks may run at the same time as each other; `add` and `remove` must run alone.

    What `add` and `remove` leave answers as a pool built of what remains. Rows keep their place until many are dead,
    so masks made from the columns are valid until the next change.
    """

    def __init__(self, dimension: int) -> None:
        self.record: Growing[np.uint64] = Growing(np.empty((0, 2), dtype=np.uint64))
        self.at = empty(np.int64)
        self.reward = empty(np.float64)
        self.worth = empty(np.float64)
        self.iterations = empty(np.int32)
        self.outcome: Labels[str] = Labels()
        self.category: Labels[str] = Labels()
        self.strategy: Labels[str] = Labels()
        self.is_live = empty(np.bool_)
        self.has_vector = empty(np.bool_)
        self._told: tuple[Growing[Any] | Labels[str], ...] = tuple(vars(self).values())
        self._vectors: Growing[np.float16] = Growing(np.empty((0, dimension), dtype=np.float16))
        self._basis: Singles | None = None
        self._leading: Growing[np.float32] = Growing(np.empty((0, 0), dtype=np.float32))
        self._rest = empty(np.float32)
        self._fitted = 0

    def __len__(self) -> int:
        return int(np.count_nonzero(self.is_live.values))

    @property
    def nbytes(self) -> int:
        """How much memory the pool holds."""
        basis = 0 if self._basis is None else self._basis.nbytes
        return basis + sum(column.nbytes for column in (*self._told, self._vectors, self._leading, self._rest))

    def add(self, entries: Sequence[Entry]) -> None:
        """Take in experiences that are not held."""
        if not entries:
            return
        dimension = self._vectors.values.shape[1]
        vectors = np.zeros((len(entries), dimension), dtype=np.float16)
        for row, entry in enumerate(entries):
            if entry.vector is not None:
                vectors[row] = entry.vector
        self.record.extend(record_halves([entry.record_id for entry in entries]))
        self.at.extend(np.array([entry.at for entry in entries], dtype=np.int64))
        self.reward.extend(np.array([entry.reward for entry in entries], dtype=np.float64))
        self.worth.extend(np.array([WORTH[entry.outcome] for entry in entries], dtype=np.float64))
        self.iterations.extend(np.array([entry.iterations for entry in entries], dtype=np.int32))
        self.outcome.extend([entry.outcome.value for entry in entries])
        self.category.extend([entry.category for entry in entries])
        self.strategy.extend([entry.strategy for entry in entries])
        self.is_live.extend(np.ones(len(entries), dtype=bool))
        self.has_vector.extend(np.array([entry.vector is not None for entry in entries], dtype=bool))
        self._vectors.extend(vectors)
        self._settle(len(entries))

    def remove(self, record_ids: Collection[bytes]) -> None:
        """Let go of these experiences; ids that are not held are ignored."""
        if not record_ids:
            return
        wanted = set(map(tuple, record_halves(list(record_ids)).tolist()))
        held = self.record.values
        near = np.flatnonzero(np.isin(held[:, 1], np.array([low for _, low in wanted], dtype=np.uint64)))
        gone = [row for row in near.tolist() if tuple(held[row].tolist()) in wanted]
        self.is_live.values[gone] = False
        self._vectors.values[gone] = 0
        dead = len(held) - len(self)
        if dead > max(_FEWEST_DEAD, len(held) // 2):
            self._compact()

    def best(
        self,
        query: Singles | None,
        now: int,
        *,
        k: int,
        by: Ranking | None = None,
        mask: NDArray[np.bool_] | None = None,
        worded: Floats | None = None,
    ) -> Best:
        """Return the k best for the unit vector of a task, exactly as if every row had been scored.

        `mask` marks by row what may be returned. `worded` is the likeness by words, by row: it counts where a row has
        no vector, and everywhere when there is no query vector. Equal scores go newest first, then by record id.
        """
        allowed = self.is_live.values if mask is None else self.is_live.values & mask
        rows = np.flatnonzero(allowed)
        look = _Look(self, query, now, by or Ranking(), worded)
        if k < 1:
            rows = rows[:0]
        elif query is not None and len(rows) > _first(k) and (bounds := self.bound(query)) is not None:
            rows = look.candidates(bounds, rows, k)
        similarity = look.exact(rows)
        score = look.score(similarity, rows)
        order = self._ordered(score, rows, k)
        return look.best(rows[order], similarity[order], score[order], len(rows))

    def bound(self, query: Singles) -> Singles | None:
        """Return for every row what no cosine with the query exceeds, None where exact cosines are as quick."""
        if self._basis is None:
            return None
        along = query @ self._basis
        rest = np.float32(np.linalg.norm(query - self._basis @ along))
        found: Singles = self._leading.values @ along
        found += self._rest.values * rest
        found += np.float32(_SLACK)
        return found

    def cosines(self, query: Singles, rows: Rows) -> Floats:
        """Return the cosines of some rows; that of a row does not depend on which others are asked for."""
        found = np.empty(len(rows), dtype=np.float64)
        for start in range(0, len(rows), _WIDENED):
            here = slice(start, start + _WIDENED)
            halves = self._vectors.values.take(rows[here], axis=0)
            found[here] = np.einsum("ij,j->i", to_single(halves.tobytes()).reshape(halves.shape), query)
        return found

    def ids(self, rows: Rows) -> list[bytes]:
        """Return the record ids of some rows."""
        joined = self.record.values[rows].astype(">u8").tobytes()
        return [joined[at : at + 16] for at in range(0, len(joined), 16)]

    def _ordered(self, score: Floats, rows: Rows, k: int) -> Rows:
        """Return the places of the k best of some rows, best first."""
        steps, at = _steps(score), self.at.values[rows]
        places = np.arange(len(rows))
        if k < len(rows):  # what neither scores better than the k-th nor ties with it at its age need not be sorted
            least = np.partition(steps, -k)[-k]
            better, tied = np.flatnonzero(steps > least), np.flatnonzero(steps == least)
            oldest = np.partition(at[tied], len(better) - k)[len(better) - k]
            places = np.concatenate([better, tied[at[tied] >= oldest]])
        record = self.record.values[rows[places]]
        order: Rows = places[np.lexsort((record[:, 1], record[:, 0], -at[places], -steps[places]))][:k]
        return order

    def _compact(self) -> None:
        kept = np.flatnonzero(self.is_live.values)
        for column in (*self._told, self._vectors):
            column.keep(kept)
        if self._basis is not None:
            self._leading.keep(kept)
            self._rest.keep(kept)

    def _settle(self, added: int) -> None:
        """Project what was added; fit the directions anew when the pool has grown much."""
        count = len(self._vectors.values)
        if count < _FEWEST_BOUNDED or not self._vectors.values.shape[1]:
            return
        if self._basis is None or count >= _REFIT_GROWTH * self._fitted:
            self._basis, self._fitted = _directions(self._vectors.values), count
            self._leading = Growing(np.empty((0, self._basis.shape[1]), dtype=np.float32))
            self._rest, added = empty(np.float32), count
        for start in range(count - added, count, _BLOCK):
            block = self._vectors.values[start : start + _BLOCK].astype(np.float32)
            leading = block @ self._basis
            self._leading.extend(leading)
            self._rest.extend(np.linalg.norm(block - leading @ self._basis.T, axis=1))


@dataclass(frozen=True, slots=True)
class _Look:
    """One question to a pool."""

    pool: Pool
    query: Singles | None
    now: int
    by: Ranking
    worded: Floats | None

    def candidates(self, bounds: Singles, rows: Rows, k: int) -> Rows:
        """Return those of more than `_first(k)` rows among which the k best are; `bounds` is of every row."""
        reach = self._reach(bounds)
        if len(rows) < len(reach):
            reach = reach[rows]
        promising = rows[np.argpartition(reach, -_first(k))[-_first(k) :]]
        scores = _steps(self.score(self.exact(promising), promising))
        threshold = float(np.partition(scores, -k)[-k])
        least = (threshold - 1) / _SCORE_STEPS - _SINGLE_SLACK  # a step less: scores are rounded
        return rows[np.flatnonzero(reach >= least)]

    def exact(self, rows: Rows) -> Floats:
        """Return the likeness of some rows to the task."""
        if self.query is None:
            return self._by_words(rows)
        known = self.pool.has_vector.values[rows]
        if known.all():
            return self.pool.cosines(self.query, rows)
        found = np.empty(len(rows), dtype=np.float64)
        found[known] = self.pool.cosines(self.query, rows[known])
        found[~known] = self._by_words(rows[~known])
        return found

    def score(self, similarity: Floats, rows: Rows) -> Floats:
        """Return what the order ranks by; it never falls when likeness rises."""
        match self.by.order:
            case Order.SIMILARITY:
                return similarity
            case Order.DECAYED:
                return decayed(similarity, self._recency(rows))
            case Order.PRIORITISED:
                return self._priority(similarity, rows)

    def best(self, rows: Rows, similarity: Floats, score: Floats, scored: int) -> Best:
        priorities = self._priority(similarity, rows)
        return Best(rows, self.pool.ids(rows), similarity, self._recency(rows), priorities, score, scored)

    def _reach(self, bounds: Singles) -> Singles:
        """Return what no score exceeds by more than the slack, for every row: `score` in single precision."""
        pool, order = self.pool, self.by.order
        if not pool.has_vector.values.all():
            unknown = np.flatnonzero(~pool.has_vector.values)
            bounds[unknown] = self._by_words(unknown)
        if order is Order.SIMILARITY:
            return bounds
        recent = self._faded()
        if order is Order.DECAYED:
            return decayed(bounds, recent)
        reward, worth = pool.reward.values.astype(np.float32), pool.worth.values.astype(np.float32)
        return priority(bounds, recent, reward, worth, self.by.weights)

    def _faded(self) -> Singles:
        """Return the recency of every row in single precision, in which `exp` is several times as quick as `exp2`."""
        fading = np.float32(-math.log(2) / (self.by.half_life.total_seconds() * _MICROSECONDS))
        ages = np.subtract(self.now, self.pool.at.values).astype(np.float32)
        ages *= fading
        np.minimum(ages, 0, out=ages)
        faded: Singles = np.exp(ages, out=ages)
        return faded

    def _by_words(self, rows: Rows) -> Floats:
        return np.zeros(len(rows)) if self.worded is None else self.worded[rows]

    def _recency(self, rows: Rows) -> Floats:
        return recency((self.now - self.pool.at.values[rows]) / _MICROSECONDS, self.by.half_life)

    def _priority(self, similarity: Floats, rows: Rows) -> Floats:
        pool = self.pool
        reward, worth = pool.reward.values[rows], pool.worth.values[rows]
        return priority(similarity, self._recency(rows), reward, worth, self.by.weights)


def _first(k: int) -> int:
    """Return how many of the most promising rows are scored to find a threshold."""
    return max(_FIRST, 2 * k)


def _steps(score: Floats) -> Floats:
    """Round, so that the last bits of a sum decide nothing."""
    steps: Floats = np.round(score * _SCORE_STEPS)
    return steps


def _directions(vectors: NDArray[np.float16]) -> Singles:
    """Return orthonormal directions, shape (dimension, some), along which a sample of the vectors varies most."""
    step = max(1, len(vectors) // _SAMPLE)
    sample = vectors[::step].astype(np.float64)
    _, found = np.linalg.eigh(sample.T @ sample)
    return np.ascontiguousarray(found[:, ::-1][:, :_DIRECTIONS], dtype=np.float32)
