"""The repeat guard: how long it takes to tell whether a call was made before, beside reading its row by its key."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

from benchmarks.setting import Setting
from benchmarks.stores import SCOPE
from benchmarks.tables import Cell, Table
from benchmarks.timing import Latency, time_each
from retentia import Memory
from retentia.model.portable import Line

_AT_ONCE = 1_000
_FILES = 500
_GOAL_MS = 1.0
_ROUND = ("get_price", "read_file", "web_search")
_FLOOR = (
    "SELECT called_at FROM tool_use WHERE tenant = ? AND scope_id = ? AND call_key = ? ORDER BY called_at DESC LIMIT 1"
)


def measure(setting: Setting) -> list[Table]:
    """Measure both larger sizes."""
    rows: list[tuple[Cell, ...]] = []
    for size in setting.sizes[1:]:
        rows += [
            (f"{size:,}", what, one.p50, one.p95, one.cpu_p50, goal) for what, one, goal in _measured(setting, size)
        ]
    told = "Every call has arguments of its own, every third one reads one of 500 files, which is stale when a later "
    told += "call wrote it. Warm; SQLite; one thread. The floor is one look into the index, without anything around it."
    columns = ("calls logged", "tools.seen", "p50 ms", "p95 ms", "CPU p50 ms", "goal p50 ms")
    return [Table("Whether a call was made before", columns, rows, (told,))]


def _measured(setting: Setting, size: int) -> list[tuple[str, Latency, float | None]]:
    path = setting.folder / f"tools-{size}.db"
    with Memory.open(path, embedder=None, worker=False) as memory:
        for start in range(0, size, _AT_ONCE):
            setting.say(f"logging {start:,} of {size:,} calls")
            memory.import_records([_line(number) for number in range(start, start + _AT_ONCE)], scope=SCOPE)
        setting.say("asking")
        spread = [size * number // setting.questions // 3 * 3 for number in range(setting.questions)]
        ask = partial(_ask, memory)
        memory.tools.seen("warm up", scope=SCOPE)
        found: list[tuple[str, Latency, float | None]] = [
            ("made before", time_each(ask, spread), _GOAL_MS),
            ("made before, reads a file", time_each(lambda number: ask(number + 1), spread), _GOAL_MS),
            ("never made", time_each(lambda number: ask(number + size * 3), spread), _GOAL_MS),
        ]
    return [*found, ("floor: one look into the index", _floor(path, spread), None)]


def _line(number: int) -> Line:
    name = _ROUND[number % len(_ROUND)]
    return {
        "kind": "tool_call",
        "session": f"day {number // 1_000}",
        "name": name,
        "text": f"{name} {number}",
        "arguments": _arguments(number),
        "result": {"price": number},
    }


def _arguments(number: int) -> dict[str, str]:
    return {"symbol": f"S{number}", "path": f"src/{number % _FILES}.py"}


def _ask(memory: Memory, number: int) -> bool:
    return bool(memory.tools.seen(_ROUND[number % len(_ROUND)], _arguments(number), scope=SCOPE))


def _floor(path: Path, spread: list[int]) -> Latency:
    with closing(sqlite3.connect(path)) as connection:
        keys = connection.execute("SELECT tenant, scope_id, call_key FROM tool_use LIMIT ?", (len(spread),)).fetchall()
        return time_each(lambda key: connection.execute(_FLOOR, key).fetchone(), keys)
