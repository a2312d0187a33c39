import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.index.ranking import Evidence
from retentia.read.cutoff import relevance, threshold_for

SHARES = st.floats(0, 1.5)
EVIDENCE = st.builds(
    Evidence, lexical=SHARES, grams=SHARES, cosine=st.floats(-1, 1) | st.none(), unseen=st.floats(0, 1)
)
EMBEDDERS = st.sampled_from(["use", "e5", "another", "none"])


@given(EVIDENCE, EMBEDDERS, st.integers(1, 10**7))
def test_relevance_is_a_probability(evidence: Evidence, embedder: str, passages: int) -> None:
    assert 0 <= relevance(evidence, embedder, passages) <= 1


@given(EVIDENCE, EMBEDDERS, st.integers(1, 10**6), st.floats(0, 1))
def test_a_closer_meaning_is_never_less_relevant(evidence: Evidence, embedder: str, passages: int, more: float) -> None:
    if evidence.cosine is not None:
        closer = Evidence(evidence.lexical, evidence.grams, min(1, evidence.cosine + more), evidence.unseen)
        assert relevance(closer, embedder, passages) >= relevance(evidence, embedder, passages) - 1e-12


@given(EVIDENCE, EMBEDDERS)
def test_the_same_evidence_means_no_more_in_a_larger_scope(evidence: Evidence, embedder: str) -> None:
    assert relevance(evidence, embedder, 100_000) <= relevance(evidence, embedder, 100) + 1e-12


@pytest.mark.parametrize("embedder", ["use", "e5", "another"])
def test_a_passage_with_all_the_words_is_relevant_whatever_the_embedder_says(embedder: str) -> None:
    exact = Evidence(lexical=1.0, grams=1.0, cosine=0.0, unseen=0.0)
    assert relevance(exact, embedder, 50_000) > threshold_for(embedder)


@pytest.mark.parametrize("embedder", ["use", "e5", "another"])
def test_nothing_in_common_is_not_relevant(embedder: str) -> None:
    assert relevance(Evidence(0.0, 0.1, 0.1, 1.0), embedder, 500) < threshold_for(embedder)
