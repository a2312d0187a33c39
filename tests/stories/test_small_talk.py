"""A greeting is never worth keeping: "Hallo! Wie kann ich helfen?" is in no record, no opening and no summary."""

import pytest

from retentia import Kind, Memory, Message, Scope, Session

GREETINGS = {
    "de": ("Hallo! Wie kann ich helfen?", "Guten Morgen!"),
    "en": ("Hello! How can I help you today?", "Good morning!"),
    "uk": ("Привіт! Чим можу допомогти?", "Доброго ранку!"),
}
WORK = (
    "We decided to use ClickHouse, because the reports took 40 seconds.",
    "Good, I will write the migration plan.",
    "We still have to tell Jonas.",
)
ITEMS = [kind for kind in Kind if kind not in (Kind.MESSAGE, Kind.TOOL_CALL, Kind.DOCUMENT)]


@pytest.mark.parametrize("language", GREETINGS)
@pytest.mark.parametrize("work", [WORK, ()], ids=["with work", "nothing but small talk"])
def test_a_greeting_becomes_no_record_and_opens_no_session(
    sqlite_url: str, anna: Scope, language: str, work: tuple[str, ...]
) -> None:
    greeting, answer = GREETINGS[language]
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        chat = Session(memory, "monday", scope=anna)
        chat.append([Message(role="assistant", content=greeting), Message(role="user", content=answer)])
        chat.append(
            [Message(role="assistant" if place % 2 else "user", content=text) for place, text in enumerate(work)]
        )
        chat.append([Message(role="user", content=answer), Message(role="assistant", content=greeting)])
        record = chat.end()
        assert record is not None
        assert greeting not in record.summary
        assert greeting not in record.topic
        assert bool(work) or record.summary.endswith("Nothing but small talk, by the rules.")
        assert greeting not in [one.text for one in (*record.decisions, *record.open_items)]
        for kind in ITEMS:
            kept = [getattr(one, "text", "") for one in memory.records(scope=anna, kind=kind).records]
            assert not any(greeting in text for text in kept), kind
        opening = memory.opening(scope=anna)
        context = memory.context("What is next?", scope=anna, session="tuesday", opening=opening)
        assert greeting not in context.text()
        assert len(memory.messages(scope=anna, session="monday")) == 4 + len(work)  # what was said is kept as it was
