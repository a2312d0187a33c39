"""Rows for the tests of the index: short records, analysed and embedded as the pipelines do it."""

import numpy as np
from numpy.typing import NDArray

from retentia.index.passages import Indexable, embedding_text, passages_of
from retentia.index.ranking import Ranking
from retentia.index.resident import ResidentIndex
from retentia.index.signals import Weights
from retentia.index.tokenizer import analyse_query
from retentia.model.passage import Passage, VectorRow
from retentia.testing import FakeEmbedder

EMBEDDER = FakeEmbedder(64)
DIMENSION = EMBEDDER.identity.dimension


def record_id(number: int) -> bytes:
    return number.to_bytes(16, "big")


def message(
    number: int, text: str, *, session: int = 1, role: str = "", speaker: str = "", day: int = 0, seq: int | None = None
) -> Indexable:
    return Indexable(
        record_id=record_id(number),
        kind="message",
        text=text,
        thread=record_id(10_000 + session),
        seq=number if seq is None else seq,
        role=role,
        speaker=speaker,
        day=day,
    )


def item(number: int, text: str) -> Indexable:
    return Indexable(record_id=record_id(number), kind="item", text=text)


def rows_of(*sources: Indexable) -> list[Passage]:
    return [passage for source in sources for passage in passages_of(source)]


def vectors_of(*sources: Indexable) -> list[VectorRow]:
    return [
        VectorRow(passage.record_id, passage.part, _vector(source, passage))
        for source in sources
        for passage in passages_of(source)
    ]


def index_of(*sources: Indexable, embedded: bool = True) -> ResidentIndex:
    return ResidentIndex.build(rows_of(*sources), vectors_of(*sources) if embedded else [], dimension=DIMENSION)


def ask(
    index: ResidentIndex,
    text: str,
    *,
    limit: int = 10,
    allowed: NDArray[np.bool_] | None = None,
    weights: Weights | None = None,
    by_words: bool = False,
) -> Ranking:
    vector = None if by_words else EMBEDDER.embed_query(text)
    return index.search(analyse_query(text), vector, limit=limit, allowed=allowed, weights=weights)


def found(ranking: Ranking) -> list[int]:
    return [int.from_bytes(entry.record_id, "big") for entry in ranking.records]


def _vector(source: Indexable, passage: Passage) -> bytes:
    text = embedding_text(source.text[passage.start : passage.end], speaker=source.speaker, day=source.day)
    return EMBEDDER.embed([text])[0].astype("<f2").tobytes()
