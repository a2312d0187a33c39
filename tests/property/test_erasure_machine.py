"""Whatever is said, removed, restored, erased, held, killed, backed up and put back, in whatever order: what was erased
is gone for good, what was removed comes back until it is purged, and what is held is kept."""

import shutil
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from retentia import Memory, Scope, Source
from retentia.errors import Conflict, ErasedEarlier
from retentia.lifecycle import erase as erasing
from retentia.lifecycle.backup import restore
from retentia.lifecycle.store_ledger import StoreLedger
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

ME = Scope("acme", "anna")
OTHER = Scope("acme", "bert")
KINDS = ("message", "note")
WEEK = timedelta(days=7)
EIGHT_DAYS = 8 * 86_400_000_000


class Killed(BaseException):
    """The process dies here."""


@dataclass(frozen=True)
class Made:
    """A backup, the number of steps before it, and the records that were in it, wherever they lay."""

    path: Path
    step: int
    held: frozenset[str]


class ErasureMachine(RuleBasedStateMachine):
    """A memory beside a plain model: what each record says, what it is derived from, and where it lies."""

    known = Bundle("known")
    backups = Bundle("backups")
    removals = Bundle("removals")
    holds = Bundle("holds")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.folder / "memory.db"
        self.clock = FixedClock()
        self.count = 0
        self.abandoned_from = 0
        self.is_simple = True  # nothing but erasures is in the ledger
        self.erased: set[str] = set()
        self.text: dict[str, str] = {}
        self.key_of: dict[str, str] = {}
        self.gone_keys: set[str] = set()
        self.parents: dict[str, frozenset[str]] = {}
        self.here: set[str] = set()
        self.bin: dict[str, str] = {}
        self.custody: set[str] = set()
        self.held_by: set[str] = set()
        self.memory = self._open()
        self.memory.add("Bert says that nothing of his may go", scope=OTHER)
        self.say("")

    def _open(self, *, replay: bool = False) -> Memory:
        return Memory.open(
            self.store,
            embedder=FakeEmbedder(),
            worker=False,
            clock=self.clock,
            ledger=self.folder / "erased.ledger",
            replay_erasures=replay,
        )

    @rule(target=known, key=st.sampled_from(["", "", "k1", "k2", "k3"]))
    def say(self, key: str) -> object:
        self.count += 1
        text = f"sentinel{self.count} was said"
        said = {"role": "user", "content": text, "key": key}
        if key in self.gone_keys | {self.key_of.get(record) or None for record in self.bin}:
            with pytest.raises(ErasedEarlier):
                self.memory.add(said, scope=ME)
            return multiple()
        receipt = self.memory.add(said, scope=ME)
        if receipt.written[0].is_new:
            self._note(receipt.id, text, frozenset())
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
        self._note(receipt.id, text, frozenset(there))
        return receipt.id

    @rule(record=known, killed_at=st.sampled_from(["", "", "", "_carry_out", "_write_line", "_reclaim"]))
    def erase(self, record: str, killed_at: str) -> None:
        was_here = record in self.here | self.bin.keys()
        if killed_at and was_here:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(erasing.Eraser, killed_at, _die)
                with pytest.raises(Killed):
                    self.memory.erase(record, scope=ME)
            self.open_again()
        else:
            receipt = self.memory.erase(record, scope=ME)
            assert (receipt.missing == (record,)) is not was_here
            assert bool(receipt.pending) is bool(receipt.kept)
        self._forget({record})

    @rule(target=removals, record=known, is_killed=st.sampled_from([False, False, True]))
    def remove(self, record: str, is_killed: bool) -> object:
        planned = self.memory.plan_forgetting(ids=[record], scope=ME)
        assert planned.ids == ((record,) if record in self.here else ())
        if is_killed and planned.ids:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(StoreLedger, "note_applied", _die)
                with pytest.raises(Killed):
                    self.memory.forget(planned, undo_for=WEEK)
            self.open_again()
            removal: str = self.memory.keeping.removed(scope=ME)[0].id
        else:
            removal = self.memory.forget(planned, undo_for=WEEK).id
        if not planned.ids:
            return multiple()
        self.is_simple = False
        going = {record}
        while more := self._orphans(self.here - going) - going:
            going |= more
        self.here -= going
        self.bin.update(dict.fromkeys(going, removal))
        self.clock.now += 1  # the latest is first in the listing
        return removal

    @rule(removal=removals, is_killed=st.sampled_from([False, False, True]))
    def restore_removed(self, removal: str, is_killed: bool) -> None:
        coming = {record for record, taken in self.bin.items() if taken == removal}
        if not coming:
            return
        there = self.here | coming
        sources = [self.parents[record] - self.erased for record in coming]
        if any(some and not some & there for some in sources):
            with pytest.raises(Conflict):
                self.memory.keeping.restore(removal, scope=ME)
            return
        if is_killed:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(StoreLedger, "note_applied", _die)
                with pytest.raises(Killed):
                    self.memory.keeping.restore(removal, scope=ME)
            self.open_again()
        else:
            assert set(self.memory.keeping.restore(removal, scope=ME)) == coming
        self.here = there
        for record in coming:
            del self.bin[record]

    @rule()
    def purge(self) -> None:
        self.clock.now += EIGHT_DAYS
        assert self.memory.keeping.purge() == len(self.bin)
        self._forget(set(self.bin))

    @rule(target=holds)
    def hold(self) -> str:
        self.is_simple = False
        hold = self.memory.hold(scope=ME, reason="case 17")
        self.held_by.add(hold.id)
        return hold.id

    @rule(hold=consumes(holds))
    def release(self, hold: str) -> None:
        if hold not in self.held_by:
            return
        self.held_by.discard(hold)
        purged = set() if self.held_by else set(self.custody)
        assert self.memory.release(hold, tenant="acme").purged == len(purged)
        self.custody -= purged

    @rule()
    def let_the_worker_run(self) -> None:
        self.memory.drain()

    @rule()
    def open_again(self) -> None:
        self.memory.close()
        self.memory = self._open()

    @rule(target=backups)
    def back_up(self) -> Made:
        self.count += 1
        path = self.folder / f"{self.count}.zip"
        self.memory.backup(path, keep_for=timedelta(days=3000))
        return Made(path, self.count, frozenset(self.here | self.bin.keys() | self.custody))

    @rule(made=consumes(backups))
    def put_back(self, made: Made) -> None:
        """Put a backup back; one from a time that was undone only where the model can tell what becomes of it."""
        if made.step > self.abandoned_from > 0 and not self.is_simple:
            return
        self.memory.close()
        for file in self.folder.glob("memory.db*"):
            file.unlink()
        restore(made.path, self.store, now=self.clock.now)
        self.memory = self._open(replay=True)
        self.here = {
            record for record in made.held if record not in self.erased and (record in self.here or self.is_simple)
        }
        self.bin = {record: removal for record, removal in self.bin.items() if record in made.held}
        self.custody &= made.held
        self.abandoned_from = made.step
        self._forget(set())

    @invariant()
    def exactly_what_was_not_erased_is_there(self) -> None:
        if not hasattr(self, "memory"):
            return
        found = {one.id: one.text for kind in KINDS for one in self.memory.records(scope=ME, kind=kind).records}
        assert found == {record: self.text[record] for record in self.here}
        shown = self.memory.recall("sentinel", scope=ME, min_relevance=0, limit=200)
        assert {hit.id for hit in shown} == self.here
        binned = self.memory.keeping.removed(scope=ME, content=True)
        assert {record.id: record.text for one in binned for record in one.records} == {
            record: self.text[record] for record in self.bin
        }
        assert {one.id for one in self.memory.custody(tenant="acme")} == self.custody
        assert {one.id for one in self.memory.holds(tenant="acme")} == self.held_by
        assert len(self.memory.messages(scope=OTHER)) == 1

    def teardown(self) -> None:
        if not hasattr(self, "memory"):
            return
        assert self.memory.verify_audit("acme").is_sound
        self.memory.close()
        raw = self.store.read_bytes()
        for record, text in self.text.items():
            assert (text.encode() in raw) is (record in self.here | self.bin.keys() | self.custody)
        shutil.rmtree(self.folder)

    def _note(self, record: str, text: str, parents: frozenset[str]) -> None:
        self.here.add(record)
        self.text[record] = text
        self.parents[record] = parents

    def _orphans(self, living: set[str]) -> set[str]:
        """Return what is derived from records none of which lives."""
        return {record for record in living if self.parents[record] and not self.parents[record] & living}

    def _forget(self, going: set[str]) -> None:
        """Let the model forget records, and what is derived from nothing that remains."""
        while True:
            gone = (going & self.here) | self._orphans(self.here)
            gone |= going & self.bin.keys()
            gone |= {one for one in self.bin if self.parents[one] and self.parents[one] <= self.erased}
            if not gone:
                return
            self.here -= gone
            self.erased |= gone
            if self.held_by:
                self.custody |= gone
            for record in gone:
                self.bin.pop(record, None)
                if key := self.key_of.get(record):
                    self.gone_keys.add(key)


def _die(*_: object, **__: object) -> None:
    raise Killed


TestErasure = ErasureMachine.TestCase
TestErasure.settings = settings(  # a step takes a tenth of a second, so a failure is shown as it was found
    max_examples=15, stateful_step_count=20, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate)
)
