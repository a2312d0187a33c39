import pytest

from retentia.model.message import Message
from retentia.working.tokens import (
    MESSAGE_OVERHEAD,
    SMALL_VOCABULARY,
    TOOL_CALL_OVERHEAD,
    EstimatingCounter,
    ExactCounter,
    RememberingCounter,
    TokenCounter,
)

WORDS: TokenCounter = ExactCounter(str.split, label="words")
ESTIMATE: TokenCounter = EstimatingCounter()

# Counted with OpenAI's o200k_base; benchmarks/tokens.py repeats it where a tokenizer is installed.
COUNTED = [
    ("Could you remind me on Sunday at six to call my mother?", 13),
    ("Wir haben uns für PostgreSQL entschieden, weil die Berichte sonst zu langsam waren.", 17),
    ("Нагадай мені, будь ласка, зателефонувати мамі в неділю о шостій вечора.", 27),
    ("请提醒我星期天下午六点给妈妈打电话。", 13),
    ("日曜日の午後六時に母に電話するように知らせてください。", 17),
    ("def area(r: float) -> float:\n    return math.pi * r**2", 17),
    ('{"reservation_id": "FQ8APE", "total": 218.40}', 18),
    ("Commit 9fceb02d0ae598e95dc970b74767f19372d61af8", 24),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_an_estimate_is_not_too_low_and_not_far_off(text: str, tokens: int) -> None:
    assert tokens <= ESTIMATE.count(text) <= tokens * 1.6


def test_cyrillic_costs_more_than_latin_and_capitals_more_than_both() -> None:
    latin, cyrillic = ESTIMATE.count("neunzehn kleine Katzen"), ESTIMATE.count("дев'ятнадцять маленьких кошенят")
    assert latin < cyrillic < ESTIMATE.count("ДЕВ'ЯТНАДЦЯТЬ МАЛЕНЬКИХ КОШЕНЯТ")


def test_a_smaller_vocabulary_needs_more_tokens() -> None:
    small = EstimatingCounter(SMALL_VOCABULARY)
    for text in ("Нагадай мені, будь ласка", "Größenordnung der Prüfung", "请提醒我星期天", "please remind me"):
        assert small.count(text) > ESTIMATE.count(text)


@pytest.mark.parametrize("text", ["\0", "\ud83d", "👩‍💻🇺🇦", "Zalgơ̷̢̺", "ﷺ", "\u2028"])
def test_odd_characters_are_counted(text: str) -> None:
    assert 1 <= ESTIMATE.count(text) <= len(text.encode("utf-8", "surrogatepass"))


def test_a_message_costs_its_text_its_speaker_and_the_overhead_of_the_format() -> None:
    plain = Message(role="user", content="one two three")
    named = Message(role="user", content="one two three", speaker="Anna Lee")
    assert WORDS.count_message(plain) == MESSAGE_OVERHEAD + 3
    assert WORDS.count_message(named) == MESSAGE_OVERHEAD + 3 + 2 + 1


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c1", "type": "function", "function": {"name": "find it", "arguments": '{"q": "a b"}'}},
        {"id": "c1", "type": "tool_use", "name": "find it", "input": {"q": "a b"}},
        {"id": "c1", "name": "find it", "arguments": '{"q": "a b"}'},
    ],
)
def test_a_tool_call_costs_the_same_in_every_vendors_shape(call: dict[str, object]) -> None:
    message = Message(role="assistant", content="", tool_calls=[call])  # type: ignore[list-item]
    assert WORDS.count_message(message) == MESSAGE_OVERHEAD + TOOL_CALL_OVERHEAD + 2 + 3


def test_images_cost_a_flat_amount_and_other_parts_their_text() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    message = Message(
        role="user", content=[{"type": "text", "text": "what is this"}, image, {"type": "audio", "id": 7}]
    )
    counter = ExactCounter(str.split, label="words", image_tokens=85)
    assert counter.count_message(message) == MESSAGE_OVERHEAD + 3 + 85 + 4


def test_every_counter_says_how_it_counts() -> None:
    assert (ESTIMATE.label, WORDS.label) == ("estimated", "words")


def test_an_exact_counter_never_hands_a_lone_surrogate_to_its_tokenizer() -> None:
    assert ExactCounter(lambda text: text.encode(), label="bytes").count("a\ud83d") == 2


def test_a_counter_that_remembers_tells_messages_apart_and_counts_each_once() -> None:
    asked: list[str] = []

    def encode(text: str) -> list[str]:
        asked.append(text)
        return text.split()

    call = ({"id": "1", "function": {"name": "look", "arguments": "a b c"}},)
    messages = [
        Message(role="user", content="one two"),
        Message(role="user", content="one two three"),
        Message(role="user", content="one two", speaker="Anna Maria"),
        Message(role="assistant", content="one two", tool_calls=call),
        Message(role="user", content=[{"type": "text", "text": "one two"}]),
    ]
    remembering = RememberingCounter(ExactCounter(encode, label="words"))
    wanted = [WORDS.count_message(message) for message in messages]
    assert [remembering.count_message(message) for message in messages] == wanted
    asked.clear()
    assert [remembering.count_message(message) for message in messages[:3]] == wanted[:3]
    assert not asked
