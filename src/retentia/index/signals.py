"""Signals: what speaks for a passage, each about 0 to 1, and how much each of them counts."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from retentia.index.traits import TRAITS

Signal = NDArray[np.float32]

_LEAST_RANGE = np.float32(0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each signal adds to a passage's score; fitted on development data (docs/decisions/0003).

    `lexical` and `grams`: BM25 over stems and character 4-grams as a share of the query's ideal. `dense`: the cosine,
    stretched to 0…1 over the scope. `session`: the best of the passage's session. `speaker`: said by the one the
    question names. `bigrams`: shared pairs of stems. `temporal`: tells a time, and the question asks when. The others
    are traits, whatever is asked: said by an `assistant`; a `question`, between people; an `instruction`, something to
    be done from now on; the `continuation` of a long message.
    """

    lexical: float = 0.20
    grams: float = 0.20
    dense: float = 0.35
    session: float = 0.25
    speaker: float = 0.18
    bigrams: float = 0.04
    temporal: float = 0.15
    assistant: float = -0.15
    question: float = -0.10
    instruction: float = 0.12
    continuation: float = -0.05


SIGNALS = tuple(field.name for field in fields(Weights))
_ASKED = len(SIGNALS) - len(TRAITS)


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of each position: `asked` those that depend on the query, `traits` those that do not.

    Shapes (7, n) and (4, n), in the order of Weights. `silent` names those that say nothing about this query.
    """

    asked: Signal
    traits: Signal
    silent: frozenset[str]

    @classmethod
    def of(cls, asked: Mapping[str, Signal | None], traits: Signal) -> "Signals":
        """Put signals by position together; None says nothing."""
        silent = frozenset(name for name, signal in asked.items() if signal is None)
        matrix = np.zeros((len(asked), traits.shape[1]), dtype=np.float32)
        for row, name in zip(matrix, SIGNALS, strict=False):
            signal = asked[name]
            if signal is not None:
                row[:] = signal
        return cls(matrix, traits, silent)

    def total(self, weights: Weights) -> Signal:
        """Return the weighted sum by position."""
        values = np.array([getattr(weights, name) for name in SIGNALS], dtype=np.float32)
        summed: Signal = values[:_ASKED] @ self.asked
        summed += values[_ASKED:] @ self.traits
        return summed

    def at(self, positions: NDArray[np.intp]) -> list[dict[str, float]]:
        """Return what the signals say of each of the positions; the silent ones are left out."""
        said = np.concatenate([self.asked[:, positions], self.traits[:, positions]]).T
        spoken = [number for number, name in enumerate(SIGNALS) if name not in self.silent]
        names = [SIGNALS[number] for number in spoken]
        return [dict(zip(names, values, strict=True)) for values in said[:, spoken].tolist()]


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
