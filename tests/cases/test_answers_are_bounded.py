"""Case 94: a tool that reads the memory never gets more than it asked for, and can turn the page.

servers#3953 and astraeus#2: `read_graph` answered with 50,000 to 80,000 tokens. What a model or a tool is given comes
through these verbs; each is bounded by a number or by tokens, and listings go on where they stopped.
"""

from collections.abc import Iterator

import pytest

from retentia import Kind, Memory, Scope, ToolCall
from retentia.working.tokens import EstimatingCounter

ANNA = Scope("acme", "anna")
COUNTER = EstimatingCounter()


@pytest.fixture
def memory(store_url: str) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        texts = [
            f"Boat {number} lies in the harbour of Odesa. " + "It is painted blue and white. " * 20
            for number in range(120)
        ]
        memory.add(texts, scope=ANNA, session="boats")
        memory.log_tool_call(ToolCall(name="list_boats", result=[{"boat": text} for text in texts]), scope=ANNA)
        yield memory


@pytest.mark.parametrize("budget", [0, 50, 400, 2_000])
def test_what_is_recalled_stays_within_its_tokens(memory: Memory, budget: int) -> None:
    found = memory.recall("boats in the harbour", scope=ANNA, limit=100, token_budget=budget, min_relevance=0)
    assert sum(COUNTER.count(hit.text) for hit in found) <= budget


def test_a_long_record_is_recalled_by_its_telling_stretches(memory: Memory) -> None:
    for hit in memory.recall("Boat 77", scope=ANNA, min_relevance=0):
        assert COUNTER.count(hit.text) <= 400


def test_a_result_of_a_tool_comes_condensed_and_whole_only_on_demand(memory: Memory) -> None:
    seen = memory.tools.seen("list_boats", scope=ANNA)
    assert len(seen.condensed) <= 500
    assert seen.id is not None
    assert len(str(memory.tools.result(seen.id, scope=ANNA))) > 50_000


def test_listings_go_on_where_they_stopped_and_miss_nothing(memory: Memory) -> None:
    texts: list[str] = []
    cursor = ""
    while True:
        page = memory.records(scope=ANNA, kind=Kind.MESSAGE, after=cursor, limit=17)
        assert len(page.records) <= 17
        texts += [record.text for record in page.records]
        if not page.cursor:
            break
        cursor = page.cursor
    assert len(texts) == len(set(texts)) == 120


def test_a_prompt_never_takes_more_than_its_budget_whatever_is_stored(memory: Memory) -> None:
    for budget in (200, 1_500):
        assert memory.context("Where are the boats?", scope=ANNA, session="boats", budget=budget).total_tokens <= budget
