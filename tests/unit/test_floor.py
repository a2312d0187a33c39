from pathlib import Path

import pytest

from retentia import Memory, Scope

ANNA = Scope(tenant="t", user="anna")
FLOOR = 0.99


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory.open(tmp_path / "m.db", embedder=None, worker=False)
    named = {
        "Redis is a cache and a rate limiter, single node.": ["Redis", "cache"],
        "The login service keeps its sessions in Redis.": ["session store", "login"],
        "Uses Biome for linting and formatting.": ["Biome", "formatter"],
    }
    for text, names in named.items():
        made.remember(text, "preference", scope=ANNA, metadata={"names": names})
    made.remember("The office closes at six on Fridays.", scope=ANNA)
    return made


def _found(memory: Memory, question: str, **options: float) -> list[str]:
    return [hit.text.split()[0] for hit in memory.recall(question, scope=ANNA, **options)]  # type: ignore[arg-type]


def test_a_floor_keeps_what_the_question_names_and_not_what_shares_a_word_with_it(memory: Memory) -> None:
    assert set(_found(memory, "What does Redis do for us?", min_relevance=0)) >= {"Redis", "The"}
    assert _found(memory, "What does Redis do for us?", floor=FLOOR) == ["Redis"]


def test_a_named_thing_passes_however_much_else_the_question_says(memory: Memory) -> None:
    question = "so I was thinking for a while about the release and whether our formater should run before the tests do"
    assert _found(memory, question, floor=FLOOR) == ["Uses"]


def test_what_has_no_names_passes_by_its_own_relevance(memory: Memory) -> None:
    assert _found(memory, "The office closes at six on Fridays", floor=FLOOR) == ["The"]
    assert _found(memory, "closes", floor=1.0) == ["The"]


def test_a_question_that_means_nothing_here_gets_nothing_and_the_reason(memory: Memory) -> None:
    found = memory.recall("mango pooling", scope=ANNA, floor=FLOOR)
    assert (found.hits, found.reason) == ((), "nothing here is named by the question, or near enough to it")


def test_the_limit_counts_what_passed(memory: Memory) -> None:
    assert len(_found(memory, "Redis, login, formatter", floor=FLOOR)) == 3
    assert len(memory.recall("Redis, login, formatter", scope=ANNA, floor=FLOOR, limit=2)) == 2
