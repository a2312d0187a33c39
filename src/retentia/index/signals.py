"""Signals: what speaks for a passage, each about 0 to 1, and how much each of them counts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from retentia.errors import InvalidInput
from retentia.index.traits import TRAITS

Signal = NDArray[np.float32]

_LEAST_RANGE = np.float32(0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each signal adds to a passage's score; fitted on development data (docs/decisions/0003).

    `lexical` and `grams`: BM25 over stems and character 4-grams as a share of the query's ideal. `dense`: the cosine,
    stretched to 0…1 over the scope; it counts up to twice as much, the more of the query's words the scope has never
    seen, because words then say little. `session`: the best of the passage's session. `speaker`: said by the one the
    question names. `bigrams`: shared pairs of stems. `temporal`: tells a time, and the question asks when. The others
    are traits, whatever is asked: said by an `assistant`; a `question`, between people; the `continuation` of a long
    message.
    """

    lexical: float = 0.20
    grams: float = 0.20
    dense: float = 0.25
    session: float = 0.25
    speaker: float = 0.18
    bigrams: float = 0.04
    temporal: float = 0.15
    assistant: float = -0.15
    question: float = -0.10
    continuation: float = -0.05

    def without(self, names: Collection[str]) -> Self:
        """Leave the signals of these names out. Raises InvalidInput when there is no such signal."""
        if unknown := sorted(set(names).difference(SIGNALS)):
            raise InvalidInput(f"there is no signal {unknown[0]!r}; the signals are {', '.join(SIGNALS)}")
        return replace(self, **dict.fromkeys(names, 0.0))

    def only(self, names: Collection[str]) -> Self:
        """Leave every other signal out. Raises InvalidInput when there is no such signal."""
        self.without(names)
        return self.without(set(SIGNALS).difference(names))


SIGNALS = tuple(field.name for field in fields(Weights))
_ASKED = len(SIGNALS) - len(TRAITS)
_DENSE = SIGNALS.index("dense")
_EVERYWHERE = slice(None)


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of each position: `asked` those that depend on the query, `traits` those that do not.

    Shapes (7, n) and (3, n), in the order of Weights. `silent` names those that say nothing about this query; `unseen`
    is the share of its stems that the scope does not hold.
    """

    asked: Signal
    traits: Signal
    silent: frozenset[str]
    unseen: float

    @classmethod
    def of(cls, asked: Mapping[str, Signal | None], traits: Signal, unseen: float) -> "Signals":
        """Put signals by position together; None says nothing."""
        silent = frozenset(name for name, signal in asked.items() if signal is None)
        matrix = np.empty((len(asked), traits.shape[1]), dtype=np.float32)
        for row, name in zip(matrix, SIGNALS, strict=False):
            signal = asked[name]
            row[:] = 0 if signal is None else signal
        return cls(matrix, traits, silent, unseen)

    def total(self, weights: Weights) -> Signal:
        """Return the weighted sum by position."""
        values = _values(weights).copy()
        values[_DENSE] *= 1 + self.unseen
        summed: Signal = values[:_ASKED] @ self.asked
        summed += values[_ASKED:] @ self.traits
        return summed

    def replace(self, name: str, signal: Signal, at: NDArray[np.intp] | slice = _EVERYWHERE) -> None:
        """Put a better estimate of a signal in the place of an earlier one, everywhere or at some positions."""
        self.asked[SIGNALS.index(name), at] = signal

    def at(self, positions: NDArray[np.intp]) -> list[dict[str, float]]:
        """Return what the signals say of each of the positions; the silent ones are left out."""
        said = np.concatenate([self.asked[:, positions], self.traits[:, positions]]).T
        spoken = [number for number, name in enumerate(SIGNALS) if name not in self.silent]
        names = [SIGNALS[number] for number in spoken]
        return [dict(zip(names, values, strict=True)) for values in said[:, spoken].tolist()]


@lru_cache(16)
def _values(weights: Weights) -> Signal:
    return np.array([getattr(weights, name) for name in SIGNALS], dtype=np.float32)


def spread(cosines: Signal, known: NDArray[np.bool_] | None, repeats: NDArray[np.bool_] | None = None) -> Signal:
    """Stretch cosines to 0…1 over the known ones (None: all are); 0 for the others.

    Differences below a tenth are not blown up: in a scope of a few records they mean nothing. What `repeats` another
    record does not bound them.
    """
    bounding = known
    if repeats is not None and not repeats.all():
        bounding = ~repeats if known is None else known & ~repeats
    low = cosines.min() if bounding is None else cosines.min(where=bounding, initial=1)
    high = cosines.max() if bounding is None else cosines.max(where=bounding, initial=-1)
    stretched: Signal = (cosines - low) / max(high - low, _LEAST_RANGE)
    if repeats is not None:
        np.clip(stretched, 0, 1, out=stretched)
    if known is not None:
        stretched *= known
    return stretched
