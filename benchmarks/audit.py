"""The audit log: how fast it is verified beside bare SHA-256, and what being logged and checked adds to a recall."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.search import Asked
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, copy_of
from benchmarks.tables import Table, ratio
from benchmarks.timing import Latency, median, seconds
from retentia import Memory, Principal, Scope
from retentia.acting import ActingMemory
from retentia.model.ids import new_id_bytes
from retentia.read.query import Recall
from retentia.security import audit
from retentia.security.audit import Access, Action, Actor
from retentia.store import audit as rows
from retentia.store.database import Database
from retentia.store.open import open_database

_AT_ONCE = 1_000
_GOAL = 50_000
_READER = Scope(tenant=SCOPE.tenant, user="reader")


def measure(setting: Setting) -> list[Table]:
    """Measure the verifier on a log of its own, and recall on a store of the middle size."""
    return [_verifying(setting), _recalling(setting)]


def _verifying(setting: Setting) -> Table:
    count = setting.logged
    database = open_database(setting.folder / "audit.db")
    setting.say(f"writing {count:,} entries")
    written, _ = seconds(partial(_write, database, count))
    setting.say("verifying")
    taken, worked = seconds(partial(audit.verify, database, SCOPE.tenant))
    report = audit.verify(database, SCOPE.tenant)
    size = _entry_bytes(database)
    database.close()
    bare, bare_worked = seconds(partial(_hash, size, count))
    assert report.is_sound
    assert report.entries == count
    figures = [
        ("verify: read from SQLite and hash in order", count / taken, count / worked, _GOAL),
        ("floor: the hashes alone, nothing read", count / bare, count / bare_worked, None),
        ("of the floor", ratio(count / taken, count / bare), ratio(count / worked, count / bare_worked), None),
        (f"append, {_AT_ONCE:,} in a transaction", count / written, None, None),
    ]
    told = f"{count:,} entries of {size} bytes, each with the ids of ten records; one thread; SQLite."
    return Table("Verifying the audit log", ("", "entries/s", "per CPU second", "goal"), figures, (told,))


def _write(database: Database, count: int) -> None:
    actor = Actor("key-7f3a", "agent")
    ids = [new_id_bytes() for _ in range(10)]
    for start in range(0, count, _AT_ONCE):
        with database.write(SCOPE.tenant) as transaction:
            access = Access(actor=actor, action=Action.RECALL, scope=7, ids=ids, at=transaction.now)
            audit.append(transaction, [access] * min(_AT_ONCE, count - start))


def _entry_bytes(database: Database) -> int:
    with database.read(SCOPE.tenant) as transaction:
        ((_, entry, _),) = rows.page(transaction, after=0, limit=1)
    return len(entry)


def _hash(size: int, count: int) -> None:
    last, entry = bytes(32), bytes(size)
    for _ in range(count):
        last = hashlib.sha256(last + entry).digest()


def _recalling(setting: Setting) -> Table:
    path = copy_of(setting, setting.middle, "audited")
    asked = Asked.of(setting)
    setting.say("recalling")
    ours = Principal(id="key-7f3a", role="agent", tenant=SCOPE.tenant, user=SCOPE.user)
    theirs = Principal(id="key-91c0", role="agent", tenant=SCOPE.tenant, user=_READER.user)
    opened = partial(Memory.open, path, embedder=asked.embedder, worker=False)
    with opened() as memory, opened(audit=True) as logging:
        memory.grant(scope=SCOPE, to=_READER, expires_at="2100")
        ways: dict[str, Memory | ActingMemory] = {
            "without a principal": memory,
            "without a principal, audit=True": logging,
            "as an agent, its own scope": memory.acting_as(ours),
            "as another agent, by a grant": memory.acting_as(theirs),
        }
        found = _in_turn([way.recall for way in ways.values()], asked)
    plain = found[0]
    rows = [
        (name, one.p50, one.p95, one.cpu_p50, ratio(one.cpu_p50, plain.cpu_p50))
        for name, one in zip(ways, found, strict=True)
    ]
    told = f"{setting.middle:,} passages, warm; SQLite; each question in every way in turn. By a grant the entry is "
    told += "durable before the answer is given."
    columns = ("recall", "p50 ms", "p95 ms", "CPU p50 ms", "CPU ratio")
    return Table("What logging and checking add to a recall", columns, rows, (told,))


def _in_turn(recalls: Sequence[Callable[..., Recall]], asked: Asked) -> list[Latency]:
    """Time each question in every way before the next: what else the machine does then hits all alike."""
    for question in asked.warm_up:
        for recall in recalls:
            recall(question, scope=SCOPE, min_relevance=0.0)
    taken: list[list[tuple[float, float]]] = [[] for _ in recalls]
    for question in asked.measured:
        for some, recall in zip(taken, recalls, strict=True):
            some.append(seconds(partial(recall, question, scope=SCOPE, min_relevance=0.0)))
    return [_latency(some) for some in taken]


def _latency(taken: Sequence[tuple[float, float]]) -> Latency:
    wall = sorted(1000 * one for one, _ in taken)
    return Latency(median(wall), wall[int(len(wall) * 0.95)], median([1000 * one for _, one in taken]))
