"""Are the right tools selected? Requests over a registry of tools, through `memory.tools`: cold, and after past uses.

What is known of past uses is taken from the requests themselves and never asked for again.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from retentia.evals.runs import Progress
from retentia.memory import Memory
from retentia.model.message import JSON
from retentia.model.scope import Scope
from retentia.providers.base import EmbedderSpec

_SCOPE = Scope("eval", "tools")
_DEPTHS = (1, 5, 10)
_SEED = 0


@dataclass(frozen=True, slots=True)
class Request:
    """A request, and the names of the tools that it needs."""

    text: str
    tools: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The mean share of the tools needed that are among the first so many, and the median time of a selection."""

    questions: int
    recall: Mapping[int, float]
    p50_ms: float


@contextmanager
def registry(tools: Mapping[str, Sequence[Mapping[str, JSON]]], *, embedder: EmbedderSpec) -> Iterator[Memory]:
    """Open a memory in which the tools of servers are registered and embedded; it is gone afterwards."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", embedder=embedder, worker=False) as memory,
    ):
        for server, some in tools.items():
            memory.tools.register(some, scope=_SCOPE, server=server)
        memory.drain()
        yield memory


def ask(memory: Memory, requests: Sequence[Request], *, stage: str, progress: Progress) -> Measured:
    """Select tools for each request."""
    shares: dict[int, list[float]] = {depth: [] for depth in _DEPTHS}
    took: list[float] = []
    for place, one in enumerate(requests, start=1):
        memory.tools.select(one.text, 1, scope=_SCOPE)  # embeds the request, which is then known
        started = time.perf_counter()
        names = [found.name for found in memory.tools.select(one.text, max(_DEPTHS), scope=_SCOPE)]
        took.append((time.perf_counter() - started) * 1000)
        for depth in _DEPTHS:
            shares[depth].append(len(one.tools.intersection(names[:depth])) / len(one.tools))
        progress(stage, place, len(requests))
    recall = {depth: float(np.mean(found)) if found else 0.0 for depth, found in shares.items()}
    return Measured(questions=len(requests), recall=recall, p50_ms=float(np.median(took)) if took else 0.0)


def teach(memory: Memory, requests: Sequence[Request]) -> None:
    """Say which tools served past requests."""
    for one in requests:
        memory.tools.used(one.text, sorted(one.tools), scope=_SCOPE)
    memory.drain()


def parted(requests: Sequence[Request], past: int) -> tuple[list[Request], list[Request]]:
    """Return so many requests at random as past ones, at most half, and the others; the same each time."""
    past = min(past, len(requests) // 2)
    order = np.random.default_rng(_SEED).permutation(len(requests)).tolist()
    return [requests[at] for at in order[:past]], [requests[at] for at in order[past:]]


def measure_metatool(
    tools: Mapping[str, Sequence[Mapping[str, JSON]]],
    single: Sequence[Request],
    several: Sequence[Request],
    *,
    embedder: EmbedderSpec,
    past: int,
    progress: Progress,
) -> dict[str, float | int]:
    """Measure requests for one tool and for two, without anything known and after `past` uses of each sort."""
    with registry(tools, embedder=embedder) as memory:
        one = ask(memory, single, stage="one tool", progress=progress)
        two = ask(memory, several, stage="two tools", progress=progress)
    told: dict[str, float | int] = {
        **{f"recall_at_{depth}": round(value, 4) for depth, value in one.recall.items()},
        "two_tool_recall_at_5": round(two.recall[5], 4),
        "select_p50_ms": round(one.p50_ms, 3),
    }
    if past:
        told["past_uses"] = past
        for name, requests in (("recall_at_5_learned", single), ("two_tool_recall_at_5_learned", several)):
            known, asked = parted(requests, past)
            with registry(tools, embedder=embedder) as memory:
                teach(memory, known)
                told[name] = round(ask(memory, asked, stage=name, progress=progress).recall[5], 4)
    return told


def measure_servers(
    tools: Mapping[str, Sequence[Mapping[str, JSON]]],
    asked: Sequence[Request],
    *,
    embedder: EmbedderSpec,
    progress: Progress,
) -> dict[str, float | int | str]:
    """Measure tasks over the tools of many servers."""
    with registry(tools, embedder=embedder) as memory:
        done = ask(memory, asked, stage="tasks", progress=progress)
        name = memory.experience.embedder
    return {
        "embedder": name,
        "tools": sum(map(len, tools.values())),
        "questions": done.questions,
        **{f"recall_at_{depth}": round(value, 4) for depth, value in done.recall.items()},
        "select_p50_ms": round(done.p50_ms, 3),
    }
