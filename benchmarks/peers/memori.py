"""memori on a database of one's own (SQLite): its fact store and its search, one entity a scope.

Its public verbs learn facts with a hosted service and embed questions with a model that it downloads, so the layer
below them is measured: what they call once facts and vectors are there.
"""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.subject import Lookup, Remembered, Subject

DISTRIBUTION = "memori"
NOTE = "its storage and search without its facade, all facts allowed as candidates (its default is 1,000)"
_EVERYTHING = 1_000_000


def open_subject(folder: Path, lookup: Lookup) -> Subject:
    os.environ |= {"MEMORI_DISABLE_RUST_CORE": "1", "MEMORI_ORT_AUTO_DOWNLOAD": "0", "MEMORI_TEST_MODE": "1"}
    from memori import Memori  # type: ignore[import-not-found]

    path = folder / "memori.db"
    memori = Memori(conn=lambda: sqlite3.connect(path, check_same_thread=False))
    memori.config.storage.build()
    return _Memori(memori, lookup)


class _Memori:
    def __init__(self, memori: Any, lookup: Lookup) -> None:
        from memori.search import search_facts  # type: ignore[import-not-found]

        self._search = search_facts
        self._storage = memori.config.storage
        self._driver = self._storage.driver
        self._lookup = lookup
        self._entities: dict[str, int] = {}
        self._id_of: dict[str, str] = {}

    def add(self, scope: str, entries: Sequence[Remembered]) -> None:
        texts = [entry.shown for entry in entries]
        self._driver.entity_fact.create(self._entity(scope), texts, self._lookup.many(texts))
        self._id_of |= {entry.shown: entry.id for entry in entries}

    def settle(self) -> None:
        pass

    def search(self, scope: str, question: str, limit: int) -> list[str]:
        found = self._search(
            self._driver.entity_fact,
            self._entity(scope),
            self._lookup.one(question),
            limit,
            _EVERYTHING,
            query_text=question,
        )
        return [self._id_of[fact.content] for fact in found]

    def close(self) -> None:
        self._storage.adapter.close()

    def _entity(self, scope: str) -> int:
        if scope not in self._entities:
            self._entities[scope] = self._driver.entity.create(scope)
        return self._entities[scope]
