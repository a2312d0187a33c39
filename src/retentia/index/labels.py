"""Labels: the words of dates and speakers, which search adds to what a passage says itself."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Labels
from retentia.index.neighbours import Layout


class LabelTerms:
    """The terms of a column of labels, analysed once for each label instead of once for each passage."""

    def __init__(self, column: Labels[str], terms_of: Callable[[str], list[int]]) -> None:
        self._column = column
        self._terms_of = terms_of
        self._lengths: list[int] = []
        self._counts: dict[int, dict[int, int]] = {}
        self._codes: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._holders: NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def forget(self) -> None:
        """Start again: the column has renumbered its labels."""
        self._lengths, self._counts = [], {}

    def settle(self, layout: Layout) -> NDArray[np.float32]:
        """Take in new labels and the new order; return how many terms each position's label has."""
        for code in range(len(self._lengths), len(self._column.labels)):
            terms = self._terms_of(self._column.labels[code])
            self._lengths.append(len(terms))
            for term in terms:
                by_code = self._counts.setdefault(term, {})
                by_code[code] = by_code.get(code, 0) + 1
        self._codes = self._column.codes[layout.rows]
        self._holders = np.bincount(self._codes, minlength=len(self._lengths))
        return np.array(self._lengths, dtype=np.float32)[self._codes]

    def known(self, terms: Sequence[int]) -> list[int]:
        """Return the places of the terms that some label holds."""
        return [place for place, term in enumerate(terms) if term in self._counts]

    def holders(self, term: int) -> int:
        """Return how many positions have the term in their label."""
        return int(self._holders[list(self._counts[term])].sum())

    def frequencies(self, term: int, at: NDArray[np.intp] | None) -> NDArray[np.float32]:
        """Return how often the label of each position, or of those of `at`, holds the term."""
        by_code = self._counts[term]
        table = np.zeros(len(self._lengths), dtype=np.float32)
        table[list(by_code)] = list(by_code.values())
        counts: NDArray[np.float32] = table[self._codes if at is None else self._codes[at]]
        return counts
