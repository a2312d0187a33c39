"""Measure rankings: pure functions over the sources found (best first, each once) and the sources that answer.

Gold counts by share: a question with four gold sources, of which one is found, has a recall of 0.25; the mean is over
questions, so that each question weighs the same. NDCG after Järvelin and Kekäläinen 2002 with binary gain; AUROC
after Mann and Whitney 1947.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence


def recall_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the gold among the first `k`; `gold` is not empty."""
    return len(set(gold).intersection(ranking[:k])) / len(set(gold))


def hit_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1.0 when any gold is among the first `k`, else 0.0."""
    return float(not set(gold).isdisjoint(ranking[:k]))


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str]) -> float:
    """Return 1 / the rank of the first gold, 0.0 when none was found."""
    return next((1 / rank for rank, source in enumerate(ranking, start=1) if source in gold), 0.0)


def ndcg_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the discounted gain of the first `k` over that of a perfect ranking."""
    gains = sum(1 / math.log2(rank + 1) for rank, source in enumerate(ranking[:k], start=1) if source in gold)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(set(gold)), k) + 1))
    return gains / ideal


def recall_within(ranking: Sequence[str], tokens: Sequence[int], gold: Collection[str], budget: int) -> float:
    """Return the share of the gold in the longest beginning of the ranking that fits `budget` tokens.

    `tokens` is the cost of each source's returned text. The first one that does not fit ends it: what a reader who
    fills a budget from the top gets.
    """
    return recall_at(ranking, gold, _fitting(tokens, budget))


def auroc(positives: Iterable[float], negatives: Iterable[float]) -> float | None:
    """Return the chance that a random positive scores above a random negative, ties counting half.

    None when either side is empty.
    """
    above, below = list(positives), sorted(negatives)
    if not above or not below:
        return None
    wins = sum(bisect_left(below, score) + bisect_right(below, score) for score in above)
    return wins / (2 * len(above) * len(below))


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, None of nothing."""
    return math.fsum(values) / len(values) if values else None


def percentile(values: Iterable[float], share: float) -> float | None:
    """Return the smallest value that a `share` (above 0, up to 1) of the values do not exceed, None of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def _fitting(tokens: Sequence[int], budget: int) -> int:
    spent = 0
    for count, cost in enumerate(tokens):
        spent += cost
        if spent > budget:
            return count
    return len(tokens)
