"""Forgetting what was learned: with its message, or by itself; and no learning from the same words brings it back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from retentia import Memory, Scope
from retentia.model.ids import id_bytes
from retentia.store import jobs, scopes
from retentia.testing import FakeEmbedder


@pytest.fixture
def memory(store_url: str, tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, ledger=tmp_path / "erased.ledger") as opened:
        yield opened


def values(memory: Memory, scope: Scope) -> dict[str, list[str]]:
    return memory.facts.profile(scope=scope).values()


def learn_again(memory: Memory, scope: Scope, message_id: str) -> None:
    """Queue the learning from a message once more, as a job would that was lost, and do it."""
    database = memory._database  # the queue has no verb: nothing but a lost job learns twice
    with database.write(scope.tenant) as transaction:
        scope_id = scopes.find(transaction, scope)
        assert scope_id is not None
        jobs.enqueue_all(transaction, jobs.LEARN, scope_id, [id_bytes(message_id)])
    assert memory.drain() >= 1


def test_a_fact_goes_with_the_message_it_was_learned_from(memory: Memory, scope: Scope) -> None:
    said = memory.add("I live in Berlin.", scope=scope).id
    memory.add("I work at Globex.", scope=scope)
    planned = memory.plan_forgetting("forget what I said about Berlin", scope=scope)
    assert planned.counts == {"fact": 1, "message": 1}
    erased = memory.forget(planned)
    assert said in erased.records
    assert values(memory, scope) == {"employer": ["Globex"]}
    assert memory.facts.history("home", scope=scope) == []
    assert memory.verify_erasure(scope.tenant, erased.records, texts=["Berlin"]).rows == {}


def test_a_fact_with_another_message_that_says_it_stays(memory: Memory, scope: Scope) -> None:
    first = memory.add("I live in Berlin.", scope=scope).id
    memory.add("As I said, I live in Berlin.", scope=scope)
    memory.erase(first, scope=scope)
    assert values(memory, scope) == {"home": ["Berlin"]}


def test_a_forgotten_fact_is_not_learned_again_from_the_message_that_stays(memory: Memory, scope: Scope) -> None:
    """SPEC L4: tombstones block learning again from the same source."""
    said = memory.add("My name is Alex and I live in Berlin.", scope=scope).id
    (home,) = memory.facts.get("home", scope=scope)
    (name,) = memory.facts.get("name", scope=scope)
    memory.erase(home.id, scope=scope)
    memory.erase(name.id, scope=scope)
    assert memory.get(said, scope=scope)
    learn_again(memory, scope, said)
    assert values(memory, scope) == {}


@pytest.mark.parametrize("verb", ["reject", "retract"])
def test_what_the_person_threw_out_is_not_learned_again_from_the_same_words(
    memory: Memory, scope: Scope, verb: str
) -> None:
    said = memory.add("I live in Berlin.", scope=scope).id
    (home,) = memory.facts.get("home", scope=scope)
    getattr(memory.facts, verb)(home.id, scope=scope)
    learn_again(memory, scope, said)
    assert values(memory, scope) == {}
    assert memory.facts.inbox(scope=scope) == []
    memory.add("I live in Berlin.", scope=scope)
    assert values(memory, scope) == {"home": ["Berlin"]}


def test_only_what_was_forgotten_is_kept_from_being_learned_again(memory: Memory, scope: Scope) -> None:
    said = memory.add("My name is Alex and I live in Berlin.", scope=scope).id
    (home,) = memory.facts.get("home", scope=scope)
    memory.erase(home.id, scope=scope)
    learn_again(memory, scope, said)
    assert values(memory, scope) == {"name": ["Alex"]}


def test_the_persons_own_later_words_lift_it(memory: Memory, scope: Scope) -> None:
    memory.add("I live in Berlin.", scope=scope)
    (home,) = memory.facts.get("home", scope=scope)
    memory.erase(home.id, scope=scope)
    memory.add("I live in Berlin.", scope=scope)
    assert values(memory, scope) == {"home": ["Berlin"]}


def test_a_message_that_was_forgotten_before_its_job_ran_teaches_nothing(memory: Memory, scope: Scope) -> None:
    ids = memory.add([f"The weather on day {number} was nice." for number in range(40)], scope=scope).ids
    more = memory.add(["I live in Berlin.", *(f"Day {number} was fine." for number in range(40))], scope=scope)
    assert more.learned == ()
    memory.erase([more.ids[0], *ids[:3]], scope=scope)
    memory.drain()
    assert values(memory, scope) == {}


def test_what_was_erased_stays_unlearned_in_a_store_that_is_opened_anew(store_url: str, tmp_path: Path) -> None:
    scope = Scope("acme", "anna")
    options = {"embedder": None, "worker": False, "ledger": tmp_path / "erased.ledger"}
    with Memory.open(store_url, **options) as memory:  # type: ignore[arg-type]
        said = memory.add("I live in Berlin.", scope=scope).id
        (home,) = memory.facts.get("home", scope=scope)
        memory.erase(home.id, scope=scope)
    with Memory.open(store_url, **options) as memory:  # type: ignore[arg-type]
        learn_again(memory, scope, said)
        assert values(memory, scope) == {}
