import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session_texts import literal_texts, originals

from retentia.working.importance import by_importance
from retentia.working.literals import find_literals
from retentia.working.missing import MARK, append_missing, missing
from retentia.working.original import Original
from retentia.working.tokens import EstimatingCounter

COUNTER = EstimatingCounter()
PLENTY = 100_000
SIGNS = st.text(
    st.sampled_from(list("01aZ .,:;/\\-_@#$€%`'\"„“”«»‚‘()[]<>~|\n\x00\u00a0\u202eйß中😀\ud800+=")), max_size=80
)
HOSTILE = {
    "digits": "1",
    "quotes": '"',
    "apostrophes": "'",
    "backticks": "`",
    "letters and digits": "a1",
    "dots": "1.",
    "open quotes": "«a",
    "at signs": "@a",
    "at": "@",
    "colons": "a:",
    "endings": ".py",
    "slashes": "/a",
    "spaces": " ",
    "backslashes": "\\a",
    "underscores": "a_",
    "options": "--a",
    "schemes": "a://",
    "fences": "```\n",
    "pluses": "+1",
    "brackets": ")",
    "masks": "[secret:token] ",
    "letters": "a",
    "hosts": "www.",
    "groups": "1 234",
    "zeros": "(0 ",
    "blank fences": "~~~\n",
    "hex": "af1-",
    "dollars": "$",
    "commas": "1,",
    "paths": "C:\\a ",
    "lines": "\n| ",
}


def without_numbers(text: str) -> str:
    """A summariser at its worst: it keeps the words and drops every digit."""
    return re.sub(r"\d", "", text)


@given(SIGNS)
def test_literals_stand_where_they_say_in_order_and_apart(text: str) -> None:
    end = 0
    for literal in find_literals(text):
        assert end <= literal.start < literal.end
        assert text[literal.start : literal.end] == literal.text
        end = literal.end


@given(SIGNS)
def test_no_key_is_reported_twice_and_none_is_empty(text: str) -> None:
    keys = [literal.key for literal in find_literals(text)]
    assert len(set(keys)) == len(keys)
    assert all(keys)


@given(SIGNS)
def test_nothing_is_missing_from_the_text_itself(text: str) -> None:
    assert missing(find_literals(text), text) == []


@given(
    literal_texts, st.sampled_from(("", "It is ", "Das ist ", "Це ", "(")), st.sampled_from(("", ".", ", ok", ")", "!"))
)
def test_what_people_write_is_found_whole(text: str, before: str, after: str) -> None:
    assert text in [literal.text for literal in find_literals(before + text + after)]


@given(originals())
def test_every_literal_survives_six_rounds_of_a_summariser_that_drops_numbers(messages: list[Original]) -> None:
    literals = by_importance(messages)
    summary = " ".join(message.text for message in messages)[:300]
    for _ in range(6):
        appended = append_missing(without_numbers(summary), literals, PLENTY, COUNTER)
        assert appended.left_out == ()
        assert missing(literals, appended.text) == []
        assert all(literal.text in appended.text for literal in literals if any(map(str.isdigit, literal.text)))
        summary = appended.text


@given(originals(), st.integers(0, 120))
def test_appending_twice_changes_nothing_and_keeps_to_the_room(messages: list[Original], room: int) -> None:
    literals = by_importance(messages)
    once = append_missing("A summary.", literals, room, COUNTER)
    assert append_missing(once.text, literals, room, COUNTER).text == once.text
    assert COUNTER.count(once.text.removeprefix("A summary.").lstrip("\n")) <= room
    shown = {literal.key for literal in literals} - {literal.key for literal in once.left_out}
    assert not shown & {literal.key for literal in missing(literals, once.text)}


@given(SIGNS, SIGNS)
def test_any_text_can_be_appended_and_what_fits_is_there_word_for_word(text: str, summary: str) -> None:
    literals = find_literals(text)
    appended = append_missing(summary, literals, PLENTY, COUNTER)
    lost = missing(literals, summary.partition(MARK)[0])
    assert appended.left_out == ()
    assert all(literal.text in appended.text for literal in lost)


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_one_thing_repeated_is_read_in_linear_time(piece: str) -> None:
    # A quadratic step would take hours with a megabyte, so that the test ends is the proof.
    characters = 1_000_000 if piece in "1\"`'" else 100_000
    assert len(find_literals(piece * (characters // len(piece)))) < 100


@settings(max_examples=20)
@given(st.lists(st.sampled_from(sorted(HOSTILE.values())), min_size=2, max_size=3))
def test_mixtures_repeated_are_read_in_linear_time(pieces: list[str]) -> None:
    text = "".join(pieces) * 3_000
    end = 0
    for literal in find_literals(text):
        assert literal.start >= end
        end = literal.end
