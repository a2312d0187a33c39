"""Recall of experiences for a task: the facade beside the product with every vector, and worst cases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import questions
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE
from benchmarks.tables import Cell, Table
from benchmarks.timing import Latency, median, time_each
from benchmarks.vectors import Prepared
from retentia import Memory
from retentia.experience.pool import Entry, Pool
from retentia.experience.priority import WORTH, priority, recency
from retentia.model.experience import Outcome
from retentia.model.time import system_clock
from retentia.providers.resolve import resolve

_DISTINCT = 4_000
_APART = 0.3  # how far a task is from the text it varies
_WARM_UP = 20
_AT_ONCE = 500
_TOP_K = 3
_YEAR_SECONDS = 365 * 86_400
_MICROSECONDS = 1_000_000
_GOAL_MS = {100_000: 5.0}

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Tried:
    """Experiences as columns, and tasks to ask for. `at` in UTC microseconds."""

    vectors: Rows
    asked: Rows
    at: NDArray[np.int64]
    reward: NDArray[np.float64]
    outcome: Sequence[Outcome]

    def entries(self) -> Iterator[Entry]:
        columns = zip(self.at.tolist(), self.reward.tolist(), self.outcome, self.vectors, strict=True)
        for number, (at, reward, outcome, vector) in enumerate(columns):
            yield Entry(number.to_bytes(16, "big"), at, reward, outcome, "debugging", "iterative", 1, vector)


def measure(setting: Setting) -> list[Table]:
    """Measure every size, and worst cases at the largest."""
    setting.say("embedding tasks")
    texts = questions(300 if setting.quick else _DISTINCT, setting.data)
    embedder = resolve("use")
    if embedder is None:
        raise SystemExit("the default embedder is not there")
    base = embedder.embed(texts)
    rows: list[tuple[Cell, ...]] = []
    for size in setting.sizes:
        tried = _ordinary(base, size, setting.questions)
        ours = _recalled(setting, tried, Prepared(embedder.identity, _named(tried)))
        pool = _pool(tried)
        rows.append((size, *_shown(ours), *_shown(_floor(tried)), *_scored(pool, tried), _GOAL_MS.get(size)))
    columns = ("experiences", *_COLUMNS, "scored exactly p50", "most", "goal p50")
    note = f"{setting.questions} tasks, {_TOP_K} experiences each, by standard priority; ages from a second to a year."
    more = f"Vectors: {len(texts):,} texts by the default embedder, varied. Floor: matrix · task, and the formula."
    return [
        Table("Recall of experiences, warm, without embedding the task", columns, rows, (note, more)),
        _worst(setting, base),
    ]


_COLUMNS = ("p50 ms", "p95 ms", "CPU p50", "floor p50", "floor p95", "floor CPU")


def _worst(setting: Setting, base: Rows) -> Table:
    """Measure the pool alone where its bound tells nothing apart."""
    size, rng = setting.sizes[-1], np.random.default_rng(5)
    setting.say(f"worst cases of {size:,} experiences")
    asked = _varied(base[rng.integers(0, len(base), setting.questions // 5)], rng)
    directions = _unit(rng.standard_normal((size, base.shape[1]), dtype=np.float32))
    rows: list[tuple[Cell, ...]] = []
    for name, vectors in (("all alike", np.repeat(base[:1], size, axis=0)), ("none like another", directions)):
        at, reward = np.full(size, system_clock() - _MICROSECONDS), np.full(size, 0.5)
        tried = _Tried(vectors, asked, at, reward, [Outcome.SUCCESS] * size)
        pool = _pool(tried)
        ours = time_each(partial(_best, pool), tried.asked)
        rows.append((name, *_shown(ours), *_shown(_floor(tried)), *_scored(pool, tried)))
    note = f"{size:,} experiences of one age, reward and outcome; the pool alone, without a store around it."
    return Table("Worst cases", ("", *_COLUMNS, "scored exactly p50", "most"), rows, (note,))


def _ordinary(base: Rows, size: int, asked: int) -> _Tried:
    rng = np.random.default_rng(size)
    ages = np.exp(rng.uniform(0, np.log(_YEAR_SECONDS), size)) * _MICROSECONDS
    every = _varied(base[rng.integers(0, len(base), size + _WARM_UP + asked)], rng)
    at = system_clock() - ages.astype(np.int64)
    outcomes = [list(Outcome)[number] for number in rng.integers(len(Outcome), size=size).tolist()]
    return _Tried(every[:size], every[size:], at, rng.random(size), outcomes)


def _recalled(setting: Setting, tried: _Tried, embedder: Prepared) -> Latency:
    size = len(tried.vectors)
    path = setting.folder / f"experiences-{size}.db"
    with Memory.open(path, embedder=embedder, worker=False) as memory:
        for start in range(0, size, _AT_ONCE):
            setting.say(f"recording {start:,} of {size:,} experiences")
            told = [_told(tried, number) for number in range(start, min(start + _AT_ONCE, size))]
            memory.experience.record(told, scope=SCOPE)
        setting.say("embedding them")
        memory.drain()
    return _asked(setting, path, embedder, len(tried.asked))


def _asked(setting: Setting, path: Path, embedder: Prepared, count: int) -> Latency:
    with Memory.open(path, embedder=embedder, worker=False) as memory:
        recall = partial(memory.experience.recall, scope=SCOPE, top_k=_TOP_K)
        tasks = [_asked_name(number) for number in range(count)]
        setting.say("recalling")
        for task in tasks[:_WARM_UP]:
            recall(task)
        return time_each(recall, tasks[_WARM_UP:])


def _told(tried: _Tried, number: int) -> dict[str, str | float]:
    return {
        "key": str(number),
        "task": _name(number),
        "reward": float(tried.reward[number]),
        "outcome": tried.outcome[number].value,
        "timestamp": float(tried.at[number]) / _MICROSECONDS,
    }


def _named(tried: _Tried) -> dict[str, Rows]:
    known = {_name(number): vector for number, vector in enumerate(tried.vectors)}
    return known | {_asked_name(number): vector for number, vector in enumerate(tried.asked)}


def _name(number: int) -> str:
    return f"task {number}"


def _asked_name(number: int) -> str:
    return f"what is asked {number}"


def _pool(tried: _Tried) -> Pool:
    pool = Pool(tried.vectors.shape[1])
    pool.add(list(tried.entries()))
    return pool


def _best(pool: Pool, query: Rows) -> int:
    return pool.best(query, system_clock(), k=_TOP_K).scored


def _scored(pool: Pool, tried: _Tried) -> tuple[int, int]:
    """Return how many rows are scored exactly, at the median and at most."""
    counts = [_best(pool, query) for query in tried.asked]
    return int(median(counts)), max(counts)


def _floor(tried: _Tried) -> Latency:
    """Time the product of a task with every vector, the formula over all, and the best of them."""
    worth = np.array([WORTH[outcome] for outcome in tried.outcome])

    def best(query: Rows) -> object:
        alike = (tried.vectors @ query).astype(np.float64)
        recent = recency((system_clock() - tried.at) / _MICROSECONDS)
        return np.argpartition(priority(alike, recent, tried.reward, worth), -_TOP_K)[-_TOP_K:]

    return time_each(best, tried.asked)


def _varied(vectors: Rows, rng: np.random.Generator) -> Rows:
    noise = rng.standard_normal(vectors.shape, dtype=np.float32) / np.float32(vectors.shape[1] ** 0.5)
    return _unit(vectors + np.float32(_APART) * noise)


def _unit(vectors: Rows) -> Rows:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _shown(latency: Latency) -> tuple[float, float, float]:
    return latency.p50, latency.p95, latency.cpu_p50
