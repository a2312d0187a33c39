import pytest

from retentia import Message, Moment
from retentia.errors import ContentTooLarge, EmptyContent, InvalidInput
from retentia.model.provenance import Trust
from retentia.write import admission

NOW = Moment.parse("2026-05-07T12:00:00+00:00")


def admit(**fields: object) -> admission.AdmittedMessage:
    return admission.admit_message(Message(**({"role": "user", "content": "hello"} | fields)), now=NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["Grüße aus Köln", "Привіт, Олено!", "张伟", "👩‍👩‍👧 ok", " leading and trailing ", "tab\tand\nline", "e\u0301"],
)
def test_text_is_kept_verbatim(text: str) -> None:
    assert admit(content=text).text == text
    assert admit(content=text).notes == ()


@pytest.mark.parametrize("text", ["a\x00b", "a\ud83db"])
def test_what_no_database_can_hold_is_replaced_and_told(text: str) -> None:
    admitted = admit(content=text)
    assert admitted.text == "a\ufffdb"
    assert "replaced" in admitted.notes[0]


def test_a_secret_is_masked_before_anything_is_stored() -> None:
    admitted = admit(
        content="the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD", metadata={"password": "hunter22"}
    )
    assert "abcdefghij" not in admitted.text
    assert "hunter22" not in (admitted.metadata or "")
    assert any("secret" in note for note in admitted.notes)


@pytest.mark.parametrize("content", ["", "  \n\t", []])
def test_an_empty_message_is_refused(content: object) -> None:
    with pytest.raises(EmptyContent):
        admit(content=content)


def test_an_assistant_message_with_only_tool_calls_is_kept() -> None:
    admitted = admit(role="assistant", content="", tool_calls=[{"id": "c1", "function": {"name": "quote"}}])
    assert admitted.text == ""
    assert '"c1"' in (admitted.parts or "")


def test_text_parts_are_searched_and_all_parts_are_kept() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    admitted = admit(content=[{"type": "text", "text": "my cat"}, image, {"type": "text", "text": "sleeps"}])
    assert admitted.text == "my cat\nsleeps"
    assert "cat.png" in (admitted.parts or "")


def test_a_text_of_a_megabyte_is_kept_and_one_past_the_limit_is_refused() -> None:
    assert len(admit(content="word " * 200_000).text) == 1_000_000
    with pytest.raises(ContentTooLarge, match="as a document or in pieces"):
        admit(content="x" * (admission.MAX_MESSAGE_CHARACTERS + 1))


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "boss"},
        {"content": 7},
        {"content": ["text"]},
        {"speaker": 7},
        {"key": "x" * 1001},
        {"metadata": {"a": {1, 2}}},
        {"metadata": {"when": NOW}},
        {"at": "yesterday-ish"},
    ],
)
def test_what_is_malformed_is_refused_by_name(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        admit(**fields)


def test_who_speaks_decides_how_far_it_is_trusted() -> None:
    trust = {role: admit(role=role).trust for role in ("user", "assistant", "system", "tool")}
    assert trust == {"user": Trust.PERSON, "assistant": Trust.AGENT, "system": Trust.AGENT, "tool": Trust.OUTSIDE}


def test_a_year_stays_a_year() -> None:
    assert admit(at="2026").moment.precision.value == "year"
    assert admit().moment == NOW


def test_a_long_result_is_condensed_for_search_with_its_beginning_and_end() -> None:
    text = admission.tool_call_text("read", '{"path":"a.txt"}', "first " * 200 + "last")
    assert text.startswith('read({"path":"a.txt"}) -> first')
    assert text.endswith("last")
    assert len(text) < 600


def test_mappings_and_text_are_messages_too() -> None:
    assert admission.as_message("hi").role == "user"
    assert admission.as_message({"role": "assistant", "content": "hi"}).role == "assistant"
    for wrong in ({"content": "hi"}, {"role": "user", "content": "hi", "nonsense": 1}, 7):
        with pytest.raises(InvalidInput):
            admission.as_message(wrong)  # type: ignore[arg-type]
