import numpy as np
import pytest

from retentia.errors import EmbeddingFailed
from retentia.providers.query_cache import CachedQueries
from retentia.testing import FakeEmbedder


def test_a_question_asked_again_is_not_embedded_again() -> None:
    inside = FakeEmbedder()
    cached = CachedQueries(inside)
    first = cached.embed_query("where is the key?")
    assert cached.embed_query("where is the key?") is first
    assert inside.embedded == 1
    assert np.array_equal(first, inside.embed_query("where is the key?"))


def test_the_question_not_asked_for_longest_is_forgotten() -> None:
    inside = FakeEmbedder()
    cached = CachedQueries(inside, size=2)
    for question in ("one", "two", "one", "three", "one"):
        cached.embed_query(question)
    assert inside.embedded == 3
    cached.embed_query("two")
    assert inside.embedded == 4


def test_a_kept_vector_cannot_be_spoilt() -> None:
    cached = CachedQueries(FakeEmbedder())
    with pytest.raises(ValueError, match="read-only"):
        cached.embed_query("one")[0] = 9


def test_questions_are_not_kept_as_text_and_can_be_forgotten() -> None:
    inside = FakeEmbedder()
    cached = CachedQueries(inside)
    cached.embed_query("what is my PIN? \ud800")
    assert "PIN" not in repr(vars(cached))
    cached.clear()
    cached.embed_query("what is my PIN? \ud800")
    assert inside.embedded == 2


def test_failures_are_not_kept() -> None:
    inside = FakeEmbedder()
    cached = CachedQueries(inside)
    inside.is_down = True
    with pytest.raises(EmbeddingFailed):
        cached.embed_query("one")
    inside.is_down = False
    assert cached.embed_query("one").shape == (256,)


def test_passages_are_not_kept_and_warming_reaches_the_model() -> None:
    inside = FakeEmbedder()
    cached = CachedQueries(inside)
    cached.warm()
    cached.embed(["one", "two"])
    cached.embed(["one", "two"])
    assert inside.embedded == 5
    assert cached.identity == inside.identity
