"""Each story ends with exactly the right profile: what the person said of themselves, as it is now, and no more."""

from collections.abc import Iterator, Sequence

import pytest

from retentia import Kind, Memory, Message, Scope, Source
from retentia.model.ids import RecordId
from retentia.testing_store import FixedClock

DAY = 86_400.0
MONTH = 30 * DAY


@pytest.fixture
def memory(sqlite_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(sqlite_url, embedder=None, worker=False, clock=clock) as opened:
        yield opened


def talk(memory: Memory, anna: Scope, said: Sequence[str]) -> None:
    """Say something and let the assistant answer with claims of its own, which must count for nothing."""
    for text in said:
        memory.add(text, scope=anna)
        memory.add(Message(role="assistant", content=f"I see. You live in Rome and love opera. {text}"), scope=anna)


def profile(memory: Memory, anna: Scope, subject: str = "user") -> dict[str, list[str]]:
    return memory.facts.profile(scope=anna, subject=subject).values()


def kept(memory: Memory, anna: Scope, kind: Kind) -> list[str]:
    return [getattr(one, "text", "") for one in memory.records(scope=anna, kind=kind).records]


def test_conventions_of_a_code_review_are_procedures_and_a_taste_is_a_preference(memory: Memory, anna: Scope) -> None:
    rules = ["Never use `any` in TypeScript.", "Always return errors explicitly.", "I prefer functional style."]
    talk(memory, anna, [*rules, "Please review cart.ts."])
    assert profile(memory, anna) == {"likes": ["functional style"]}
    assert sorted(kept(memory, anna, Kind.PROCEDURE)) == sorted(rules[:2])


def test_why_supplier_x_and_not_y_is_a_decision_with_its_reason(memory: Memory, anna: Scope) -> None:
    decided = "We decided to go with supplier X instead of supplier Y because X delivers in two days."
    talk(memory, anna, ["We compared two suppliers.", decided])
    assert profile(memory, anna) == {}
    (decision,) = memory.records(scope=anna, kind=Kind.DECISION).records
    assert getattr(decision, "text", "") == decided
    assert "delivers in two days" in str(getattr(decision, "body", {}).get("reasons"))
    hits = memory.recall("Why supplier X and not Y?", scope=anna, min_relevance=0).hits
    assert decided in hits[0].text


def test_who_is_forced_to_use_python_uses_it_at_work_and_does_not_like_it(memory: Memory, anna: Scope) -> None:
    talk(memory, anna, ["I'm forced to use Python at work.", "I might try Rust.", "I prefer Go."])
    assert profile(memory, anna) == {"uses": ["Python"], "likes": ["Go"]}
    (python,) = memory.facts.get("uses", scope=anna)
    assert python.claim.applies_to == "at work"


def test_alex_not_alice(memory: Memory, anna: Scope, clock: FixedClock) -> None:
    talk(memory, anna, ["My name is Alice."])
    clock.advance(seconds=60)
    talk(memory, anna, ["Actually, my name is Alex, not Alice."])
    assert profile(memory, anna) == {"name": ["Alex"]}
    alice, alex = memory.facts.history("name", scope=anna)
    assert (alice.value, alice.record.retracted_at) == ("Alice", clock.now)
    assert alex.record.valid_from == alice.record.valid_from  # it never was Alice
    assert alice.changes[-1].cause == alex.id
    assert "My name is Alice." not in [
        hit.text for hit in memory.recall("name", scope=anna, kinds=["fact"], min_relevance=0).hits
    ]


def test_after_six_months_the_role_is_the_new_one_and_the_old_one_is_history(
    memory: Memory, anna: Scope, clock: FixedClock
) -> None:
    began = clock.now
    talk(memory, anna, ["I work as a backend developer at Initech."])
    clock.advance(seconds=6 * MONTH)
    talk(memory, anna, ["I'm now a team lead."])
    assert profile(memory, anna) == {"employer": ["Initech"], "role": ["team lead"]}
    old, new = memory.facts.history("role", scope=anna)
    assert (old.value, old.record.valid_from, old.record.valid_to) == ("backend developer", began, clock.now)
    assert (new.value, new.record.valid_to) == ("team lead", None)


def test_a_greeting_leaves_an_empty_profile(memory: Memory, anna: Scope) -> None:
    memory.add(
        [Message(role="assistant", content="Hallo! Wie kann ich helfen?"), "Hallo! Wie kann ich helfen?"], scope=anna
    )
    assert profile(memory, anna) == {}
    assert memory.facts.inbox(scope=anna) == []
    assert memory.facts.history(scope=anna) == []


def test_last_months_decision_is_kept_with_why_and_is_no_fact_about_the_person(
    memory: Memory, anna: Scope, clock: FixedClock
) -> None:
    decided = "We decided to move the events from Postgres to ClickHouse, because the weekly report took 40 seconds."
    talk(memory, anna, [decided])
    clock.advance(seconds=MONTH)
    talk(memory, anna, ["Good morning!", "How warm is it?"])
    assert profile(memory, anna) == {}
    (decision,) = memory.records(scope=anna, kind=Kind.DECISION).records
    assert "took 40 seconds" in str(getattr(decision, "body", {}).get("reasons"))


def test_an_agent_that_remembers_a_procedure_cites_where_it_was_said(memory: Memory, anna: Scope) -> None:
    said = memory.add("Always answer briefly.", scope=anna)
    (procedure,) = memory.records(scope=anna, kind=Kind.PROCEDURE).records
    assert [source.id for source in getattr(procedure, "sources", ())] == [RecordId(said.id)]
    again = memory.remember(
        "Always answer briefly.", Kind.PROCEDURE, scope=anna, sources=[Source(kind="message", id=RecordId(said.id))]
    )
    assert again.id == procedure.id


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["Ich heiße Jürgen Groß.", "Ich wohne in Köln."], {"name": ["Jürgen Groß"], "home": ["Köln"]}),
        (["Мене звати Олена, живу в Києві."], {"name": ["Олена"], "home": ["Києві"]}),
        (["Я тепер працюю в Глобусі."], {"employer": ["Глобусі"]}),
    ],
)
def test_german_and_ukrainian_profiles_keep_the_words_they_were_said_in(
    memory: Memory, anna: Scope, said: list[str], expected: dict[str, list[str]]
) -> None:
    for text in said:
        memory.add(text, scope=anna)
    assert profile(memory, anna) == expected
