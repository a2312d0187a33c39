"""Experiences are kept as they were, once, and only those that can be true; on both databases."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from retentia import Memory, Scope, Source
from retentia.errors import AccessDenied, ErasedEarlier, InvalidInput, NotFound
from retentia.model.experience import Experience, Feedback, Outcome, Task
from retentia.model.time import Moment, system_clock
from retentia.security.access import Principal
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

ME = Scope("acme", "anna")
CODER = Scope("acme", "anna", agent="coder")
SOLVED = {
    "id": "run-17",
    "task": "Fix the flaky login test",
    "category": "debugging",
    "complexity": 0.4,
    "solution": "Freeze the clock in the fixture.",
    "reward": 8,
    "reward_range": [0, 10],
    "feedback": "All green.",
    "tests_passed": 7,
    "tests_total": 7,
    "outcome": "success",
    "strategy": "iterative",
    "iterations": 2,
    "timestamp": "2026-06-01T10:00:00Z",
}


def tried(task: str, **more: Any) -> dict[str, Any]:
    return {"task": task, "reward": 1.0, "outcome": "success", **more}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(system_clock())


@pytest.fixture
def memory(store_url: str, clock: FixedClock, tmp_path: Path) -> Any:
    ledger = tmp_path / "erased.ledger"
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock, ledger=ledger) as opened:
        yield opened


def test_an_experience_comes_back_whole_with_its_session_and_sources(memory: Memory) -> None:
    said = memory.add("The login test fails on Mondays", scope=ME, session="monday").id
    source = Source(kind="message", id=said)
    written = memory.experience.record(SOLVED, scope=ME, session="monday", sources=[source])
    assert memory.experience.get(written.id, scope=ME) == Experience(
        task=Task(description="Fix the flaky login test", category="debugging", complexity=0.4),
        solution="Freeze the clock in the fixture.",
        feedback=Feedback(reward=0.8, message="All green.", tests_passed=7, tests_total=7),
        outcome=Outcome.SUCCESS,
        at=Moment.parse("2026-06-01T10:00:00Z"),
        iterations=2,
        strategy="iterative",
        key="run-17",
        id=written.id,
        session="monday",
        sources=(source,),
    )


def test_what_comes_again_under_its_key_is_one_experience(memory: Memory) -> None:
    first = memory.experience.record(SOLVED, scope=ME)
    again = memory.experience.record([{**SOLVED, "reward": 1}, SOLVED], scope=ME)
    assert set(again.ids) == {first.id}
    assert not any(one.is_new for one in again.written)
    assert memory.experience.get(first.id, scope=ME).feedback.reward == 0.8
    assert len(memory.experience.recent(scope=ME)) == 1


def test_the_same_task_without_a_key_is_another_experience_each_time(memory: Memory) -> None:
    memory.experience.record([tried("Fix it"), tried("Fix it", outcome="failure", reward=0)], scope=ME)
    assert {one.outcome for one in memory.experience.recent(scope=ME)} == {Outcome.SUCCESS, Outcome.FAILURE}


def test_those_that_cannot_be_true_are_named_and_the_others_are_kept(memory: Memory) -> None:
    given = [tried("a"), tried("b", reward=2), tried("c", tests_passed=2, tests_total=1), tried("d")]
    receipt = memory.experience.record(given, scope=ME)
    assert [one.position for one in receipt.written] == [0, 3]
    assert [(one.position, one.code) for one in receipt.failed] == [(1, "invalid_input"), (2, "invalid_input")]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reward": float("nan")}, "reward"),
        ({"category": "debuging"}, "did you mean 'debugging'"),
        ({"timestamp": "2999-01-01T00:00:00Z"}, "in the future"),
        ({"tests_total": 0}, "7 tests cannot have passed of 0"),
        ({"reward_range": [3, 3]}, "range of rewards"),
        ({"outcome": "won"}, "success, partial, failure"),
        ({"task": " "}, "description of its task"),
        ({"colour": "red"}, "no field 'colour'"),
    ],
)
def test_what_cannot_be_true_is_refused_with_the_reason(memory: Memory, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        memory.experience.record({**SOLVED, **change}, scope=ME)
    assert memory.experience.recent(scope=ME) == []


def test_the_latest_five_are_the_short_term_store(memory: Memory) -> None:
    memory.experience.record(
        [tried(f"task {day}", timestamp=f"2026-06-{day:02}T10:00:00Z") for day in (3, 9, 1, 7, 5, 8)], scope=ME
    )
    found = [one.task.description for one in memory.experience.recent(scope=ME)]
    assert found == ["task 9", "task 8", "task 7", "task 5", "task 3"]


def test_a_tenant_adds_categories_of_its_own(memory: Memory) -> None:
    memory.experience.set_rules({"categories": ["customer service"]}, tenant="acme")
    memory.experience.record(tried("Rebook", category="customer service"), scope=ME)
    with pytest.raises(InvalidInput, match="no category"):
        memory.experience.record(tried("Rebook", category="customer service"), scope=Scope("other", "anna"))


def test_an_experience_of_one_user_or_agent_is_not_seen_by_another(memory: Memory) -> None:
    own = memory.experience.record(tried("for the coder"), scope=CODER).id
    shared = memory.experience.record(tried("for all"), scope=ME).id
    assert {one.id for one in memory.experience.recent(scope=CODER)} == {own, shared}
    assert {one.id for one in memory.experience.recent(scope=ME)} == {shared}
    for other in (ME, Scope("acme", "bob"), Scope("other", "anna")):
        with pytest.raises(NotFound):
            memory.experience.get(own, scope=other)


def test_secrets_are_masked_in_all_that_an_experience_says(memory: Memory) -> None:
    secret = "sk-proj-" + "a1B2" * 8
    told = tried(f"use {secret}", solution=f"with {secret}", feedback=f"no {secret}")
    receipt = memory.experience.record(told, scope=ME)
    found = memory.experience.get(receipt.id, scope=ME)
    assert secret not in repr(found)
    assert any("secret" in note for note in receipt.notes)


def test_an_erased_experience_is_not_brought_back_under_its_key(memory: Memory) -> None:
    memory.erase([memory.experience.record(SOLVED, scope=ME).id], scope=ME)
    with pytest.raises(ErasedEarlier):
        memory.experience.record(SOLVED, scope=ME)
    receipt = memory.experience.record([SOLVED, tried("another")], scope=ME)
    assert [one.code for one in receipt.failed] == ["erased_earlier"]
    assert len(memory.experience.recent(scope=ME)) == 1


def test_an_experience_goes_with_the_last_of_its_sources(memory: Memory) -> None:
    said = memory.add("The login test fails", scope=ME).id
    written = memory.experience.record(SOLVED, scope=ME, sources=[Source(kind="message", id=said)])
    memory.erase([said], scope=ME)
    with pytest.raises(NotFound):
        memory.experience.get(written.id, scope=ME)


def test_a_source_of_somebody_else_is_refused(memory: Memory) -> None:
    said = memory.add("The login test fails", scope=Scope("acme", "bob")).id
    with pytest.raises(InvalidInput, match="not in this scope"):
        memory.experience.record(SOLVED, scope=ME, sources=[Source(kind="message", id=said)])


def test_an_experience_is_not_remembered_without_a_reward(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match=r"experience\.record"):
        memory.remember("Fix it", "experience", scope=ME)


def test_a_forgotten_experience_lies_in_the_bin_and_is_restored_as_it_was(memory: Memory) -> None:
    written = memory.experience.record(SOLVED, scope=ME)
    before = memory.experience.get(written.id, scope=ME)
    plan = memory.plan_forgetting(ids=[written.id], scope=ME)
    memory.forget(plan, undo_for=timedelta(days=7))
    assert memory.experience.recent(scope=ME) == []
    memory.keeping.restore(memory.keeping.removed(scope=ME)[0].id, scope=ME)
    assert memory.experience.get(written.id, scope=ME) == before
    assert not memory.experience.record(SOLVED, scope=ME).written[0].is_new


def test_an_export_brings_experiences_to_another_store_once(memory: Memory, tmp_path: Path) -> None:
    written = memory.experience.record(SOLVED, scope=ME)
    memory.export(tmp_path / "all.jsonl", scope=ME)
    with Memory.open(tmp_path / "other.db", embedder=FakeEmbedder(), worker=False) as other:
        for _ in range(2):
            other.import_export(tmp_path / "all.jsonl", scope=ME)
        assert other.experience.recent(scope=ME) == [memory.experience.get(written.id, scope=ME)]


def test_a_context_shows_no_experience_where_it_recalls_what_was_said(memory: Memory) -> None:
    memory.add("The login test fails on Mondays", scope=ME, session="monday")
    memory.experience.record(SOLVED, scope=ME)
    memory.drain()
    assert any(hit.record.kind == "experience" for hit in memory.recall("flaky login test", scope=ME))
    shown = memory.context("Fix the flaky login test", scope=ME, session="tuesday", budget=2000).text()
    assert "fails on Mondays" in shown
    assert shown.count("Fix the flaky login test") == shown.count("request:\nFix the flaky login test") == 1


def test_a_principal_records_and_reads_experiences_by_its_rights(memory: Memory) -> None:
    agent = memory.acting_as(Principal(id="k1", role="agent", tenant="acme", user="anna", agent="coder"))
    written = agent.experience.record(SOLVED, scope=CODER)
    assert agent.experience.get(written.id, scope=CODER).task.category == "debugging"
    with pytest.raises(AccessDenied):
        agent.experience.recent(scope=Scope("acme", "bob"))


@pytest.mark.parametrize("name", ["half \ud800", "nothing \0"])
def test_a_name_that_no_database_can_hold_is_no_category(memory: Memory, name: str) -> None:
    with pytest.raises(InvalidInput, match="categories"):
        memory.experience.set_rules({"categories": [name]}, tenant="acme")


def test_a_principal_neither_sets_nor_sees_what_a_tenant_has_of_its_own(memory: Memory) -> None:
    memory.experience.set_rules({"categories": ["takeover of Globex"]}, tenant="acme")
    stranger = memory.acting_as(Principal(id="k2", role="agent", tenant="other", user="eve"))
    assert not hasattr(stranger.experience, "set_rules")
    assert not hasattr(stranger.experience, "rules")
    with pytest.raises(AccessDenied):
        stranger.experience.recall("x", scope=ME, category="takeover")
    with pytest.raises(AccessDenied):
        stranger.experience.choose_strategy("x", scope=ME, category="takeover")


def test_nothing_is_learned_from_an_experience_by_itself(memory: Memory) -> None:
    memory.experience.record(tried("I live in Kyiv and my name is Olena"), scope=ME)
    memory.drain()
    assert memory.facts.profile(scope=ME).values() == {}
    assert memory.facts.inbox(scope=ME) == []


def test_forgetting_a_topic_finds_it_in_how_a_task_was_solved(memory: Memory) -> None:
    """ "Forget what I said about Olena" must not leave her in a solution, which no search looks into."""
    solved = memory.experience.record(tried("Fix it", solution="Asked Olena for the key"), scope=ME)
    memory.experience.record(tried("Fix it", solution="Asked nobody"), scope=ME)
    plan = memory.plan_forgetting(about="Olena", scope=ME)
    assert plan.ids == solved.ids
    memory.forget(plan, undo_for=timedelta(days=7))
    assert len(memory.experience.recent(scope=ME)) == 1
    assert memory.plan_forgetting(about="Olena", scope=ME).binned == solved.ids


def test_forgetting_a_session_takes_the_experiences_that_name_it(memory: Memory) -> None:
    memory.add("The login test fails", scope=ME, session="monday")
    written = memory.experience.record(SOLVED, scope=ME, session="monday")
    memory.experience.record(tried("Another"), scope=ME, session="tuesday")
    assert written.id in memory.plan_forgetting(session="monday", scope=ME).ids
    memory.forget(memory.plan_forgetting(session="monday", scope=ME))
    assert [one.task.description for one in memory.experience.recent(scope=ME)] == ["Another"]


def test_a_person_is_told_of_the_experiences_that_are_kept(memory: Memory) -> None:
    memory.experience.record(SOLVED, scope=ME)
    told = memory.episodes.list_what_you_remember(scope=ME)
    assert [one.says for one in told.entries] == ["Fix the flaky login test"]


def test_what_was_kept_under_a_category_is_found_by_it_when_the_tenant_has_it_no_more(memory: Memory) -> None:
    memory.experience.set_rules({"categories": ["ops"]}, tenant="acme")
    memory.experience.record(tried("Restart it", category="ops"), scope=ME)
    memory.experience.set_rules(None, tenant="acme")
    assert len(memory.experience.recall("Restart it", scope=ME, category="ops")) == 1
