"""The pool finds what ranking every experience finds, whatever is asked of it."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.experience.pool import Best, Entry, Pool, Ranking
from retentia.experience.priority import PHASES, WORTH, Order, Weights, priority, recency
from retentia.model.experience import Outcome

DIMENSION, NOW, DAY = 96, 10**15, 86_400_000_000
SEEDS, COUNTS = st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 5, 300, 1500, 2600])
SHAPES = st.sampled_from(["spread", "clustered", "alike", "zero"])
PARTS = st.lists(st.integers(0, 10), min_size=4, max_size=4).filter(any)
WEIGHTS = st.sampled_from(list(PHASES.values())) | PARTS.map(
    lambda parts: Weights(
        **dict(zip(("similarity", "recency", "reward", "outcome"), np.array(parts) / sum(parts), strict=True))
    )
)
RANKINGS = st.builds(
    Ranking,
    order=st.sampled_from(Order),
    weights=WEIGHTS,
    half_life=st.sampled_from([timedelta(hours=1), timedelta(days=1), timedelta(days=90)]),
)


def vectors_of(shape: str, count: int, rng: np.random.Generator) -> np.ndarray:
    found = rng.normal(size=(count, DIMENSION))
    if shape == "clustered":
        found = rng.normal(size=(8, DIMENSION))[rng.integers(0, 8, count)] + rng.choice([0, 0.3], (count, 1)) * found
    if shape == "alike":
        found = np.ones((count, DIMENSION))
    if shape == "zero":
        found[rng.random(count) < 0.5] = 0
    return (found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def entries_of(shape: str, count: int, rng: np.random.Generator, *, without: float = 0.02) -> list[Entry]:
    """Make experiences; `without` is the share of those that have no vector yet."""
    ids = (rng.permutation(count) + 1).tolist()
    ages = rng.choice([0, -DAY, 5_000_000, DAY, 3 * DAY, 365 * DAY], count).tolist()
    rewards, outcomes = rng.choice([0.0, 0.5, 1.0], count).tolist(), rng.integers(3, size=count).tolist()
    categories = rng.choice(["debugging", "testing"], count).tolist()
    unknown = (rng.random(count) < without).tolist()
    return [
        Entry(
            ids[row].to_bytes(16, "big"),
            NOW - ages[row],
            rewards[row],
            list(Outcome)[outcomes[row]],
            categories[row],
            "",
            1,
            None if unknown[row] else vector,
        )
        for row, vector in enumerate(vectors_of(shape, count, rng))
    ]


def pool_of(entries: list[Entry]) -> Pool:
    pool = Pool(DIMENSION)
    pool.add(entries)
    return pool


def everything(
    entries: list[Entry], query: np.ndarray | None, by: Ranking, k: int, *, worded: np.ndarray | None = None
) -> list[bytes]:
    """Rank every experience; `worded` is the likeness by words of each."""
    said = np.zeros(len(entries)) if worded is None else worded
    nothing = np.zeros(DIMENSION, dtype=np.float32)
    vectors = np.array([nothing if one.vector is None else one.vector for one in entries]).reshape(-1, DIMENSION)
    held = vectors.astype(np.float16).astype(np.float32)
    by_words = np.array([query is None or one.vector is None for one in entries], dtype=bool)
    alike = np.where(by_words, said, np.einsum("ij,j->i", held, nothing if query is None else query))
    recent = recency((NOW - np.array([one.at for one in entries], dtype=np.int64)) / 1e6, by.half_life)
    reward = np.array([one.reward for one in entries])
    worth = np.array([WORTH[one.outcome] for one in entries])
    weighed = priority(alike, recent, reward, worth, by.weights)
    score = {Order.SIMILARITY: alike, Order.DECAYED: alike * recent, Order.PRIORITISED: weighed}[by.order]
    ranked = [
        (-round(reached * 1e6), -one.at, one.record_id) for reached, one in zip(score.tolist(), entries, strict=True)
    ]
    return [record_id for _, _, record_id in sorted(ranked)[:k]]


@given(seed=SEEDS, count=COUNTS, shape=SHAPES, by=RANKINGS, k=st.sampled_from([1, 3, 20, 400, 5000]))
def test_the_best_are_those_that_ranking_everything_finds(
    seed: int, count: int, shape: str, by: Ranking, k: int
) -> None:
    rng = np.random.default_rng(seed)
    entries = entries_of(shape, count, rng)
    query = vectors_of(shape, 1, rng)[0]
    best = pool_of(entries).best(query, NOW, k=k, by=by)
    assert best.record_ids == everything(entries, query, by, k)


@given(seed=SEEDS, by=RANKINGS, shape=SHAPES, k=st.sampled_from([1, 5, 600]))
def test_a_filter_leaves_the_best_of_what_it_allows(seed: int, by: Ranking, shape: str, k: int) -> None:
    rng = np.random.default_rng(seed)
    entries = entries_of(shape, 1500, rng)
    query, pool = vectors_of(shape, 1, rng)[0], pool_of(entries)
    best = pool.best(query, NOW, k=k, by=by, mask=pool.category.is_any_of(["testing"]))
    allowed = [entry for entry in entries if entry.category == "testing"]
    assert best.record_ids == everything(allowed, query, by, k)


@given(seed=SEEDS, by=RANKINGS, shape=SHAPES, without=st.sampled_from([0.01, 0.5, 1.0]), embedded=st.booleans())
def test_words_decide_where_there_is_no_vector_and_vectors_elsewhere(
    seed: int, by: Ranking, shape: str, without: float, embedded: bool
) -> None:
    rng = np.random.default_rng(seed)
    entries = entries_of(shape, 1500, rng, without=without)
    query = vectors_of(shape, 1, rng)[0] if embedded else None
    worded = rng.choice([0.0, 0.3, 0.9, 1.0], 1500)
    best = pool_of(entries).best(query, NOW, k=7, by=by, worded=worded)
    assert best.record_ids == everything(entries, query, by, 7, worded=worded)


@given(seed=SEEDS, count=st.sampled_from([0, 7, 1500]), by=RANKINGS, shape=SHAPES)
def test_the_order_of_the_rows_decides_nothing(seed: int, count: int, by: Ranking, shape: str) -> None:
    rng = np.random.default_rng(seed)
    entries = entries_of(shape, count, rng)
    query = vectors_of(shape, 1, rng)[0]
    assert told(pool_of(entries).best(query, NOW, k=30, by=by)) == told(
        pool_of(entries[::-1]).best(query, NOW, k=30, by=by)
    )


@given(seed=SEEDS, by=RANKINGS, shape=SHAPES, share=st.sampled_from([0.01, 0.4, 0.9, 1.0]))
def test_adding_and_removing_leaves_what_building_anew_makes(seed: int, by: Ranking, shape: str, share: float) -> None:
    rng = np.random.default_rng(seed)
    entries = entries_of(shape, 2600, rng)
    query, pool = vectors_of(shape, 1, rng)[0], pool_of(entries[:1400])
    gone = [entry for entry in entries[:1400] if rng.random() < share]
    pool.add(entries[1400:2000])
    pool.remove([entry.record_id for entry in gone])
    pool.add(entries[2000:])
    dropped = {entry.record_id for entry in gone}
    left = [entry for entry in entries if entry.record_id not in dropped]
    assert len(pool) == len(left)
    assert told(pool.best(query, NOW, k=9, by=by)) == told(pool_of(left[::-1]).best(query, NOW, k=9, by=by))


def told(best: Best) -> tuple[list[bytes], list[float]]:
    return best.record_ids, best.score.tolist()


def test_most_of_a_large_pool_is_not_scored() -> None:
    rng = np.random.default_rng(7)
    entries = entries_of("clustered", 2600, rng)
    query = entries[0].vector if entries[0].vector is not None else entries[1].vector
    best = pool_of(entries).best(query, NOW, k=3)
    assert best.scored < 1300


def test_without_a_vector_words_decide() -> None:
    rng = np.random.default_rng(7)
    pool = pool_of(entries_of("spread", 20, rng))
    worded = np.zeros(20)
    worded[4] = 0.9
    best = pool.best(None, NOW, k=1, by=Ranking(order=Order.SIMILARITY), worded=worded)
    assert best.rows.tolist() == [4]
    assert best.similarity[0] == pytest.approx(0.9)
