"""Embedders for measuring, which cost next to nothing: vectors from words, and vectors prepared beforehand."""

import re
from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.setting import DIMENSION
from retentia.errors import EmbeddingFailed
from retentia.providers.base import EmbedderIdentity

Rows = NDArray[np.float32]

_WORD = re.compile(r"\w+")
_WORDS_APART = 1 << 14
_SHORT, _LIGHT = 3, 0.2
_AT_ONCE = 512


class WordVectors:
    """Gives each word a random direction and each text the sum of its words: texts that share words are near.

    As many numbers as the default embedder gives, a hundred times as fast; what a search costs does not depend on
    how good the vectors are.
    """

    def __init__(self) -> None:
        self.identity = EmbedderIdentity("benchmark-words", "1", DIMENSION)
        self._table = np.random.default_rng(7).standard_normal((_WORDS_APART, DIMENSION), dtype=np.float32)

    def embed(self, texts: Sequence[str]) -> Rows:
        parts = [self._embed(texts[start : start + _AT_ONCE]) for start in range(0, len(texts), _AT_ONCE)]
        return np.concatenate([np.empty((0, DIMENSION), dtype=np.float32), *parts])

    def embed_query(self, text: str) -> Rows:
        vector: Rows = self.embed([text])[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> Rows:
        words = [_WORD.findall(text.lower()) or [text] for text in texts]
        flat = [word for some in words for word in some]
        rows = self._table[[crc32(word.encode("utf-8", "surrogatepass")) % _WORDS_APART for word in flat]]
        rows *= np.array([_LIGHT if len(word) <= _SHORT else 1 for word in flat], dtype=np.float32)[:, None]
        starts = np.cumsum([0, *map(len, words[:-1])])
        summed: Rows = np.add.reduceat(rows, starts)
        summed /= np.linalg.norm(summed, axis=1, keepdims=True)
        return summed


class Prepared:
    """Serves vectors that were made before, so that a measured search embeds nothing."""

    def __init__(self, identity: EmbedderIdentity, vectors: Mapping[str, Rows]) -> None:
        self.identity = identity
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> Rows:
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Rows:
        try:
            return self._vectors[text]
        except KeyError as error:
            raise EmbeddingFailed("this text was not prepared for the benchmark") from error


def prepared(texts: Sequence[str], embedder: WordVectors) -> Prepared:
    """Embed texts and serve them from then on."""
    return Prepared(embedder.identity, dict(zip(texts, embedder.embed(texts), strict=True)))
