"""The floor as a subject: in memory, nothing durable; built anew at the first search after a write."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.subject import Lookup, Remembered, Subject

DISTRIBUTION = ""
NOTE = "numpy + BM25 in memory; keeps nothing"


def open_subject(folder: Path, lookup: Lookup) -> Subject:
    import numpy as np  # noqa: F401 - its import is part of starting

    return _InMemory(lookup)


class _InMemory:
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._entries: dict[str, list[Remembered]] = {}
        self._built: dict[str, object] = {}

    def add(self, scope: str, entries: Sequence[Remembered]) -> None:
        self._entries.setdefault(scope, []).extend(entries)

    def settle(self) -> None:
        from benchmarks.floor import Floor

        for scope, entries in self._entries.items():
            texts = [entry.shown for entry in entries]
            self._built[scope] = Floor(texts, self._lookup.array(texts))

    def search(self, scope: str, question: str, limit: int) -> list[str]:
        from benchmarks.floor import Floor

        floor = self._built[scope]
        assert isinstance(floor, Floor)
        found = floor.search(question, self._lookup.array([question])[0], limit)
        return [self._entries[scope][number].id for number, _ in found]

    def close(self) -> None:
        pass
