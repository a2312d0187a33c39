"""langgraph's SqliteStore with a vector index, one namespace a scope."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.subject import Lookup, Remembered, Subject

DISTRIBUTION = "langgraph-checkpoint-sqlite"
NOTE = "by meaning only (exact)"


def open_subject(folder: Path, lookup: Lookup) -> Subject:
    import pysqlite3 as sqlite3  # type: ignore[import-not-found]  # can load extensions wherever it runs
    from langgraph.store.base import PutOp  # type: ignore[import-not-found]
    from langgraph.store.sqlite import SqliteStore  # type: ignore[import-not-found]

    connection = sqlite3.connect(folder / "store.db", check_same_thread=False, isolation_level=None)
    index = {"dims": lookup.dimension, "embed": lookup.many}
    store = SqliteStore(connection, index=index)
    store.setup()
    return _LangGraph(store, PutOp)


class _LangGraph:
    def __init__(self, store: Any, put: Any) -> None:
        self._store = store
        self._put = put

    def add(self, scope: str, entries: Sequence[Remembered]) -> None:
        self._store.batch([self._put((scope,), entry.id, {"text": entry.shown}, index=["text"]) for entry in entries])

    def settle(self) -> None:
        pass

    def search(self, scope: str, question: str, limit: int) -> list[str]:
        return [item.key for item in self._store.search((scope,), query=question, limit=limit)]

    def close(self) -> None:
        self._store.conn.close()
