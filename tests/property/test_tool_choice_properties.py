"""What holds of scores of tools, whatever the tools and the requests are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retentia.testing import FakeEmbedder
from retentia.tools.choice import PastUse, ToolEntry, ToolIndex

EMBEDDER = FakeEmbedder(16)
WORDS = st.lists(
    st.sampled_from(["weather", "chart", "mail", "send", "draw", "look", "city", "погода"]), min_size=1, max_size=5
).map(" ".join)


def entry(text: str) -> ToolEntry:
    name = text.split()[0]
    return ToolEntry(name, text, EMBEDDER.embed_query(name), EMBEDDER.embed_query(text))


@given(st.lists(WORDS, min_size=1, max_size=8, unique=True), WORDS, st.randoms())
def test_scores_do_not_depend_on_the_order_of_registration(texts: list[str], request: str, random: object) -> None:
    vector = EMBEDDER.embed_query(request)
    places = list(range(len(texts)))
    random.shuffle(places)  # type: ignore[attr-defined]
    uses = [PastUse(vector, frozenset({0}))]
    moved = [PastUse(vector, frozenset({places.index(0)}))]
    first = ToolIndex([entry(text) for text in texts], uses).score(request, vector).total
    again = ToolIndex([entry(texts[place]) for place in places], moved).score(request, vector).total
    assert np.allclose(first[places], again, atol=1e-6)


@given(st.lists(WORDS, min_size=2, max_size=6, unique=True), WORDS)
def test_a_tool_that_served_the_same_request_gains_and_no_other_loses_its_own_words(
    texts: list[str], request: str
) -> None:
    vector = EMBEDDER.embed_query(request)
    index = ToolIndex([entry(text) for text in texts])
    cold = index.score(request, vector)
    index.learn([PastUse(vector, frozenset({1}))])
    warm = index.score(request, vector)
    assert warm.total[1] > cold.total[1]
    assert np.array_equal(warm.words, cold.words)
    assert warm.past[0] == 0
    assert warm.similar.tolist() == [0, 1, *[0] * (len(texts) - 2)]
    index.learn([])
    assert np.allclose(index.score(request, vector).total, cold.total)


@given(WORDS)
def test_nothing_registered_scores_nothing(request: str) -> None:
    assert len(ToolIndex(()).score(request, EMBEDDER.embed_query(request)).total) == 0


@given(st.lists(WORDS, min_size=1, max_size=6, unique=True), WORDS)
def test_without_a_vector_words_decide(texts: list[str], request: str) -> None:
    scores = ToolIndex([ToolEntry(text.split()[0], text) for text in texts]).score(request, None)
    assert not scores.meaning.any()
    assert not scores.past.any()
    if any(word in text.split() for text in texts for word in request.split()):
        assert scores.words.max() > 0
