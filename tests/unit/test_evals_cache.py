from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest

from retentia.errors import InvalidInput
from retentia.evals.cache import CachedEmbedder
from retentia.testing import EmbedderContract, FakeEmbedder

Cache = Callable[[FakeEmbedder], CachedEmbedder]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    """Put an embedder behind a cache in one folder, closed at the end."""
    with ExitStack() as opened:
        yield lambda inside: opened.enter_context(closing(CachedEmbedder(inside, tmp_path)))


class TestCachedEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, cache: Cache) -> CachedEmbedder:
        return cache(FakeEmbedder())


def test_a_second_run_embeds_nothing(cache: Cache) -> None:
    first, again = FakeEmbedder(), FakeEmbedder()
    texts = ["one", "two", "one"]
    expected = cache(first).embed(texts)
    cached = cache(again)
    assert np.array_equal(cached.embed(texts), expected)
    assert (first.embedded, again.embedded, cached.fresh) == (2, 0, 0)


def test_only_new_texts_are_embedded_and_the_order_is_kept(cache: Cache) -> None:
    inside = FakeEmbedder()
    cached = cache(inside)
    cached.embed(["b"])
    assert np.array_equal(cached.embed(["a", "b", "c"]), FakeEmbedder().embed(["a", "b", "c"]))
    assert inside.embedded == 3


def test_a_question_is_kept_apart_from_the_same_text_as_a_passage(cache: Cache) -> None:
    inside = FakeEmbedder()
    cached = cache(inside)
    cached.embed(["same"])
    cached.embed_query("same")
    cached.embed_query("same")
    assert inside.embedded == 2


def test_embedders_never_share_vectors(cache: Cache) -> None:
    cache(FakeEmbedder(version="1")).embed(["text"])
    other = FakeEmbedder(version="2")
    cache(other).embed(["text"])
    assert other.embedded == 1


def test_more_texts_than_one_look_up_takes_are_all_found(cache: Cache) -> None:
    texts = [f"text {number}" for number in range(1000)]
    cache(FakeEmbedder()).embed(texts)
    inside = FakeEmbedder()
    rows = cache(inside).embed(texts)
    assert inside.embedded == 0
    assert np.array_equal(rows, FakeEmbedder().embed(texts))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="another --cache-dir"):
        CachedEmbedder(FakeEmbedder(), tmp_path / "file" / "below")


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    cached = CachedEmbedder(FakeEmbedder(), tmp_path)
    cached.close()
    for path in tmp_path.iterdir():
        path.write_bytes(b"this is no database " * 300)
    with pytest.raises(InvalidInput, match="another --cache-dir"):
        CachedEmbedder(FakeEmbedder(), tmp_path)
