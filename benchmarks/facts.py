"""Facts: how many are reconciled in a second, a profile read, a correction seen, and what learning adds to a write."""

import random
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.corpus import SESSION, messages
from benchmarks.ingest import one_by_one
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, add_all, empty_store, said_in
from benchmarks.tables import Cell, Table
from benchmarks.timing import Latency, seconds, time_each
from retentia import Memory
from retentia.learn.apply import Taught
from retentia.learn.extract import extract
from retentia.learn.inline import LearningSettings
from retentia.model.candidate import PERSON, Candidate
from retentia.model.ids import RecordId
from retentia.model.provenance import Trust
from retentia.model.record import Kind
from retentia.model.time import Moment
from retentia.working.original import Original

_AT_ONCE = 500
_PROFILE = 30
_CORRECTIONS = 60
_DAY = 86_400_000_000
_ONE = ("employer", "home", "role", "team", "manager", "email")
_MANY = ("likes", "uses", "speaks", "hobby", "owns")
_PLAIN = (
    "The invoice for the third quarter is on its way and should arrive by noon.",
    "I live in a small town near the river and work at Initech as a data engineer.",
    "Could you have a look at the failing test in the payment module, please?",
    "Ich wohne in Köln und arbeite bei Initech.",
    "Я живу в Києві й працюю в Ініціалі.",
)


def measure(setting: Setting) -> list[Table]:
    """Measure what learning costs."""
    return [_reconciling(setting), _reading(setting), _extracting(setting), _writing(setting)]


def _reconciling(setting: Setting) -> Table:
    held, more = (2_000, 500) if setting.quick else (100_000, 10_000)
    rows: list[tuple[Cell, ...]] = []
    with empty_store(setting, "reconciled", None) as memory:
        setting.say(f"learning {held:,} facts")
        known = _facts(held, seed=1)
        _learn(memory, known)
        for name, facts in (
            ("new facts", _facts(more, seed=2)),
            ("facts that are held", known[-more:]),
            ("newer values of held facts", _newer(known[-more:])),
        ):
            setting.say(f"reconciling {more:,} facts, {name}")
            spent, worked = seconds(lambda facts=facts: _learn(memory, facts))  # type: ignore[misc]
            rows.append((name, more / spent, more / worked, 2_000))
    notes = (f"Into a store with {held:,} facts, {_AT_ONCE} in one durable transaction; one thread.",)
    return Table("Reconciling", ("", "facts/s", "facts/s of CPU", "goal"), rows, notes)


def _reading(setting: Setting) -> Table:
    with empty_store(setting, "profile", None) as memory:
        add_all(memory, messages(setting.middle, setting.data, seed=7))
        memory.facts.learn(_many(_PROFILE), scope=SCOPE)
        count = len(memory.facts.profile(scope=SCOPE, subject="subject 0"))
        setting.say("reading a profile")
        read = time_each(lambda _: memory.facts.profile(scope=SCOPE, subject="subject 0"), range(setting.questions))
        one = time_each(lambda _: memory.facts.get("home", scope=SCOPE, subject="subject 0"), range(setting.questions))
        setting.say("correcting")
        memory.add("My name is Alice.", scope=SCOPE)
        memory.recall("What is my name?", scope=SCOPE)
        corrected = time_each(lambda number: _correct(memory, number), range(_CORRECTIONS))
    rows = [
        _row(f"profile of {count} facts", read, 1.0),
        _row("one attribute", one, None),
        _row("a correction said, and seen by the next recall", corrected, 20.0),
    ]
    notes = (f"In a scope with {setting.middle:,} messages.",)
    return Table("What is believed", ("", "p50 ms", "p95 ms", "CPU p50", "goal p50"), rows, notes)


def _extracting(setting: Setting) -> Table:
    count = setting.middle
    plain = [Original(id=str(number), role="user", text=_PLAIN[number % len(_PLAIN)]) for number in range(count)]
    corpus = [
        Original(id=str(number), role="user", text=one.text) for number, one in enumerate(said_in(setting, count))
    ]
    rows: list[tuple[Cell, ...]] = []
    for name, told in (("conversations", corpus), ("sentences of which half teach something", plain)):
        setting.say(f"extracting from {name}")
        extract(told[:50])
        found: list[Candidate] = []
        spent, worked = seconds(lambda told=told, found=found: found.extend(extract(told)))  # type: ignore[misc]
        rows.append((name, spent / len(told) * 1e6, worked / len(told) * 1e6, len(found) / len(told)))
    return Table("Extraction by rules", ("", "µs a message", "µs of CPU", "candidates a message"), rows)


