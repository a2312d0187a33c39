"""Erasing a person: how long it takes until no byte is left, and what another person's recall takes meanwhile."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from benchmarks.search import Asked
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, add_all, copy_of, said_in
from benchmarks.tables import Cell, Table, ratio
from benchmarks.timing import Latency, of_times, seconds, time_each
from benchmarks.vectors import WordVectors
from retentia import Memory, Scope

_OTHER = Scope(tenant=SCOPE.tenant, user="olena")
_GOALS = {10_000: 2.0, 100_000: 20.0}
_GOAL_RATIO = "2×"
_ERASE = """
import sys
from retentia import Memory, Scope
scope = Scope(tenant=sys.argv[2], user=sys.argv[3])
with Memory.open(sys.argv[1], embedder=None, worker=False) as memory:
    planned = memory.plan_forgetting(everything=True, scope=scope)
    print("begun", flush=True)
    memory.forget(planned)
"""


def measure(setting: Setting) -> list[Table]:
    """Measure both sizes, and the neighbour's recall beside the larger."""
    sizes = setting.sizes[1:]
    rows: list[tuple[Cell, ...]] = [_erasing(setting, size) for size in sizes]
    told = "Previewed and erased with its passages and vectors, in one transaction; the log is emptied and what SQLite "
    told += "leaves in the middle of pages is blanked. SQLite."
    columns = ("records of the person", "preview s", "erase s", "CPU s", "goal s", "backup before, s", "MB before")
    return [Table("Erasing a person", columns, rows, (told,)), _meanwhile(setting, sizes[-1])]


def _erasing(setting: Setting, size: int) -> tuple[Cell, ...]:
    path = copy_of(setting, size, f"erased {size}")
    before = path.stat().st_size
    with Memory.open(path, embedder=WordVectors(), worker=False) as memory:
        setting.say(f"backing up {size:,} records")
        copying, _ = seconds(lambda: memory.backup(setting.folder / f"before-{size}.zip"))
        setting.say(f"erasing {size:,} records")
        showing, _ = seconds(lambda: memory.plan_forgetting(everything=True, scope=SCOPE))
        planned = memory.plan_forgetting(everything=True, scope=SCOPE)
        spent, worked = seconds(lambda: memory.forget(planned))
    return size, showing, spent, worked, _GOALS.get(size), copying, before / 1e6


def _meanwhile(setting: Setting, size: int) -> Table:
    asked = Asked.of(setting)
    rows: list[tuple[Cell, ...]] = []
    for name, begin in (("another process", _in_a_process), ("a thread of this process", _in_a_thread)):
        path = copy_of(setting, size, f"beside {len(rows)}")
        with Memory.open(path, embedder=asked.embedder, worker=False) as memory:
            add_all(memory, said_in(setting, setting.middle), scope=_OTHER)
            memory.drain()
            recall = partial(memory.recall, scope=_OTHER, min_relevance=0.0)
            for question in asked.warm_up:
                recall(question)
            alone = time_each(recall, asked.measured)
            setting.say(f"recalling while {name} erases {size:,} records")
            during, count = _until(begin(path, memory), recall, asked)
        p50, p95 = ratio(during.p50, alone.p50), ratio(during.p95, alone.p95)
        rows.append((name, alone.p50, during.p50, p50, alone.p95, during.p95, p95, count, _GOAL_RATIO))
    told = f"{setting.middle:,} messages of the other person, {size:,} of the one who is erased, in one SQLite file."
    columns = ("erased by", "p50 alone ms", "p50 meanwhile", "ratio", "p95 alone ms", "p95 meanwhile", "ratio")
    return Table("Another person's recall meanwhile", (*columns, "recalls", "goal"), rows, (told,))


def _until(is_done: Callable[[], bool], recall: Callable[[str], object], asked: Asked) -> tuple[Latency, int]:
    times = []
    for question in islice(cycle(asked.measured), 1_000_000):
        started = time.perf_counter()
        recall(question)
        times.append((time.perf_counter() - started) * 1000)
        if is_done():
            break
    return of_times(times), len(times)


def _in_a_process(path: Path, _memory: Memory) -> Callable[[], bool]:
    command = [sys.executable, "-c", _ERASE, str(path), SCOPE.tenant, SCOPE.user]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return lambda: process.poll() is not None


def _in_a_thread(_path: Path, memory: Memory) -> Callable[[], bool]:
    planned = memory.plan_forgetting(everything=True, scope=SCOPE)
    thread = threading.Thread(target=memory.forget, args=(planned,))
    thread.start()
    return lambda: not thread.is_alive()
