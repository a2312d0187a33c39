"""Writing: messages a second in bulk, and one durable message, beside what the disk itself allows."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpus import SESSION, Said, messages
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, add_all, as_message, empty_store, said_in
from benchmarks.tables import Cell, Table, ratio
from benchmarks.timing import Latency, seconds, time_each
from benchmarks.vectors import WordVectors
from retentia import Memory

_ADDED = 200
_BLOCK = bytes(4096)


def measure(setting: Setting) -> list[Table]:
    """Measure bulk and single writes."""
    return [_bulk(setting), _single(setting)]


def one_by_one(memory: Memory, said: Sequence[Said]) -> Latency:
    """Time messages that are added one at a time, each durable before the next."""
    return time_each(lambda one: memory.add(as_message(one), scope=SCOPE, session="one by one"), said)


def _bulk(setting: Setting) -> Table:
    said = said_in(setting, setting.ingested)
    rows: list[tuple[Cell, ...]] = []
    for name, embedder in (("words only", None), ("with the embedding jobs queued", WordVectors())):
        setting.say(f"writing {len(said):,} messages, {name}")
        with empty_store(setting, f"bulk {len(rows)}", embedder) as memory:
            add_all(memory, messages(SESSION, setting.data, seed=5))  # loads word lists, prepares statements
            spent, worked = seconds(lambda memory=memory: add_all(memory, said))  # type: ignore[misc]
        rows.append((name, len(said) / spent, len(said) / worked, 4_000))
    notes = (f"Batches of {SESSION}, each durable when it returns, terms included, embedding excluded; one thread.",)
    return Table("Bulk ingest", ("", "messages/s", "messages/s of CPU", "goal"), rows, notes)


def _single(setting: Setting) -> Table:
    setting.say("writing one message at a time")
    said = said_in(setting, _ADDED)
    with empty_store(setting, "single", WordVectors()) as memory:
        one_by_one(memory, said[:10])
        ours = one_by_one(memory, said)
    disk, sqlite = _fsync(setting.folder / "fsync"), _sqlite(setting.folder / "floor.db")
    rows = [
        ("Memory.add, one message", ours.p50, ours.p95, ours.cpu_p50, None, 3.0),
        ("SQLite, one row, WAL, synchronous=FULL", sqlite.p50, sqlite.p95, sqlite.cpu_p50, _of(ours, sqlite), None),
        ("4 kB appended and fsynced", disk.p50, disk.p95, disk.cpu_p50, _of(ours, disk), None),
    ]
    return Table("One durable message", ("", "p50 ms", "p95 ms", "CPU p50", "ours is", "goal p50"), rows)


def _of(ours: Latency, other: Latency) -> str | None:
    return ratio(ours.p50, other.p50)


def _fsync(path: Path) -> Latency:
    with path.open("wb", buffering=0) as file:

        def append(_: int) -> None:
            file.write(_BLOCK)
            os.fsync(file.fileno())

        return time_each(append, range(_ADDED))


def _sqlite(path: Path) -> Latency:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE kept (text TEXT)"):
        connection.execute(statement)
    found = time_each(lambda _: connection.execute("INSERT INTO kept VALUES (?)", ("x" * 120,)), range(_ADDED))
    connection.close()
    return found
