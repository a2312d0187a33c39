"""Measure one system in a process of its own: `python -m benchmarks.peers.run NAME`, a task as JSON on standard input.

A task names its `kind` (start, speed or quality), an empty `folder` for the store, and a `workload` file. The last line
printed is the result as JSON.
"""

import importlib
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.peers.subject import Lookup, Open, Remembered, Subject
from benchmarks.timing import Latency, resident_bytes, time_each

_BATCH = 500
_WARM_UP = 20
_SINGLE = 30
_LIMIT = 10


def main() -> None:
    """Run the task and print what was found, or the error's name."""
    task: dict[str, Any] = json.load(sys.stdin)
    peer = importlib.import_module(f"benchmarks.peers.{sys.argv[1]}")
    opener: Open = peer.open_subject
    folder = Path(task["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    measured = {"start": _start, "speed": _speed, "quality": _quality}[task["kind"]](opener, folder, task)
    print("\n" + json.dumps(measured))


def _start(opener: Open, folder: Path, task: Mapping[str, Any]) -> dict[str, object]:
    lookup = Lookup((), None, task["dimension"])  # type: ignore[arg-type]  # numpy must not be imported yet
    before, started = resident_bytes(), time.perf_counter()
    subject = opener(folder, lookup)
    spent, after = time.perf_counter() - started, resident_bytes()
    subject.close()
    return {"seconds": spent, "bytes": None if before is None or after is None else after - before}


def _speed(opener: Open, folder: Path, task: Mapping[str, Any]) -> dict[str, object]:
    """Measure one scope: how fast it fills, how fast one more message is kept, how fast it is searched."""
    (group,), lookup = _load(Path(task["workload"]))
    subject = opener(folder, lookup)
    entries, questions = group["entries"], group["questions"]
    bulk, single = entries[:-_SINGLE], entries[-_SINGLE:]
    acknowledged, ingested = _fill(subject, "scope", bulk)
    one = time_each(lambda entry: subject.add("scope", [entry]), single)
    subject.settle()
    for question in questions[:_WARM_UP]:
        subject.search("scope", question["text"], _LIMIT)
    asked = [question["text"] for question in questions[_WARM_UP:]]
    searched: Latency = time_each(lambda text: subject.search("scope", text, _LIMIT), asked)
    subject.close()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {
        "acknowledged_per_second": len(bulk) / acknowledged,
        "ingest_per_second": len(bulk) / ingested,
        "one_add_ms": one.p50,
        "search_p50_ms": searched.p50,
        "search_p95_ms": searched.p95,
        "search_cpu_ms": searched.cpu_p50,
        "bytes_each": size / len(entries),
    }


def _quality(opener: Open, folder: Path, task: Mapping[str, Any]) -> dict[str, object]:
    """Return what is found for each question, by group: ids, best first."""
    groups, lookup = _load(Path(task["workload"]))
    subject = opener(folder, lookup)
    for number, group in enumerate(groups):
        _fill(subject, f"scope{number}", group["entries"])
    found = [
        [subject.search(f"scope{number}", question["text"], _LIMIT) for question in group["questions"]]
        for number, group in enumerate(groups)
    ]
    subject.close()
    return {"found": found}


def _fill(subject: Subject, scope: str, entries: list[Remembered]) -> tuple[float, float]:
    """Return the seconds until all is durable, and until all is found by meaning."""
    started = time.perf_counter()
    for at in range(0, len(entries), _BATCH):
        subject.add(scope, entries[at : at + _BATCH])
    durable = time.perf_counter() - started
    subject.settle()
    return durable, time.perf_counter() - started


def _load(path: Path) -> tuple[list[dict[str, Any]], Lookup]:
    import numpy as np

    groups = json.loads(path.read_text("utf-8"))
    for group in groups:
        group["entries"] = [Remembered(**entry) for entry in group["entries"]]
    texts = json.loads(path.with_suffix(".texts.json").read_text("utf-8"))
    vectors = np.load(path.with_suffix(".npy"))
    return groups, Lookup(texts, vectors, vectors.shape[1])


if __name__ == "__main__":
    main()
