"""mem0 without a language model: `infer=False`, its own local qdrant, one user a scope."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.subject import Lookup, Remembered, Subject

DISTRIBUTION = "mem0ai"
NOTE = "by meaning only here: its keyword search needs fastembed's BM25, which downloads its tables"


def open_subject(folder: Path, lookup: Lookup) -> Subject:
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
    from mem0 import Memory  # type: ignore[import-not-found]

    config = {
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": str(folder / "qdrant"), "embedding_model_dims": lookup.dimension, "on_disk": True},
        },
        # Nothing is ever asked of it: without inference mem0 calls no model.
        "llm": {"provider": "openai", "config": {"api_key": "unused"}},
        "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
        "history_db_path": str(folder / "history.db"),
    }
    memory = Memory.from_config(config)
    memory.embedding_model = _Embedding(lookup)
    return _Mem0(memory)


class _Embedding:
    """mem0's embedding interface, served from what was made beforehand."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._lookup.one(text)

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return self._lookup.many(texts)


class _Mem0:
    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def add(self, scope: str, entries: Sequence[Remembered]) -> None:
        for entry in entries:  # its metadata belongs to a call, so each message is a call
            self._memory.add(entry.shown, user_id=scope, metadata={"source": entry.id}, infer=False)

    def settle(self) -> None:
        pass

    def search(self, scope: str, question: str, limit: int) -> list[str]:
        found = self._memory.search(question, filters={"user_id": scope}, top_k=limit, threshold=0.0)
        return [item["metadata"]["source"] for item in found["results"]]

    def close(self) -> None:
        self._memory.close()
