"""Agent-Chat, rounds 1 and 5: the same search asked twice, and "as I mentioned" of what nobody mentioned."""

from datetime import timedelta

from retentia import Memory, Scope, Session, ToolCall
from retentia.diagnose.check import Verdict
from retentia.diagnose.symptom import SymptomKind
from retentia.testing import FakeModel
from retentia.testing_store import FixedClock
from retentia.tools.freshness import Reuse
from talking_agent import TalkingAgent

QUERY = "ClickHouse or Postgres for event data"


def test_round_1_the_same_search_is_made_once_and_the_second_time_answered_with_its_age(
    store_url: str, anna: Scope, clock: FixedClock
) -> None:
    searched: list[str] = []

    def search(query: str) -> str:
        searched.append(query)
        return "ClickHouse stores columns, Postgres rows; for 280 million events the former answers in 0.3 s."

    with Memory.open(store_url, embedder=None, worker=False, clock=clock) as memory:
        agent = TalkingAgent(memory, Session(memory, "chat", scope=anna), FakeModel(), {"web_search": search})
        first = agent.call("web_search", query=QUERY)
        clock.advance(seconds=40 * 60)
        second = agent.call("web_search", query=f" {QUERY} ")
        assert searched == [QUERY]
        assert first.endswith("answers in 0.3 s.")
        assert second.startswith("web_search was called 40 minutes ago, and its result still holds: ClickHouse stores")
        seen = memory.tools.seen("web_search", {"query": QUERY}, scope=anna)
        assert isinstance(seen.decision, Reuse)
        assert seen.decision.age == timedelta(minutes=40)
        assert len(memory.tool_calls(scope=anna, session="chat")) == 1
        clock.advance(seconds=3 * 86_400)
        agent.call("web_search", query=QUERY)
        assert len(searched) == 2, "a search of three days ago is made again"


def test_round_1_the_guard_names_the_repeated_call_before_it_is_made(sqlite_url: str, anna: Scope) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        chat = Session(memory, "chat", scope=anna)
        call = ToolCall(name="web_search", arguments={"query": QUERY}, result="ClickHouse stores columns.")
        chat.log_tool_call(call)
        (symptom,) = chat.guard("Let me look.", calls=[ToolCall(name="web_search", arguments={"query": QUERY})])
        assert symptom.kind is SymptomKind.REPEATED_CALL
        assert symptom.ids[0] == memory.tool_calls(scope=anna, session="chat")[0].id


def test_round_5_a_claim_that_nobody_made_is_not_given_and_a_true_one_is(store_url: str, anna: Scope) -> None:
    model = FakeModel(
        "Which city do you fly from?",
        "As I mentioned, the hotel in Lisbon costs 140 euros with breakfast and a terrace.",
        "Flights from Vienna start at 89 euros.",
        "As you said, you fly from Vienna on May 4, so I take the flight at 89 euros.",
    )
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        agent = TalkingAgent(memory, Session(memory, "trip", scope=anna), model)
        agent.answer("Please plan my trip to Lisbon.")
        told = agent.answer("I fly from Vienna on May 4. What does it cost?")
        assert told == "Flights from Vienna start at 89 euros."
        (symptom,) = agent.symptoms
        assert symptom.kind is SymptomKind.INVENTED
        assert "hotel in Lisbon" in symptom.quotes[-1]
        assert agent.answer("Then book it.").startswith("As you said, you fly from Vienna")
        assert len(agent.symptoms) == 1
        said = [message.text for message in memory.messages(scope=anna, session="trip")]
        assert not any("hotel" in text for text in said)
        claim = "You told me that you fly from Vienna on May 4."
        (checked,) = memory.diagnosis.check_claims(claim, scope=anna, session="another")
        assert checked.verdict is Verdict.NOT_SHOWN
        assert checked.evidence is not None
        assert memory.get(checked.evidence.id, scope=anna).text.startswith("I fly from Vienna")
