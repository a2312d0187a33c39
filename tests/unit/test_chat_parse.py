"""What models wrap around their JSON is taken off; what is no answer is said to be none, with the answer kept."""

import json
import sys
from typing import Any

import pytest

from retentia.errors import ModelReplyInvalid
from retentia.providers.chat.parse import read_value, without_thinking

FACTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        }
    },
    "required": ["facts"],
}
LIKES = {"facts": [{"text": "likes travel"}]}
BOTH = {"facts": [{"text": "likes travel"}, {"text": "likes tea"}]}

WRAPPED = {
    "as it is": '{"facts": [{"text": "likes travel"}]}',
    "a fence": '```json\n{"facts": [{"text": "likes travel"}]}\n```',
    "a fence between words": 'Here:\n```\n{"facts": [{"text": "likes travel"}]}\n```\nAnything else?',
    "a fence without its end": '```json\n{"facts": [{"text": "likes travel"}]}',
    "tildes": '~~~\n{"facts": [{"text": "likes travel"}]}\n~~~',
    "prose with braces": 'Sure {about travel}: {"facts":[{"text":"likes travel"}]}',
    "prose with an open brace": 'A { opens. {"facts":[{"text":"likes travel"}]}',
    "prose with brackets": 'As you said [1]: {"facts":[{"text":"likes travel"}]} [see above]',
    "prose in another language": 'Ось відповідь: {"facts":[{"text":"likes travel"}]} Щось іще?',
    "thinking": '<think>Maybe {"facts": []}?</think>{"facts":[{"text":"likes travel"}]}',
    "thinking twice": '<think>a</think>\n<thinking>b</thinking>\n{"facts":[{"text":"likes travel"}]}',
    "a draft before the answer": 'First {"facts":[{"text":"likes"}]}, no: {"facts":[{"text":"likes travel"}]}',
    "an empty object after the answer": '{"facts":[{"text":"likes travel"}]} or {} if none',
    "a list for the object": '[{"text": "likes travel"}]',
    "the object in a list": '[{"facts":[{"text": "likes travel"}]}]',
    "the schema filled in": '{"type":"object","properties":{"facts":[{"text":"likes travel"}]}}',
    "a wrapper": '{"answer": {"facts":[{"text":"likes travel"}]}}',
    "twice encoded": '"{\\"facts\\": [{\\"text\\": \\"likes travel\\"}]}"',
    "single quotes": "{'facts': [{'text': 'likes travel'}]}",
    "typographic quotes": "{“facts”: [{“text”: “likes travel”}]}",
    "German quotes": "{„facts“: [{„text“: „likes travel“}]}",
    "bare keys": "{facts: [{text: 'likes travel'}]}",
    "trailing commas": '{"facts": [{"text": "likes travel",},],}',
    "missing commas": '{"facts": [{"text": "likes travel" "since": 2019}]}',
    "comments": '{"facts": [ // those\n{"text": /* it */ "likes travel"}]}',
}


@pytest.mark.parametrize("raw", [raw for name, raw in WRAPPED.items() if name != "missing commas"])
def test_an_answer_is_found_in_what_is_wrapped_around_it(raw: str) -> None:
    assert read_value(raw, FACTS) == LIKES


def test_a_missing_comma_is_put_in_and_more_properties_are_let_through() -> None:
    assert read_value(WRAPPED["missing commas"], FACTS) == {"facts": [{"text": "likes travel", "since": 2019}]}


@pytest.mark.parametrize(
    "raw",
    [
        '{"text": "likes travel"}\n{"text": "likes tea"}',
        '{"text": "likes travel"},\n{"text": "likes tea"}',
        '```json\n{"text": "likes travel"}\n{"text": "likes tea"}\n```',
    ],
)
def test_objects_one_after_the_other_are_a_list_of_which_none_is_lost(raw: str) -> None:
    assert read_value(raw, FACTS) == BOTH


def test_a_schema_that_stands_before_the_answer_is_not_the_answer() -> None:
    assert read_value(json.dumps(FACTS) + "\n" + json.dumps(LIKES), FACTS) == LIKES


def test_half_a_surrogate_becomes_the_replacement_character_and_halves_are_joined() -> None:
    assert read_value('{"facts": [{"text": "a \\ud83d b"}]}', FACTS) == {"facts": [{"text": "a \ufffd b"}]}
    assert read_value('{"facts": [{"text": "\\ud83d\\ude00"}]}', FACTS) == {"facts": [{"text": "😀"}]}
    assert read_value("{'facts': [{'text': '\\ud83d\\ude00 \\ud83d'}]}", FACTS) == {"facts": [{"text": "😀 \ufffd"}]}


