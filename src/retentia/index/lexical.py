"""Lexical scores: BM25F over each passage's own terms, those of its neighbours, its date and its speaker.

A term's weighted frequency in a passage is 4 for an occurrence of its own, 2 in the passage before, 1 in the one before
that, 1 in the next, 4 in the date and 4 in the speaker's name (fields are weighted before saturation: Robertson,
Zaragoza and Taylor 2004). They are put together for the terms of a query, never for the whole vocabulary.
"""

import numpy as np
from numpy.typing import NDArray

from retentia.index.lexicon import GRAMS, PAIRS, STEMS, Lexicon, Occurrences
from retentia.index.neighbours import Layout, Share

SATURATION = 2.5
LENGTH_NORMALISATION = 0.75
TERM_SHARE = Share(own=4.0, previous=2.0, before_previous=1.0, next=1.0)
LABEL_SHARE = 4.0
_MOST_PAIRS = np.float32(2.0)

Scores = NDArray[np.float32]


class Lexical:
    """Scores the positions of one layout; made anew when rows come or go, because averages depend on all of them."""

    def __init__(self, lexicon: Lexicon, layout: Layout) -> None:
        self._lexicon = lexicon
        self._layout = layout
        lengths = lexicon.own_lengths(layout)
        for kind in (STEMS, GRAMS):
            lengths[kind] = layout.mix(lengths[kind], TERM_SHARE)
        for label in lexicon.labels:
            lengths += np.float32(LABEL_SHARE) * label.settle(layout)
        averages = lengths.mean(axis=1, keepdims=True) if len(layout) else np.ones((2, 1), dtype=np.float32)
        averages[averages == 0] = 1
        relative = np.float32(1 - LENGTH_NORMALISATION) + np.float32(LENGTH_NORMALISATION) * lengths / averages
        self._pivots: Scores = np.float32(SATURATION) * relative

    @property
    def nbytes(self) -> int:
        return self._pivots.nbytes

    def everywhere(self, found: Occurrences) -> tuple[Scores, Scores]:
        """Return BM25 by position over stems and over grams, as shares of the query's ideal.

        About 1 is a passage that says all of the query.
        """
        both = found.of(STEMS, PAIRS)
        weighted, cut = self._weighted(both, None), found.cuts[GRAMS]
        stems = self._saturated(weighted[:cut], both.holders[:cut], self._pivots[STEMS])
        return stems, self._saturated(weighted[cut:], both.holders[cut:], self._pivots[GRAMS])

    def stems(self, found: Occurrences) -> Scores:
        """Return what `everywhere` does over stems alone."""
        stems = found.of(STEMS, GRAMS)
        return self._saturated(self._weighted(stems, None), stems.holders, self._pivots[STEMS])

    def grams_at(self, found: Occurrences, at: NDArray[np.intp]) -> Scores:
        """Return what `everywhere` does over grams at some positions (rising), 0 elsewhere."""
        grams = found.of(GRAMS, PAIRS)
        scores = np.zeros(len(self._layout), dtype=np.float32)
        scores[at] = self._saturated(self._weighted(grams, at), grams.holders, self._pivots[GRAMS][at])
        return scores

    def guess_grams(self, found: Occurrences) -> Scores:
        """Estimate the scores over grams by own terms alone, to choose where to look closely."""
        grams = found.of(GRAMS, PAIRS)
        idf = self._idf(grams.holders)
        summed = np.bincount(grams.positions, weights=idf[grams.which], minlength=len(self._layout))
        return (summed / (float(idf.sum()) or 1.0)).astype(np.float32)

    def pairs(self, found: Occurrences) -> Scores:
        """Return the summed rarity (idf / ln n) of the query's stem pairs that each position has itself, at most 2."""
        pairs = found.of(PAIRS, PAIRS + 1)
        scores = np.zeros(len(self._layout), dtype=np.float32)
        if len(pairs.positions) and len(scores) > 1:
            rarity = self._idf(pairs.holders) / np.float32(np.log(len(scores)))
            np.add.at(scores, pairs.positions, rarity[pairs.which])
            np.minimum(scores, _MOST_PAIRS, out=scores)
        return scores

    def _weighted(self, found: Occurrences, at: NDArray[np.intp] | None) -> Scores:
        """Return the frequency of each term at each position, or at those of `at`."""
        layout = self._layout
        which, positions, counts = found.which, found.positions, found.counts
        width = len(layout) if at is None else len(at)
        slots: NDArray[np.int32] | None = None
        if at is not None:
            slots = np.full(len(layout) + 1, width, dtype=np.int32)
            slots[at] = np.arange(width, dtype=np.int32)
            near = _reaching(at, layout)[positions]
            which, positions, counts = which[near], positions[near], counts[near]
        # One column too many catches what falls off the end of a thread, or outside of `at`.
        weighted = np.zeros((len(found.terms), width + 1), dtype=np.float32)
        cells, rows = weighted.reshape(-1), which * (width + 1)
        for reached, share in (
            (positions, TERM_SHARE.own),
            (layout.after[positions], TERM_SHARE.previous),
            (layout.two_after[positions], TERM_SHARE.before_previous),
            (layout.before[positions], TERM_SHARE.next),
        ):
            cells[rows + (reached if slots is None else slots[reached])] += counts * np.float32(share)
        for label in self._lexicon.labels:
            if places := label.known(found.terms):
                frequencies = label.frequencies([found.terms[place] for place in places], at)
                weighted[places, :-1] += np.float32(LABEL_SHARE) * frequencies
        return weighted[:, :-1]

    def _saturated(self, weighted: Scores, holders: NDArray[np.intp], pivots: Scores) -> Scores:
        idf = self._idf(holders)
        weighted /= weighted + pivots
        scores: Scores = idf @ weighted
        scores *= np.float32(2 / (float(idf.sum()) or 1.0))
        return scores

    def _idf(self, holders: NDArray[np.intp]) -> Scores:
        """Return the inverse document frequency of terms, 0 for what nobody holds."""
        size = len(self._layout)
        common = np.minimum(holders, size)
        idf = np.log1p((size - common + 0.5) / (common + 0.5)).astype(np.float32)
        idf[common == 0] = 0
        return idf


def _reaching(at: NDArray[np.intp], layout: Layout) -> NDArray[np.bool_]:
    """Mark the positions whose terms flow into those of `at`."""
    reaching = np.zeros(len(layout) + 1, dtype=bool)
    for positions in (at, layout.before[at], layout.two_before[at], layout.after[at]):
        reaching[positions] = True
    return reaching
