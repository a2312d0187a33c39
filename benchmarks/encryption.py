"""A store at rest under a key: what it costs beside the same store without one."""

import time
from functools import partial
from pathlib import Path

from benchmarks.content_keys import measure_keys
from benchmarks.search import Asked
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, copy_of
from benchmarks.tables import Table, ratio
from benchmarks.timing import Latency, time_each
from retentia import Memory
from retentia.lifecycle.encrypt import encrypt
from retentia.store.sqlite import SqliteDialect

_KEY = "ab" * 32
_GOAL = "1.15×"


def measure(setting: Setting) -> list[Table]:
    """Measure a cold and many warm searches on both; each is opened twice, and the second time counts."""
    asked = Asked.of(setting)
    plain = copy_of(setting, setting.middle, "plain")
    secret = copy_of(setting, setting.middle, "secret")
    setting.say("encrypting a store")
    encrypt(SqliteDialect(secret), _KEY)
    figures: dict[str, tuple[float, Latency]] = {}
    for _ in range(2):
        for name, path, key in (("plain", plain, None), ("encrypted", secret, _KEY)):
            setting.say(f"searching the {name} store")
            figures[name] = _search(path, key, asked)
    (cold, warm), (cold_secret, warm_secret) = figures["plain"], figures["encrypted"]
    size, size_secret = plain.stat().st_size, secret.stat().st_size
    rows = [
        ("warm search, p50 ms", warm.p50, warm_secret.p50, ratio(warm_secret.p50, warm.p50), _GOAL),
        (
            "warm search, processor time",
            warm.cpu_p50,
            warm_secret.cpu_p50,
            ratio(warm_secret.cpu_p50, warm.cpu_p50),
            _GOAL,
        ),
        ("first search of a process, ms", cold, cold_secret, ratio(cold_secret, cold), None),
        ("file, MB", size / 1e6, size_secret / 1e6, ratio(size_secret, size), None),
    ]
    return [
        Table(
            "Encrypted at rest",
            ("", "plain", "encrypted", "ratio", "goal"),
            rows,
            (f"{setting.middle:,} passages in the scope; SQLCipher, AES-256 with HMAC-SHA512, a raw key.",),
        ),
        *measure_keys(setting),
    ]


def _search(path: Path, key: str | None, asked: Asked) -> tuple[float, Latency]:
    with Memory.open(path, embedder=asked.embedder, worker=False, key=key) as memory:
        recall = partial(memory.recall, scope=SCOPE, min_relevance=0.0)
        started = time.perf_counter()
        recall(asked.warm_up[0])
        cold = (time.perf_counter() - started) * 1000
        for question in asked.warm_up:
            recall(question)
        return cold, time_each(recall, asked.measured)
