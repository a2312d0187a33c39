"""What agents lose first is kept as records of its own, with its source, and goes with it."""

from collections.abc import Iterator

import pytest

from retentia import Kind, Memory, Scope
from retentia.model.record import ItemRecord, Status
from retentia.testing import FakeEmbedder

ANNA = Scope("acme", "anna")
DECIDED = "We decided to use ClickHouse for the events, because the reports took 40 seconds."
RUNS_ON = "We run PostgreSQL 14 on AWS RDS."


@pytest.fixture
def memory(store_url: str) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        yield memory


def talk(memory: Memory, *more: str) -> list[str]:
    said = ["I want to speed up our reports.", "What do you use now?", RUNS_ON, "I see.", DECIDED, *more]
    roles = ("user", "assistant")
    ids = memory.add(
        [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)], scope=ANNA, session="chat"
    ).ids
    memory.checkpoint(scope=ANNA, session="chat")
    return list(ids)


def kept(memory: Memory) -> dict[str, list[ItemRecord]]:
    found: dict[str, list[ItemRecord]] = {}
    for kind in (Kind.DECISION, Kind.KNOWLEDGE):
        for one in memory.records(scope=ANNA, kind=kind).records:
            assert isinstance(one, ItemRecord)
            found.setdefault(str(one.metadata["about"]), []).append(one)
    return found


def test_decisions_and_the_environment_become_records_that_quote_their_message(memory: Memory) -> None:
    ids = talk(memory)
    found = kept(memory)
    (decision,), (environment,) = found["decision"], found["environment"]
    assert (decision.text, decision.kind, decision.status) == (DECIDED, Kind.DECISION, Status.STATED)
    assert environment.text == RUNS_ON
    whole = memory.get(decision.id, scope=ANNA)
    assert isinstance(whole, ItemRecord)
    assert [(one.id, one.start, one.end) for one in whole.sources] == [(ids[4], 0, len(DECIDED))]


def test_what_an_assistant_says_stays_a_candidate(memory: Memory) -> None:
    proposed = "I'd keep the old tables until May, because customers still use them."
    talk(memory, proposed, "Yes, let's do that.")
    statuses = {one.text: one.status for one in kept(memory)["decision"]}
    assert statuses == {DECIDED: Status.STATED, proposed: Status.CANDIDATE}


def test_what_an_assistant_decides_alone_is_not_kept(memory: Memory) -> None:
    talk(memory, "We decided to keep the old tables until May, because customers still use them.")
    assert [one.text for one in kept(memory)["decision"]] == [DECIDED]


def test_the_same_decision_in_two_sessions_is_one_record_with_both_messages(memory: Memory) -> None:
    talk(memory)
    memory.add(DECIDED, scope=ANNA, session="later")
    memory.checkpoint(scope=ANNA, session="later")
    (decision,) = kept(memory)["decision"]
    whole = memory.get(decision.id, scope=ANNA)
    assert isinstance(whole, ItemRecord)
    assert (whole.seen_count, len(whole.sources)) == (2, 2)


def test_a_kept_sentence_goes_with_its_message(memory: Memory) -> None:
    ids = talk(memory)
    receipt = memory.erase(ids[4], scope=ANNA)
    assert receipt.removed["decision"] == 1
    assert "decision" not in kept(memory)
    assert memory.verify_erasure("acme", [ids[4]], texts=["ClickHouse"]).is_clean


def test_a_sentence_that_is_kept_is_not_found_beside_its_message(memory: Memory) -> None:
    talk(memory)
    memory.drain()
    hits = memory.recall("What did we decide about ClickHouse for the events?", scope=ANNA, min_relevance=0)
    assert [hit.record.kind for hit in hits if "ClickHouse" in hit.text] == [Kind.MESSAGE]
    only = memory.recall("ClickHouse events", scope=ANNA, kinds=[Kind.DECISION], min_relevance=0)
    assert [hit.text for hit in only] == [DECIDED]


def test_a_context_gives_nothing_twice_although_sentences_are_kept(memory: Memory) -> None:
    talk(memory)
    memory.drain()
    text = memory.context("Why did we choose ClickHouse for the events?", scope=ANNA, session="other").text()
    assert text.count(DECIDED) == 1
