"""What a task brings to mind: the experiences that bear on it, in every process, and nothing that was erased."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from retentia import Memory, Scope
from retentia.errors import AccessDenied, InvalidInput
from retentia.experience.priority import HALF_LIFE, WORTH, Order, Weights, decayed, priority, recency
from retentia.model.experience import Outcome
from retentia.model.time import system_clock
from retentia.security.access import Principal
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

ME = Scope("acme", "anna")
CODER = Scope("acme", "anna", agent="coder")
NOW = system_clock()
HOUR = 3_600
WORDS = ["fix", "test", "login", "flaky", "cache", "index", "plan", "parser", "queue", "retry", "timeout"]


ANOTHER = """
import sys
from retentia import Memory, Scope
from retentia.testing import FakeEmbedder
url, act, given = sys.argv[1:]
me = Scope("acme", "anna")
with Memory.open(url, embedder=FakeEmbedder(), worker=False) as memory:
    if act == "erase":
        memory.erase([given], scope=me)
    else:
        print(memory.experience.record({"task": given, "reward": 1.0, "outcome": "success"}, scope=me).id)
        memory.drain()
"""


def tried(task: str, *, hours_ago: float = 1.0, **more: Any) -> dict[str, Any]:
    given = {"task": task, "reward": 1.0, "outcome": "success", "timestamp": NOW / 1e6 - hours_ago * HOUR}
    return {**given, **more}


def found(memory: Memory, task: str, **how: Any) -> list[str]:
    return [one.experience.task.description for one in memory.experience.recall(task, scope=ME, **how)]


@pytest.fixture
def memory(store_url: str) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=FixedClock(NOW)) as opened:
        yield opened


def test_the_task_most_like_it_comes_first_by_similarity(memory: Memory) -> None:
    memory.experience.record([tried("fix the flaky login test"), tried("plan the index of the cache")], scope=ME)
    memory.drain()
    best, second = memory.experience.recall("fix the flaky login test", scope=ME, order="similarity")
    assert best.experience.task.description == "fix the flaky login test"
    assert best.similarity == pytest.approx(1.0, abs=1e-3)
    assert best.score == best.similarity > second.similarity


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("weights", ["standard", "early", "late"])
def test_the_ranking_is_that_of_all_experiences_by_the_formula(memory: Memory, order: Order, weights: str) -> None:
    generator = np.random.default_rng(7)
    given = [
        tried(
            " ".join(generator.choice(WORDS, size=4)),
            hours_ago=float(generator.integers(0, 200)),
            reward=float(generator.random()),
            outcome=str(generator.choice(list(Outcome))),
        )
        for _ in range(60)
    ]
    memory.experience.record(given, scope=ME)
    memory.drain()
    told = memory.experience.recall("fix the login cache", scope=ME, top_k=60, order=order, weights=weights)
    by = {"standard": Weights(), "early": Weights(similarity=0.6, recency=0.1)}.get(weights)
    for one in told:
        fresh = float(recency((NOW - one.experience.at.start) / 1e6, HALF_LIFE))
        worth = WORTH[one.experience.outcome]
        assert one.recency == pytest.approx(fresh)
        if by is not None:
            whole = priority(one.similarity, fresh, one.experience.feedback.reward, worth, by)
            assert one.priority == pytest.approx(whole)
        expected = {
            Order.SIMILARITY: one.similarity,
            Order.DECAYED: decayed(one.similarity, fresh),
            Order.PRIORITISED: one.priority,
        }
        assert one.score == pytest.approx(expected[order])
    assert [one.score for one in told] == sorted((one.score for one in told), reverse=True)
    few = memory.experience.recall("fix the login cache", scope=ME, top_k=5, order=order, weights=weights)
    assert [one.experience.id for one in few] == [one.experience.id for one in told[:5]]


def test_only_what_is_asked_for_is_found(memory: Memory) -> None:
    memory.experience.record(
        [
            tried("fix the test", category="testing", strategy="iterative"),
            tried("fix the test now", category="debugging", strategy="defensive"),
            tried("fix the test again", category="testing", outcome="failure", reward=0, strategy="defensive"),
        ],
        scope=ME,
    )
    memory.drain()
    assert set(found(memory, "fix the test", category="testing")) == {"fix the test", "fix the test again"}
    assert found(memory, "fix the test", outcome="failure") == ["fix the test again"]
    assert set(found(memory, "fix the test", strategy="defensive")) == {"fix the test now", "fix the test again"}
    assert found(memory, "fix the test", category="debugging", outcome="failure") == []


def test_what_has_no_vector_yet_is_found_by_its_words(memory: Memory) -> None:
    memory.experience.record([tried("fix the flaky login test"), tried("plan the index")], scope=ME)
    assert found(memory, "the flaky login tests", order="similarity")[0] == "fix the flaky login test"
    memory.experience.record(tried("write the parser"), scope=ME)
    memory.drain()
    assert found(memory, "write the parser", order="similarity")[0] == "write the parser"


def test_a_store_without_an_embedder_goes_by_words(sqlite_url: str) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        memory.experience.record([tried("fix the flaky login test"), tried("plan the index")], scope=ME)
        assert found(memory, "a flaky login test", order="similarity")[0] == "fix the flaky login test"
        assert not memory.experience.replay("a flaky login test", scope=ME).is_empty


def test_an_empty_store_brings_nothing_to_mind_and_says_so(memory: Memory) -> None:
    assert memory.experience.recall("fix the test", scope=ME) == []
    replay = memory.experience.replay("fix the test", scope=ME)
    assert replay.is_empty
    assert replay.prompt
    assert memory.experience.skills(scope=ME) == {}
    assert memory.experience.choose_strategy("fix the test", scope=ME).strategy == "iterative"
    assert memory.experience.curve(scope=ME).cumulative_reward == ()


@pytest.mark.parametrize(
    "how",
    [
        {"top_k": 0},
        {"half_life": timedelta(0)},
        {"half_life": timedelta(days=-1)},
        {"weights": "middle"},
        {"order": "random"},
        {"category": "debuging"},
        {"outcome": "won"},
    ],
)
def test_a_question_that_cannot_be_answered_says_why(memory: Memory, how: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.experience.recall("fix the test", scope=ME, **how)


def test_what_another_process_records_and_erases_shows_at_the_next_recall(sqlite_url: str) -> None:
    with (
        Memory.open(sqlite_url, embedder=FakeEmbedder(), worker=False) as here,
        Memory.open(sqlite_url, embedder=FakeEmbedder(), worker=False) as there,
    ):
        here.experience.record(tried("fix the login test"), scope=ME)
        here.drain()
        assert found(here, "fix the login test") == ["fix the login test"]
        written = there.experience.record(tried("fix the login test once more"), scope=ME)
        assert len(found(here, "fix the login test")) == 2
        there.drain()
        assert len(found(here, "fix the login test")) == 2
        there.erase([written.id], scope=ME)
        assert here._pools._held == {}
        assert found(here, "fix the login test") == ["fix the login test"]


def test_a_process_of_its_own_is_heard_when_it_records_and_when_it_erases(sqlite_url: str) -> None:
    def elsewhere(act: str, given: str) -> str:
        command = [sys.executable, "-c", ANOTHER, sqlite_url, act, given]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    with Memory.open(sqlite_url, embedder=FakeEmbedder(), worker=False) as here:
        here.experience.record(tried("fix the login test"), scope=ME)
        here.drain()
        assert found(here, "plan the cache") == ["fix the login test"]
        written = elsewhere("record", "plan the cache")
        assert found(here, "plan the cache")[0] == "plan the cache"
        elsewhere("erase", written)
        assert here._pools._held == {}
        assert found(here, "plan the cache") == ["fix the login test"]


def test_another_embedder_ranks_by_its_own_vectors(sqlite_url: str) -> None:
    with Memory.open(sqlite_url, embedder=FakeEmbedder(), worker=False) as memory:
        memory.experience.record([tried("fix the login test"), tried("plan the index")], scope=ME)
        memory.drain()
        before = memory.experience.recall("fix the login test", scope=ME, order="similarity")
        memory.reembed(FakeEmbedder(name="another"))
    with Memory.open(sqlite_url, embedder=FakeEmbedder(name="another"), worker=False) as memory:
        after = memory.experience.recall("fix the login test", scope=ME, order="similarity")
        assert [one.experience for one in after] == [one.experience for one in before]
        assert after[0].similarity == pytest.approx(1.0, abs=1e-3)


def test_an_agent_sees_its_own_and_the_shared_experiences_and_no_others(memory: Memory) -> None:
    memory.experience.record(tried("fix the shared test"), scope=ME)
    memory.experience.record(tried("fix the own test"), scope=CODER)
    memory.experience.record(tried("fix the test of bob"), scope=Scope("acme", "bob"))
    memory.drain()
    assert set(found(memory, "fix the test")) == {"fix the shared test"}
    own = memory.experience.recall("fix the test", scope=CODER)
    assert {one.experience.task.description for one in own} == {"fix the shared test", "fix the own test"}
    agent = memory.acting_as(Principal(id="k1", role="agent", tenant="acme", user="anna", agent="coder"))
    assert agent.experience.recall("fix the test", scope=CODER) == own
    assert set(agent.experience.skills(scope=CODER)) == {"unknown"}
    for ask in (agent.experience.recall, agent.experience.replay):
        with pytest.raises(AccessDenied):
            ask("fix the test", scope=Scope("acme", "bob"))
    with pytest.raises(AccessDenied):
        agent.experience.skills(scope=Scope("acme", "bob"))


def test_a_long_description_is_like_itself(memory: Memory) -> None:
    text = " ".join(f"{word} {number}" for number in range(60) for word in WORDS)
    memory.experience.record(tried(text), scope=ME)
    memory.drain()
    (one,) = memory.experience.recall("plan the schema", scope=ME)
    assert -1.0 <= one.similarity <= 1.0


def test_a_replay_shows_what_failed_though_it_ranks_behind(memory: Memory) -> None:
    solved = [tried(f"fix the login test {number}", solution="freeze the clock") for number in range(5)]
    failed = tried("fix the login test", outcome="failure", reward=0, solution="sleep longer", feedback="still flaky")
    memory.experience.record([*solved, failed], scope=ME)
    memory.drain()
    replay = memory.experience.replay("fix the login test", scope=ME)
    assert [one.feedback.message for one in replay.avoid] == ["still flaky"]
    assert "still flaky" in replay.prompt
    assert replay.tokens <= replay.budget
    assert len(memory.experience.replay("fix the login test", scope=ME, avoid=0).avoid) == 0


def test_the_strategy_that_worked_is_chosen_then_defence_then_complexity(memory: Memory) -> None:
    def choice(**task: Any) -> str:
        return memory.experience.choose_strategy("fix the login test", scope=ME, **task).strategy

    assert choice(complexity=0.2) == "exploratory"
    assert choice(complexity=0.8) == "iterative"
    lost = [tried("write a poem", category="testing", outcome="failure", reward=0) for _ in range(3)]
    memory.experience.record(lost, scope=ME)
    memory.drain()
    assert choice(category="testing", complexity=0.2) == "defensive"
    memory.experience.record([tried("fix the login test", strategy="example_driven") for _ in range(2)], scope=ME)
    memory.drain()
    chosen = memory.experience.choose_strategy("fix the login test", scope=ME, category="testing")
    assert chosen.strategy == "example_driven"
    assert "2 of 2" in chosen.reason


def test_a_strategy_of_the_tenant_is_told_with_its_instruction(memory: Memory) -> None:
    memory.experience.set_rules({"strategies": {"test_first": "Write the test first."}}, tenant="acme")
    memory.experience.record([tried("fix the login test", strategy="test_first") for _ in range(2)], scope=ME)
    memory.drain()
    chosen = memory.experience.choose_strategy("fix the login test", scope=ME)
    assert (chosen.strategy, chosen.instruction) == ("test_first", "Write the test first.")


def test_skills_and_curve_count_what_is_there(memory: Memory) -> None:
    memory.experience.record(
        [
            tried("a", category="testing", hours_ago=3, reward=0.5, outcome="partial", iterations=3),
            tried("b", category="testing", hours_ago=2),
            tried("c", category="debugging", hours_ago=1),
        ],
        scope=ME,
    )
    skill = memory.experience.skills(scope=ME)["testing"]
    assert (skill.count, skill.successes, skill.average_reward, skill.average_iterations) == (2, 1, 0.75, 2.0)
    assert memory.experience.curve(scope=ME).cumulative_reward == (0.5, 1.5, 2.5)
    assert memory.experience.curve(scope=ME, category="testing").cumulative_reward == (0.5, 1.5)
