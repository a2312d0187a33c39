"""Floor: which hits answer a question each by itself, where a wrong one costs more than a missing one. Pure.

The cutoff asks whether anything here answers; a profile, a rule or a decision goes into a prompt only when it is meant.
What has names is meant when the question says one of them, or when its meaning alone is near enough: words that it
shares with other things say nothing.
"""

from collections.abc import Mapping
from dataclasses import replace

from retentia.index.ranking import Evidence, RankedRecord, Ranking
from retentia.model.record import Record
from retentia.read.cutoff import relevance
from retentia.read.mentions import Question

NAMES = "names"
"""The metadata that lists the names of what an item is about: canonical, aliases, what people say instead."""


class Judge:
    """Judges the hits of one question. `floor` is the relevance (0 to 1) that what is not named must reach."""

    def __init__(self, *, text: str, floor: float, embedder: str, passages: int) -> None:
        self._question = Question(text)
        self._floor, self._embedder, self._passages = floor, embedder, passages

    def meant(self, ranking: Ranking, found: Mapping[bytes, Record]) -> list[RankedRecord]:
        """Return those that are there and are meant, in the order they came in."""
        there = ((entry, found.get(entry.record_id)) for entry in ranking.records)
        return [
            entry
            for entry, record in there
            if record is not None and self._is_meant(entry, names_of(record), ranking.evidence)
        ]

    def _is_meant(self, ranked: RankedRecord, names: list[str], evidence: Evidence) -> bool:
        if names and self._question.mentions(names):
            return True
        lexical, grams = (0.0 if names else ranked.signals.get(signal, 0.0) for signal in ("lexical", "grams"))
        own = replace(evidence, lexical=lexical, grams=grams, cosine=ranked.cosine)
        return relevance(own, self._embedder, self._passages) >= self._floor


def names_of(record: Record) -> list[str]:
    """Return the names that an item's metadata lists, as they are written."""
    told = record.metadata.get(NAMES)
    return [name for name in told if isinstance(name, str)] if isinstance(told, list) else []
