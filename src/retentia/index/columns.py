"""Columns: what the index knows of each passage beside its terms and its vector, one growing array a property."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from retentia.index.tokenizer import date_text
from retentia.model.passage import IS_PAST
from retentia.model.record import ITEM_KINDS

_GROWTH = 8
_LABEL_BYTES = 160  # an entry of a dict, its key and its place in the list of labels

S = TypeVar("S", bound=np.generic)
L = TypeVar("L", bound=Hashable)


class Growing(Generic[S]):
    """An array that grows at its end, an eighth at a time; `values` is a view of the filled part."""

    __slots__ = ("_buffer", "_size")

    def __init__(self, values: NDArray[S]) -> None:
        self._buffer = values
        self._size = len(values)

    @property
    def values(self) -> NDArray[S]:
        return self._buffer[: self._size]

    @property
    def nbytes(self) -> int:
        return self._buffer.nbytes

    def extend(self, more: NDArray[S]) -> None:
        size = self._size + len(more)
        if size > len(self._buffer):
            room = size if self._size == 0 else size + size // _GROWTH + _GROWTH
            buffer = np.empty((room, *self._buffer.shape[1:]), dtype=self._buffer.dtype)
            buffer[: self._size] = self.values
            self._buffer = buffer
        self._buffer[self._size : size] = more
        self._size = size

    def keep(self, rows: NDArray[np.intp]) -> None:
        self._buffer = self.values[rows]
        self._size = len(rows)


class Labels(Generic[L]):
    """A column of repeated values: `codes` (int32, one a row) number the entries of `labels`."""

    __slots__ = ("_code_of", "_codes", "labels")

    def __init__(self) -> None:
        self.labels: list[L] = []
        self._code_of: dict[L, int] = {}
        self._codes = empty(np.int32)

    @property
    def codes(self) -> NDArray[np.int32]:
        return self._codes.values

    @property
    def nbytes(self) -> int:
        return self._codes.nbytes + _LABEL_BYTES * len(self.labels)

    def extend(self, values: Sequence[L]) -> None:
        for value in dict.fromkeys(values):
            if value not in self._code_of:
                self._code_of[value] = len(self.labels)
                self.labels.append(value)
        self._codes.extend(np.fromiter(map(self._code_of.__getitem__, values), dtype=np.int32, count=len(values)))

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop every row but these, and the labels that none of them has."""
        used = [self.labels[code] for code in self.codes[rows].tolist()]
        self.labels, self._code_of, self._codes = [], {}, empty(np.int32)
        self.extend(used)

    def at(self, row: int) -> L:
        return self.labels[int(self.codes[row])]

    def is_any_of(self, values: Collection[L]) -> NDArray[np.bool_]:
        """Mark the rows that hold one of the values."""
        wanted = np.zeros(len(self.labels), dtype=bool)
        wanted[[self._code_of[value] for value in values if value in self._code_of]] = True
        return wanted[self.codes]


class Columns:
    """The properties of every row, dead ones included; arrays of one length, in the order the rows arrived.

    `record` holds a record id as two uint64, its first and last eight bytes read big-endian, so that numbers sort as
    ids do. `thread` labels what context may not leave: the session or document, or the record itself without one.
    """

    def __init__(self) -> None:
        self.record: Growing[np.uint64] = Growing(np.empty((0, 2), dtype=np.uint64))
        self.part = empty(np.int32)
        self.kind: Labels[str] = Labels()
        self.thread: Labels[bytes] = Labels()
        self.seq = empty(np.int64)
        self.role: Labels[str] = Labels()
        self.speaker: Labels[str] = Labels()
        self.date: Labels[str] = Labels()
        self.occurred_start = empty(np.int64)
        self.occurred_end = empty(np.int64)
        self.flags = empty(np.uint8)
        self.start = empty(np.int32)
        self.end = empty(np.int32)
        self.is_live = empty(np.bool_)

    def __len__(self) -> int:
        return len(self.part.values)

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in vars(self).values())

    @property
    def has_items(self) -> bool:
        """Whether any row is of something known, which may only repeat what was said."""
        return any(kind in ITEM_KINDS for kind in self.kind.labels)

    @property
    def has_past(self) -> bool:
        """Whether any row no longer holds."""
        return bool((self.flags.values & IS_PAST).any())

    def extend(self, columns: Sequence[Sequence[Any]]) -> None:
        """Append rows, given as the columns that PASSAGE_COLUMNS names."""
        ids, parts, kinds, threads, seqs, roles, speakers, days, begins, ends, flags, starts, stops, _, _ = columns
        self.record.extend(record_halves(ids))
        self.part.extend(np.array(parts, dtype=np.int32))
        self.kind.extend(kinds)
        self.thread.extend([thread or record for thread, record in zip(threads, ids, strict=True)])
        self.seq.extend(np.array(seqs, dtype=np.int64))
        self.role.extend(roles)
        self.speaker.extend(speakers)
        dates = {day: date_text(day) for day in set(days)}
        self.date.extend([dates[day] for day in days])
        self.occurred_start.extend(np.array(begins, dtype=np.int64))
        self.occurred_end.extend(np.array(ends, dtype=np.int64))
        self.flags.extend(np.array(flags, dtype=np.uint8))
        self.start.extend(np.array(starts, dtype=np.int32))
        self.end.extend(np.array(stops, dtype=np.int32))
        self.is_live.extend(np.ones(len(ids), dtype=bool))

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop every row but these."""
        for column in vars(self).values():
            column.keep(rows)

    def ids(self, rows: NDArray[np.integer]) -> list[bytes]:
        """Return the record ids of some rows."""
        joined = self.record.values[rows].astype(">u8").tobytes()
        return [joined[at : at + 16] for at in range(0, len(joined), 16)]

    def rows_of(self, record_ids: Collection[bytes]) -> NDArray[np.bool_]:
        """Mark the rows of these records."""
        wanted = record_halves(list(record_ids))
        held = self.record.values
        found = np.isin(held[:, 1], wanted[:, 1])
        exact = set(map(tuple, wanted.tolist()))
        candidates = np.flatnonzero(found)
        found[candidates] = [tuple(halves) in exact for halves in held[candidates].tolist()]
        return found


def empty(dtype: type[S]) -> Growing[S]:
    """Return a growing array without rows."""
    return Growing(np.empty(0, dtype=dtype))


def record_halves(record_ids: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return ids of 16 bytes as numbers, shape (n, 2)."""
    return np.frombuffer(b"".join(record_ids), dtype=">u8").reshape(-1, 2).astype(np.uint64)
