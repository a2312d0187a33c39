"""What every system under measurement must do, ours and the floor included, and the vectors it is handed.

This file and the systems' files are imported by two environments: they use the standard library, numpy and the system
itself, and import the latter two late, because starting is measured too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Remembered:
    """One message: `shown` is its text with date and speaker, which every system but ours is given."""

    id: str
    text: str
    shown: str
    speaker: str
    role: str
    at: str
    session: str


class Lookup:
    """Serves the vectors made beforehand, so that no system embeds anything; white space around texts is ignored."""

    def __init__(self, texts: Sequence[str], vectors: "NDArray[np.float32]", dimension: int) -> None:
        self._row = {text.strip(): number for number, text in enumerate(texts)}
        self._vectors = vectors
        self.dimension = dimension

    def one(self, text: str) -> list[float]:
        """Return the vector of a text; a text that was not prepared is an error."""
        row: list[float] = self._vectors[self._row[text.strip()]].tolist()
        return row

    def many(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.one(text) for text in texts]

    def array(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors[[self._row[text.strip()] for text in texts]]


class Subject(Protocol):
    """A system with an open, empty store."""

    def add(self, scope: str, entries: Sequence[Remembered]) -> None:
        """Keep messages, durable when this returns."""

    def settle(self) -> None:
        """Return when all that was added is found by meaning, too."""

    def search(self, scope: str, question: str, limit: int) -> list[str]:
        """Return the ids of what is found, best first."""

    def close(self) -> None:
        """Let go of the store."""


Open = Callable[[Path, Lookup], Subject]
