"""The conversations of examples/ are what the demonstration and its questions rely on."""

import json
from collections import Counter
from pathlib import Path

import pytest

from retentia.ingest import IngestDocument, IngestMessage, IngestToolCall, Skipped, read

EXAMPLES = Path(__file__).parents[2] / "examples"
ITEMS = list(read([EXAMPLES / "chats", EXAMPLES / "documents"]))
QUESTIONS = json.loads((EXAMPLES / "questions.json").read_text("utf-8"))


def test_every_line_is_read_and_every_message_has_its_own_id_and_time() -> None:
    messages = [item.message for item in ITEMS if isinstance(item, IngestMessage)]
    assert not [item for item in ITEMS if isinstance(item, Skipped)]
    assert len({message.key for message in messages}) == len(messages)
    assert all(message.at is not None for message in messages)


@pytest.mark.parametrize(
    ("chat", "sessions", "messages"), [("en_project", 6, 90), ("de_praxis", 4, 40), ("uk_podorozh", 4, 40)]
)
def test_a_chat_spans_several_sessions(chat: str, sessions: int, messages: int) -> None:
    found = Counter(
        item.session for item in ITEMS if isinstance(item, IngestMessage) and item.session.startswith(f"{chat}/")
    )
    assert len(found) == sessions
    assert found.total() >= messages


def test_the_observed_prices_are_in_the_tool_call_log() -> None:
    results = [item.call.result for item in ITEMS if isinstance(item, IngestToolCall)]
    assert [result["price"] for result in results if isinstance(result, dict)] == [213.00, 218.40]


def test_questions_name_records_that_are_there() -> None:
    known = {item.message.key for item in ITEMS if isinstance(item, IngestMessage)}
    known |= {item.document.key.partition("#")[0] for item in ITEMS if isinstance(item, IngestDocument)}
    assert {key for question in QUESTIONS for key in question["expects"]} <= known
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)


def test_questions_cover_three_languages_crossings_and_nothing() -> None:
    pairs = Counter((question["language"], question["about"]) for question in QUESTIONS if question["expects"])
    assert {(a, b) for a in ("en", "de", "uk") for b in ("en", "de", "uk")} == set(pairs)
    nothing = Counter(question["language"] for question in QUESTIONS if not question["expects"])
    assert all(nothing[language] >= 3 for language in ("en", "de", "uk"))


def test_the_working_day_is_long_enough_to_be_summarised_and_ends_with_a_question_about_its_fifth_message() -> None:
    day = [item for item in read([EXAMPLES / "sessions"]) if not isinstance(item, IngestToolCall)]
    said = [item.message for item in day if isinstance(item, IngestMessage)]
    assert len(said) == len(day) >= 70
    assert {item.session for item in day if isinstance(item, IngestMessage)} == {"checkout_week"}
    assert "4,850 euros" in str(said[4].content)
    assert "budget" in str(said[-1].content)
    assert sum(message.role == "tool" for message in said) == 6
