# ruff: noqa: S101 - assertions are what a contract is made of
"""Prove that your own embedder keeps its promises, and test without a model: fakes and contracts, to be inherited."""

import hashlib
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from retentia.errors import EmbeddingFailed
from retentia.providers.base import Embedder, EmbedderIdentity
from retentia.testing_model import FakeModel, Held

__all__ = ["STRANGE_TEXTS", "EmbedderContract", "FakeEmbedder", "FakeModel", "Held"]

_WORD = re.compile(r"\w+")
_PLACES_PER_WORD = 4
# What batching, threads and half precision may change in one of some hundred numbers of a unit vector.
_TOLERANCE = 2e-3

_SENTENCES = (
    "Maria moved to Lisbon in May and looks for a flat with a balcony.",
    "Die Rechnung vom 14. März ist noch nicht bezahlt.",
    "Олена живе в Києві й щоранку п'є каву без цукру.",
    "ok",
    "The build failed because the cache on the second runner was full. " * 12,
)

STRANGE_TEXTS = {
    "empty": "",
    "blank": " \t\n ",
    "NUL": "be\0fore",
    "only NUL": "\0",
    "half an emoji": "a \ud83d b",
    "emoji in two halves": "\ud83d\ude00",
    "emoji": "👩‍👩‍👧 🇺🇦 👍🏽",
    "right to left": "مرحبا بالعالم \u202e",
    "expands eighteenfold": "\ufdfa" * 50,
    "piled accents": "e" + "\u0301" * 300,
    "no spaces": "张伟喜欢喝茶。" * 50,
    "last code point": "\U0010ffff\ufffe",
    "100 kB of words": "the quick brown fox jumps over " * 3226,
    "100 kB without a space": "x" * 100_000,
}


class FakeEmbedder:
    """An embedder without a model: each word has fixed places, so texts that share words are near each other.

    The same text has the same vector in every process and on every machine. Set `is_down` and it raises
    EmbeddingFailed like a server that does not answer. `embedded` counts the texts and questions so far.
    """

    def __init__(self, dimension: int = 256, *, name: str = "fake", version: str = "1") -> None:
        self.identity = EmbedderIdentity(name, version, dimension, recipe="words")
        self.is_down = False
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit row for each text, shape (n, dimension), float32."""
        if self.is_down:
            raise EmbeddingFailed("the fake embedder is down")
        self.embedded += len(texts)
        rows = np.zeros((len(texts), self.identity.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.casefold()):
                _add(row, word)
            if not row.any():
                row[len(text) % len(row)] = 1
            row /= np.linalg.norm(row)
        return rows

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (dimension,), float32."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector


class EmbedderContract:
    """Inherit this in a test class with a fixture `embedder` to prove that an embedder keeps its promises."""

    def test_every_row_is_a_unit_vector_of_the_stated_dimension(self, embedder: Embedder) -> None:
        rows = embedder.embed(_SENTENCES)
        assert rows.shape == (len(_SENTENCES), embedder.identity.dimension)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)

    def test_a_question_is_one_unit_vector(self, embedder: Embedder) -> None:
        vector = embedder.embed_query("Where does Maria live now?")
        assert vector.shape == (embedder.identity.dimension,)
        assert vector.dtype == np.float32
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5

    def test_the_same_text_has_the_same_vector(self, embedder: Embedder) -> None:
        assert _near(embedder.embed(_SENTENCES), embedder.embed(_SENTENCES))
        assert _near(embedder.embed_query(_SENTENCES[0]), embedder.embed_query(_SENTENCES[0]))

    def test_a_batch_gives_what_its_texts_give_alone_in_their_order(self, embedder: Embedder) -> None:
        alone = np.concatenate([embedder.embed([text]) for text in _SENTENCES])
        assert _near(embedder.embed(_SENTENCES), alone)
        assert _near(embedder.embed(_SENTENCES[::-1]), alone[::-1])

    def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        rows = embedder.embed([])
        assert rows.shape == (0, embedder.identity.dimension)
        assert rows.dtype == np.float32

    def test_any_text_has_a_sound_vector(self, embedder: Embedder) -> None:
        rows = embedder.embed(list(STRANGE_TEXTS.values()))
        lengths = dict(zip(STRANGE_TEXTS, np.linalg.norm(rows, axis=1).tolist(), strict=True))
        assert {name: length for name, length in lengths.items() if not abs(length - 1) < 1e-5} == {}

    def test_any_question_has_a_sound_vector(self, embedder: Embedder) -> None:
        for text in STRANGE_TEXTS.values():
            assert abs(float(np.linalg.norm(embedder.embed_query(text))) - 1) < 1e-5

    def test_a_sentence_asked_for_is_nearer_than_the_others(self, embedder: Embedder) -> None:
        nearness = embedder.embed(_SENTENCES) @ embedder.embed_query(_SENTENCES[1])
        assert int(np.argmax(nearness)) == 1

    def test_threads_get_what_one_thread_gets(self, embedder: Embedder) -> None:
        expected = embedder.embed(_SENTENCES)
        with ThreadPoolExecutor(4) as pool:
            for rows in pool.map(embedder.embed, [_SENTENCES] * 4):
                assert _near(rows, expected)

    def test_the_identity_survives_being_written_down(self, embedder: Embedder) -> None:
        identity = embedder.identity
        assert EmbedderIdentity.from_json(identity.to_json()) == identity
        assert identity.matches(identity)


def _add(row: NDArray[np.float32], word: str) -> None:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4 * _PLACES_PER_WORD).digest()
    for start in range(0, len(digest), 4):
        number = int.from_bytes(digest[start : start + 4], "big")
        row[number // 2 % len(row)] += 1 if number % 2 else -1


def _near(rows: NDArray[np.float32], others: NDArray[np.float32]) -> bool:
    return rows.shape == others.shape and bool(np.abs(rows - others).max() < _TOLERANCE)
