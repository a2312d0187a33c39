"""chromadb: a persistent client, one collection a scope, searched by meaning."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.subject import Lookup, Remembered, Subject

DISTRIBUTION = "chromadb"
NOTE = "by meaning only (HNSW, approximate)"


def open_subject(folder: Path, lookup: Lookup) -> Subject:
    import chromadb  # type: ignore[import-not-found]
    from chromadb.config import Settings  # type: ignore[import-not-found]

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    return _Chroma(client, lookup)


class _Chroma:
    def __init__(self, client: object, lookup: Lookup) -> None:
        self._client = client
        self._lookup = lookup
        self._collections: dict[str, object] = {}

    def add(self, scope: str, entries: Sequence[Remembered]) -> None:
        texts = [entry.shown for entry in entries]
        self._collection(scope).add(
            ids=[entry.id for entry in entries], documents=texts, embeddings=self._lookup.array(texts)
        )

    def settle(self) -> None:
        pass

    def search(self, scope: str, question: str, limit: int) -> list[str]:
        found = self._collection(scope).query(query_embeddings=[self._lookup.one(question)], n_results=limit)
        return list(found["ids"][0])

    def close(self) -> None:
        pass

    def _collection(self, scope: str):  # type: ignore[no-untyped-def]
        if scope not in self._collections:
            self._collections[scope] = self._client.create_collection(  # type: ignore[attr-defined]
                scope, metadata={"hnsw:space": "cosine"}, embedding_function=None
            )
        return self._collections[scope]
