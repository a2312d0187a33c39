"""Retentia itself, through its public verbs."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers.subject import Lookup, Remembered, Subject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retentia import Memory, Scope

DISTRIBUTION = "retentia"
NOTE = "by words and by meaning"


def open_subject(folder: Path, lookup: Lookup) -> Subject:
    from retentia import Memory
    from retentia.providers.base import EmbedderIdentity

    identity = EmbedderIdentity("prepared", "1", lookup.dimension)
    memory = Memory.open(folder / "memory.db", embedder=_Embedder(identity, lookup), worker=False)
    return _Retentia(memory)


class _Embedder:
    def __init__(self, identity: Any, lookup: Lookup) -> None:
        self.identity = identity
        self._lookup = lookup

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._lookup.array(texts)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        vector: NDArray[np.float32] = self._lookup.array([text])[0]
        return vector


class _Retentia:
    def __init__(self, memory: "Memory") -> None:
        self._memory = memory
        self._source: dict[str, str] = {}

    def add(self, scope: str, entries: Sequence[Remembered]) -> None:
        for session, some in groupby(entries, key=lambda entry: entry.session):
            group = list(some)
            given = [
                {"role": entry.role, "content": entry.text, "speaker": entry.speaker, "at": entry.at or None}
                for entry in group
            ]
            receipt = self._memory.add(given, scope=_scope(scope), session=session)
            self._source |= {record: entry.id for record, entry in zip(receipt.ids, group, strict=True)}

    def settle(self) -> None:
        self._memory.drain()

    def search(self, scope: str, question: str, limit: int) -> list[str]:
        found = self._memory.recall(question, scope=_scope(scope), limit=limit, min_relevance=0.0)
        return [self._source[hit.id] for hit in found]

    def close(self) -> None:
        self._memory.close()


def _scope(name: str) -> "Scope":
    from retentia import Scope

    return Scope(tenant="bench", user=name)
