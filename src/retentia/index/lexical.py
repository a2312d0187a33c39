"""Lexical scores: BM25F over each passage's own terms, those of its neighbours, its date and its speaker.

A term's weighted frequency in a passage is 4 for an occurrence of its own, 2 in the passage before, 1 in the one before
that, 1 in the next (these three halved where an assistant takes part), 4 in the date and 4 in the speaker's name
(fields are weighted before saturation: Robertson, Zaragoza and Taylor 2004). They are put together for the terms of a
query, never for the whole vocabulary.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from retentia.index.lexicon import GRAMS, PAIRS, STEMS, Lexicon, Occurrences
from retentia.index.neighbours import Layout, Share

SATURATION = 2.5
LENGTH_NORMALISATION = 0.75
TERM_SHARE = Share(own=4.0, previous=2.0, before_previous=1.0, next=1.0)
ASSISTED_CONTEXT = 0.5
"""How much of the context's share is left where an assistant takes part: there a message says more by itself."""

LABEL_SHARE = 4.0
_REACHED_SHARES = np.array([[TERM_SHARE.own], [TERM_SHARE.previous], [TERM_SHARE.before_previous], [TERM_SHARE.next]])
_CELLS_AT_ONCE = 1 << 22
_MOST_PAIRS = np.float32(2.0)

Scores = NDArray[np.float32]


class Lexical:
    """Scores the positions of one layout; made anew when rows come or go, because averages depend on all of them."""

    def __init__(
        self,
        lexicon: Lexicon,
        layout: Layout,
        is_assisted: NDArray[np.bool_],
        repeats: NDArray[np.bool_] | None = None,
    ) -> None:
        self._lexicon = lexicon
        self._layout = layout
        self._closeness: Scores = np.where(is_assisted, np.float32(ASSISTED_CONTEXT), np.float32(1))
        lengths = lexicon.own_lengths(layout)
        for kind in (STEMS, GRAMS):
            around = layout.mix(lengths[kind], replace(TERM_SHARE, own=0.0)) * self._closeness
            lengths[kind] = lengths[kind] * np.float32(TERM_SHARE.own) + around
        for label in lexicon.labels:
            lengths += np.float32(LABEL_SHARE) * label.settle(layout)
        counted = lengths if repeats is None or repeats.all() else lengths[:, ~repeats]
        averages = counted.mean(axis=1, keepdims=True) if len(layout) else np.ones((2, 1), dtype=np.float32)
        averages[averages == 0] = 1
        relative = np.float32(1 - LENGTH_NORMALISATION) + np.float32(LENGTH_NORMALISATION) * lengths / averages
        self._pivots: Scores = np.float32(SATURATION) * relative

    @property
    def nbytes(self) -> int:
        return self._pivots.nbytes + self._closeness.nbytes

    def everywhere(self, found: Occurrences) -> tuple[Scores, Scores]:
        """Return BM25 by position over stems and over grams, as shares of the query's ideal.

        About 1 is a passage that says all of the query.
        """
        stems, grams = self._scores(found, (STEMS, GRAMS), None)
        return stems, grams

    def stems(self, found: Occurrences) -> Scores:
        """Return what `everywhere` does over stems alone."""
        (stems,) = self._scores(found, (STEMS,), None)
        return stems

    def grams_at(self, found: Occurrences, at: NDArray[np.intp]) -> Scores:
        """Return what `everywhere` does over grams, for some distinct positions."""
        (grams,) = self._scores(found, (GRAMS,), at)
        return grams

    def guess_grams(self, found: Occurrences) -> Scores:
        """Estimate the scores over grams by own terms alone, to choose where to look closely."""
        terms = found.of(GRAMS)
        idf = found.idf[terms.start : terms.stop]
        which, positions, _ = found.at(terms)
        summed = np.bincount(positions, idf.take(which), len(self._layout))
        return (summed / (float(idf.sum()) or 1.0)).astype(np.float32)

    def pairs(self, found: Occurrences) -> Scores | None:
        """Return the summed rarity (idf / ln n) of the query's stem pairs that each position has itself, at most 2.

        None when the scope holds none of them.
        """
        terms = found.of(PAIRS)
        which, positions, _ = found.at(terms)
        if not len(positions) or len(self._layout) < 2:
            return None
        rarity = found.idf[terms.start : terms.stop] / np.float32(np.log(len(self._layout)))
        summed = np.bincount(positions, rarity.take(which), len(self._layout)).astype(np.float32)
        return np.minimum(summed, _MOST_PAIRS, out=summed)

    def _scores(self, found: Occurrences, kinds: Sequence[int], at: NDArray[np.intp] | None) -> list[Scores]:
        """Score neighbouring kinds, so many terms at once that the cells of terms and positions fit into memory."""
        width = len(self._layout) if at is None else len(at)
        scores = [np.zeros(width, dtype=np.float32) for _ in kinds]
        end, at_once = found.cuts[kinds[-1] + 1], max(1, _CELLS_AT_ONCE // (width + 1))
        for start in range(found.cuts[kinds[0]], end, at_once):
            terms = range(start, min(start + at_once, end))
            weighted = self._weighted(found, terms, at)
            for kind, score in zip(kinds, scores, strict=True):
                low, high = max(found.cuts[kind], terms.start), min(found.cuts[kind + 1], terms.stop)
                if low < high:
                    pivots = self._pivots[kind] if at is None else self._pivots[kind].take(at)
                    part = weighted[low - start : high - start]
                    part /= part + pivots
                    score += found.idf[low:high] @ part
        for kind, score in zip(kinds, scores, strict=True):
            score *= np.float32(2 / (float(found.idf[found.cuts[kind] : found.cuts[kind + 1]].sum()) or 1.0))
        return scores

    def _weighted(self, found: Occurrences, terms: range, at: NDArray[np.intp] | None) -> Scores:
        """Return the frequency of each term at each position, or at those of `at`."""
        which, positions, counts = found.at(terms)
        if at is None:
            width, reached = len(self._layout), self._layout.reached.take(positions, axis=1)
        else:
            width, near = len(at), _reaching(at, self._layout).take(positions).nonzero()[0]
            which, positions, counts = which.take(near), positions.take(near), counts.take(near)
            slots = np.full(len(self._layout) + 1, width, dtype=np.int32)
            slots[at] = np.arange(width, dtype=np.int32)
            reached = slots.take(self._layout.reached.take(positions, axis=1))
        # One column too many catches what falls off the end of a thread, or outside of `at`.
        cells = reached + which * (width + 1)
        amounts = counts * _REACHED_SHARES
        amounts[1:] *= self._closeness.take(positions)
        summed = np.bincount(cells.ravel(), amounts.ravel(), len(terms) * (width + 1))
        weighted: Scores = summed.reshape(len(terms), width + 1)[:, :-1].astype(np.float32)
        for label, labelled in zip(self._lexicon.labels, found.labelled, strict=True):
            if places := [place for place in labelled if place in terms]:
                frequencies = label.frequencies([found.terms[place] for place in places], at)
                weighted[[place - terms.start for place in places]] += np.float32(LABEL_SHARE) * frequencies
        return weighted


def _reaching(at: NDArray[np.intp], layout: Layout) -> NDArray[np.bool_]:
    """Mark the positions whose terms flow into those of `at`."""
    reaching = np.zeros(len(layout) + 1, dtype=bool)
    for positions in (at, layout.before[at], layout.two_before[at], layout.after[at]):
        reaching[positions] = True
    return reaching
