"""Strangers in the same file: do a million records of other tenants change what ours cost?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Select, insert, literal, select
from sqlalchemy import Table as SqlTable

from benchmarks.ingest import one_by_one
from benchmarks.search import Asked, recall_latency
from benchmarks.setting import Setting
from benchmarks.start import start
from benchmarks.stores import SCOPE, copy_of, said_in
from benchmarks.tables import Table, ratio
from benchmarks.timing import median
from benchmarks.vectors import WordVectors
from retentia import Memory
from retentia.store import schema
from retentia.store.database import Database
from retentia.store.open import open_database

_COPIED = (schema.scope, schema.session, schema.message, schema.passage, schema.vector)
_GOAL = 1.2
_ADDED = 50

_Figures = dict[str, float]


def measure(setting: Setting) -> list[Table]:
    """Measure the same verbs on the same scope before and after the others move in."""
    path = copy_of(setting, setting.middle, "shared")
    asked = Asked.of(setting)
    setting.say("searching before the others move in")
    alone = _figures(setting, path, asked)
    tenants = max(setting.strangers // setting.middle, 1)
    _move_in(path, tenants, lambda done: setting.say(f"{done} of {tenants} other tenants moved in"))
    setting.say("searching with the others in the file")
    together = _figures(setting, path, asked)
    rows = [(name, alone[name], together[name], ratio(together[name], alone[name]), f"{_GOAL}×") for name in alone]
    size = path.stat().st_size / 1e9
    told = f"{tenants * setting.middle:,} messages of {tenants} other tenants with their passages and vectors: one "
    told += f"tenant's {setting.middle:,} rows, written by Memory.add, copied under other names by INSERT … SELECT; "
    told += f"the file then has {size:.2f} GB."
    return [Table("Other tenants in the same file", ("", "alone ms", "together ms", "ratio", "goal"), rows, (told,))]


def _figures(setting: Setting, path: Path, asked: Asked) -> _Figures:
    warm = recall_latency(path, asked)
    cold = [start(path, asked) for _ in range(setting.runs)]
    with Memory.open(path, embedder=WordVectors(), worker=False) as memory:
        added = one_by_one(memory, said_in(setting, _ADDED))
    return {
        "search, warm, p50": warm.p50,
        "search, warm, p95": warm.p95,
        "search, warm, processor time p50": warm.cpu_p50,
        "first search of a process": median([one.ms["first search"] for one in cold]),
        "first search, processor time": median([one.cpu_ms["first search"] for one in cold]),
        "open": median([one.ms["open"] for one in cold]),
        "one durable add, p50": added.p50,
        "one durable add, processor time p50": added.cpu_p50,
    }


def _move_in(path: Path, tenants: int, done: Callable[[int], None]) -> None:
    database = open_database(path)
    try:
        for number in range(1, tenants + 1):
            _copy(database, f"tenant {number:04}")
            done(number)
    finally:
        database.close()


def _copy(database: Database, tenant: str) -> None:
    with database.write(tenant) as transaction:
        for table in _COPIED:
            transaction.run(insert(table).from_select(list(table.c), _rows_of_ours(table, tenant)))


def _rows_of_ours(table: SqlTable, tenant: str) -> Select[Any]:
    columns = [literal(tenant) if column.name == "tenant" else column for column in table.c]
    return select(*columns).where(table.c.tenant == SCOPE.tenant)
