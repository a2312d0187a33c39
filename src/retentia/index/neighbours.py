"""Neighbours: the order of passages in their threads, and how much of a passage flows into those around it.

Everything is scored in *position space*: passages of a thread stand side by side, in the order they were said. What a
neighbour contributes is then a shifted slice, and an index that mixes at query time need not store anything mixed: an
erased message leaves nothing behind in the ones around it.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Columns

_VALUE_BITS = np.int64(32)
_PLACE = np.int64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Share:
    """How much of its own, its previous two and its next passage a passage is made of."""

    own: float
    previous: float
    before_previous: float
    next: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The live rows in order of thread, then sequence, record and part; n of them.

    `rows` gives the row at each position, `positions` the position of each row (-1 for a dead one), `records` numbers
    the records: a position has the number of the one before it where it is a part of the same record. `before` and
    `two_before` give a neighbour's position, or n where the thread ends: an array with one cell too many catches what
    falls off. `reached` gives the positions that a position flows into: itself, the next, the one after that and the
    one before, shape (4, n). `follows` and `follows_two` are 1.0 where there is one, or two, before.
    """

    rows: NDArray[np.int32]
    positions: NDArray[np.int32]
    records: NDArray[np.int32]
    threads: NDArray[np.int32]
    thread_starts: NDArray[np.intp]
    thread_lengths: NDArray[np.float32]
    follows: NDArray[np.float32]
    follows_two: NDArray[np.float32]
    before: NDArray[np.int32]
    two_before: NDArray[np.int32]
    reached: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def after(self) -> NDArray[np.int32]:
        """The position of the next one in the thread, or n."""
        after: NDArray[np.int32] = self.reached[1]
        return after

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, name).nbytes for name in self.__slots__)

    def mix(self, values: NDArray[np.float32], share: Share) -> NDArray[np.float32]:
        """Add to each position's value its neighbours' shares; values of shape (n,) or (n, width)."""
        tall = (slice(None), *(None for _ in values.shape[1:]))
        mixed = values * np.float32(share.own)
        mixed[1:] += values[:-1] * (self.follows[1:] * np.float32(share.previous))[tall]
        mixed[2:] += values[:-2] * (self.follows_two[2:] * np.float32(share.before_previous))[tall]
        mixed[:-1] += values[1:] * (self.follows[1:] * np.float32(share.next))[tall]
        return mixed

    def window(self, low: int, high: int) -> "Layout":
        """Return the stretch of positions from `low` to `high` with what `mix` needs of it."""
        cut = slice(low, high)
        return replace(self, rows=self.rows[cut], follows=self.follows[cut], follows_two=self.follows_two[cut])

    def around(self) -> NDArray[np.int32]:
        """Return the rows before, two before and after each position, -1 where there is none; shape (3, n)."""
        rows = np.append(self.rows, np.int32(-1))
        return np.stack([rows[self.before], rows[self.two_before], rows[self.after]])

    def changed_since(self, earlier: "Layout") -> NDArray[np.intp]:
        """Return the positions that are new, or that have other rows around them than earlier."""
        was_at = np.full(len(self.positions), -1, dtype=np.int32)
        was_at[: len(earlier.positions)] = earlier.positions
        was_at = was_at[self.rows]
        same = was_at >= 0
        same[same] = (earlier.around()[:, was_at[same]] == self.around()[:, same]).all(axis=0)
        return np.flatnonzero(~same)

    def any_in_thread(self, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say for each position whether any of its thread is marked."""
        if len(marks) == 0:
            return marks
        return np.logical_or.reduceat(marks, self.thread_starts)[self.threads]

    def mean_of_best(self, values: NDArray[np.float32], count: int) -> NDArray[np.float32]:
        """Return for each position the mean of the `count` highest values (0 or more) in its thread, or of all."""
        # Floats of 0 or more sort as their bits do. With its place behind each, a maximum tells where it was found.
        packed = values.view(np.int32).astype(np.int64)
        packed <<= _VALUE_BITS
        packed |= self.reached[0]
        total = np.zeros(len(self.thread_starts), dtype=np.float32)
        for _ in range(count):
            best = np.maximum.reduceat(packed, self.thread_starts)
            total += (best >> _VALUE_BITS).astype(np.int32).view(np.float32)
            best &= _PLACE
            packed[best] = best
        total /= np.minimum(self.thread_lengths, np.float32(count))
        return total[self.threads]


def arrange(columns: Columns) -> Layout:
    """Put the live rows into the order of their threads."""
    live = np.flatnonzero(columns.is_live.values)
    record = columns.record.values
    keys = (columns.part.values, record[:, 1], record[:, 0], columns.seq.values, columns.thread.codes)
    rows = live[np.lexsort([key[live] for key in keys])].astype(np.int32)
    here = np.arange(len(rows), dtype=np.int32)
    positions = np.full(len(columns), -1, dtype=np.int32)
    positions[rows] = here
    threads = columns.thread.codes[rows]
    follows, follows_two = _has_before(threads, 1), _has_before(threads, 2)
    starts = np.flatnonzero(~follows)
    before = _neighbour(here, -1, follows)
    after, two_after = (_neighbour(here, at, _has_after(near, at)) for at, near in ((1, follows), (2, follows_two)))
    return Layout(
        rows=rows,
        positions=positions,
        records=_numbered(record[rows]),
        threads=np.cumsum(~follows, dtype=np.int32) - np.int32(1),
        thread_starts=starts,
        thread_lengths=np.diff(starts, append=len(rows)).astype(np.float32),
        follows=follows.astype(np.float32),
        follows_two=follows_two.astype(np.float32),
        before=before,
        two_before=_neighbour(here, -2, follows_two),
        reached=np.stack([here, after, two_after, before]),
    )


def _numbered(records: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Number records that stand in an order in which parts of one are neighbours."""
    is_new = np.zeros(len(records), dtype=bool)
    is_new[1:] = (records[1:] != records[:-1]).any(axis=1)
    return np.cumsum(is_new, dtype=np.int32)


def _has_before(threads: NDArray[np.int32], distance: int) -> NDArray[np.bool_]:
    same = np.zeros(len(threads), dtype=bool)
    same[distance:] = threads[distance:] == threads[:-distance]
    return same


def _has_after(has_before: NDArray[np.bool_], distance: int) -> NDArray[np.bool_]:
    shifted = np.zeros(len(has_before), dtype=bool)
    shifted[:-distance] = has_before[distance:]
    return shifted


def _neighbour(here: NDArray[np.int32], distance: int, exists: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.where(exists, here + np.int32(distance), np.int32(len(here)))
