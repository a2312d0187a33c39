import pytest

from retentia.learn.commitments import due_of
from retentia.learn.episode_words import EPISODIC, kinds_named
from retentia.model.feed import Reached, read_cursor, write_cursor
from retentia.model.record import Kind
from retentia.model.time import Moment

SAID = Moment.parse("2026-05-13T10:00:00", zone="Europe/Kyiv")  # a Wednesday


@pytest.mark.parametrize(
    ("words", "due"),
    [
        ("by Friday", "2026-05-15"),
        ("tomorrow", "2026-05-14"),
        ("bis Freitag", "2026-05-15"),
        ("до п'ятниці", "2026-05-15"),
        ("by 1 June", "2026-06-01"),
        ("soon", None),
        ("", None),
    ],
)
def test_when_something_is_due_is_read_from_the_words_at_the_time_they_were_said(words: str, due: str | None) -> None:
    found = due_of(words, SAID)
    assert (None if found is None else found[0].iso()) == due


def test_a_due_day_ends_with_the_local_day_of_who_promised() -> None:
    found = due_of("by Friday", SAID)
    assert found is not None
    assert Moment.at(found[0].end - 1, "Europe/Kyiv").iso()[:10] == "2026-05-15"
    assert found[1] == "by Friday"


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("What happened?", EPISODIC),
        ("", EPISODIC),
        ("Was ist passiert?", EPISODIC),
        ("Що сталося?", EPISODIC),
        ("What did we decide?", (Kind.DECISION,)),
        ("Welche Entscheidungen gab es?", (Kind.DECISION,)),
        ("Що я пообіцяла?", (Kind.COMMITMENT,)),
        ("What did we decide about the database?", None),
        ("the weekly report", None),
    ],
)
def test_a_question_without_a_topic_names_the_kinds_it_asks_for(question: str, kinds: tuple[Kind, ...] | None) -> None:
    assert kinds_named(question) == kinds


def test_a_cursor_is_read_as_it_was_written() -> None:
    reached = {7: Reached(3, 2), 2**62: Reached(0), 1: Reached(255, 10)}
    assert read_cursor(write_cursor(reached)) == reached
    assert read_cursor("") == {}
