from collections.abc import Sequence

from retentia.ingest.items import IngestMessage, IngestToolCall, Item, Skipped
from retentia.ingest.tool_calls import with_tool_calls
from retentia.model.message import Message, ToolCall
from retentia.model.time import Moment

AT = Moment.parse("2026-06-01T10:00:00Z")


def call(call_id: str, arguments: str = '{"symbol": "TSLA"}', session: str = "s") -> IngestMessage:
    function = {"name": "get_price", "arguments": arguments}
    message = Message(
        role="assistant", content="", key=f"ask-{call_id}", tool_calls=[{"id": call_id, "function": function}]
    )
    return IngestMessage(where="chat:1", session=session, message=message)


def answer(call_id: str, content: str, session: str = "s", **more: object) -> IngestMessage:
    message = Message(role="tool", content=content, key=f"got-{call_id}", at=AT, tool_call_id=call_id, metadata=more)  # type: ignore[arg-type]
    return IngestMessage(where="chat:2", session=session, message=message)


def calls(items: Sequence[Item]) -> list[ToolCall]:
    return [item.call for item in with_tool_calls(items) if isinstance(item, IngestToolCall)]


def test_a_call_and_its_result_become_one_entry_of_the_log() -> None:
    (logged,) = calls([call("c1"), answer("c1", '{"price": 218.4}')])
    assert logged == ToolCall(
        name="get_price", arguments={"symbol": "TSLA"}, result={"price": 218.4}, at=AT, key="got-c1"
    )


def test_what_is_no_json_is_kept_as_text() -> None:
    (logged,) = calls([call("c1", "TSLA"), answer("c1", "218.40 USD")])
    assert (logged.arguments, logged.result) == ("TSLA", "218.40 USD")
    assert calls([call("c1"), answer("c1", "218.40")])[0].result == "218.40"


def test_a_failed_call_is_logged_with_its_error() -> None:
    (logged,) = calls([call("c1"), answer("c1", "no such symbol", is_error=True)])
    assert (logged.status, logged.error, logged.result) == ("error", "no such symbol", None)


def test_calls_made_together_are_paired_by_their_ids() -> None:
    found = calls([call("c1"), call("c2", '{"symbol": "AMD"}'), answer("c2", "second"), answer("c1", "first")])
    assert [(logged.arguments, logged.result) for logged in found] == [
        ({"symbol": "AMD"}, "second"),
        ({"symbol": "TSLA"}, "first"),
    ]


def test_results_of_another_session_or_without_a_call_are_not_paired() -> None:
    assert calls([call("c1"), answer("c1", "x", session="other"), answer("c9", "y")]) == []
    assert len(calls([call("c1"), answer("c1", "x"), answer("c1", "again")])) == 1


def test_everything_is_passed_on_in_order() -> None:
    items: list[Item] = [call("c1"), Skipped("chat:3", "broken JSON"), answer("c1", "x")]
    passed = list(with_tool_calls(items))
    assert passed[:3] == items
    assert isinstance(passed[3], IngestToolCall)
