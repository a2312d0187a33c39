from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session_texts import originals

from retentia.working.extract import HEAD, extract
from retentia.working.kept import kept_of
from retentia.working.missing import MARK, missing
from retentia.working.original import Original, sentences_of
from retentia.working.phases import phase_boundaries

ANY_TEXT = st.text(max_size=60) | st.text(
    st.sampled_from(list("aб.!?\n\r`~|<>\"'- 1:\x00\u202e\ud800中。")), max_size=60
)
ANY_MESSAGE = st.builds(
    Original,
    id=st.text(max_size=5),
    role=st.sampled_from(("user", "assistant", "tool", "system")),
    text=ANY_TEXT,
    tool=st.sampled_from(("", "probe")),
    status=st.sampled_from(("", "ok", "error")),
)


@given(originals(), st.integers(30, 200))
def test_every_quotation_is_in_its_source_and_the_words_are_within_bounds(messages: list[Original], words: int) -> None:
    made = extract(messages, max_words=words)
    texts = {message.id: message.text for message in messages}
    for line in made.lines:
        assert texts[line.message_id][line.start : line.end] == line.quote != ""
        assert line.purpose in texts.get(line.purpose_id, "")
    assert made.text.startswith(HEAD)
    assert len(made.text.partition(MARK)[0].split()) <= words


@given(originals())
def test_with_room_no_literal_of_the_messages_is_lost(messages: list[Original]) -> None:
    made = extract(messages, literal_tokens=100_000)
    assert missing(made.literals, made.text) == []
    assert made.left_out == ()


@given(originals())
def test_an_extract_of_the_same_messages_is_the_same(messages: list[Original]) -> None:
    assert extract(messages) == extract(list(messages))


@settings(max_examples=60)
@given(st.lists(ANY_MESSAGE, max_size=6, unique_by=lambda message: message.id))
def test_any_messages_can_be_extracted(messages: list[Original]) -> None:
    made = extract(messages)
    texts = {message.id: message.text for message in messages}
    assert all(line.quote in texts[line.message_id] for line in made.lines)
    assert all(one.quote in texts[one.message_id] for one in kept_of(messages))
    assert all(messages[boundary.place].role == "user" for boundary in phase_boundaries(messages))


@given(ANY_TEXT)
def test_sentences_are_in_order_and_apart(text: str) -> None:
    end = 0
    for start, stop in sentences_of(text):
        assert end <= start < stop
        assert text[start:stop].strip() == text[start:stop]
        end = stop
