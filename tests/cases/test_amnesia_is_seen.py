"""Agent-Chat, rounds 1 and 5: the same search asked twice; "as I mentioned"."""

import pytest

from retentia import Memory, Message, Scope, Session, ToolCall
from retentia.diagnose.check import Verdict
from retentia.diagnose.symptom import SymptomKind
from retentia.errors import AccessDenied, InvalidMoment, NotFound
from retentia.model.grant import Right
from retentia.model.price import Price
from retentia.model.record import Kind
from retentia.security.access import Principal

INVENTED = "As you mentioned, your neighbour Petra takes the parcel in Leipzig."
SEARCH = ToolCall(name="search", arguments={"q": "laptops", "max": 900}, result={"hits": ["A", "B"]})


@pytest.fixture
def chat(memory: Memory, scope: Scope) -> Session:
    chat = Session(memory, "chat", scope=scope)
    chat.append([Message(role="user", content="I need a laptop, my budget is 900 euros.")])
    chat.log_tool_call(SEARCH)
    chat.append(
        [
            Message(role="assistant", content="I found two laptops. The warranty of both is 24 months."),
            Message(role="user", content="What about their keyboards?"),
        ]
    )
    return chat


@pytest.fixture
def unknown() -> Scope:
    return Scope("acme", "bob")


def test_the_second_search_and_the_invented_claim_are_reported(memory: Memory, chat: Session, scope: Scope) -> None:
    chat.log_tool_call(ToolCall(name="search", arguments={"max": 900.0, "q": "laptops"}, result={"hits": ["A", "B"]}))
    chat.append(Message(role="assistant", content=f"Both are backlit. {INVENTED}"))
    report = memory.diagnosis.amnesia(scope=scope, price=Price(input_per_million=2.0))
    assert (report.sessions, report.messages, report.tool_calls) == (1, 4, 2)
    assert [one.kind for one in report.symptoms] == [SymptomKind.REPEATED_CALL, SymptomKind.INVENTED]
    repeated, invented = report.symptoms
    assert memory.get(repeated.ids[0], scope=scope).kind is Kind.TOOL_CALL
    assert invented.quotes[-1] == INVENTED
    assert report.tokens == repeated.tokens > 0
    assert report.cost == pytest.approx(2.0 * repeated.tokens / 1_000_000)
    assert list(report.by_kind()) == [SymptomKind.REPEATED_CALL, SymptomKind.INVENTED]


def test_a_healthy_session_has_no_symptoms(memory: Memory, chat: Session, scope: Scope) -> None:
    chat.append(Message(role="assistant", content="As you mentioned, your budget is 900 euros, and both fit."))
    report = memory.diagnosis.amnesia(scope=scope, session="chat")
    assert report.symptoms == ()
    assert (report.tokens, report.cost) == (0, None)


def test_calls_that_are_only_in_messages_are_seen(memory: Memory, scope: Scope) -> None:
    asked = [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "tea"}'}}]
    again = [{"id": "c2", "type": "function", "function": {"name": "search", "arguments": '{"q":"tea"}'}}]
    memory.add(
        [
            Message(role="user", content="Find tea."),
            Message(role="assistant", content="", tool_calls=asked),
            Message(role="tool", content="3 kinds of tea", tool_call_id="c1"),
            Message(role="assistant", content="There are three."),
            Message(role="assistant", content="", tool_calls=again),
            Message(role="tool", content="3 kinds of tea", tool_call_id="c2"),
        ],
        scope=scope,
    )
    (one,) = memory.diagnosis.amnesia(scope=scope).symptoms
    assert one.kind is SymptomKind.REPEATED_CALL


def test_the_logged_calls_of_a_session_come_in_order(memory: Memory, chat: Session, scope: Scope) -> None:
    chat.log_tool_call(ToolCall(name="fetch", arguments={"id": 1}, status="error", error="timeout"))
    Session(memory, "other", scope=scope).log_tool_call(SEARCH)
    logged = memory.tool_calls(scope=scope, session="chat")
    assert [(one.name, one.status) for one in logged] == [("search", "ok"), ("fetch", "error")]
    assert memory.tool_calls(scope=scope, session="none") == []


def test_what_another_session_said_was_stored_and_not_shown(memory: Memory, chat: Session, scope: Scope) -> None:
    text = "You told me that your budget is 900 euros."
    (one,) = memory.diagnosis.check_claims(text, scope=scope, session="today")
    assert one.verdict is Verdict.NOT_SHOWN
    assert one.evidence is not None
    assert memory.get(one.evidence.id, scope=scope).text == "I need a laptop, my budget is 900 euros."
    (shown,) = memory.diagnosis.check_claims(text, scope=scope, session="chat")
    assert shown.verdict is Verdict.IN_CONTEXT


def test_the_context_of_a_reply_says_what_was_shown(memory: Memory, chat: Session, scope: Scope) -> None:
    text = "You told me that your budget is 900 euros."
    context = memory.context("Which laptop did I want, with what budget?", scope=scope, session="today")
    assert context.manifest
    assert memory.diagnosis.check_claims(text, scope=scope, context=context)[0].verdict is Verdict.IN_CONTEXT
    ids = [one.id for one in context.manifest]
    assert memory.diagnosis.check_claims(text, scope=scope, context=ids)[0].verdict is Verdict.IN_CONTEXT
    assert memory.diagnosis.check_claims(text, scope=scope, context=[])[0].verdict is Verdict.NOT_SHOWN
    gone = memory.diagnosis.check_claims(text, scope=scope, context=["no id", "0" * 32])
    assert gone[0].verdict is Verdict.NOT_SHOWN


