"""The bytes of a SQLite file, read and blanked beside SQLite.

Two things SQLite does not do for us. POSIX drops every lock a process has on a file when it closes any descriptor of
it, and another process then takes the store for unused and removes its log (measured: rows that were durable are lost).
So a descriptor is closed only when no connection of this process is open to the store. And `secure_delete` overwrites
what is deleted, not the older copies of a row that stay in the unused middle of a page when rows move between pages.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

_CHUNK_PAGES = 512
_TREE_PAGES = {2: 12, 5: 12, 10: 8, 13: 8}  # flag of a page of a b-tree: length of its header
_SCHEMA_HEADER = 100
_ZEROS = bytes(1 << 16)
_BINARY = getattr(os, "O_BINARY", 0)


@cache
def counted(driver: ModuleType) -> type[Any]:
    """Return the class of connections of a driver, counted, so that it is known whether a file is in use here."""
    base: type[Any] = driver.Connection

    class Counted(base):  # type: ignore[misc]  # whatever the driver has
        def __init__(self, database: str, *arguments: Any, **options: Any) -> None:
            self._store: Path | None = Path(database).resolve()
            _in_use().enter(self._store)
            try:
                super().__init__(database, *arguments, **options)
            except BaseException:
                self._leave()
                raise

        def close(self) -> None:
            super().close()
            self._leave()

        def _leave(self) -> None:
            if self._store is not None:
                _in_use().leave(self._store)
                self._store = None

    return Counted


@contextmanager
def descriptor(store: Path, file: Path | None = None, *, write: bool = False) -> Iterator[int]:
    """Open a store, or a file that belongs to it, beside SQLite, without costing anyone a lock."""
    store = store.resolve()
    wanted = _Wanted(store if file is None else file, (os.O_RDWR if write else os.O_RDONLY) | _BINARY)
    opened = _in_use().open(store, wanted)
    try:
        os.lseek(opened, 0, os.SEEK_SET)
        yield opened
    finally:
        _in_use().close(store, wanted, opened)


def stale_pages(opened: int) -> list[int]:
    """Return the numbers of the pages whose unused middle is not blank, from 0."""
    size = _page_size(opened)
    found, number = [], 0
    os.lseek(opened, 0, os.SEEK_SET)
    while chunk := os.read(opened, size * _CHUNK_PAGES):
        for at in range(0, len(chunk) - size + 1, size):
            start, end = _unused(chunk, at, size, is_first=number == 0)
            if chunk[start:end] != _ZEROS[: end - start]:
                found.append(number)
            number += 1
    return found


def blank(opened: int, pages: Iterable[int]) -> None:
    """Overwrite the unused middle of pages. Nobody may write the file meanwhile; readers see no difference."""
    size = _page_size(opened)
    for number in pages:
        os.lseek(opened, number * size, os.SEEK_SET)
        page = os.read(opened, size)
        start, end = _unused(page, 0, size, is_first=number == 0)
        os.lseek(opened, number * size + start, os.SEEK_SET)
        os.write(opened, bytes(end - start))
    os.fsync(opened)


def _page_size(opened: int) -> int:
    os.lseek(opened, 0, os.SEEK_SET)
    size = int.from_bytes(os.read(opened, 18)[16:18], "big")
    return 1 << 16 if size == 1 else max(size, 512)


def _unused(raw: bytes, at: int, size: int, *, is_first: bool) -> tuple[int, int]:
    """Return from where to where the middle of a page is unused: between the pointers to its cells and the cells.

    A page of overflow or of the free list begins with the number of another page, so with 0 below 16 million pages.
    """
    header = at + (_SCHEMA_HEADER if is_first else 0)
    if len(raw) < at + size or (length := _TREE_PAGES.get(raw[header])) is None:
        return at, at
    cells = int.from_bytes(raw[header + 3 : header + 5], "big")
    content = int.from_bytes(raw[header + 5 : header + 7], "big") or 1 << 16
    start, end = header + length + 2 * cells, at + content
    return (start, end) if start <= end <= at + size else (at, at)


class _Wanted(NamedTuple):
    file: Path
    flags: int


class _InUse:
    """How many connections of this process are open to each store, and the descriptors that must outlive them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: Counter[Path] = Counter()
        self._kept: dict[Path, list[tuple[_Wanted, int]]] = {}

    def enter(self, store: Path) -> None:
        with self._lock:
            for idle in [one for one in self._kept if not self._connections[one]]:
                for _, opened in self._kept.pop(idle):
                    os.close(opened)
            self._connections[store] += 1

    def leave(self, store: Path) -> None:
        with self._lock:
            self._connections[store] -= 1
            if self._connections[store] <= 0:
                del self._connections[store]

    def open(self, store: Path, wanted: _Wanted) -> int:
        """Take a descriptor that was kept, where the file is still the same, or open one."""
        with self._lock:
            kept = self._kept.get(store, [])
            for entry in kept:
                if entry[0] == wanted and os.path.samestat(os.fstat(entry[1]), wanted.file.stat()):
                    kept.remove(entry)
                    return entry[1]
        return os.open(wanted.file, wanted.flags)

    def close(self, store: Path, wanted: _Wanted, opened: int) -> None:
        with self._lock:
            if store in self._connections:
                self._kept.setdefault(store, []).append((wanted, opened))
            else:
                os.close(opened)

    def after_fork(self) -> None:
        """Begin anew in a child: it has no lock to lose, and what it inherited shares its place in the file."""
        self._lock = threading.Lock()
        self._connections.clear()
        for kept in self._kept.values():
            for _, opened in kept:
                os.close(opened)
        self._kept.clear()


@cache
def _in_use() -> _InUse:
    in_use = _InUse()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_use.after_fork)
    return in_use
