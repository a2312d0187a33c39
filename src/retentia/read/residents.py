"""The resident indexes of a process: loaded on first use, kept up with what any process writes, dropped by size."""

import gc
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from retentia.index.resident import ResidentIndex
from retentia.store import passages, scopes
from retentia.store.database import Transaction
from retentia.store.scopes import ScopeVersion

_RELOAD_SHARE = 5
_RELOAD_LEAST = 2000
_ERASED_REMEMBERED = 4096
_Key: TypeAlias = tuple[str, tuple[int, ...], int]
"""The tenant, the numbers of the scopes that are seen together, and the generation of vectors."""


@dataclass(slots=True)
class Resident:
    """The index of one view, the version of each of its scopes that it holds, and whose vectors are still to come.

    Use it under its lock.
    """

    index: ResidentIndex
    versions: dict[int, int]
    unembedded: Counter[bytes] = field(default_factory=Counter)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def pending(self) -> int:
        """How many passages are found by their words only."""
        return self.unembedded.total()


class Residents:
    """The indexes in memory, the least recently used dropped first when they exceed `max_bytes` together."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[_Key, Resident] = OrderedDict()
        self._erased: OrderedDict[int, int] = OrderedDict()

    def current(
        self, transaction: Transaction, view: Sequence[ScopeVersion], *, generation: int, dimension: int, keep: bool
    ) -> Resident:
        """Return the index of a view as the transaction's snapshot sees it, or newer; the caller takes its lock.

        It is kept for the next call where `keep` says so and the snapshot knows what was erased.
        """
        key = (transaction.tenant, tuple(entry.scope_id for entry in view), generation)
        with self._lock:
            resident = self._held.get(key)
            if resident is None:
                resident = Resident(ResidentIndex(dimension), {})
                if keep and all(entry.version >= self._erased.get(entry.scope_id, 0) for entry in view):
                    self._held[key] = resident
            if key in self._held:
                self._held.move_to_end(key)
        with resident.lock:
            has_changed = self._catch_up(resident, transaction, view, generation, dimension)
        if has_changed:  # adding up the sizes of every index is not free, and only a change can exceed the limit
            self._drop_beyond(key)
        return resident

    def drop(self, erased: Mapping[int, int]) -> None:
        """Let go of the indexes that hold any of these scopes; return when no search uses them any more.

        With each scope comes the version from which on it may be held: a snapshot from before would bring back what
        was erased.
        """
        with self._lock:
            for scope_id, version in erased.items():
                self._erased[scope_id] = max(version, self._erased.pop(scope_id, 0))
            while len(self._erased) > _ERASED_REMEMBERED:  # a snapshot lives for moments, and many erasures ago is past
                self._erased.popitem(last=False)
            gone = [self._held.pop(key) for key in list(self._held) if not erased.keys().isdisjoint(key[1])]
        for resident in gone:
            with resident.lock:
                pass

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._held.clear()

    def after_in_child(self) -> None:
        """Let go of what a forked process has inherited; a lock may have been held in its parent."""
        self._lock = threading.Lock()
        self._held.clear()

    @property
    def nbytes(self) -> int:
        """How much memory the indexes hold."""
        with self._lock:
            return sum(resident.index.nbytes for resident in self._held.values())

    def _catch_up(
        self,
        resident: Resident,
        transaction: Transaction,
        view: Sequence[ScopeVersion],
        generation: int,
        dimension: int,
    ) -> bool:
        """Bring an index to the transaction's snapshot; tell whether there was anything to do."""
        behind = [entry for entry in view if resident.versions.get(entry.scope_id, -1) < entry.version]
        if not behind:
            return False
        touched = _touched(transaction, behind, resident.versions)
        if touched is None or _is_much(touched, resident.index):
            with _uncollected():
                resident.unembedded.clear()
                resident.index = ResidentIndex.load(
                    _slices(resident, transaction, view, generation), dimension=dimension
                )
        else:
            _apply(resident, transaction, touched, generation)
        resident.versions.update((entry.scope_id, entry.version) for entry in view)
        return True

    def _drop_beyond(self, in_use: _Key) -> None:
        with self._lock:
            sizes = {key: resident.index.nbytes for key, resident in self._held.items()}
            total = sum(sizes.values())
            for key in list(self._held):
                if total <= self._max_bytes:
                    return
                if key != in_use:
                    del self._held[key]
                    total -= sizes[key]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from walking over rows while they are read: it would take a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _touched(
    transaction: Transaction, behind: Sequence[ScopeVersion], versions: dict[int, int]
) -> dict[int, set[bytes]] | None:
    """Return by scope which records changed, or None when a scope must be loaded anew."""
    touched: dict[int, set[bytes]] = {}
    for entry in behind:
        if entry.scope_id not in versions:
            return None
        changed = scopes.changed_since(transaction, entry.scope_id, versions[entry.scope_id], current=entry.version)
        if changed is None:
            return None
        touched[entry.scope_id] = changed
    return touched


def _is_much(touched: dict[int, set[bytes]], index: ResidentIndex) -> bool:
    """Tell whether loading anew is cheaper than applying the changes."""
    return sum(map(len, touched.values())) > max(_RELOAD_LEAST, len(index) // _RELOAD_SHARE)


def _unembedded(rows: Sequence[Any], vectors: Sequence[Any]) -> Counter[bytes]:
    """Count by record the passages that have no vector."""
    if len(rows) == len(vectors):
        return Counter()
    embedded = {(record_id, part) for record_id, part, _ in vectors}
    return Counter(row[0] for row in rows if (row[0], row[1]) not in embedded)


def _slices(
    resident: Resident, transaction: Transaction, view: Sequence[ScopeVersion], generation: int
) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    for entry in view:
        for rows, vectors in passages.slices(transaction, entry.scope_id, generation):
            if generation:
                resident.unembedded += _unembedded(rows, vectors)
            yield rows, vectors


def _apply(resident: Resident, transaction: Transaction, touched: dict[int, set[bytes]], generation: int) -> None:
    everything = {record_id for ids in touched.values() for record_id in ids}
    resident.index.remove(everything)
    for record_id in everything & resident.unembedded.keys():
        del resident.unembedded[record_id]
    for scope_id, ids in touched.items():
        rows: list[Any] = list(passages.load_passages(transaction, scope_id, ids))
        vectors: list[Any] = list(passages.load_vectors(transaction, scope_id, generation, ids))
        resident.index.add(rows, vectors)
        if generation:
            resident.unembedded += _unembedded(rows, vectors)
