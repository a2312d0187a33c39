"""Chains answered from a store are those answered in memory, on every database."""

from collections.abc import Iterator

import pytest

from retentia import Memory, Scope
from retentia.learn.chains import Chain, find_chains
from retentia.learn.graph import stated
from retentia.learn.inline import LearningSettings
from retentia.learn.statements import read_statements
from retentia.model.message import Message

SAID = [
    "Billing depends on Ledger.",
    "Anna is responsible for Ledger.",
    "Anna works for Acme.",
    "The headquarters of Acme is in Bonn.",
    "The headquarters of Acme is in Hamburg.",
    "Anna is a citizen of France.",
    "Anna is a citizen of Spain.",
    "The capital of Spain is Madrid.",
    "Ledger uses PostgreSQL.",
    "Reports depends on Ledger.",
    "The mascot of Acme is Otto.",
    "Реєстр залежить від Сховища.",
    "Оксана відповідає за Сховище.",
]
ASKED = [
    "Who is responsible for the component that Billing depends on?",
    "Where is the headquarters of the company Anna works for?",
    "What is the capital of the country of citizenship of Anna?",
    "What is the citizenship of Anna?",
    "What depends on Ledger?",
    "What is the mascot of Anna's employer?",
    "Хто відповідає за те, від чого залежить Реєстр?",
    "Who is the manager of Anna?",
    "Who is the manager of Zoe?",
]
HERE = Scope("acme", "anna")


@pytest.fixture(params=["sqlite_url", "postgres_url", "keyed_url"])
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    with Memory.open(str(request.getfixturevalue(request.param)), embedder=None, worker=False) as opened:
        for place, text in enumerate(SAID):
            said_at = f"2026-03-01T10:00:{place:02}Z"
            opened.add(Message(role="user", content=text, at=said_at), scope=HERE)
        yield opened


def told(chains: tuple[Chain, ...]) -> list[tuple[str, float, list[tuple[str, str, str]]]]:
    return [
        (chain.answer, chain.score, [(edge.subject, edge.relation, edge.object) for edge in chain.edges])
        for chain in chains
    ]


def test_a_store_answers_as_a_graph_in_memory_does(memory: Memory) -> None:
    graph = stated(one for text in SAID for one in read_statements(text))
    for question in ASKED:
        found, expected = memory.facts.chains(question, scope=HERE), find_chains(question, graph)
        assert (told(found.chains), found.reason) == (told(expected.chains), expected.reason), question


def test_the_sources_of_a_chain_are_items_with_the_sentence_they_are_from(memory: Memory) -> None:
    best = memory.facts.chains(ASKED[0], scope=HERE).best
    assert best is not None
    assert [memory.get(edge.source, scope=HERE).text for edge in best.edges] == [text.rstrip(".") for text in SAID[:2]]


def test_a_chain_never_leaves_the_view(memory: Memory) -> None:
    elsewhere = Scope("acme", "bo")
    memory.add("Anna's manager is Tom.", scope=elsewhere)
    assert memory.facts.chains("Who is the manager of Anna?", scope=HERE).chains == ()
    assert memory.facts.chains(ASKED[0], scope=elsewhere).chains == ()
    assert memory.facts.chains(ASKED[0], scope=Scope("other", "anna")).chains == ()


def test_a_retracted_or_erased_claim_is_no_step(memory: Memory) -> None:
    best = memory.facts.chains(ASKED[0], scope=HERE).best
    assert best is not None
    memory.facts.retract(best.edges[1].source, scope=HERE)
    assert memory.facts.chains(ASKED[0], scope=HERE).chains == ()
    memory.erase([best.edges[0].source], scope=HERE)
    assert memory.facts.chains("What does Billing depend on?", scope=HERE).chains == ()


def test_what_is_only_proposed_is_no_step(memory: Memory) -> None:
    assert isinstance(memory.learning, LearningSettings)
    memory.add("Perhaps Tom is responsible for Reports.", scope=HERE)
    assert memory.facts.chains("Who is responsible for Reports?", scope=HERE).chains == ()


def test_no_more_claims_of_one_kind_are_read_than_fit(memory: Memory) -> None:
    for number in range(40):
        memory.add(f"Service{number} depends on Ledger.", scope=HERE)
    found = memory.facts.chains("What depends on Ledger?", scope=HERE, limit=100)
    assert len(found.chains) == 16
