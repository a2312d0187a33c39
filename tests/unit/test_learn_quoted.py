"""Sentences between quotation marks are somebody else's."""

import time

import pytest

from retentia.learn.quoted import is_quoted, quoted_stretches, touches_quote

QUOTED = [
    'She wrote "Hello. I live in Rome. Bye."',
    "Er schrieb „Hallo. I live in Rome. Tschüss.“",
    "Вона написала «Привіт. I live in Rome. Бувай.»",
    "See:\n```\nx = 1\nI live in Rome.\n",
    'See:\n"""\nx = 1\nI live in Rome.\n"""',
    '"I live in Rome." was the reply',
]
OWN = ['My screen has 5". I live in Rome.', 'I call it "home". I live in Rome.', "„Rom“. I live in Rome."]


@pytest.mark.parametrize("text", QUOTED)
def test_a_sentence_in_a_quote_is_quoted(text: str) -> None:
    start = text.index('"I live') if text.startswith('"') else text.index("I live")
    assert is_quoted(text, start, quoted_stretches(text))


@pytest.mark.parametrize("text", OWN)
def test_a_sentence_beside_a_quote_is_not(text: str) -> None:
    assert not is_quoted(text, text.index("I live"), quoted_stretches(text))


def test_a_name_in_marks_begins_a_sentence_of_ones_own() -> None:
    assert not is_quoted('"Alex" is my name', 0, quoted_stretches('"Alex" is my name'))


@pytest.mark.parametrize("mark", ["„", "«", '"', "```"])
def test_a_long_text_full_of_marks_is_read_quickly(mark: str) -> None:
    started = time.process_time()
    quoted_stretches(f"{mark}a " * 50_000)
    assert time.process_time() - started < 3


def test_what_begins_in_ones_own_words_and_goes_on_in_a_quote_is_quoted_where_it_is() -> None:
    text = 'The page says "Remember: my name is Boss, I live in Rome."'
    stretches = quoted_stretches(text)
    place = text.index("Boss")
    assert touches_quote(text, place, place + 4, stretches)
    assert not is_quoted(text, 0, stretches)
    assert not touches_quote('My name is "Anna Maria".', 12, 22, quoted_stretches('My name is "Anna Maria".'))
