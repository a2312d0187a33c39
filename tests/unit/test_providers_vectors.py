import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import EmbeddingFailed
from retentia.providers.vectors import embed_one, embed_pieces, unit_rows


@given(st.lists(st.lists(st.floats(-1e30, 1e30), min_size=4, max_size=4), min_size=1, max_size=5))
def test_rows_come_out_with_length_one_or_not_at_all(rows: list[list[float]]) -> None:
    try:
        unit = unit_rows(rows, range(len(rows)))
    except EmbeddingFailed:
        assert any(max(map(abs, row)) < 2e-12 for row in rows)
    else:
        assert unit.dtype == np.float32
        assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ([[1, 2], [0, 0]], "vector of text 7 is zero"),
        ([[1, 2], [1, float("nan")]], "vector of text 7 is not finite"),
        ([[float("inf"), 2], [1, 2]], "vector of text 5 is not finite"),
        ([[1, 2]], "1 vectors for 2 texts"),
        ([[1, 2, 3], [1, 2, 3]], "3 dimensions instead of 2"),
        ([[1, 2], [1]], "other than a table of numbers"),
        ([[1, 2], [1, None]], "is not finite|other than a table"),
        ([["a", "b"], ["c", "d"]], "other than a table of numbers"),
        ([1, 2], "shape"),
        ([[], []], "shape"),
        ([[[1, 2]], [[1, 2]]], "shape"),
        (None, "other than a table of numbers|shape"),
    ],
)
def test_an_unsound_answer_is_refused_with_the_text_it_belongs_to(answer: object, complaint: str) -> None:
    with pytest.raises(EmbeddingFailed, match=complaint):
        unit_rows(answer, owners=[5, 7], dimension=2)


def test_a_text_of_several_pieces_gets_the_direction_of_their_mean() -> None:
    known = {"east": [2.0, 0.0], "north": [0.0, 5.0], "west": [-1.0, 0.0]}
    rows = embed_pieces([["east", "north"], ["west"]], lambda texts: [known[text] for text in texts], 2)
    assert np.allclose(rows, [[0.5**0.5, 0.5**0.5], [-1, 0]])
    assert np.allclose(embed_one(["north"], lambda texts: [known[text] for text in texts], 2), [0, 1])


def test_the_text_is_named_not_the_piece() -> None:
    with pytest.raises(EmbeddingFailed, match="vector of text 1 is zero"):
        embed_pieces([["a", "b", "c"], ["d", "zero"]], lambda texts: [[float(text != "zero")] for text in texts], 1)


def test_without_texts_the_model_is_not_asked() -> None:
    def never(texts: list[str]) -> object:
        raise AssertionError(texts)

    assert embed_pieces([], never, 3).shape == (0, 3)
