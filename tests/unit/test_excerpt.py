from hypothesis import given
from hypothesis import strategies as st

from retentia.index.ranking import RankedPassage
from retentia.read.excerpt import WHOLE_UP_TO, choose_spans, excerpt
from retentia.read.query import Span


def test_a_short_text_is_shown_whole() -> None:
    assert excerpt("short", [Span(0, 2)]) == "short"


def test_a_long_text_is_shown_by_its_best_stretches_in_their_order() -> None:
    text = "A" * 300 + "B" * 300 + "C" * 300
    passages = [RankedPassage(2, 600, 900, 0.9), RankedPassage(0, 0, 300, 0.8), RankedPassage(1, 300, 600, 0.1)]
    assert excerpt(text, choose_spans(passages)) == "A" * 300 + " … " + "C" * 300


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-1, 2)), min_size=1, max_size=6))
def test_the_best_passage_is_always_among_the_spans(scored: list[tuple[int, float]]) -> None:
    ranked = sorted(
        (RankedPassage(part, part * 300, part * 300 + 300, score) for part, score in scored), key=lambda p: -p.score
    )
    spans = choose_spans(ranked)
    assert Span(ranked[0].start, ranked[0].end) in spans
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    assert len(excerpt("x" * (2 * WHOLE_UP_TO), spans)) <= 2 * WHOLE_UP_TO + 12
