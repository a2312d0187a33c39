"""The floor: the least a search by words and by meaning can do. One matrix, one dictionary of postings, no store.

It keeps nothing on disk, knows no scope, no neighbours, no languages, no deletion; what it costs is what we allow
ourselves to be compared with.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(
    _WORD.findall(
        """
        a an and are as at be but by did do does for from had has have he her his how i if in is it its me my not of on
        or our she so that the their them they this to was we were what when where which who will with you your
        """
    )
)
_K1, _B = 1.2, 0.75

Vector = NDArray[np.float32]


class Floor:
    """Texts, their unit vectors (n, d) and BM25 impacts by word, all in memory."""

    def __init__(self, texts: Sequence[str], matrix: Vector) -> None:
        self._texts = texts
        self._matrix = np.ascontiguousarray(matrix)
        self._postings = _postings([_words(text) for text in texts])

    def search(self, question: str, vector: Vector, limit: int = 10) -> list[tuple[int, str]]:
        """Return the best texts with their numbers: half the cosine, half BM25, each stretched to 0…1."""
        scores = self._matrix @ vector
        scores -= scores.min()
        scores /= 2 * (scores.max() or 1)
        lexical = np.zeros(len(scores), dtype=np.float32)
        for word in _words(question):
            if (found := self._postings.get(word)) is not None:
                lexical[found[0]] += found[1]
        lexical /= 2 * (lexical.max() or 1)
        scores += lexical
        best = np.argpartition(scores, -min(limit, len(scores)))[-limit:]
        best = best[np.argsort(-scores[best])]
        return [(number, self._texts[number]) for number in best.tolist()]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS]


def _postings(texts: Sequence[Sequence[str]]) -> dict[str, tuple[NDArray[np.int32], Vector]]:
    rows: dict[str, list[int]] = {}
    counts: dict[str, list[int]] = {}
    for number, words in enumerate(texts):
        for word, count in Counter(words).items():
            rows.setdefault(word, []).append(number)
            counts.setdefault(word, []).append(count)
    lengths = np.array([len(words) for words in texts], dtype=np.float32)
    slack = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1))
    found = {}
    for word, numbers in rows.items():
        at, often = np.array(numbers, dtype=np.int32), np.array(counts[word], dtype=np.float32)
        rarity = np.log1p((len(texts) - len(at) + 0.5) / (len(at) + 0.5))
        found[word] = (at, (rarity * often * (_K1 + 1) / (often + slack[at])).astype(np.float32))
    return found
