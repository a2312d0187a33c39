"""Whatever is said, erased, killed, backed up and put back, in whatever order: what was erased is gone for good."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from retentia import Memory, Scope, Source
from retentia.errors import ErasedEarlier
from retentia.lifecycle import erase as erasing
from retentia.lifecycle.backup import restore
from retentia.testing import FakeEmbedder

ME = Scope("acme", "anna")
OTHER = Scope("acme", "bert")
KINDS = ("message", "note")


class Killed(BaseException):
    """The process dies here."""


class ErasureMachine(RuleBasedStateMachine):
    """A memory beside a plain model: what each record says, what it is derived from, and which keys are gone."""

    known = Bundle("known")
    backups = Bundle("backups")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.folder / "memory.db"
        self.count = 0
        self.erased: set[str] = set()
        self.gone_keys: set[str] = set()
        self.key_of: dict[str, str] = {}
        self.parents: dict[str, frozenset[str]] = {}
        self.here: dict[str, str] = {}
        self.memory = self._open()
        self.memory.add("Bert says that nothing of his may go", scope=OTHER)

    def _open(self, *, replay: bool = False) -> Memory:
        return Memory.open(
            self.store,
            embedder=FakeEmbedder(),
            worker=False,
            ledger=self.folder / "erased.ledger",
            replay_erasures=replay,
        )

    @rule(target=known, key=st.sampled_from(["", "", "k1", "k2", "k3"]))
    def say(self, key: str) -> object:
        self.count += 1
        text = f"sentinel{self.count} was said"
        said = {"role": "user", "content": text, "key": key}
        if key in self.gone_keys:
            with pytest.raises(ErasedEarlier):
                self.memory.add(said, scope=ME)
            return multiple()
        receipt = self.memory.add(said, scope=ME)
        if receipt.written[0].is_new:
            self.here[receipt.id] = text
            self.parents[receipt.id] = frozenset()
            self.key_of[receipt.id] = key
        return receipt.id

    @rule(target=known, sources=st.lists(known, min_size=1, max_size=2, unique=True))
    def conclude(self, sources: list[str]) -> object:
        there = [source for source in sources if source in self.here]
        if not there:
            return multiple()
        self.count += 1
        text = f"sentinel{self.count} follows"
        cited = [Source(kind="message", id=source, start=0, end=3) for source in there]
        receipt = self.memory.remember(text, "note", scope=ME, sources=cited)
        self.here[receipt.id] = text
        self.parents[receipt.id] = frozenset(there)
        return receipt.id

    @rule(record=known, killed_at=st.sampled_from(["", "", "", "_carry_out", "_write_line", "_reclaim"]))
    def erase(self, record: str, killed_at: str) -> None:
        was_here = record in self.here
        if killed_at and was_here:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(erasing.Eraser, killed_at, _die)
                with pytest.raises(Killed):
                    self.memory.erase(record, scope=ME)
            self.memory.close()
            self.memory = self._open()
        else:
            receipt = self.memory.erase(record, scope=ME)
            assert (receipt.missing == (record,)) is not was_here
            assert receipt.pending == ""
        self._forget({record} & self.here.keys())

    @rule()
    def let_the_worker_run(self) -> None:
        self.memory.drain()

    @rule()
    def open_again(self) -> None:
        self.memory.close()
        self.memory = self._open()

    @rule(target=backups)
    def back_up(self) -> tuple[Path, dict[str, str]]:
        self.count += 1
        path = self.folder / f"{self.count}.zip"
        self.memory.backup(path)
        return path, dict(self.here)

    @rule(made=consumes(backups))
    def put_back(self, made: tuple[Path, dict[str, str]]) -> None:
        path, held = made
        self.memory.close()
        for file in self.folder.glob("memory.db*"):
            file.unlink()
        restore(path, self.store)
        self.memory = self._open(replay=True)
        self.here = {record: text for record, text in held.items() if record not in self.erased}
        self._forget(set())

    @invariant()
    def exactly_what_was_not_erased_is_there(self) -> None:
        if not hasattr(self, "memory"):
            return
        found = {one.id: one.text for kind in KINDS for one in self.memory.records(scope=ME, kind=kind).records}
        assert found == self.here
        shown = self.memory.recall("sentinel", scope=ME, min_relevance=0, limit=200)
        assert {hit.id for hit in shown} == self.here.keys()
        assert len(self.memory.messages(scope=OTHER)) == 1

    def teardown(self) -> None:
        if not hasattr(self, "memory"):
            return
        self.memory.close()
        raw = self.store.read_bytes()
        for number in range(1, self.count + 1):
            text = f"sentinel{number} "
            assert (text.encode() in raw) is any(said.startswith(text) for said in self.here.values())
        shutil.rmtree(self.folder)

    def _forget(self, going: set[str]) -> None:
        """Let the model forget records, and what is derived from nothing that remains."""
        while True:
            gone = going | {
                record for record in self.here if self.parents[record] and not self.parents[record] & self.here.keys()
            }
            gone &= self.here.keys()
            if not gone:
                return
            for record in gone:
                del self.here[record]
                self.erased.add(record)
                if key := self.key_of.get(record):
                    self.gone_keys.add(key)


def _die(*_: object, **__: object) -> None:
    raise Killed


TestErasure = ErasureMachine.TestCase
TestErasure.settings = settings(  # a step takes a tenth of a second, so a failure is shown as it was found
    max_examples=15, stateful_step_count=15, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate)
)
