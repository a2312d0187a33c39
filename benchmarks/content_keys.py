"""Content keys on PostgreSQL: what they cost beside the same store without them.

RETENTIA_BENCH_POSTGRES names a database of a server whose role may create others; two are made, and dropped at the end.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from benchmarks.search import Asked
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, add_all, said_in
from benchmarks.tables import Table, ratio
from benchmarks.timing import Latency, median, seconds, time_each
from benchmarks.vectors import WordVectors
from retentia import Memory

SERVER = "RETENTIA_BENCH_POSTGRES"
_KEY = "ab" * 32


def measure_keys(setting: Setting) -> list[Table]:
    """Measure bulk ingest, adding, a cold and many warm searches; the stores take turns, and the second time counts."""
    if not (url := os.environ.get(SERVER)):
        setting.say(f"PostgreSQL is left out: {SERVER} names no server")
        return []
    asked = Asked.of(setting)
    with ExitStack() as open_stores:
        plain = open_stores.enter_context(_database(url, "retentia_bench_plain"))
        keyed = open_stores.enter_context(_database(url, "retentia_bench_keyed"))
        stores = (("plain", plain, None), ("keyed", keyed, _KEY))
        ingest, added, cold, warm, sizes = {}, {}, {}, {}, {}
        for name, store, key in stores:
            setting.say(f"writing the {name} store")
            ingest[name] = _ingest(setting, store, key)
        for _ in range(2):
            for name, store, key in stores:
                setting.say(f"searching the {name} store")
                cold[name], warm[name], added[name], sizes[name] = _use(store, key, asked)
    return [_table(setting, ingest, added, cold, warm, sizes)]


def _table(
    setting: Setting,
    ingest: dict[str, float],
    added: dict[str, float],
    cold: dict[str, float],
    warm: dict[str, Latency],
    sizes: dict[str, int],
) -> Table:
    figures = {
        "bulk ingest with vectors, s": ingest,
        "one message, ms": added,
        "first search of a process, ms": cold,
        "warm search, p50 ms": {name: one.p50 for name, one in warm.items()},
        "warm search, processor time": {name: one.cpu_p50 for name, one in warm.items()},
        "database, MB": {name: size / 1e6 for name, size in sizes.items()},
    }
    return Table(
        "Content keys on PostgreSQL",
        ("", "plain", "keyed", "ratio"),
        [(name, one["plain"], one["keyed"], ratio(one["keyed"], one["plain"])) for name, one in figures.items()],
        (f"{setting.middle:,} passages in the scope; AES-256-GCM, a raw key; the server on the same machine.",),
    )


def _ingest(setting: Setting, url: str, key: str | None) -> float:
    with Memory.open(url, embedder=WordVectors(), worker=False, content_key=key) as memory:

        def write() -> None:
            add_all(memory, said_in(setting, setting.middle))
            memory.drain()

        return seconds(write)[0]


def _use(url: str, key: str | None, asked: Asked) -> tuple[float, Latency, float, int]:
    with Memory.open(url, embedder=asked.embedder, worker=False, content_key=key) as memory:
        recall = partial(memory.recall, scope=SCOPE, min_relevance=0.0)
        started = time.perf_counter()
        recall(asked.warm_up[0])
        cold = (time.perf_counter() - started) * 1000
        for question in asked.warm_up:
            recall(question)
        warm = time_each(recall, asked.measured)
        beside = SCOPE.__class__(SCOPE.tenant, "beside")
        one = median([seconds(partial(memory.add, "one more", scope=beside))[0] * 1000 for _ in range(50)])
        return cold, warm, one, memory.stats(scope=SCOPE).store_bytes


@contextmanager
def _database(url: str, name: str) -> Iterator[str]:
    import psycopg
    from sqlalchemy import make_url

    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
        try:
            yield make_url(url).set(database=name).render_as_string(hide_password=False)
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
