"""What a process holds of views in memory: loaded on first use, kept up with what any process writes, dropped by size.

A view is the scopes that are seen together. What is held of each is up to a subclass: an index, or a pool.
"""

import gc
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar

from retentia.store import scopes
from retentia.store.database import Transaction
from retentia.store.scopes import ScopeVersion

_RELOAD_SHARE = 5
_RELOAD_LEAST = 2000
_ERASED_REMEMBERED = 4096
_Key: TypeAlias = tuple[str, tuple[int, ...], int]
"""The tenant, the numbers of the scopes that are seen together, and the generation of vectors."""


class Sized(Protocol):
    """What can be held: it knows how many rows it has, and how much memory they take."""

    def __len__(self) -> int: ...

    @property
    def nbytes(self) -> int: ...


@dataclass(slots=True)
class Held(ABC):
    """What is held of one view, and the version of each of its scopes that it knows. Use it under its lock."""

    versions: dict[int, int] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    @abstractmethod
    def content(self) -> Sized:
        """What takes the memory."""


H = TypeVar("H", bound=Held)
Touched: TypeAlias = dict[int, set[bytes]]
"""By scope the records that changed."""


class Views(ABC, Generic[H]):
    """What is held of views, the least recently used dropped first when they exceed `max_bytes` together."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[_Key, H] = OrderedDict()
        self._erased: OrderedDict[int, int] = OrderedDict()

    @abstractmethod
    def _empty(self, dimension: int) -> H:
        """Return what holds nothing yet."""

    @abstractmethod
    def _load(
        self, held: H, transaction: Transaction, view: Sequence[ScopeVersion], generation: int, dimension: int
    ) -> None:
        """Fill it with all there is, whatever it held."""

    @abstractmethod
    def _apply(self, held: H, transaction: Transaction, touched: Touched, generation: int) -> None:
        """Bring it to what changed."""

    def current(
        self, transaction: Transaction, view: Sequence[ScopeVersion], *, generation: int, dimension: int, keep: bool
    ) -> H:
        """Return what is held of a view as the transaction's snapshot sees it, or newer; the caller takes its lock.

        It is kept for the next call where `keep` says so and the snapshot knows what was erased.
        """
        key = (transaction.tenant, tuple(entry.scope_id for entry in view), generation)
        with self._lock:
            held = self._held.get(key)
            if held is None:
                held = self._empty(dimension)
                if keep and all(entry.version >= self._erased.get(entry.scope_id, 0) for entry in view):
                    self._held[key] = held
            if key in self._held:
                self._held.move_to_end(key)
        with held.lock:
            has_changed = self._catch_up(held, transaction, view, generation, dimension)
        if has_changed:  # adding up the sizes of all that is held is not free, and only a change can exceed the limit
            self._drop_beyond(key)
        return held

    def drop(self, erased: Mapping[int, int]) -> None:
        """Let go of what holds any of these scopes; return when no search uses it any more.

        With each scope comes the version from which on it may be held: a snapshot from before would bring back what
        was erased.
        """
        with self._lock:
            for scope_id, version in erased.items():
                self._erased[scope_id] = max(version, self._erased.pop(scope_id, 0))
            while len(self._erased) > _ERASED_REMEMBERED:  # a snapshot lives for moments, and many erasures ago is past
                self._erased.popitem(last=False)
            gone = [self._held.pop(key) for key in list(self._held) if not erased.keys().isdisjoint(key[1])]
        for held in gone:
            with held.lock:
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
        """How much memory all of it takes."""
        with self._lock:
            return sum(held.content.nbytes for held in self._held.values())

    def _catch_up(
        self,
        held: H,
        transaction: Transaction,
        view: Sequence[ScopeVersion],
        generation: int,
        dimension: int,
    ) -> bool:
        """Bring what is held to the transaction's snapshot; tell whether there was anything to do."""
        behind = [entry for entry in view if held.versions.get(entry.scope_id, -1) < entry.version]
        if not behind:
            return False
        touched = _touched(transaction, behind, held.versions)
        if touched is None or _is_much(touched, held.content):
            with _uncollected():
                self._load(held, transaction, view, generation, dimension)
        else:
            self._apply(held, transaction, touched, generation)
        held.versions.update((entry.scope_id, entry.version) for entry in view)
        return True

    def _drop_beyond(self, in_use: _Key) -> None:
        with self._lock:
            sizes = {key: held.content.nbytes for key, held in self._held.items()}
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


def _touched(transaction: Transaction, behind: Sequence[ScopeVersion], versions: dict[int, int]) -> Touched | None:
    """Return by scope which records changed, or None when a scope must be loaded anew."""
    touched: Touched = {}
    for entry in behind:
        if entry.scope_id not in versions:
            return None
        changed = scopes.changed_since(transaction, entry.scope_id, versions[entry.scope_id], current=entry.version)
        if changed is None:
            return None
        touched[entry.scope_id] = changed
    return touched


def _is_much(touched: Touched, content: Sized) -> bool:
    """Tell whether loading anew is cheaper than applying the changes."""
    return sum(map(len, touched.values())) > max(_RELOAD_LEAST, len(content) // _RELOAD_SHARE)
