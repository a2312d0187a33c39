"""One memory used from many threads and from an event loop."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from retentia import Memory, Receipt, Scope
from retentia.testing import FakeEmbedder


def test_threads_write_and_read_one_memory_at_once(store_url: str) -> None:
    scopes = [Scope("acme", f"user{number}") for number in range(4)]
    with Memory.open(store_url, embedder=FakeEmbedder()) as memory, ThreadPoolExecutor(8) as pool:

        def work(number: int) -> Receipt:
            scope = scopes[number % 4]
            receipt = memory.add(f"fact {number} about the harbour", scope=scope)
            assert len(memory.recall("harbour", scope=scope, limit=100, min_relevance=0)) >= 1
            return receipt

        receipts = list(pool.map(work, range(80)))
        assert {memory.wait(receipt) for receipt in receipts} == {"indexed"}
        for scope in scopes:
            assert len(memory.recall("harbour", scope=scope, limit=100, min_relevance=0)) == 20
            assert memory.stats(scope=scope).without_vector == 0


def test_an_event_loop_goes_on_while_a_thread_inserts(sqlite_url: str) -> None:
    """mcp-memory-service#433: a large insert blocked the loop; the pulse here counts, it does not measure."""

    async def insert_with_a_pulse() -> int:
        beats = 0
        with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
            scope = Scope("acme", "anna")
            texts = [f"message {number} about something" for number in range(10_000)]
            inserting = asyncio.create_task(asyncio.to_thread(memory.add, texts, scope=scope))
            started = time.monotonic()
            while not inserting.done():
                await asyncio.sleep(0.005)
                beats += 1
            spent = time.monotonic() - started
            assert len((await inserting).ids) == 10_000
        return round(beats / spent)

    assert asyncio.run(insert_with_a_pulse()) >= 5
