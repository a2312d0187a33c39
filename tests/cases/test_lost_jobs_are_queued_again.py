"""A job that vanished must not leave its records without a vector for ever; what a person gave up stays so."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, update

from retentia import Memory, Scope
from retentia.jobs.sweep import sweep
from retentia.store.schema import due, job, message
from retentia.store.scopes import NEVER
from retentia.testing import FakeEmbedder

Damage = Callable[[Memory], None]


def lose_jobs(memory: Memory) -> None:
    """Remove the rows of all jobs, as a restored table or a hand in the database would."""
    with memory._database.write("acme") as transaction:
        transaction.run(delete(job).where(job.c.tenant == "acme"))


def lose_the_hint(memory: Memory) -> None:
    """Let the store believe that there is nothing to do."""
    with memory._database.write("acme") as transaction:
        transaction.run(update(due).where(due.c.tenant == "acme").values(next_at=NEVER))


def is_found_by_meaning(memory: Memory, scope: Scope) -> bool:
    return "dense" in memory.recall("when does the ferry leave", scope=scope, min_relevance=0)[0].signals


@pytest.mark.parametrize("damage", [lose_jobs, lose_the_hint])
def test_a_record_whose_job_vanished_is_found_by_meaning_again(memory: Memory, scope: Scope, damage: Damage) -> None:
    memory.add(["The ferry leaves at nine", "Bring a coat"], scope=scope)
    damage(memory)
    assert memory.drain() == 0
    assert not is_found_by_meaning(memory, scope)
    memory.sweep()
    memory.drain()
    assert is_found_by_meaning(memory, scope)
    assert memory.stats(scope=scope).without_vector == 0


def test_nothing_is_queued_twice_and_nothing_that_is_done(memory: Memory, scope: Scope) -> None:
    memory.add([f"Ferry {number} leaves" for number in range(300)], scope=scope)
    assert memory.sweep() == 0
    lose_jobs(memory)
    assert memory.sweep() == 300
    assert memory.sweep() == 0
    assert len(memory.jobs(tenant="acme")) == 2
    memory.drain()
    assert memory.sweep() == 0


def test_every_tenant_and_scope_is_swept(memory: Memory) -> None:
    homes = [Scope("acme", "anna"), Scope("acme", "anna", "work"), Scope("umbrella", "bo")]
    for home in homes:
        memory.add("The ferry leaves at nine", scope=home)
    for tenant in ("acme", "umbrella"):
        with memory._database.write(tenant) as transaction:
            transaction.run(delete(job).where(job.c.tenant == tenant))
    assert memory.sweep() == 3
    memory.drain()
    assert all(is_found_by_meaning(memory, home) for home in homes)


def test_sweepers_at_the_same_time_queue_a_record_once(memory: Memory, scope: Scope) -> None:
    memory.add([f"Ferry {number} leaves" for number in range(20)], scope=scope)
    lose_jobs(memory)
    generation = memory._embedding.current().generation
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: sweep(memory._database, "acme", [generation]), range(6)))
    assert sum(found) == 20
    assert [len(waiting.record_ids) for waiting in memory.jobs(tenant="acme")] == [20]


def test_a_dead_job_is_left_dead_and_a_cancelled_one_cancelled(store_url: str, scope: Scope) -> None:
    now = [1_800_000_000_000_000]
    embedder = FakeEmbedder()
    with Memory.open(store_url, embedder=embedder, worker=False, clock=lambda: now[0]) as memory:
        embedder.is_down = True
        receipt = memory.add("The ferry leaves at nine", scope=scope)
        for _ in range(20):
            memory.drain()
            now[0] += 3_600_000_000
        assert memory.status(receipt) == "failed"
        embedder.is_down = False
        assert (memory.sweep(), memory.drain()) == (0, 0)
        assert memory.status(receipt) == "failed"
        (dead,) = memory.jobs(tenant="acme")
        memory.cancel_job(dead.id, tenant="acme")
        assert (memory.sweep(), memory.drain()) == (0, 0)
        assert memory.jobs(tenant="acme") == []
        assert memory.stats(scope=scope).without_vector == 1


def test_a_passage_whose_record_is_gone_is_not_queued_for_ever(memory: Memory, scope: Scope) -> None:
    memory.add("The ferry leaves at nine", scope=scope)
    lose_jobs(memory)
    with memory._database.write("acme") as transaction:
        transaction.run(delete(message).where(message.c.tenant == "acme"))
    assert memory.sweep() == 0


def test_a_store_whose_vectors_are_anothers_is_left_to_that_one(memory: Memory, scope: Scope) -> None:
    memory.add("The ferry leaves at nine", scope=scope)
    lose_jobs(memory)
    assert sweep(memory._database, "acme", []) == 0
    assert sweep(memory._database, "acme", [99]) == 0


def test_the_worker_sweeps_when_it_starts_and_then_again_and_again(
    store_url: str, scope: Scope, embedder: FakeEmbedder
) -> None:
    with Memory.open(store_url, embedder=embedder, worker=False) as memory:
        memory.add("The ferry leaves at nine", scope=scope)
        lose_jobs(memory)
    with Memory.open(store_url, embedder=embedder) as memory:
        wait_until(lambda: memory.stats(scope=scope).without_vector == 0)
        worker = memory._workers.embedding
        worker._sweep_seconds = worker._next_sweep = 0
        for number in range(3):
            memory.add(f"Ferry {number} leaves at ten", scope=scope)
            lose_jobs(memory)
            wait_until(lambda: memory.stats(scope=scope).without_vector == 0)


def wait_until(is_so: Callable[[], bool], *, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)
