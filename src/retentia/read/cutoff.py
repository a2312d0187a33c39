"""Cutoff: is there anything here that answers the question? Pure; fitted by measurement (docs/decisions/0003).

It tells questions about foreign topics from questions about what was talked of. It cannot tell a detail that was never
mentioned in a familiar conversation: everything about such a question looks known.
"""

import math
from dataclasses import dataclass

from retentia.index.ranking import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Logistic weights of the evidence for one embedder, and the relevance below which nothing is returned."""

    base: float
    lexical: float
    grams: float
    cosine: float
    unseen: float
    threshold: float = 0.2

    def probability(self, evidence: Evidence) -> float:
        """Return how likely it is that the best match answers the question, 0 to 1."""
        logit = (
            self.base
            + self.lexical * evidence.lexical
            + self.grams * evidence.grams
            + self.cosine * (evidence.cosine or 0.0)
            + self.unseen * evidence.unseen
        )
        return 1 / (1 + math.exp(-logit))


WORDS = Calibration(base=-3.0, lexical=2.0, grams=4.5, cosine=0.0, unseen=-5.0)
"""Without a vector, or with an embedder whose cosines nobody has measured."""

_MEASURED = {
    "use": Calibration(base=-6.43, lexical=0.87, grams=3.03, cosine=10.08, unseen=-6.85),
}


def calibration_for(embedder: str) -> Calibration:
    """Return the constants of an embedder by its name; those of words alone for any other."""
    return _MEASURED.get(embedder, WORDS)


def relevance(evidence: Evidence, calibration: Calibration) -> float:
    """Return how likely the view holds an answer, 0 to 1.

    Words decide alone where there is no cosine, and rescue what an embedder does not know: a rare name or number.
    """
    by_words = WORDS.probability(evidence)
    return by_words if evidence.cosine is None else max(by_words, calibration.probability(evidence))