def test_what_is_nowhere_is_invented(memory: Memory, chat: Session, scope: Scope) -> None:
    (one,) = memory.diagnosis.check_claims(INVENTED, scope=scope, session="chat")
    assert one.verdict is Verdict.NOWHERE
    assert one.score < 0.3


def test_another_persons_memory_is_no_evidence(memory: Memory, chat: Session, unknown: Scope) -> None:
    (one,) = memory.diagnosis.check_claims("You told me that your laptop budget is 900 euros now.", scope=unknown)
    assert one.verdict is not Verdict.NOT_SHOWN
    assert one.evidence is None


def test_what_is_erased_is_nowhere(memory: Memory, chat: Session, scope: Scope) -> None:
    memory.forget(memory.plan_forgetting(scope=scope, everything=True))
    text = "You told me that your new laptop has a budget of 900 euros for the keyboard."
    (one,) = memory.diagnosis.check_claims(text, scope=scope)
    assert one.verdict is Verdict.NOWHERE
    assert one.evidence is None
    with pytest.raises(NotFound):
        memory.diagnosis.amnesia(scope=scope, session="chat")


def test_the_guard_looks_before_the_reply_is_given(memory: Memory, chat: Session) -> None:
    reply = f"{INVENTED} The warranty of both is 12 months."
    call = ToolCall(name="search", arguments={"q": "laptops", "max": 900})
    found = chat.guard(reply, calls=[call])
    assert [one.kind for one in found] == [
        SymptomKind.INVENTED,
        SymptomKind.CONTRADICTION,
        SymptomKind.REPEATED_CALL,
    ]
    assert [one.ids[-1] for one in found] == ["reply", "reply", "pending:0"]
    assert found[1].quotes == ("The warranty of both is 24 months.", "The warranty of both is 12 months.")
    assert chat.guard("Both keyboards are backlit.") == []
    assert len(chat.messages()) == 3


def test_the_guard_sees_a_question_that_was_answered(memory: Memory, scope: Scope) -> None:
    chat = Session(memory, "order", scope=scope)
    question = "Could you please tell me your order number?"
    assert chat.guard(question) == []
    chat.append([Message(role="assistant", content=question), Message(role="user", content="It is A-1742.")])
    (one,) = chat.guard(f"Thank you. {question}")
    assert one.kind is SymptomKind.REPEATED_QUESTION
    assert one.quotes[1] == "It is A-1742."


def test_since_leaves_out_what_was_before(memory: Memory, scope: Scope) -> None:
    for at in ("2026-01-05", "2026-03-05"):
        memory.add(
            [
                Message(role="assistant", content="What is your name?", at=at),
                Message(role="user", content="I already told you.", at=at),
            ],
            scope=scope,
            session=at,
        )
    assert len(memory.diagnosis.amnesia(scope=scope).symptoms) == 2
    (one,) = memory.diagnosis.amnesia(scope=scope, since="2026-02").symptoms
    assert one.session == "2026-03-05"
    with pytest.raises(InvalidMoment):
        memory.diagnosis.amnesia(scope=scope, since="soon")


def test_an_empty_memory_and_an_empty_reply_have_nothing_to_tell(memory: Memory, scope: Scope) -> None:
    assert memory.diagnosis.amnesia(scope=scope).symptoms == ()
    for text in ("", " \n", "\0", "a \ud83d b"):
        assert memory.diagnosis.check_claims(text, scope=scope) == []
        assert memory.diagnosis.guard(text, scope=scope, session="none") == []


def test_a_principal_diagnoses_what_it_may_read(memory: Memory, chat: Session, scope: Scope) -> None:
    anna = memory.acting_as(Principal(id="anna-1", role="person", tenant="acme", user="anna"))
    assert anna.diagnosis.check_claims(INVENTED, scope=scope)[0].verdict is Verdict.NOWHERE
    assert anna.diagnosis.amnesia(scope=scope).tool_calls == 1
    assert len(anna.tool_calls(scope=scope, session="chat")) == 1
    assert [one.kind for one in Session(anna, "chat", scope=scope).guard(INVENTED)] == [SymptomKind.INVENTED]
    bob = memory.acting_as(Principal(id="bob-1", role="person", tenant="acme", user="bob"))
    for call in (
        lambda: bob.diagnosis.check_claims(INVENTED, scope=scope),
        lambda: bob.diagnosis.amnesia(scope=scope),
        lambda: bob.diagnosis.guard(INVENTED, scope=scope, session="chat"),
        lambda: bob.tool_calls(scope=scope, session="chat"),
    ):
        with pytest.raises(AccessDenied):
            call()
    memory.grant(scope=scope, to="bob-1", expires_at="2100", rights=[Right.READ], kinds=[Kind.MESSAGE])
    assert bob.diagnosis.check_claims(INVENTED, scope=scope)[0].verdict is Verdict.NOWHERE
    with pytest.raises(AccessDenied):
        bob.tool_calls(scope=scope, session="chat")
