import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.evals.metrics import (
    auroc,
    hit_at,
    mean,
    ndcg_at,
    percentile,
    recall_at,
    recall_within,
    reciprocal_rank,
)

sources = st.sampled_from("abcdefghij")
rankings = st.lists(sources, unique=True)
golds = st.lists(sources, min_size=1, max_size=5)
depths = st.integers(1, 12)
few_scores = st.lists(st.integers(0, 5).map(float), max_size=12)


def test_recall_is_the_share_of_the_gold_found() -> None:
    assert recall_at(["x", "a", "b"], ["a", "b", "c", "d"], 3) == 0.5


def test_gold_named_twice_counts_once() -> None:
    assert recall_at(["a"], ["a", "a", "b"], 1) == 0.5


def test_a_budget_ends_at_the_first_source_that_does_not_fit() -> None:
    assert recall_within(["a", "big", "b"], [10, 500, 10], ["a", "b"], 100) == 0.5


def test_separation_of_nothing_is_not_a_number_that_could_be_believed() -> None:
    assert auroc([], [0.5]) is None
    assert auroc([0.5], []) is None
    assert mean([]) is None
    assert percentile([], 0.5) is None


@given(rankings, golds, depths)
def test_recall_equals_counting_by_hand(ranking: list[str], gold: list[str], k: int) -> None:
    found = sum(1 for source in set(gold) if source in ranking and ranking.index(source) < k)
    assert recall_at(ranking, gold, k) == found / len(set(gold))


@given(rankings, golds, depths)
def test_a_hit_is_a_recall_above_nothing(ranking: list[str], gold: list[str], k: int) -> None:
    assert hit_at(ranking, gold, k) == float(recall_at(ranking, gold, k) > 0)


@given(rankings, golds)
def test_the_reciprocal_rank_is_that_of_the_smallest_depth_with_a_hit(ranking: list[str], gold: list[str]) -> None:
    depth = next((k for k in range(1, len(ranking) + 1) if hit_at(ranking, gold, k)), math.inf)
    assert reciprocal_rank(ranking, gold) == 1 / depth


@given(rankings, golds, depths)
def test_ndcg_equals_the_gain_of_relevance_lists(ranking: list[str], gold: list[str], k: int) -> None:
    def gain(relevance: list[int]) -> float:
        return sum(value / math.log2(position + 2) for position, value in enumerate(relevance[:k]))

    relevance = [int(source in gold) for source in ranking]
    assert ndcg_at(ranking, gold, k) == pytest.approx(gain(relevance) / gain([1] * len(set(gold))))


@given(golds, depths)
def test_a_perfect_ranking_has_an_ndcg_of_one(gold: list[str], k: int) -> None:
    assert ndcg_at([*dict.fromkeys(gold), "else"], gold, k) == pytest.approx(1.0)


@given(rankings, golds, depths)
def test_deeper_never_finds_less(ranking: list[str], gold: list[str], k: int) -> None:
    assert recall_at(ranking, gold, k) <= recall_at(ranking, gold, k + 1)


@given(st.data(), rankings, golds, st.integers(0, 300))
def test_a_token_budget_equals_the_best_prefix_that_fits(
    data: st.DataObject, ranking: list[str], gold: list[str], budget: int
) -> None:
    tokens = data.draw(st.lists(st.integers(1, 100), min_size=len(ranking), max_size=len(ranking)))
    fitting = max(k for k in range(len(ranking) + 1) if sum(tokens[:k]) <= budget)
    assert recall_within(ranking, tokens, gold, budget) == recall_at(ranking, gold, fitting)


@given(few_scores, few_scores)
def test_separation_equals_comparing_every_pair(positives: list[float], negatives: list[float]) -> None:
    pairs = [(high > low) + (high == low) / 2 for high in positives for low in negatives]
    assert auroc(positives, negatives) == (pytest.approx(sum(pairs) / len(pairs)) if pairs else None)


@given(st.lists(st.integers(0, 50).map(float), min_size=1), st.sampled_from([0.5, 0.95, 1.0]))
def test_a_percentile_is_the_smallest_value_that_enough_values_do_not_exceed(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found == min(v for v in values if sum(other <= v for other in values) >= share * len(values))
