"""Searching a warm scope: `Memory.recall` beside the floor, on the same texts, vectors and questions."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.corpus import questions
from benchmarks.floor import Floor
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, said_in, store_of
from benchmarks.tables import Table, ratio
from benchmarks.timing import Latency, time_each
from benchmarks.vectors import Prepared, WordVectors, prepared
from retentia import Memory

GOALS = {1_000: 0.6, 10_000: 2.5, 100_000: 25.0}
_WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions with vectors made beforehand; the first twenty only warm up."""

    warm_up: list[str]
    measured: list[str]
    embedder: Prepared

    @classmethod
    def of(cls, setting: Setting) -> "Asked":
        every = questions(_WARM_UP + setting.questions, setting.data)
        return cls(every[:_WARM_UP], every[_WARM_UP:], prepared(every, WordVectors()))


def measure(setting: Setting) -> list[Table]:
    """Measure every size."""
    asked = Asked.of(setting)
    rows = []
    for size in setting.sizes:
        path = store_of(setting, size)
        setting.say(f"searching {size:,} passages")
        ours = recall_latency(path, asked)
        setting.say(f"searching {size:,} passages on the floor")
        floor = _floor(setting, size, asked)
        rows.append(
            (size, *_shown(ours), *_shown(floor), ratio(ours.cpu_p50, floor.cpu_p50), GOALS.get(size)),
        )
    columns = (
        "passages in the scope",
        *("p50 ms", "p95 ms", "CPU p50"),
        *("floor p50", "floor p95", "floor CPU"),
        *("ratio of CPU", "goal p50"),
    )
    return [
        Table(
            "Search, warm, without embedding the question",
            columns,
            rows,
            (
                f"{setting.questions} questions, all different, 10 hits each; rows are read again from the store.",
                "Floor: numpy matrix · question + BM25 from a dictionary, in memory, without a store.",
            ),
        )
    ]


def _shown(latency: Latency) -> tuple[float, float, float]:
    return latency.p50, latency.p95, latency.cpu_p50


def recall_latency(path: Path, asked: Asked) -> Latency:
    """Time the questions on a store, after the index is loaded."""
    with Memory.open(path, embedder=asked.embedder, worker=False) as memory:
        recall = partial(memory.recall, scope=SCOPE, min_relevance=0.0)
        for question in asked.warm_up:
            recall(question)
        return time_each(recall, asked.measured)


def _floor(setting: Setting, size: int, asked: Asked) -> Latency:
    texts = [one.text for one in said_in(setting, size)]
    floor = Floor(texts, WordVectors().embed(texts))

    def search(question: str) -> object:
        return floor.search(question, asked.embedder.embed_query(question))

    for question in asked.warm_up:
        search(question)
    return time_each(search, asked.measured)
