from collections.abc import Mapping

import pytest

from retentia.ingest.messages import Context, Reading, moment_of, read_message
from retentia.model.message import Message
from retentia.model.time import Moment, Precision

KYIV = Context("Europe/Kyiv")


def only(record: Mapping[str, object]) -> Message:
    reading = read_message(record, KYIV)
    assert not reading.problems
    assert len(reading.messages) == 1
    return reading.messages[0]


@pytest.mark.parametrize(
    ("record", "role", "text"),
    [
        ({"role": "user", "content": "Hi"}, "user", "Hi"),
        ({"role": "developer", "content": "Be brief"}, "system", "Be brief"),
        ({"sender": "human", "text": "Hi"}, "user", "Hi"),
        ({"from": "gpt", "value": "Hi"}, "assistant", "Hi"),
        ({"type": "ai", "data": {"content": "Hi", "type": "ai"}}, "assistant", "Hi"),
        (
            {"role": "Assistant", "content": [{"type": "output_text", "text": "Hi", "annotations": []}]},
            "assistant",
            "Hi",
        ),
        ({"role": "assistant", "content": [{"type": "text", "text": {"value": "Hi"}}]}, "assistant", "Hi"),
        (
            {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi", "there"]}},
            "user",
            "Hi\n\nthere",
        ),
        ({"type": "user", "message": {"role": "user", "content": "Hi"}, "cwd": "/home/ada"}, "user", "Hi"),
    ],
)
def test_roles_and_texts_are_found_under_their_common_names(record: dict[str, object], role: str, text: str) -> None:
    message = only(record)
    assert (message.role, message.content) == (role, text)


def test_a_named_speaker_without_a_role_is_a_person() -> None:
    message = only({"speaker": "Марія", "text": "Добрий день"})
    assert (message.role, message.speaker) == ("user", "Марія")
    assert only({"from": "Ben", "text": "Hello"}).speaker == "Ben"
    assert only({"role": "tool", "name": "get_price", "content": "213", "tool_call_id": "c1"}).speaker == "get_price"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"role": "moderator", "content": "x"}, "unknown role: use user, assistant, system or tool"),
        ({"level": "info", "text": "started"}, "no message: neither a role nor a speaker"),
        ({"role": "user", "content": "  \n"}, "empty message"),
        ({"role": "user"}, "empty message"),
        ({"role": "user", "content": 7}, "content of an unknown shape"),
        ({"role": "user", "content": [{"text": 7}]}, "content of an unknown shape"),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}, "reasoning is not kept"),
    ],
)
def test_what_is_no_message_is_left_out_with_a_reason(record: dict[str, object], reason: str) -> None:
    reading = read_message(record, KYIV)
    assert reading.messages == ()
    assert [problem for problem, _ in reading.problems] == [reason]


def test_an_unreadable_time_costs_only_the_time() -> None:
    reading = read_message({"role": "user", "content": "Hi", "timestamp": "last Tuesday"}, KYIV)
    assert reading.messages[0].at is None
    assert reading.problems == (("the time cannot be read; kept without it", "'last Tuesday'"),)


@pytest.mark.parametrize(
    "value", [1_747_303_200, 1_747_303_200_000, 1_747_303_200_000_000, "1747303200.0", 1747303200e9]
)
def test_counted_times_are_told_apart_by_their_size(value: object) -> None:
    moment = moment_of(value, "Europe/Kyiv")
    assert moment is not None
    assert moment.iso() == "2025-05-15T13:00:00+03:00"


@pytest.mark.parametrize("value", ["2026", 2026])
def test_a_year_in_a_chat_file_stays_a_year(value: object) -> None:
    assert moment_of(value, "UTC") == Moment.parse("2026")


def test_times_without_a_zone_are_read_in_the_zone_given() -> None:
    message = only({"role": "user", "content": "Hi", "created_at": "2026-06-01 19:00"})
    assert isinstance(message.at, Moment)
    assert (message.at.zone, message.at.precision) == ("Europe/Kyiv", Precision.INSTANT)


def test_images_stay_beside_the_text() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/leaf.png"}}
    message = only({"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]})
    assert message.content == ({"type": "text", "text": "What is this?"}, image)


def test_tool_calls_in_both_old_and_new_form_are_kept() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_price", "arguments": '{"symbol": "TSLA"}'}}
    assert only({"role": "assistant", "content": None, "tool_calls": [call]}).tool_calls == (call,)
    old = only({"role": "assistant", "function_call": {"name": "get_price", "arguments": "{}"}}).tool_calls
    assert old[0]["function"] == {"name": "get_price", "arguments": "{}"}


def test_blocks_are_split_where_a_result_lies_between() -> None:
    reading = read_message(
        {
            "uuid": "m",
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look it up."},
                {"type": "tool_use", "id": "c1", "name": "get_price", "input": {"symbol": "TSLA"}},
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "218.40"}]},
                {"type": "text", "text": "It is $218.40."},
            ],
        },
        KYIV,
    )
    assert [(message.role, message.content, message.key) for message in reading.messages] == [
        ("assistant", "I look it up.", "m/1"),
        ("tool", "218.40", "m/2"),
        ("assistant", "It is $218.40.", "m/3"),
    ]
    assert reading.messages[0].tool_calls[0]["id"] == reading.messages[1].tool_call_id == "c1"


def test_simple_extra_fields_become_metadata_and_nested_ones_do_not() -> None:
    record = {"role": "user", "content": "Hi", "channel": "mail", "score": 0, "usage": {"tokens": 7}, "note": "x" * 501}
    assert only(record).metadata == {"channel": "mail", "score": 0}
    assert only({**record, "metadata": {"usage": {"tokens": 7}}}).metadata["usage"] == {"tokens": 7}


def test_an_envelope_gives_its_time_and_id_to_the_message_inside() -> None:
    inner = {"id": "msg_1", "role": "assistant", "content": "Done", "model": "m"}
    message = only({"type": "assistant", "uuid": "u-7", "timestamp": "2026-06-01T10:00:00Z", "message": inner})
    assert message.key == "u-7"
    assert message.at == Moment.parse("2026-06-01T10:00:00Z")


def test_nothing_in_a_record_raises() -> None:
    shapes: list[object] = [None, 1, 1e999, "", "x", [], {}, [[]], [{}], {"role": {}}, {"parts": [1]}, 10**400, True]
    for field in (
        "role",
        "author",
        "content",
        "timestamp",
        "id",
        "name",
        "metadata",
        "tool_calls",
        "message",
        "pinned",
    ):
        for shape in shapes:
            record = {"role": "user", "content": "Hi", field: shape}
            assert isinstance(read_message(record, KYIV), Reading)
