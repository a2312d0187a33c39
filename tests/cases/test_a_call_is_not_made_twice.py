"""What was called is known before it is called again: the Agent-Chat that searched twice, the price of three days ago.

DigitalProductFactory PR#2262: tool activity was dropped from the history, and the agent did the work again.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, event, func, select, update

from forks import Child
from retentia import Memory, Message, Principal, Scope, ToolCall
from retentia.errors import AccessDenied, InvalidInput, NotFound
from retentia.model.record import Kind, ToolCallRecord
from retentia.store import scopes, tool_uses
from retentia.store.schema import tenant_setting, tool_use
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock
from retentia.tools.freshness import CallAgain, FailedBefore, NeverSeen, Reuse

DAY = 86_400.0
TSLA = {"symbol": "TSLA"}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock) as opened:
        yield opened


def price(value: float) -> ToolCall:
    return ToolCall(name="get_price", arguments=TSLA, result={"price": value, "currency": "USD"})


def asked(call_id: str, name: str, arguments: dict[str, Any]) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return Message(role="assistant", content="", tool_calls=[{"id": call_id, "type": "function", "function": function}])


def answered(call_id: str, text: str, **more: Any) -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id, **more)


def uses(memory: Memory, tenant: str = "acme") -> int:
    with memory._database.read(tenant) as transaction:
        return transaction.number(select(func.count()).select_from(tool_use).where(tool_use.c.tenant == tenant))


def test_the_same_search_asked_twice_is_answered_from_the_first(
    memory: Memory, scope: Scope, clock: FixedClock
) -> None:
    first = {"query": "ClickHouse vs Postgres for events", "limit": 5}
    assert memory.tools.seen("web_search", first, scope=scope).decision == NeverSeen()
    memory.log_tool_call(ToolCall(name="web_search", arguments=first, result="ClickHouse is columnar"), scope=scope)
    clock.advance(seconds=7_200)
    again = ' {"limit": 5.0, "query": " ClickHouse vs Postgres for events", "page": null} '
    seen = memory.tools.seen("web_search", again, scope=scope)
    assert seen
    assert (seen.count, seen.ago, seen.status) == (1, "2 hours ago", "ok")
    assert seen.decision == Reuse(result="ClickHouse is columnar", age=timedelta(hours=2))
    assert seen.text() == "web_search was called 2 hours ago, and its result still holds: ClickHouse is columnar"
    assert not memory.tools.seen("web_search", {**first, "limit": 6}, scope=scope)


def test_a_price_of_three_days_ago_is_called_again_and_beside_the_new_one(
    memory: Memory, scope: Scope, clock: FixedClock
) -> None:
    memory.log_tool_call(price(213.0), scope=scope, session="monday")
    clock.advance(seconds=3 * DAY)
    seen = memory.tools.seen("get_price", TSLA, scope=scope)
    assert seen.decision == CallAgain("the result is from 3 days ago, and prices hold for 5 minutes")
    assert "213" in seen.condensed
    memory.log_tool_call(price(218.40), scope=scope, session="thursday")
    series = memory.tools.series("get_price", TSLA, scope=scope, path="price")
    assert series.text() == "3 days ago 213, now 218.4 (+5.4, +2.5%)"
    assert [point.value for point in memory.tools.series("get_price", scope=scope).points] == [213.0, 218.4]
    assert isinstance(memory.tools.seen("get_price", TSLA, scope=scope).decision, Reuse)


def test_a_recalled_result_says_that_there_is_a_newer_one(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    memory.log_tool_call(price(213.0), scope=scope)
    clock.advance(seconds=3 * DAY)
    memory.log_tool_call(price(218.40), scope=scope)
    memory.drain()
    old, new = sorted(
        memory.recall("get_price TSLA", scope=scope, min_relevance=0), key=lambda hit: hit.record.recorded_at
    )
    assert old.newer is not None
    assert old.newer.id == new.id
    assert old.newer.text == "this result is from 3 days ago (213); a moment ago it was 218.4"
    assert new.newer is None
    assert "it was 218.4" in memory.context("get_price TSLA", scope=scope).text()
    until = memory.recall("get_price TSLA", scope=scope, min_relevance=0, until=new.record.occurred)
    assert [hit.newer for hit in until] == [None]


def test_a_recalled_message_with_a_result_says_so_too_and_what_moved(
    memory: Memory, scope: Scope, clock: FixedClock
) -> None:
    first = memory.add([asked("c1", "get_quote", TSLA), answered("c1", '{"bid": 213, "ask": 214}')], scope=scope)
    clock.advance(seconds=DAY)
    memory.add(asked("c2", "get_quote", TSLA), scope=scope, session="tuesday")
    memory.add(answered("c2", '{"bid": 217, "ask": 214}'), scope=scope, session="tuesday")
    memory.drain()
    hits = {hit.id: hit for hit in memory.recall("bid ask 213 214", scope=scope, min_relevance=0)}
    newer = hits[first.ids[1]].newer
    assert newer is not None
    assert newer.text == "this result is from 1 day ago; there is a newer one from a moment ago: bid 213 → 217"
    assert hits[newer.id].newer is None


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_call_that_is_only_said_in_messages_is_seen(memory: Memory, scope: Scope, form: str) -> None:
    if form == "openai":
        memory.add(asked("c1", "get_price", TSLA), scope=scope)
        memory.add(answered("c1", '{"price": 213.0}'), scope=scope)
    else:
        use = {"type": "tool_use", "id": "c1", "name": "get_price", "input": TSLA}
        memory.add(Message(role="assistant", content=[use]), scope=scope)
        result = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": '{"price": 213.0}'}]}
        memory.add(Message(role="user", content=[result]), scope=scope)
    seen = memory.tools.seen("get_price", TSLA, scope=scope)
    assert (seen.count, seen.status) == (1, "ok")
    assert isinstance(seen.decision, Reuse)
    assert seen.decision.result == {"price": 213.0}
    assert [point.value for point in memory.tools.series("get_price", TSLA, scope=scope).points] == [213.0]
    (call,) = memory.tools.log(scope=scope)
    assert (call.name, call.arguments, call.kind) == ("get_price", TSLA, Kind.MESSAGE)


def test_the_call_that_is_about_to_be_made_does_not_hide_the_one_before(memory: Memory, scope: Scope) -> None:
    memory.log_tool_call(price(213.0), scope=scope)
    memory.add(asked("c9", "get_price", TSLA), scope=scope)
    assert isinstance(memory.tools.seen("get_price", TSLA, scope=scope).decision, Reuse)
    memory.add(asked("c10", "get_weather", {"city": "Kyiv"}), scope=scope)
    unanswered = memory.tools.seen("get_weather", {"city": "Kyiv"}, scope=scope).decision
    assert isinstance(unanswered, CallAgain)
    assert "no result is kept" in unanswered.why


def test_a_call_that_is_logged_and_said_is_one_and_found_once(memory: Memory, scope: Scope) -> None:
    result = "The release of Atlas moved to Friday because of the audit"
    memory.add([asked("c1", "search_notes", {"q": "Atlas"}), answered("c1", result)], scope=scope)
    memory.log_tool_call(ToolCall(name="search_notes", arguments={"q": "Atlas"}, result=result), scope=scope)
    memory.drain()
    assert memory.tools.seen("search_notes", {"q": "Atlas"}, scope=scope).count == 1
    assert len(memory.tools.log(scope=scope)) == 1
    hits = memory.recall("release of Atlas Friday audit", scope=scope, min_relevance=0)
    assert len([hit for hit in hits if "Friday" in hit.text]) == 1
    memory.add([asked("c2", "search_notes", {"q": "Atlas"}), answered("c2", result)], scope=scope)
    assert memory.tools.seen("search_notes", {"q": "Atlas"}, scope=scope).count == 2


def test_a_logged_call_with_the_id_of_its_message_is_one_though_its_result_is_written_otherwise(
    memory: Memory, scope: Scope
) -> None:
    memory.add([asked("c1", "get_price", TSLA), answered("c1", "213 dollars")], scope=scope)
    memory.log_tool_call(ToolCall(name="get_price", arguments=TSLA, result=213, key="c1"), scope=scope)
    assert memory.tools.seen("get_price", TSLA, scope=scope).count == 1


def test_a_failure_is_told_with_its_cause_and_how_often(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    def fail(text: str) -> None:
        memory.log_tool_call(ToolCall(name="get_price", arguments=TSLA, status="error", error=text), scope=scope)
        clock.advance(seconds=60)

    fail("requests.ConnectionError: no route to 10.0.0.1")
    fail("requests.ConnectionError: no route to 10.0.0.2")
    memory.add([asked("c1", "get_price", TSLA), answered("c1", "Error: symbol not found")], scope=scope)
    decision = memory.tools.seen("get_price", TSLA, scope=scope).decision
    assert decision == FailedBefore(cause="not found", message="Error: symbol not found", times=3)
    assert [(one.cause, one.count) for one in memory.tools.failures(scope=scope)] == [
        ("ConnectionError", 2),
        ("not found", 1),
    ]
    clock.advance(seconds=60)
    memory.log_tool_call(price(213.0), scope=scope)
    assert isinstance(memory.tools.seen("get_price", TSLA, scope=scope).decision, Reuse)
    assert all(one.is_over for one in memory.tools.failures(scope=scope))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "src/a.py", "content": "x"}),
        ("editFile", {"file_path": "./src/a.py"}),
        ("move_file", {"source": "b.py", "destination": "src/a.py"}),
        ("bash", {"command": "sed -i s/a/b/ src/a.py"}),
    ],
)
def test_a_file_that_was_read_holds_until_a_call_may_have_written_it(
    memory: Memory, scope: Scope, clock: FixedClock, tool: str, arguments: dict[str, Any]
) -> None:
    memory.log_tool_call(ToolCall(name="read_file", arguments={"path": "src/a.py"}, result="x = 1"), scope=scope)
    clock.advance(seconds=60)
    memory.log_tool_call(ToolCall(name="write_file", arguments={"path": "src/b.py"}, result="ok"), scope=scope)
    memory.log_tool_call(ToolCall(name="read_file", arguments={"path": "src/a.py", "line": 3}, result="x"), scope=scope)
    assert isinstance(memory.tools.seen("read_file", {"path": "src/a.py"}, scope=scope).decision, Reuse)
    memory.add(asked("c1", tool, arguments), scope=scope)
    decision = memory.tools.seen("read_file", {"path": "src/a.py"}, scope=scope).decision
    assert decision == CallAgain(f"{tool!r} may have changed it since")


def test_an_email_is_never_answered_from_memory(memory: Memory, scope: Scope) -> None:
    mail = ToolCall(name="send_email", arguments={"to": "team", "text": "hi"}, result="sent")
    memory.log_tool_call(mail, scope=scope)
    seen = memory.tools.seen("send_email", mail.arguments, scope=scope, fresh_for=timedelta(days=9))
    assert isinstance(seen.decision, CallAgain)
    assert "effects" in seen.decision.why


def test_a_tenant_may_say_how_long_its_own_tools_hold(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    memory.log_tool_call(ToolCall(name="crm", arguments={"id": 7}, result="Anna"), scope=scope)
    assert isinstance(memory.tools.seen("crm", {"id": 7}, scope=scope).decision, CallAgain)
    rule = {"name": "our CRM", "tools": ["crm"], "holds": "2 hours", "kept_days": 3, "max_result_kilobytes": 1}
    memory.tools.set_rules({"rule": [rule]}, tenant="acme")
    assert isinstance(memory.tools.seen("crm", {"id": 7}, scope=scope).decision, Reuse)
    cut = memory.log_tool_call(ToolCall(name="crm", arguments={"id": 8}, result="x" * 3_000), scope=scope)
    assert cut.notes == ("the result of 3,000 bytes was cut; its beginning and end are kept",)
    record = memory.get(cut.id, scope=scope)
    assert isinstance(record, ToolCallRecord)
    assert record.full_bytes == 3_000
    assert record.expires_at == clock.now + 3 * 86_400_000_000
    seen = memory.tools.seen("crm", {"id": 8}, scope=scope)
    assert seen.decision == CallAgain("only a part of the earlier result is kept")
    assert "cut: 3,000 bytes" in str(memory.tools.result(cut.id, scope=scope))
    clock.advance(seconds=3 * DAY + 1)
    memory.keeping.expire()
    assert not memory.tools.seen("crm", {"id": 8}, scope=scope)
    assert memory.tools.set_rules(None, tenant="acme") == memory.tools.rules("globex")
    with pytest.raises(InvalidInput):
        memory.tools.set_rules({"rule": [{"tools": "crm"}]}, tenant="acme")


def test_a_long_result_is_condensed_for_the_model_and_whole_on_demand(memory: Memory, scope: Scope) -> None:
    rows = {"total": 4_711, "rows": [{"id": number, "name": f"Order {number}"} for number in range(2_000)]}
    written = memory.log_tool_call(ToolCall(name="search_orders", result=rows), scope=scope)
    seen = memory.tools.seen("search_orders", scope=scope)
    assert len(seen.condensed) <= 500
    assert "4711" in seen.condensed
    assert "2000 entries" in seen.condensed
    assert memory.tools.result(written.id, scope=scope) == rows
    assert len(memory.get(written.id, scope=scope).text) <= 600
    with pytest.raises(NotFound):
        memory.tools.result("0" * 32, scope=scope)
    with pytest.raises(InvalidInput):
        memory.tools.result("x", scope=scope)


def test_another_scope_or_tenant_or_session_never_saw_it(memory: Memory) -> None:
    here = Scope("acme", "anna", "work", "coder")
    memory.log_tool_call(price(213.0), scope=here, session="monday")
    for other in (
        Scope("acme", "anna"), Scope("acme", "anna", "work"), Scope("acme", "anna", "work", "other"),
        Scope("acme", "bob", "work", "coder"), Scope("globex", "anna", "work", "coder"),
    ):  # fmt: skip
        assert not memory.tools.seen("get_price", TSLA, scope=other)
        assert memory.tools.log(scope=other) == memory.tools.failures(scope=other) == []
        assert memory.tools.series("get_price", scope=other).points == ()
    assert memory.tools.seen("get_price", TSLA, scope=here, session="monday")
    assert not memory.tools.seen("get_price", TSLA, scope=here, session="tuesday")
    memory.log_tool_call(price(214.0), scope=here.shared())
    assert memory.tools.seen("get_price", TSLA, scope=here).count == 2
    assert memory.tools.seen("get_price", TSLA, scope=here.shared()).count == 1
    assert len(memory.tools.log(scope=here, name="get_price", session="monday", limit=1)) == 1
    assert len(memory.tools.series("get_price", scope=here, session="monday").points) == 1


def test_asking_leaves_nothing_behind_for_a_tenant_that_was_never_written_to(memory: Memory) -> None:
    assert not memory.tools.seen("get_price", TSLA, scope=Scope("mistyped", "anna"))
    with memory._database.read("mistyped") as transaction:
        assert transaction.rows(select(tenant_setting).where(tenant_setting.c.tenant == "mistyped")) == []


def test_an_erased_call_was_never_seen(memory: Memory, scope: Scope) -> None:
    logged = memory.log_tool_call(price(213.0), scope=scope)
    said = memory.add([asked("c1", "get_weather", {"city": "Kyiv"}), answered("c1", "21 °C")], scope=scope)
    assert uses(memory) == 3
    memory.erase([logged.id, said.ids[1]], scope=scope)
    assert not memory.tools.seen("get_price", TSLA, scope=scope)
    assert isinstance(memory.tools.seen("get_weather", {"city": "Kyiv"}, scope=scope).decision, CallAgain)
    memory.erase(said.ids[0], scope=scope)
    assert not memory.tools.seen("get_weather", {"city": "Kyiv"}, scope=scope)
    assert uses(memory) == 0


def test_a_call_in_the_bin_was_never_seen_until_it_is_restored(memory: Memory, scope: Scope) -> None:
    memory.log_tool_call(price(213.0), scope=scope)
    removed = memory.forget(memory.plan_forgetting(everything=True, scope=scope), undo_for=timedelta(days=7))
    assert memory.tools.seen("get_price", TSLA, scope=scope).decision == NeverSeen()
    assert uses(memory) == 0
    memory.keeping.restore(removed.id, scope=scope)
    assert memory.tools.seen("get_price", TSLA, scope=scope).count == 1


def test_calls_from_before_keys_were_kept_are_seen_when_first_asked_for(
    store_url: str, clock: FixedClock, scope: Scope
) -> None:
    with Memory.open(store_url, embedder=None, worker=False, clock=clock) as memory:
        memory.log_tool_call(price(213.0), scope=scope)
        memory.add([asked("c1", "get_weather", {"city": "Kyiv"}), answered("c1", "21 °C")], scope=scope)
        with memory._database.write("acme") as transaction:
            transaction.run(delete(tool_use).where(tool_use.c.tenant == "acme"))
            transaction.run(delete(tenant_setting).where(tenant_setting.c.tenant == "acme"))
        assert memory.tools.seen("get_price", TSLA, scope=scope).count == 1
        assert memory.tools.seen("get_weather", {"city": "Kyiv"}, scope=scope).count == 1
        assert uses(memory) == 3


def test_a_reindex_makes_the_same_uses_anew(memory: Memory, scope: Scope) -> None:
    ids = [memory.log_tool_call(price(213.0), scope=scope).id]
    ids += memory.add([asked("c1", "bash", {"path": "a", "source": "b"}), answered("c1", "Error: no")], scope=scope).ids

    def noted() -> list[tool_uses.ToolUse]:
        with memory._database.read("acme") as transaction:
            (entry,) = scopes.view(transaction, scope)
            return tool_uses.load_uses(
                transaction, entry.scope_id, [bytes.fromhex(one.replace("-", "")) for one in ids]
            )

    before = noted()
    assert len(before) == 5
    with memory._database.write("acme") as transaction:
        transaction.run(update(tool_use).where(tool_use.c.tenant == "acme").values(call_key=b"x" * 16))
    assert noted() != before
    memory.reindex()
    assert noted() == before


def test_an_export_brings_calls_that_are_seen_where_it_is_imported(memory: Memory, scope: Scope, tmp_path: Any) -> None:
    memory.log_tool_call(price(213.0), scope=scope)
    memory.add([asked("c1", "get_weather", {"city": "Kyiv"}), answered("c1", "21 °C")], scope=scope)
    memory.export(tmp_path / "anna.jsonl", scope=scope)
    there = Scope("globex", "anna")
    memory.import_export(tmp_path / "anna.jsonl", scope=there)
    assert memory.tools.seen("get_price", TSLA, scope=there).count == 1
    assert memory.tools.seen("get_weather", {"city": "Kyiv"}, scope=there).count == 1


def test_a_clock_that_goes_back_lets_it_be_called_again(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    memory.log_tool_call(price(213.0), scope=scope)
    clock.advance(seconds=-3_600)
    seen = memory.tools.seen("get_price", TSLA, scope=scope)
    assert isinstance(seen.decision, CallAgain)
    assert "future" in seen.decision.why
    assert seen.ago == "in 1 hour"


def test_arguments_that_are_no_json_are_refused_before_anything_is_kept(memory: Memory, scope: Scope) -> None:
    ring: list[Any] = []
    ring += [ring, ring]
    for wrong in (float("nan"), ring, {"a": object()}):
        with pytest.raises(InvalidInput, match="arguments must be JSON"):
            memory.tools.seen("get", wrong, scope=scope)
        with pytest.raises(InvalidInput, match="arguments must be JSON"):
            memory.log_tool_call(ToolCall(name="get", arguments=wrong), scope=scope)
    with pytest.raises(InvalidInput, match="results must be JSON"):
        memory.log_tool_call(ToolCall(name="get", result=ring), scope=scope)
    assert memory.tools.log(scope=scope) == []


def test_a_megabyte_of_arguments_and_nul_are_kept_and_seen(memory: Memory, scope: Scope) -> None:
    for arguments in ({"text": "word " * 200_000}, {"q": "a\0b"}, {"q": "\ud800"}):
        written = memory.log_tool_call(ToolCall(name="lookup", arguments=arguments, result="x"), scope=scope)
        assert memory.tools.seen("lookup", arguments, scope=scope).count == 1
        assert len(memory.get(written.id, scope=scope).text) < 1_100


def test_a_secret_in_the_arguments_is_not_compared(memory: Memory, scope: Scope) -> None:
    memory.log_tool_call(ToolCall(name="fetch_url", arguments={"password": "tulip-77"}, result="Anna"), scope=scope)
    seen = memory.tools.seen("fetch_url", {"password": "rose-88"}, scope=scope)
    assert isinstance(seen.decision, CallAgain)
    assert "secret" in seen.decision.why


def test_processes_that_log_the_same_call_log_it_once_by_its_key(sqlite_url: str, scope: Scope) -> None:
    def log(_report: object) -> None:
        with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
            memory.log_tool_call(ToolCall(name="get_price", arguments=TSLA, result=213, key="c1"), scope=scope)
            memory.tools.seen("get_price", TSLA, scope=scope)

    Memory.open(sqlite_url, embedder=None, worker=False).close()
    children = [Child(log) for _ in range(3)]
    assert [child.status() for child in children] == [0] * 3
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        assert memory.tools.seen("get_price", TSLA, scope=scope).count == 1
        assert uses(memory) == 1


AGENT = Principal(id="key-1", role="agent", tenant="acme", user="anna")
STRANGER = Principal(id="key-2", role="agent", tenant="acme", user="bob")
SUPPORT = Principal(id="sup-1", role="support", tenant="acme", reason="T-1", expires_at="2100")


def test_an_agent_reads_its_own_tool_log_and_a_stranger_only_what_is_granted(memory: Memory, scope: Scope) -> None:
    memory.log_tool_call(price(213.0), scope=scope)
    memory.add([asked("c1", "get_price", TSLA), answered("c1", "214")], scope=scope)
    agent, stranger = memory.acting_as(AGENT), memory.acting_as(STRANGER)
    assert agent.tools.seen("get_price", TSLA, scope=scope).count == 2
    assert not hasattr(agent.tools, "set_rules")
    for refused in (
        lambda: stranger.tools.seen("get_price", TSLA, scope=scope), lambda: stranger.tools.log(scope=scope),
        lambda: stranger.tools.series("get_price", scope=scope), lambda: stranger.tools.failures(scope=scope),
        lambda: stranger.tools.result(memory.tools.log(scope=scope)[0].id, scope=scope),
    ):  # fmt: skip
        with pytest.raises(AccessDenied):
            refused()
    memory.grant(scope=scope, to="key-2", expires_at="2100", kinds=["tool_call"])
    assert stranger.tools.seen("get_price", TSLA, scope=scope).count == 1
    assert [call.kind for call in stranger.tools.log(scope=scope)] == [Kind.TOOL_CALL]
    assert [one.action for one in memory.audit_log("acme") if one.by == "key-2" and not one.refused] == ["read", "read"]


def test_a_grant_of_other_kinds_shows_no_call(memory: Memory, scope: Scope) -> None:
    memory.log_tool_call(price(213.0), scope=scope)
    memory.grant(scope=scope, to="key-2", expires_at="2100", kinds=["note"])
    with pytest.raises(AccessDenied):
        memory.acting_as(STRANGER).tools.seen("get_price", TSLA, scope=scope)


def test_support_sees_results_with_personal_data_masked(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    for mail in ("anna@example.org", "olena@example.org"):
        memory.log_tool_call(ToolCall(name="search_people", arguments={"q": "A"}, result={"mail": mail}), scope=scope)
        clock.advance(seconds=60)
    memory.drain()
    memory.grant(scope=scope, to="sup-1", expires_at="2100")
    support = memory.acting_as(SUPPORT)
    seen = support.tools.seen("search_people", {"q": "A"}, scope=scope)
    shown = [seen, support.tools.log(scope=scope), support.tools.series("search_people", scope=scope, path="mail")]
    shown += [
        support.tools.result(seen.id or "", scope=scope),
        support.recall("search_people", scope=scope, min_relevance=0),
    ]
    assert "[email]" in seen.condensed
    assert "@example.org" not in repr(shown)


def test_support_sees_calls_in_messages_though_their_arguments_are_masked(memory: Memory, scope: Scope) -> None:
    mail = {"to": "anna@example.org"}
    memory.add([asked("c1", "search_mail", mail), answered("c1", "one from olena@example.org")], scope=scope)
    memory.grant(scope=scope, to="sup-1", expires_at="2100")
    seen = memory.acting_as(SUPPORT).tools.seen("search_mail", mail, scope=scope)
    assert (seen.count, seen.condensed) == (1, "one from [email]")


def test_what_the_owner_reads_is_in_the_log_where_one_is_kept(sqlite_url: str, scope: Scope) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False, audit=True) as memory:
        written = memory.log_tool_call(price(213.0), scope=scope)
        memory.tools.seen("get_price", TSLA, scope=scope)
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        reads = [one for one in memory.audit_log("acme") if one.action == "read"]
        assert [list(one.records) for one in reads] == [[written.id]]


def test_sqlite_finds_calls_by_an_index_whatever_the_scope(sqlite_url: str) -> None:
    scope = Scope("acme", "anna", "work", "coder")
    seen: list[str] = []
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        for name in (scope, scope.shared()):
            memory.log_tool_call(ToolCall(name="read_file", arguments={"path": "a"}, result="x"), scope=name)
        memory.tools.seen("read_file", {"path": "a"}, scope=scope)

        def trace(driver: Any, *_: object) -> None:  # whichever connection is used: other threads use some, too
            driver.set_trace_callback(seen.append)

        event.listen(memory._database._engine, "checkout", trace)
        memory.tools.seen("read_file", {"path": "a"}, scope=scope)
        statements = [sql for sql in seen if "FROM tool_use" in sql]
        assert len(statements) == 2
        with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
            for sql in statements:
                plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
                assert any("USING INDEX tool_use_" in step and "_key=?" in step for step in plan), plan
