"""Labels: the words of dates and speakers, which search adds to what a passage says itself."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Labels
from retentia.index.neighbours import Layout


class LabelTerms:
    """The terms of a column of labels, analysed once for each label instead of once for each passage.

    `terms_of` returns the terms of a label by kind; `kinds` says how many kinds there are. `is_rare_in_text` says that
    texts seldom repeat what such a label says (dates).
    """

    def __init__(
        self,
        column: Labels[str],
        terms_of: Callable[[str], Sequence[list[int]]],
        *,
        kinds: int,
        is_rare_in_text: bool = False,
    ) -> None:
        self.is_rare_in_text = is_rare_in_text
        self._column = column
        self._terms_of = terms_of
        self._kinds = kinds
        self._codes: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._holders: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.forget()

    def forget(self) -> None:
        """Start again: the column has renumbered its labels."""
        self._lengths: list[list[int]] = []
        self._counts: dict[int, dict[int, int]] = {}

    def settle(self, layout: Layout) -> NDArray[np.float32]:
        """Take in new labels and the new order; return how many terms each position's label has, shape (kinds, n)."""
        for code in range(len(self._lengths), len(self._column.labels)):
            by_kind = self._terms_of(self._column.labels[code])
            self._lengths.append([len(terms) for terms in by_kind])
            for term in (term for terms in by_kind for term in terms):
                by_code = self._counts.setdefault(term, {})
                by_code[code] = by_code.get(code, 0) + 1
        self._codes = self._column.codes[layout.rows]
        self._holders = np.bincount(self._codes, minlength=len(self._lengths))
        lengths = np.array(self._lengths, dtype=np.float32).reshape(-1, self._kinds)
        return lengths.T[:, self._codes]

    def known(self, terms: Sequence[int]) -> list[int]:
        """Return the places of the terms that some label holds."""
        return [place for place, term in enumerate(terms) if term in self._counts]

    def holders(self, term: int) -> int:
        """Return how many positions have the term in their label."""
        return int(self._holders[list(self._counts[term])].sum())

    def frequencies(self, terms: Sequence[int], at: NDArray[np.intp] | None) -> NDArray[np.float32]:
        """Return how often the label of each position, or of those of `at`, holds each of the (known) terms."""
        table = np.zeros((len(terms), len(self._lengths)), dtype=np.float32)
        entries = [(row, code, count) for row, term in enumerate(terms) for code, count in self._counts[term].items()]
        rows, codes, counts = zip(*entries, strict=True)
        table[rows, codes] = counts
        frequencies: NDArray[np.float32] = table[:, self._codes if at is None else self._codes[at]]
        return frequencies
