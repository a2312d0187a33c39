"""What the benchmarks compare with, and how they show it."""

from pathlib import Path

import numpy as np
from benchmarks.corpus import messages, questions
from benchmarks.floor import Floor
from benchmarks.page import replace_tables
from benchmarks.tables import Table, ratio, shown
from benchmarks.vectors import WordVectors
from hypothesis import given
from hypothesis import strategies as st

_EMBEDDER = WordVectors()
_TEXTS = ["the piano stands in the hall", "the invoice is unpaid", "we swim in the lake"]


def test_the_floor_finds_a_text_by_its_words_and_by_its_vector() -> None:
    floor = Floor(_TEXTS, _EMBEDDER.embed(_TEXTS))
    for number, question in enumerate(("where is the piano", "which invoice", "swim")):
        assert floor.search(question, _EMBEDDER.embed_query(question), limit=1) == [(number, _TEXTS[number])]


def test_the_floor_returns_no_more_texts_than_there_are() -> None:
    found = Floor(_TEXTS, _EMBEDDER.embed(_TEXTS)).search("nothing of this", _EMBEDDER.embed_query("nothing"), limit=10)
    assert sorted(number for number, _ in found) == [0, 1, 2]


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_word_vectors_have_length_one_and_do_not_depend_on_the_batch(texts: list[str]) -> None:
    rows = _EMBEDDER.embed(texts)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert np.allclose(rows, np.concatenate([_EMBEDDER.embed([text]) for text in texts]), atol=1e-5)


def test_texts_without_data_are_the_same_in_every_run_and_questions_differ() -> None:
    said = messages(600, None)
    assert said[:3] == messages(3, None)
    assert said[0].session != said[599].session
    assert len(set(questions(200, None))) == 200


def test_figures_are_shown_with_three_digits_and_what_was_not_measured_as_a_dash() -> None:
    assert [shown(cell) for cell in (0.01234, 123.4, 12_345, "as is", None)] == [
        "0.0123",
        "123",
        "12,345",
        "as is",
        "–",
    ]
    assert (ratio(3.0, 2.0), ratio(None, 2.0), ratio(3.0, 0)) == ("1.50×", None, None)


def test_a_run_replaces_its_tables_on_the_page_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- disk -->\nold\n<!-- /disk -->\nafter <!-- memory -->\n<!-- /memory -->\n", "utf-8")
    replace_tables(page, "disk", Table("On disk", ("", "bytes"), [("a message", 2000)]).as_markdown())
    text = page.read_text("utf-8")
    assert "old" not in text
    assert "| a message | 2,000 |" in text
    assert text.startswith("before\n")
    assert text.endswith("after <!-- memory -->\n<!-- /memory -->\n")
