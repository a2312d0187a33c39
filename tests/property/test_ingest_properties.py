import contextlib
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.ingest.json_stream import BrokenJson, loads, stream_elements
from retentia.ingest.keys import SessionKeys
from retentia.ingest.messages import Context, Reading, read_message
from retentia.ingest.text import bounded_lines, encoding_of, open_text
from retentia.model.message import Message

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)
said = st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from(["ok", "thanks", "what now?", "ні"]))


class Drip(io.StringIO):
    """A file that gives a few characters at a time."""

    def read(self, size: int | None = -1, /) -> str:
        return super().read(min(size or 1, 3))


@given(st.lists(values), st.booleans(), st.sampled_from([None, 2]))
def test_elements_read_piece_by_piece_are_those_of_the_whole(
    found: list[Any], ascii_: bool, indent: int | None
) -> None:
    text = json.dumps(found, ensure_ascii=ascii_, indent=indent)
    assert list(stream_elements(Drip(text))) == found


@given(st.lists(values, min_size=1), st.data())
def test_a_list_that_was_cut_off_gives_its_whole_elements_and_says_so(found: list[Any], data: st.DataObject) -> None:
    text = json.dumps(found)
    cut = data.draw(st.integers(1, len(text) - 1))
    got: list[Any] = []
    with pytest.raises(BrokenJson):
        got.extend(stream_elements(Drip(text[:cut])))
    assert len(got) <= len(found)
    assert all(a == b for a, b in zip(got[:-1], found, strict=False))


@given(st.text())
def test_any_text_is_json_or_broken(text: str) -> None:
    with contextlib.suppress(BrokenJson):
        loads(text)


def keys(conversation: list[tuple[Any, str]]) -> list[str]:
    maker = SessionKeys()
    return [maker.keyed("s", Message(role=role, content=text)).key for role, text in conversation]


@given(st.lists(said))
def test_keys_are_the_same_each_time_and_differ_within_a_session(conversation: list[tuple[str, str]]) -> None:
    assert keys(conversation) == keys(conversation)
    assert len(set(keys(conversation))) == len(conversation)


@given(st.lists(said), st.lists(said), st.integers(0, 20))
def test_new_messages_change_no_key_of_the_others(
    old: list[tuple[str, str]], new: list[tuple[str, str]], at: int
) -> None:
    assert set(keys(old)) <= set(keys(old[:at] + new + old[at:]))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12)), st.integers(1, 8))
def test_lines_are_whole_or_reported_as_too_long(lines: list[str], limit: int) -> None:
    text = io.StringIO("\n".join(lines) + "\n", newline="\n")
    expected = [line if len(line) <= limit else None for line in lines] or [""]
    assert [line for _, line in bounded_lines(text, limit=limit)] == expected


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1),
    st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]),
)
def test_a_marked_encoding_reads_back_what_was_written(text: str, encoding: str) -> None:
    raw = text.encode(encoding)
    found = encoding_of(raw)
    assert found is not None
    with open_text(lambda: io.BytesIO(raw), found) as file:
        assert file.read() == text


@given(
    st.dictionaries(
        st.sampled_from(["role", "content", "text", "author", "timestamp", "id", "message", "tool_calls"]), values
    )
)
def test_any_record_is_read_or_left_out(record: dict[str, Any]) -> None:
    reading = read_message(record, Context("UTC"))
    assert isinstance(reading, Reading)
    assert reading.messages or reading.problems


def test_an_element_beyond_the_limit_ends_the_stream() -> None:
    got: list[object] = []
    with pytest.raises(BrokenJson, match="longer than"):
        got.extend(stream_elements(io.StringIO(json.dumps(["short", "x" * 2_000_000])), limit=1_000_000))
    assert got == ["short"]
