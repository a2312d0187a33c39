"""A message of which one part is over and another holds on: it stays where it is, once, and says which part is over."""

from retentia import Memory, Scope

DANA = Scope("acme", "dana")
BOTH = "Hi, I'm Dana and I live in Bremen."
MOVED = "I moved to Hamburg."


def test_a_message_that_is_partly_over_is_shown_once_and_says_what_is_so_now(store_url: str) -> None:
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        for said in (BOTH, MOVED, "I like tea."):
            memory.add(said, scope=DANA)
        found = memory.recall("where do I live?", scope=DANA, min_relevance=0)
        texts = [hit.text for hit in found]
        assert len(texts) == len(set(texts))
        (both,) = (hit for hit in found if hit.text == BOTH)
        assert both.newer is not None
        assert both.newer.text == f"partly no longer so; now: {MOVED}"
        assert [one.value for one in memory.facts.get("home", scope=DANA)] == ["Hamburg"]
        assert [one.value for one in memory.facts.get("name", scope=DANA)] == ["Dana"]


def test_a_message_of_which_nothing_holds_goes_behind_what_took_its_place(store_url: str) -> None:
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        for said in ("I live in Bremen.", MOVED):
            memory.add(said, scope=DANA)
        found = memory.recall("where do I live?", scope=DANA, min_relevance=0)
        assert [hit.text for hit in found] == [MOVED, "I live in Bremen."]
        assert found[1].newer is not None
        assert found[1].newer.text == f"no longer so; now: {MOVED}"
