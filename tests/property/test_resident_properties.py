"""Rules every resident index keeps, whatever is stored and in whatever order it came."""

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_rows import DIMENSION, ask, found, index_of, item, message, record_id, rows_of, vectors_of
from retentia.index import resident
from retentia.index.passages import Indexable
from retentia.index.resident import ResidentIndex
from retentia.index.search import best_records
from retentia.index.signals import SIGNALS, Signals
from retentia.index.traits import TRAITS

WORDS = ("rent", "milk", "boat", "tax", "key", "roof", "Ann", "Bob", "May", "2023", "yesterday", "always", "Kyiv", "?")
QUESTIONS = ("When did Ann pay the rent?", "boat key", "roof in May 2023", "unknown word", "???")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@st.composite
def sources(draw: st.DrawFn, *, numbers: Sequence[int] = range(24)) -> list[Indexable]:
    chosen = draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=12, unique=True))
    return [draw(_source(number)) for number in chosen]


def _source(number: int) -> st.SearchStrategy[Indexable]:
    said = st.builds(
        message,
        st.just(number),
        texts,
        session=st.integers(1, 3),
        role=st.sampled_from(["", "user", "assistant"]),
        speaker=st.sampled_from(["", "Ann", "Bob Key"]),
        day=st.sampled_from([0, 20230500, 20230508, 20240000]),
        seq=st.integers(0, 5),
    )
    long = texts.map(lambda text: item(number, ". ".join([text] * 60)))
    return st.one_of(said, st.builds(item, st.just(number), texts), long)


def assert_equal_answers(one: ResidentIndex, other: ResidentIndex) -> None:
    assert len(one) == len(other)
    for question in QUESTIONS:
        first, second = ask(one, question, limit=50), ask(other, question, limit=50)
        scores = {entry.record_id: entry.score for entry in first.records}
        assert {entry.record_id: entry.score for entry in second.records} == pytest.approx(scores, abs=1e-5)
        assert first.evidence.unseen == second.evidence.unseen
        assert first.evidence.lexical == pytest.approx(second.evidence.lexical, abs=1e-5)
        # Equal up to what the last bits of a float decide between two records of the same score.
        ordered = [scores[entry.record_id] for entry in second.records]
        assert ordered == pytest.approx(sorted(ordered, reverse=True), abs=3e-6)


@settings(max_examples=60, deadline=None)
@given(sources(numbers=range(12)), sources(numbers=range(12, 24)), st.data(), st.booleans())
def test_an_index_kept_up_to_date_equals_one_built_anew(
    first: list[Indexable], later: list[Indexable], data: st.DataObject, is_crowded: bool
) -> None:
    with patch.object(resident, "_FEWEST_DEAD", 1 if is_crowded else 1024):
        index = index_of(*first)
        for source in later:
            index.add(rows_of(source), vectors_of(source))
        gone = data.draw(st.sets(st.sampled_from([source.record_id for source in (*first, *later)])))
        index.remove(gone)
        back = [source for source in first if source.record_id in gone][:2]
        if back:
            index.add(rows_of(*back), vectors_of(*back))
    left = [source for source in (*first, *later) if source.record_id not in gone or source in back]
    assert_equal_answers(index, index_of(*left))


@settings(max_examples=40, deadline=None)
@given(sources(), st.randoms(use_true_random=False))
def test_answers_do_not_depend_on_the_order_of_rows(held: list[Indexable], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(held)
    random.shuffle(shuffled)
    assert_equal_answers(index_of(*held), index_of(*shuffled))


@settings(max_examples=40, deadline=None)
@given(sources(), st.data())
def test_a_vector_that_comes_later_makes_the_index_whole(held: list[Indexable], data: st.DataObject) -> None:
    pending = data.draw(st.lists(st.sampled_from(held), unique_by=lambda source: source.record_id))
    ready = [source for source in held if source not in pending]
    index = ResidentIndex.build(rows_of(*held), vectors_of(*ready), dimension=DIMENSION)
    index.remove([source.record_id for source in pending])
    index.add(rows_of(*pending), vectors_of(*pending))
    assert_equal_answers(index, index_of(*held))
    assert index.without_vector == 0


@settings(max_examples=40, deadline=None)
@given(sources(), st.data(), st.booleans())
def test_what_the_mask_forbids_is_never_returned(held: list[Indexable], data: st.DataObject, is_big: bool) -> None:
    may = data.draw(st.sets(st.sampled_from([source.record_id for source in held])))
    with patch.multiple(resident, EXACT_UP_TO=3 if is_big else 20_000, CANDIDATES=3, _LOWEST=3):
        index = index_of(*held)
        allowed = index.columns.rows_of(may) if may else np.zeros(len(index.columns), dtype=bool)
        for question in QUESTIONS:
            ranking = ask(index, question, limit=50, allowed=allowed)
            assert {entry.record_id for entry in ranking.records} == may
            assert ranking.filtered == len(index) - np.count_nonzero(allowed)


@settings(max_examples=30, deadline=None)
@given(sources(numbers=range(12)), sources(numbers=range(12, 24)))
def test_rows_of_another_view_change_nothing(own: list[Indexable], others: list[Indexable]) -> None:
    alone = [found(ask(index_of(*own), question)) for question in QUESTIONS]
    beside = index_of(*own)
    other = index_of(*others)
    other.remove([record_id(12)])
    assert [found(ask(beside, question)) for question in QUESTIONS] == alone


@settings(max_examples=30, deadline=None)
@given(sources(), st.integers(1, 6))
def test_a_smaller_limit_returns_the_beginning_of_a_larger_one(held: list[Indexable], limit: int) -> None:
    index = index_of(*held)
    for question in QUESTIONS:
        assert found(ask(index, question, limit=limit)) == found(ask(index, question, limit=50))[:limit]


@settings(max_examples=60, deadline=None)
@given(sources(), st.integers(1, 6), st.data())
def test_the_best_records_are_those_of_a_plain_sort_however_many_are_equal(
    held: list[Indexable], limit: int, data: st.DataObject
) -> None:
    index = index_of(*held)
    levels = st.sampled_from([-np.inf, 0.1, 0.2, 0.3])
    scores = np.array([data.draw(levels) for _ in range(len(index))], dtype=np.float32)
    silent = Signals.of(dict.fromkeys(SIGNALS[: -len(TRAITS)]), index.traits.standing, 0.0)
    best = best_records(scores, silent, index.columns, index.layout, limit=limit)
    ids, parts = index.columns.ids(index.layout.rows), index.columns.part.values[index.layout.rows].tolist()
    places = [place for place in range(len(index)) if scores[place] > -np.inf]
    places.sort(key=lambda place: (-scores[place], ids[place], parts[place]))
    assert [entry.record_id for entry in best] == list(dict.fromkeys(ids[place] for place in places))[:limit]
    for entry in best:
        own = [parts[place] for place in places if ids[place] == entry.record_id]
        told = [passage.part for passage in entry.passages]
        assert told == own[: len(told)]
