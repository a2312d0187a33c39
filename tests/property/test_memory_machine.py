"""A memory under random use, compared with a plain dictionary."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from retentia import Memory, Scope
from retentia.testing import FakeEmbedder

SCOPES = [Scope("acme", "anna"), Scope("acme", "anna", "work"), Scope("acme", "ann"), Scope("other", "anna")]
WORDS = st.sampled_from(["river", "stone", "lamp", "Київ", "Straße", "茶", "ZX-9137", "train", "violet", "harbour"])
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)


class MemoryMachine(RuleBasedStateMachine):
    """Two handles on one store, as two processes have them; what one writes the other must see at its next search."""

    written = Bundle("written")

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.handles = [self._open(), self._open()]
        self.known: dict[Scope, dict[str, str]] = {scope: {} for scope in SCOPES}

    def _open(self) -> Memory:
        return Memory.open(self.folder / "memory.db", embedder=FakeEmbedder(32), worker=False)

    @rule(
        target=written,
        scope=st.sampled_from(SCOPES),
        texts=st.lists(TEXTS, min_size=1, max_size=4),
        at=st.integers(0, 1),
    )
    def add(self, scope: Scope, texts: list[str], at: int) -> tuple[Scope, str]:
        receipt = self.handles[at].add(texts, scope=scope, session=f"s{len(texts)}")
        self.known[scope].update(zip(receipt.ids, texts, strict=True))
        return scope, receipt.ids[0]

    @rule(one=written, at=st.integers(0, 1))
    def erase(self, one: tuple[Scope, str], at: int) -> None:
        scope, record_id = one
        erased = self.handles[at].erase(record_id, scope=scope)
        assert bool(erased.missing) == (record_id not in self.known[scope])
        self.known[scope].pop(record_id, None)

    @rule(one=written, other=st.sampled_from(SCOPES))
    def erase_in_another_scope(self, one: tuple[Scope, str], other: Scope) -> None:
        scope, record_id = one
        if other != scope:
            assert self.handles[0].erase(record_id, scope=other).removed == {}

    @rule(at=st.integers(0, 1))
    def embed(self, at: int) -> None:
        self.handles[at].drain()

    @rule(at=st.integers(0, 1))
    def reindex(self, at: int) -> None:
        self.handles[at].reindex()

    @rule(at=st.integers(0, 1))
    def reopen(self, at: int) -> None:
        self.handles[at].close()
        self.handles[at] = self._open()

    @rule(scope=st.sampled_from(SCOPES), query=TEXTS, limit=st.integers(1, 30), budget=st.none() | st.integers(1, 60))
    def ask(self, scope: Scope, query: str, limit: int, budget: int | None) -> None:
        answers = [
            handle.recall(query, scope=scope, limit=limit, token_budget=budget, min_relevance=0)
            for handle in self.handles
        ]
        assert [hit.id for hit in answers[0]] == [hit.id for hit in answers[1]]
        for hit in answers[0]:
            assert self.known[scope][hit.id] == hit.record.text
            assert hit.record.scope == scope
        if budget is None:
            assert len(answers[0]) == min(limit, len(self.known[scope]))
        else:
            assert sum(hit.tokens for hit in answers[0]) <= budget

    @invariant()
    def every_record_is_there_with_its_passages(self) -> None:
        for scope in SCOPES:
            found = self.handles[0].stats(scope=scope)
            assert found.records.get("message", 0) == found.passages == len(self.known[scope])

    def teardown(self) -> None:
        for handle in self.handles:
            handle.close()
        shutil.rmtree(self.folder)


MemoryMachine.TestCase.settings = settings(max_examples=12, stateful_step_count=18, deadline=None)
test_two_handles_agree_with_a_dictionary = MemoryMachine.TestCase
