import pytest

from retentia.errors import InvalidInput
from retentia.evals.dataset import Entry, Group
from retentia.evals.memory_subject import fresh_subject


def _group(name: str, *entries: Entry) -> Group:
    return Group(name=name, entries=entries, questions=())


def test_answers_name_the_sources_of_the_group_asked_and_no_other() -> None:
    cats = _group("cats", Entry(source="a", text="The cat sleeps on the stove.", session="s", role="user"))
    cars = _group("cars", Entry(source="a2", text="The car sleeps in the garage.", session="s", role="user"))
    with fresh_subject("none") as subject:
        subject.ingest(cats)
        subject.ingest(cars)
        assert subject.ask(cats, "Who sleeps?", limit=5).ranking == ("a",)
        assert subject.ask(cars, "Who sleeps?", limit=5).ranking == ("a2",)


def test_even_a_question_about_nothing_known_ranks_what_is_there() -> None:
    group = _group(
        "g", Entry(source="a", text="The cat sleeps.", session="s"), Entry(source="b", text="A tool", kind="item")
    )
    with fresh_subject("none") as subject:
        subject.ingest(group)
        answer = subject.ask(group, "Which comet returns in 2061?", limit=5)
    assert sorted(answer.ranking) == ["a", "b"]
    assert answer.relevance < answer.threshold
    assert all(found.tokens > 0 for found in answer.found)
    assert answer.search_ms > 0


def test_what_a_prompt_shows_is_named_by_its_sources_and_bounded_by_the_budget() -> None:
    entries = [
        Entry(source=f"m{number}", text=f"Cat {number} sleeps on the stove.", session="s") for number in range(30)
    ]
    group = _group("cats", *entries)
    with fresh_subject("none") as subject:
        subject.ingest(group)
        few = subject.shown(group, "Which cat sleeps?", budget=200)
        many = subject.shown(group, "Which cat sleeps?", budget=800)
    assert 0 < len(few) < len(many) <= 30
    assert set(many) <= {entry.source for entry in entries}


def test_a_picture_is_found_by_its_caption() -> None:
    group = _group(
        "g",
        *(Entry(source=str(n), text="Look!", session="s", caption=c) for n, c in enumerate(("a red kite", "a lake"))),
    )
    with fresh_subject("none") as subject:
        subject.ingest(group)
        assert subject.ask(group, "the kite", limit=1).ranking == ("0",)


def test_entries_that_are_refused_or_repeated_are_named() -> None:
    with fresh_subject("none") as subject:
        with pytest.raises(InvalidInput, match="'bad' was refused"):
            subject.ingest(
                _group("g", Entry(source="good", text="x", session="s"), Entry(source="bad", text="", session="s"))
            )
        with pytest.raises(InvalidInput, match="'two' is the same as 'one'"):
            subject.ingest(_group("h", *(Entry(source=source, text="same", kind="item") for source in ("one", "two"))))


def test_embedding_is_timed_without_a_cache_and_not_without_an_embedder() -> None:
    with fresh_subject("none") as subject:
        assert subject.embedding_ms(["question"]) == []