NO_ANSWER = {
    "nothing": ("", "it is empty"),
    "blank": (" \n ", "it is empty"),
    "prose": ("You like travel.", "it holds no JSON"),
    "another language": ("Вибачте, я не розумію запитання.", "it holds no JSON"),
    "thinking without an end": ('<think>{"facts": []}', "it thought aloud and never answered"),
    "a missing key": ('{"memory": [{"text": "x"}]}', "lacks 'facts'"),
    "a missing key within": ('{"facts": [{"event": "ADD"}]}', r"facts\[0\] lacks 'text'"),
    "a text for a list": ('{"facts": "likes travel"}', "facts is not of type array"),
    "the schema": ('{"type":"object","properties":{"facts":{"type":"array"}}}', "lacks 'facts'"),
    "a number that is none": ('{"facts": [{"text": "x", "n": 1e999}]}', "it holds no JSON"),
    "not a number": ('{"facts": [{"text": "x", "n": NaN}]}', "it holds no JSON"),
    "a key twice": ('{"facts": [{"text": "x", "text": "y"}]}', "."),
    "cut off in a text": ('{"facts": [{"text": "likes travel"}, {"text": "lik', "it was cut off"),
    "cut off after an item": ('{"facts": [{"text": "likes travel"}', "it was cut off"),
    "cut off after prose": ('Sure: [{"text": "likes travel"},', "it was cut off"),
    "nested without end": ('{"a":' * 5000 + "1" + "}" * 5000, "."),
    "brackets": ("[" * 100_000 + "]" * 100_000, "."),
}


@pytest.mark.parametrize(("raw", "why"), NO_ANSWER.values(), ids=NO_ANSWER.keys())
def test_what_is_no_answer_is_an_error_to_retry_that_keeps_the_answer_and_does_not_quote_it(raw: str, why: str) -> None:
    with pytest.raises(ModelReplyInvalid, match=why) as raised:
        read_value(raw, FACTS)
    assert raised.value.reply == raw
    assert raised.value.is_retryable
    assert "travel" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_an_object_without_any_known_property_is_not_taken_for_an_empty_answer() -> None:
    optional = {"type": "object", "properties": {"facts": FACTS["properties"]["facts"]}}
    assert read_value('{"text": "likes travel"}\n{"text": "likes tea"}', optional) == BOTH
    assert read_value("{}", optional) == {}
    with pytest.raises(ModelReplyInvalid, match="nothing of what was asked for"):
        read_value('{"memory": [1]}', optional)


def test_a_list_may_be_asked_for() -> None:
    wanted = {"type": "array", "items": {"type": "string"}}
    assert read_value('Here you go: ["a", "b"]', wanted) == ["a", "b"]
    assert read_value('{"items": ["a", "b"]}', wanted) == ["a", "b"]
    assert read_value('```json\n["a"]\n```', wanted) == ["a"]


def test_one_word_may_be_asked_for() -> None:
    assert read_value('```\n"yes"\n```', {"type": "string", "enum": ["yes", "no"]}) == "yes"
    assert read_value("<think>hm</think> null", {"type": ["null", "string"]}) is None


def test_thinking_aloud_is_taken_off_only_where_it_opens_the_answer() -> None:
    assert without_thinking(" <think>a</think> b <think>c</think>") == "b <think>c</think>"
    assert read_value('{"facts": [{"text": "a <think> tag"}]}', FACTS) == {"facts": [{"text": "a <think> tag"}]}


HOSTILE = {
    "open braces": '{"a":',
    "brackets": "[",
    "quotes": '"',
    "brace and quote": '{"',
    "quotes in a list": '[1,"a" "b"',
    "spaces in a fence": "```\n" + " " * 50,
    "thoughts": "<think></think>",
    "thoughts without an end": "<think>",
    "backslashes": '{"\\',
    "comments": "{/*",
    "small objects": '{"a":1} ',
    "broken objects": "{a b} ",
    "closing": "}{]",
    "apostrophes": "{'a': 'b' c' ",
    "digits": "1234567890",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_work_grows_with_the_length_and_not_with_its_square(piece: str) -> None:
    small, large = steps((piece * 2_000)[:2_000]), steps((piece * 16_000)[:16_000])
    assert large < 12 * small + 500  # eight times the text; the square would be 64


def steps(raw: str) -> int:
    """Count the calls of functions, also of those written in C."""
    count = 0

    def note(_frame: object, _event: str, _arg: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read_value(raw, FACTS)
    except ModelReplyInvalid:
        pass
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_answer_of_200_kb_ends_as_any_other(piece: str) -> None:
    # A pattern that backtracks would be at it for minutes.
    with pytest.raises(ModelReplyInvalid):
        read_value((piece * 200_000)[:200_000], FACTS)


def test_a_megabyte_is_read() -> None:
    text = "likes travel, " * 80_000
    assert read_value(f'Sure! {{"facts": [{{"text": "{text}"}}]}}', FACTS) == {"facts": [{"text": text}]}