def _writing(setting: Setting) -> Table:
    said = said_in(setting, setting.ingested)
    rows: list[tuple[Cell, ...]] = []
    for name, settings in (("on", LearningSettings()), ("off", LearningSettings(is_on=False))):
        setting.say(f"writing with learning {name}")
        with _store(setting, f"learning {name}", settings) as memory:
            add_all(memory, messages(SESSION, setting.data, seed=5))
            one_by_one(memory, said[:10])
            single = one_by_one(memory, said[:200])
            spent, _ = seconds(lambda memory=memory: add_all(memory, said))  # type: ignore[misc]
            learned, _ = seconds(lambda memory=memory: memory.drain())  # type: ignore[misc]
        rows.append((name, len(said) / spent, learned / len(said) * 1e6, single.p50, single.p95))
    notes = ("Bulk is learned from by jobs, behind the write; a single message within its own transaction.",)
    columns = ("learning", "bulk messages/s", "jobs, µs a message", "one add p50 ms", "p95 ms")
    return Table("What learning adds to a write", columns, rows, notes)


def _store(setting: Setting, name: str, settings: LearningSettings) -> Memory:
    path = setting.folder / f"{name}.db"
    return Memory.open(path, embedder=None, worker=False, ledger=None, learning=settings)


def _correct(memory: Memory, number: int) -> None:
    new, old = _name(number), _name(number - 1) if number else "Alice"
    memory.add(f"Actually, my name is {new}, not {old}.", scope=SCOPE)
    hits = memory.recall("What is my name?", scope=SCOPE, limit=3, min_relevance=0).hits
    if not any(new in hit.text for hit in hits):
        raise AssertionError(f"{new} was not found at once")


def _name(number: int) -> str:
    return f"{'ABCDEFGH'[number % 8]}l{'aeiou'[number // 8 % 5]}{'xnrs'[number % 4]}"


def _facts(count: int, *, seed: int, subjects: int = 0) -> list[Taught]:
    """Make facts about subjects, always the same for the same seed: some of slots with one value, some with many."""
    choose = random.Random(seed)
    people = subjects or max(count // 20, 1)
    return [_fact(choose, number, people, seed) for number in range(count)]


def _many(count: int) -> list[Taught]:
    """Make facts about one subject that all stand beside one another."""
    return _facts(2 * count, seed=3, subjects=1)[::2]


def _fact(choose: random.Random, number: int, people: int, seed: int) -> Taught:
    subject = f"subject {number % people}"
    attribute = _ONE[number // people % len(_ONE)] if number % 2 else _MANY[number // people % len(_MANY)]
    value = f"{attribute} {seed} {choose.randrange(1_000_000)}"
    text = f"{attribute} of {subject} is {value}"
    candidate = Candidate(
        kind=Kind.FACT, subject=subject, attribute=attribute, value=value, message_id=RecordId(""), start=0, end=0
    )
    at = Moment.at((20_000 + seed) * _DAY + number)
    return Taught(candidate=candidate, text=text, at=at, trust=Trust.PERSON, author=PERSON, source_kind=None)


def _newer(facts: Sequence[Taught]) -> list[Taught]:
    return [
        replace(
            one,
            candidate=replace(one.candidate, value=f"{one.candidate.value} anew"),
            at=Moment.at(one.at.start + 90 * _DAY),
        )
        for one in facts
    ]


def _learn(memory: Memory, facts: Sequence[Taught]) -> None:
    for first in range(0, len(facts), _AT_ONCE):
        memory.facts.learn(facts[first : first + _AT_ONCE], scope=SCOPE)


def _row(name: str, found: Latency, goal: float | None) -> tuple[Cell, ...]:
    return name, found.p50, found.p95, found.cpu_p50, goal
