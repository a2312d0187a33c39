"""Cutoff: is there anything here that answers the question? Pure; fitted by measurement (docs/decisions/0008).

It tells questions about foreign topics from questions about what was talked of. It cannot tell a detail that was never
mentioned in a familiar conversation: everything about such a question looks known.
"""

import math
from dataclasses import dataclass

from retentia.index.ranking import Evidence

_USUAL_SPREAD = 3.2
_FEWEST_MEASURED = 8
_ALL_WORDS_THERE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Logistic weights of the evidence for one embedder, and the relevance below which nothing is returned.

    `crowd` is how much the best cosine of strangers rises with the number of passages: the highest of n grows with
    the square root of 2 ln n, so the same cosine means less in a large scope. Smaller scopes than were measured count
    as the smallest that was.
    """

    base: float
    cosine: float
    known: float
    crowd: float
    threshold: float

    def probability(self, evidence: Evidence, passages: int) -> float:
        """Return how likely it is that the best match answers the question, 0 to 1, by meaning and words."""
        spread = math.sqrt(2 * math.log(max(passages, _FEWEST_MEASURED))) - _USUAL_SPREAD
        cosine = (evidence.cosine or 0.0) - self.crowd * spread
        known = evidence.grams * (1 - evidence.unseen) ** 2
        return _logistic(self.base + self.cosine * cosine + self.known * known)


_MEASURED = {
    "use": Calibration(base=-5.87, cosine=18.65, known=2.09, crowd=0.10, threshold=0.25),
    "e5": Calibration(base=-97.3, cosine=120.7, known=4.3, crowd=0.02, threshold=0.30),
}
WORDS_THRESHOLD = 0.2


def threshold_for(embedder: str) -> float:
    """Return the relevance below which nothing is returned, for an embedder by its name."""
    return _MEASURED[embedder].threshold if embedder in _MEASURED else WORDS_THRESHOLD


def relevance(evidence: Evidence, embedder: str, passages: int) -> float:
    """Return how likely a view of so many passages holds an answer, 0 to 1.

    Words decide alone without a cosine, or with an embedder whose cosines nobody has measured. A passage that holds
    all words of the question is relevant whatever the embedder thinks of it: a rare name or number.
    """
    if min(evidence.lexical, evidence.grams) >= _ALL_WORDS_THERE and evidence.unseen == 0:
        return 1.0
    calibration = _MEASURED.get(embedder)
    if calibration is None or evidence.cosine is None:
        return _by_words(evidence)
    return calibration.probability(evidence, passages)


def _by_words(evidence: Evidence) -> float:
    return _logistic(-3.0 + 2.0 * evidence.lexical + 4.5 * evidence.grams - 5.0 * evidence.unseen)


def _logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))
