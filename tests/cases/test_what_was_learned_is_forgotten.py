"""Forgetting what was learned: with its message, or by itself; and no learning from the same words brings it back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from retentia import Memory, Models, Scope
from retentia.model.ids import id_bytes
from retentia.store import jobs, scopes
from retentia.testing import FakeEmbedder, FakeModel


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


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_model_that_reads_the_session_later_does_not_propose_again_what_was_forgotten(
    store_url: str, tmp_path: Path, scope: Scope, is_forgotten: bool
) -> None:
    text = "I live in Berlin."
    proposed = {
        "kind": "fact",
        "message": "m1",
        "quote": text,
        "subject": "user",
        "attribute": "home",
        "value": "Berlin",
        "is_not": False,
        "manner": "asserted",
        "since": "",
        "until": "",
        "applies_to": "",
        "due": "",
        "reasons": [],
        "rejected": [],
    }
    ledger = tmp_path / "erased.ledger"
    with Memory.open(store_url, embedder=None, worker=False, ledger=ledger) as memory:
        memory.add(text, scope=scope)
        (home,) = memory.facts.get("home", scope=scope)
        if is_forgotten:
            memory.erase(home.id, scope=scope)
    model = FakeModel({"items": [proposed]}, then={"items": []})
    models = Models(learn=model)
    with Memory.open(store_url, embedder=None, worker=False, ledger=ledger, models=models) as memory:
        memory.checkpoint(scope=scope)
        memory.drain()
        assert model.left == 0
        assert values(memory, scope) == ({} if is_forgotten else {"home": ["Berlin"]})
        assert memory.facts.inbox(scope=scope) == []
