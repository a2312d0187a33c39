"""Any JSON in any disguise is read as the same JSON; any text at all is read, or is an answer to be asked for again."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import ModelReplyInvalid
from retentia.providers.chat.json_schema import problem
from retentia.providers.chat.parse import read_value, sound

OBJECT = {"type": "object"}
FACTS: dict[str, Any] = {
    "type": "object",
    "properties": {"facts": {"type": "array"}, "note": {"type": "string"}},
    "required": ["facts"],
}
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=5).filter(lambda value: value != OBJECT)
# Words as models put around an answer: with quotes, apostrophes and brackets, but none that opens JSON and never ends.
PROSE = st.lists(
    st.sampled_from(
        [
            "Sure!",
            "Here it is:",
            "{about travel}",
            "[1]",
            "it's",
            'a "word"',
            "Гаразд.",
            "好的",
            "- one\n",
            "`x`",
            "\n",
            "5 < 6",
        ]
    ),
    max_size=6,
).map(" ".join)

Disguise = Callable[[str, str, str], str]
DISGUISES: dict[str, Disguise] = {
    "none": lambda text, before, after: text,
    "fence": lambda text, before, after: f"```json\n{text}\n```",
    "plain fence": lambda text, before, after: f"```\n{text}\n```",
    "tildes": lambda text, before, after: f"~~~JSON\n{text}\n~~~",
    "prose": lambda text, before, after: f"{before}\n{text}\n{after}",
    "prose and fence": lambda text, before, after: f"{before}\n```json\n{text}\n```\n{after}",
    "thinking": lambda text, before, after: f"<think>{before} {{'a': 1}} {after}</think>\n\n{text}",
    "thinking and fence": lambda text, before, after: f"<think>\n{before}\n</think>\n```json\n{text}\n```",
    "thinking and prose": lambda text, before, after: f"<reasoning>{before}</reasoning>{before}\n{text}\n{after}",
    "list": lambda text, before, after: f"[{text}]",
    "encoded": lambda text, before, after: json.dumps(text),
    "blank": lambda text, before, after: f" \n\t{text}\r\n ",
}


@given(OBJECTS, st.sampled_from(sorted(DISGUISES)), PROSE, PROSE, st.booleans(), st.sampled_from([None, 2]))
def test_an_object_is_recovered_identically_from_any_disguise(
    value: dict[str, Any], disguise: str, before: str, after: str, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = read_value(DISGUISES[disguise](text, before, after), OBJECT)
    assert json.dumps(found) == json.dumps(value)


@given(st.lists(VALUES, max_size=5), PROSE, PROSE, st.booleans())
def test_a_list_is_taken_for_the_object_that_was_asked_for(
    facts: list[Any], before: str, after: str, is_wrapped: bool
) -> None:
    text = json.dumps({"facts": facts} if is_wrapped else facts)
    is_ambiguous = not is_wrapped and len(facts) == 1 and isinstance(facts[0], dict) and "facts" in facts[0]
    if not is_ambiguous:
        assert read_value(text, FACTS) == {"facts": facts}


@given(OBJECTS, st.data())
def test_an_answer_that_was_cut_off_is_never_taken_for_a_whole_one(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps({"facts": [value, value], "note": "end"})
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(ModelReplyInvalid) as raised:
        read_value(text[:cut], FACTS)
    assert raised.value.reply == text[:cut]


@given(st.text(), st.sampled_from([OBJECT, FACTS, {"type": "array"}, {"type": "string"}, {}]))
def test_any_text_is_read_or_is_an_answer_to_be_asked_for_again(text: str, schema: dict[str, Any]) -> None:
    try:
        value = read_value(text, schema)
    except ModelReplyInvalid:
        return
    assert problem(value, schema) == ""
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


FRAGMENTS = st.lists(
    st.sampled_from(
        [*"{}[]\",:\\'/*“”", "\\u", "d83d", "<think>", "</think>", "```", "null", "1e999", "NaN", " ", "\n", "a"]
    )
).map("".join)


@given(FRAGMENTS, st.sampled_from([OBJECT, FACTS, {"type": "array"}, {}]))
def test_pieces_of_json_in_any_order_are_read_or_refused(text: str, schema: dict[str, Any]) -> None:
    try:
        value = read_value(text, schema)
    except ModelReplyInvalid:
        return
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


@given(st.text(st.characters()))
def test_sound_text_can_be_stored_and_sound_already_is_left_alone(text: str) -> None:
    made = sound({text: [text]})
    json.dumps(made, ensure_ascii=False).encode()
    assert sound(made) == made
