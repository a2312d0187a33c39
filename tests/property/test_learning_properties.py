"""A store says the same as the rule: whatever order things are told in, in whatever pieces, at once or one by one."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_reconcile_properties import runs, statements

from retentia import Memory, Scope
from retentia.learn.apply import Taught
from retentia.learn.reconcile import New
from retentia.model.candidate import Candidate
from retentia.model.ids import RecordId
from retentia.model.provenance import Trust
from retentia.model.record import Kind
from retentia.model.time import Moment
from retentia.testing_store import FixedClock

ME = Scope("acme", "anna")
DAY = 86_400_000_000
Intervals = list[tuple[str, int | None, int | None]]


@contextmanager
def opened() -> Iterator[tuple[Memory, FixedClock]]:
    clock = FixedClock(1000 * DAY)
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", embedder=None, worker=False, clock=clock) as memory,
    ):
        yield memory, clock


def taught(new: New, memory: Memory) -> Taught:
    """Return a statement as it is learned from a message of its own."""
    text = f"Day {new.start}: I live in {new.value}"
    said = memory.add({"role": "assistant", "content": text}, scope=ME)  # nothing is learned from it by itself
    candidate = Candidate(
        kind=Kind.FACT,
        subject="user",
        attribute="home",
        value=new.value,
        message_id=RecordId(said.id),
        start=0,
        end=len(text),
    )
    return Taught(candidate=candidate, text=text, at=Moment.at(new.start * DAY), trust=Trust.PERSON, author="anna")


def intervals(memory: Memory) -> Intervals:
    found = [(one.value, one.record.valid_from, one.record.valid_to) for one in memory.facts.history("home", scope=ME)]
    return sorted((one for one in found if one[1] != one[2]), key=lambda one: one[1] or 0)


SPLITS = st.lists(st.booleans(), min_size=8, max_size=8)


def _said(value: str, day: int) -> New:
    return New(value=value, start=day, end=day + 1, told_at=day, has_many=False)


PARTED_LATE = [
    *(_said("Kyiv", day) for day in (7, 5, 1)),
    *(_said("Berlin", day) for day in (4, 9, 2, 3, 6)),
]
"""What was said first belongs to the later stretch of what is parted."""


@settings(max_examples=25)
@example(PARTED_LATE, [False] * 6 + [True, False])
@given(
    st.lists(statements(outright=True), min_size=1, max_size=8, unique_by=lambda one: one.start).flatmap(
        lambda some: st.permutations(some)
    ),
    SPLITS,
)
def test_a_store_holds_what_the_rule_says_in_whatever_batches_it_is_told(some: list[New], splits: list[bool]) -> None:
    with opened() as (memory, clock):
        batch: list[Taught] = []
        known: list[tuple[int, Intervals]] = []
        for new, ends_batch in zip(some, splits, strict=False):
            batch.append(taught(new, memory))
            if ends_batch:
                memory.facts.learn(batch, scope=ME)
                batch = []
                known.append((clock(), intervals(memory)))
                clock.advance(seconds=60)
        memory.facts.learn(batch, scope=ME)
        expected = [
            (value, None if start is None else start * DAY, None if end is None else end * DAY)
            for value, start, end in runs(some)
        ]
        assert intervals(memory) == expected
        history = memory.facts.history("home", scope=ME)
        ids = {source.id for one in history for source in one.record.sources}
        assert len(ids) == len(some)  # every message is the source of something
        for one in history:  # and nothing quotes what it is not known from: that could not be erased with its source
            said = {memory.get(source.id, scope=ME).text for source in one.record.sources}
            assert one.record.text in said
        _profile_agrees(memory, expected)
        for known_at, then in known:
            for day in range(0, 42, 3):
                profile = memory.facts.profile(scope=ME, as_of=_at(day), known_at=_moment(known_at))
                assert profile.values().get("home", []) == [value for value, *span in then if _covers(span, day * DAY)]


def _profile_agrees(memory: Memory, expected: Intervals) -> None:
    for day in range(0, 42, 3):
        values = memory.facts.profile(scope=ME, as_of=_at(day)).values().get("home", [])
        assert values == [value for value, *span in expected if _covers(span, day * DAY)]
    assert memory.facts.profile(scope=ME).values()["home"] == [value for value, _, end in expected if end is None]


def _covers(span: list[int | None], instant: int) -> bool:
    start, end = span
    return (start is None or start <= instant) and (end is None or instant < end)


def _at(day: int) -> Moment:
    return Moment.at(day * DAY)


def _moment(at: int) -> Moment:
    return Moment.at(at)
