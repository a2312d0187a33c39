"""Signals: what speaks for a passage, each about 0 to 1, and how much each of them counts."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Signal = NDArray[np.float32]

_LEAST_RANGE = np.float32(0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each signal adds to a passage's score; fitted on development data (docs/decisions/0003)."""

    lexical: float = 0.20
    grams: float = 0.20
    dense: float = 0.35
    session: float = 0.25
    speaker: float = 0.18
    bigrams: float = 0.04
    assistant: float = -0.15
    question: float = -0.10
    instruction: float = 0.12
    continuation: float = -0.05
    temporal: float = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Every signal by position; None where it says nothing about this query.

    `lexical` and `grams`: BM25 over stems and character 4-grams as a share of the query's ideal. `dense`: the cosine,
    stretched to 0…1 over the scope. `session`: the best of the passage's session. `speaker`: said by the one the
    question names. `bigrams`: shared word pairs. `assistant`: said by an assistant. `question`: asked, between people.
    `instruction`: what someone wants done from now on. `continuation`: not the beginning of its message. `temporal`:
    tells a time, and the question asks when.
    """

    lexical: Signal
    grams: Signal
    dense: Signal | None
    session: Signal
    speaker: Signal | None
    bigrams: Signal
    assistant: Signal
    question: Signal
    instruction: Signal
    continuation: Signal
    temporal: Signal | None

    def total(self, weights: Weights) -> Signal:
        """Return the weighted sum by position."""
        summed = np.zeros(len(self.lexical), dtype=np.float32)
        for name in _NAMES:
            signal, weight = getattr(self, name), getattr(weights, name)
            if signal is not None and weight:
                summed += signal * np.float32(weight)
        return summed

    def at(self, positions: NDArray[np.intp]) -> list[dict[str, float]]:
        """Return what the signals say of each of the positions."""
        said = {name: signal[positions].tolist() for name in _NAMES if (signal := getattr(self, name)) is not None}
        return [dict(zip(said, values, strict=True)) for values in zip(*said.values(), strict=True)]


_NAMES = tuple(field.name for field in fields(Signals))


def spread(cosines: Signal, known: NDArray[np.bool_] | None) -> Signal:
    """Stretch cosines to 0…1 over the known ones (None: all are); 0 for the others.

    Differences below a tenth are not blown up: in a scope of a few records they mean nothing.
    """
    low = cosines.min() if known is None else cosines.min(where=known, initial=1)
    high = cosines.max() if known is None else cosines.max(where=known, initial=-1)
    stretched: Signal = (cosines - low) / max(high - low, _LEAST_RANGE)
    if known is not None:
        stretched *= known
    return stretched
