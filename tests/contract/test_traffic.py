"""What is stored is measured alike on every database, and advice follows from it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from retentia import Memory, Message, Scope, ToolCall
from retentia.diagnose.advisor import Advice, Stand
from retentia.diagnose.advisor_table import Group
from retentia.errors import AccessDenied, InvalidInput
from retentia.model.message import JSON, Role
from retentia.security.access import Principal

ANNA = Scope("acme", "anna")
BOT = Scope("acme", "anna", agent="bot")
RELATED = [
    "Billing depends on Ledger.",
    "Anna is responsible for Ledger.",
    "Anna works for Acme.",
    "The headquarters of Acme is in Bonn.",
]


@pytest.fixture(params=["sqlite_url", "postgres_url", "keyed_url"])
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    url = str(request.getfixturevalue(request.param))
    with Memory.open(url, embedder=None, worker=False, ledger=None) as opened:
        yield opened


def talk(memory: Memory, messages: int, *, scope: Scope = ANNA, session: str = "s") -> None:
    roles: tuple[Role, Role] = ("user", "assistant")
    said = [Message(role=roles[place % 2], content=f"Number {place}, please.") for place in range(messages)]
    memory.add(said, scope=scope, session=session)


def next_of(advice: Advice) -> str | None:
    return None if advice.next is None else advice.next.name


def test_nothing_is_measured_where_nothing_is_stored(memory: Memory) -> None:
    for whole in (False, True):
        advice = memory.advise(scope=ANNA, whole_tenant=whole)
        assert advice.traffic.is_empty
        assert advice.next is None
        assert advice.rung == "buffer"


def test_one_off_tasks_need_nothing_that_lasts(memory: Memory) -> None:
    for place in range(9):
        talk(memory, 4, scope=Scope("acme", f"person-{place}"))
    talk(memory, 4, scope=Scope("acme", "person-0"), session="again")
    talk(memory, 90, scope=Scope("other", "person-0"), session="elsewhere")
    advice = memory.advise(scope=ANNA, whole_tenant=True)
    seen = advice.traffic
    assert (seen.sessions, seen.people, seen.returning_people, seen.sessions_of_one) == (10, 9, 1, 2)
    assert seen.one_off_share == pytest.approx(0.8)
    assert (seen.messages, seen.turns, seen.longest_messages) == (4, 2, 4)
    assert advice.next is None
    assert all(one.stand in (Stand.SPARE, Stand.UNNEEDED) for one in advice.ladder if one.layer.group is Group.LASTING)


def test_a_long_session_needs_a_summary(memory: Memory) -> None:
    talk(memory, 45)
    advice = memory.advise(scope=ANNA, on=["buffer", "window"])
    assert (advice.traffic.messages, advice.traffic.turns) == (45, 23)
    assert next_of(advice) == "summary"
    assert memory.advise(scope=ANNA).next is None
    assert next_of(memory.advise(scope=ANNA, on=["buffer"], thresholds={"summary": {"messages": 46}})) == "window"


def test_someone_who_comes_back_needs_session_records_and_later_a_profile(memory: Memory) -> None:
    for place in range(4):
        talk(memory, 6, session=f"day {place}")
    advice = memory.advise(scope=ANNA)
    assert (advice.traffic.returning_people, advice.traffic.sessions_of_one, advice.rung) == (1, 4, "facts")
    assert next_of(advice) == "sessions"
    assert next_of(memory.advise(scope=ANNA, on=["buffer", "sessions"])) == "facts"


def test_relations_are_counted_by_what_they_connect_and_where_they_lead(memory: Memory) -> None:
    memory.add([Message(role="user", content=text) for text in RELATED], scope=ANNA)
    memory.add(Message(role="user", content="I live in Porto."), scope=ANNA)
    advice = memory.advise(scope=ANNA, on=["buffer"])
    assert advice.traffic.entity_types >= 5
    assert advice.traffic.relation_steps == 3  # to Ledger twice, and to Acme
    assert advice.next is None
    few = {"relations": {"entity_types": 5, "relation_steps": 3}}
    memory.add(Message(role="user", content="Hello again."), scope=ANNA, session="b")
    needed = memory.advise(scope=ANNA, on=["buffer", "sessions"], thresholds=few)
    assert next_of(needed) == "relations"


def test_what_is_no_longer_believed_does_not_count(memory: Memory) -> None:
    memory.add([Message(role="user", content=text) for text in RELATED], scope=ANNA)
    before = memory.advise(scope=ANNA).traffic
    for one in memory.records(scope=ANNA, kind="fact").records:
        memory.facts.retract(one.id, scope=ANNA)
    after = memory.advise(scope=ANNA).traffic
    assert (before.facts, after.facts, after.entity_types, after.relation_steps) == (4, 0, 0, 0)


def test_repeated_calls_need_the_tool_log_and_many_tools_their_retrieval(memory: Memory) -> None:
    for _ in range(4):
        memory.log_tool_call(ToolCall(name="search", arguments={"q": "x"}, result="y"), scope=ANNA, session="a")
    memory.log_tool_call(ToolCall(name="search", arguments={"q": "x"}, result="y"), scope=ANNA, session="b")
    for place in range(20):
        memory.log_tool_call(ToolCall(name=f"tool_{place}", arguments={}, result="y"), scope=ANNA, session="b")
    advice = memory.advise(scope=ANNA)
    assert (advice.traffic.calls, advice.traffic.tools, advice.traffic.repeated_calls) == (25, 21, 3)
    assert [one.stand for one in advice.beside] == [Stand.ADVISED, Stand.ADVISED]


def test_a_call_that_is_logged_and_told_by_a_message_counts_once(memory: Memory) -> None:
    function: JSON = {"name": "search", "arguments": '{"q": "x"}'}
    for place in range(2):
        call: dict[str, JSON] = {"id": f"c{place}", "type": "function", "function": function}
        memory.add(
            [
                Message(role="assistant", content="", tool_calls=[call]),
                Message(role="tool", content="y", tool_call_id=f"c{place}"),
            ],
            scope=ANNA,
            session="a",
        )
        memory.log_tool_call(ToolCall(name="search", arguments={"q": "x"}, result="y"), scope=ANNA, session="a")
    seen = memory.advise(scope=ANNA).traffic
    assert (seen.calls, seen.repeated_calls) == (2, 1)


def test_replies_that_were_shown_another_session_are_counted(memory: Memory) -> None:
    memory.add(Message(role="user", content="The wifi password hint is quinces."), scope=ANNA, session="monday")
    for place in range(2):
        made = memory.context("What is the hint of the wifi password?", scope=ANNA, session="tuesday")
        reply = Message(role="assistant", content=f"Quinces, as said {place}.")
        memory.add(reply, scope=ANNA, session="tuesday", context=made)
    assert memory.advise(scope=ANNA).traffic.looks_back == 2


def test_what_lies_in_the_bin_does_not_count(memory: Memory) -> None:
    talk(memory, 45)
    planned = memory.plan_forgetting(scope=ANNA, everything=True)
    memory.forget(planned, undo_for=timedelta(days=1))
    assert memory.advise(scope=ANNA).traffic.is_empty


def test_an_agent_sees_its_own_traffic_and_what_is_shared(memory: Memory) -> None:
    talk(memory, 4, session="shared")
    talk(memory, 8, scope=BOT, session="own")
    assert memory.advise(scope=ANNA).traffic.sessions == 1
    seen = memory.advise(scope=BOT).traffic
    assert (seen.people, seen.sessions, seen.longest_messages) == (1, 2, 8)


def test_the_size_of_a_session_is_estimated_from_its_text(memory: Memory) -> None:
    memory.add(Message(role="user", content="word " * 800), scope=ANNA)
    assert memory.advise(scope=ANNA).traffic.tokens == 1000


def test_symptoms_of_stored_sessions_are_told_with_their_cure(memory: Memory) -> None:
    said = [("user", "My size is 42."), ("assistant", "And your size?"), ("user", "I already told you my number.")]
    memory.add([{"role": role, "content": text} for role, text in said], scope=ANNA)
    assert memory.advise(scope=ANNA).symptoms == ()
    for whole in (False, True):
        (cure,) = memory.advise(scope=ANNA, whole_tenant=whole, symptoms=True).symptoms
        assert (cure.kind, cure.count, cure.layer.name) == ("complaint of the user", 1, "facts")


def test_who_may_read_a_scope_is_advised_on_it_and_the_admin_on_the_tenant(memory: Memory) -> None:
    talk(memory, 45)
    anna = memory.acting_as(Principal(id="anna", role="person", tenant="acme", user="anna"))
    bert = memory.acting_as(Principal(id="bert", role="person", tenant="acme", user="bert"))
    admin = memory.acting_as(Principal(id="adm", role="admin", tenant="acme", reason="T-1"))
    assert anna.advise(scope=ANNA, symptoms=True).traffic.longest_messages == 45
    assert admin.advise(scope=ANNA, whole_tenant=True).traffic.people == 1
    for principal, whole in ((bert, False), (bert, True), (anna, True)):
        with pytest.raises(AccessDenied):
            principal.advise(scope=ANNA, whole_tenant=whole)


def test_a_layer_or_a_threshold_that_there_is_not_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="there is no layer 'sumary'"):
        memory.advise(scope=ANNA, on=["sumary"])
    with pytest.raises(InvalidInput, match="must be a number above 0"):
        memory.advise(scope=ANNA, thresholds={"summary": {"messages": -1}})
