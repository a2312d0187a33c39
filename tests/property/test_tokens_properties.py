from hypothesis import given
from hypothesis import strategies as st

from retentia.working.tokens import LARGE_VOCABULARY, SMALL_VOCABULARY, EstimatingCounter

COUNTERS = st.sampled_from([EstimatingCounter(LARGE_VOCABULARY), EstimatingCounter(SMALL_VOCABULARY)])
TEXTS = st.text(max_size=300)


@given(COUNTERS, TEXTS)
def test_an_estimate_lies_between_nothing_and_one_token_a_byte(counter: EstimatingCounter, text: str) -> None:
    tokens = counter.count(text)
    assert (tokens > 0) == bool(text)
    assert tokens <= len(text.encode("utf-8", "surrogatepass"))


@given(COUNTERS, TEXTS, TEXTS)
def test_more_text_never_costs_less(counter: EstimatingCounter, text: str, more: str) -> None:
    # Capitals have a price of their own, which one small letter takes off the whole text.
    text, more = text.lower(), more.lower()
    assert counter.count(f"{text} {more}") >= counter.count(text)


@given(COUNTERS, st.lists(TEXTS, max_size=6))
def test_paragraphs_together_cost_at_most_what_they_cost_apart(counter: EstimatingCounter, texts: list[str]) -> None:
    apart = sum(counter.count(text) + counter.count("\n\n") for text in texts)
    assert counter.count("\n\n".join(texts)) <= apart
