"""Traits: what a passage is, whatever is asked: who says it, to whom, and if it asks or tells a time."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Columns
from retentia.index.neighbours import Layout
from retentia.index.tokenizer import speaker_key
from retentia.model.passage import ENDS_WITH_QUESTION, HAS_TEMPORAL_EXPRESSION, IS_QUOTE

TRAITS = ("assistant", "question", "continuation")
"""The traits that count for or against a passage whatever is asked."""

Marks = NDArray[np.float32]
_ASSISTANT, _MESSAGE = "assistant", "message"


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of each position, 1.0 where it has one, and the words a participant is named by.

    `repeats` marks what only quotes another record, None where nothing does. `standing` holds TRAITS, shape (3, n). An
    assistant's words are marked as such. Questions are those between people; where an assistant listens, they are the
    user's own and say what the user is busy with. A continuation is what follows in a long message: people say first
    what it is about. `is_assisted` marks all of a thread that an assistant takes part in.
    """

    speakers: NDArray[np.int32]
    named: dict[str, frozenset[int]]
    is_assisted: NDArray[np.bool_]
    repeats: NDArray[np.bool_] | None
    tells_time: Marks
    standing: Marks

    @classmethod
    def of(cls, columns: Columns, layout: Layout) -> "Traits":
        """Gather them for a layout."""
        rows = layout.rows
        flags = columns.flags.values[rows]
        by_assistant = columns.role.is_any_of([_ASSISTANT])[rows]
        is_message = columns.kind.is_any_of([_MESSAGE])[rows]
        is_assisted = layout.any_in_thread(by_assistant)
        speakers = columns.speaker.codes[rows]
        repeats: NDArray[np.bool_] = (flags & IS_QUOTE) != 0
        asks = ((flags & ENDS_WITH_QUESTION) != 0) & ~is_assisted
        continues = (columns.part.values[rows] > 0) & is_message
        return cls(
            speakers=speakers,
            named=_named(columns, speakers),
            is_assisted=is_assisted,
            repeats=repeats if repeats.any() else None,
            tells_time=_marks((flags & HAS_TEMPORAL_EXPRESSION) != 0),
            standing=_marks(np.stack([by_assistant, asks, continues])),
        )

    @property
    def nbytes(self) -> int:
        return self.speakers.nbytes + self.is_assisted.nbytes + self.tells_time.nbytes + self.standing.nbytes

    def addressed(self, words: frozenset[str]) -> Marks | None:
        """Mark what is said by the participant the question names; None when it names none, or several equally."""
        best = Counter(code for word in words for code in self.named.get(word, ())).most_common(2)
        if not best or (len(best) == 2 and best[0][1] == best[1][1]):
            return None
        return _marks(self.speakers == best[0][0])


def _named(columns: Columns, speakers: NDArray[np.int32]) -> dict[str, frozenset[int]]:
    named: dict[str, set[int]] = {}
    for code in np.bincount(speakers).nonzero()[0].tolist():
        for word in speaker_key(columns.speaker.labels[code]):
            named.setdefault(word, set()).add(code)
    return {word: frozenset(codes) for word, codes in named.items()}


def _marks(are: NDArray[np.bool_]) -> Marks:
    return are.astype(np.float32)
