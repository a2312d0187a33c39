"""Other systems beside ours and the floor: the same texts, questions and vectors, each in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import workloads
from benchmarks.setting import DIMENSION, Setting
from benchmarks.tables import Cell, Table, ratio
from benchmarks.timing import median
from retentia import __version__
from retentia.evals.metrics import recall_at

_PROJECT = Path(__file__).parent.parent
_PATIENCE_SECONDS = 1800
_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "MEMORI_ORT_AUTO_DOWNLOAD": "0",
    "MEMORI_TEST_MODE": "1",
}


@dataclass(frozen=True, slots=True)
class _System:
    """A file in benchmarks/peers, and the distribution it measures ("": none). `is_peer`: it has another Python.

    `most` is how many messages it is measured with, so that a run ends.
    """

    name: str
    distribution: str
    is_peer: bool
    most: int = 100_000


_SYSTEMS = (
    _System("floor", "", is_peer=False),
    _System("retentia", "retentia", is_peer=False),
    _System("langgraph", "langgraph-checkpoint-sqlite", is_peer=True),
    _System("mem0", "mem0ai", is_peer=True, most=1_000),
    _System("chroma", "chromadb", is_peer=True),
    _System("memori", "memori", is_peer=True),
)
_NOTES = (
    "langgraph and chroma search by meaning only; so does mem0 here, as its keyword search needs a model download.",
    "memori: its facade needs a hosted service, so its storage and search below it are measured, all facts candidates.",
    "Nobody embeds: vectors are handed in. Peers are given date and speaker within the text. No peer uses the network.",
)


class PeerFailed(Exception):
    """A measured system ended with an error."""


def measure(setting: Setting) -> list[Table]:
    """Compare size by size, then what is found, then what starting and installing take."""
    tables = [_speed(setting, size) for size in setting.sizes[:2]]
    if setting.data is not None and (setting.data / "locomo" / "locomo_dev.json").exists():
        tables.append(_quality(setting, setting.data))
    return [*tables, _footprint(setting)]


def _speed(setting: Setting, size: int) -> Table:
    workload = workloads.speed(setting, size)
    found: dict[_System, dict[str, Any]] = {}
    for system in _SYSTEMS:
        if size > system.most:
            found[system] = {"error": f"not measured with more than {system.most:,} messages: it keeps one a call"}
            continue
        setting.say(f"{system.name}: {size:,} messages in the scope")
        found[system] = _run(setting, system, {"kind": "speed", "workload": str(workload)})
    ours = next(measured for system, measured in found.items() if system.name == "retentia")
    rows: list[tuple[Cell, ...]] = [
        (
            _named(setting, system),
            measured.get("search_p50_ms"),
            measured.get("search_p95_ms"),
            measured.get("search_cpu_ms"),
            ratio(measured.get("search_cpu_ms"), ours.get("search_cpu_ms")),
            measured.get("ingest_per_second"),
            measured.get("acknowledged_per_second") if system.distribution else None,
            measured.get("one_add_ms") if system.distribution else None,
            measured.get("bytes_each") or None,
        )
        for system, measured in found.items()
    ]
    columns = (
        "",
        "search p50 ms",
        "p95 ms",
        "CPU p50",
        "CPU of ours",
        "ingest/s",
        "durable/s",
        "one add ms",
        "bytes each",
    )
    failed = [f"{system.name}: {measured['error']}" for system, measured in found.items() if "error" in measured]
    return Table(f"{size:,} messages in the scope", columns, rows, (*_NOTES, *failed))


def _quality(setting: Setting, data: Path) -> Table:
    setting.say("embedding LoCoMo with the default embedder")
    workload, groups = workloads.quality(setting, data)
    gold = [sources for group in groups for sources in group.gold]
    rows: list[tuple[Cell, ...]] = []
    failed: list[str] = []
    for system in _SYSTEMS:
        setting.say(f"{system.name}: what is found in LoCoMo")
        measured = _run(setting, system, {"kind": "quality", "workload": str(workload)})
        failed += [f"{system.name}: {measured['error']}"] if "error" in measured else []
        rankings = [ranking for group in measured.get("found", []) for ranking in group]
        recalls = [
            sum(recall_at(ranking, sources, k) for ranking, sources in zip(rankings, gold, strict=True)) / len(gold)
            if rankings
            else None
            for k in (5, 10)
        ]
        rows.append((_named(setting, system), *recalls))
    told = f"{len(gold):,} questions about {len(groups)} development conversations; each conversation is a scope."
    return Table("What is found: LoCoMo, same vectors (USE)", ("", "recall@5", "recall@10"), rows, (told, *failed))


def _footprint(setting: Setting) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for system in _SYSTEMS[1:]:
        setting.say(f"{system.name}: starting")
        started = [_run(setting, system, {"kind": "start", "dimension": DIMENSION}) for _ in range(setting.runs)]
        failed = any("error" in one for one in started)
        weight = _weigh(setting, system)
        rows.append(
            (
                _named(setting, system),
                None if failed else median([one["seconds"] for one in started]),
                None if failed or started[0]["bytes"] is None else median([one["bytes"] for one in started]) / 1e6,
                weight["packages"],
                weight["bytes"] and weight["bytes"] / 1e6,
            )
        )
    columns = ("", "import + open s", "process grew MB", "packages", "installed MB")
    return Table("Starting and installing", columns, rows, ("Packages: the distribution and all that it requires.",))


def _run(setting: Setting, system: _System, task: Mapping[str, object]) -> dict[str, Any]:
    """Return what a system measured, or {"error": …}; its store is removed afterwards."""
    folder = setting.folder / f"peer-{system.name}"
    shutil.rmtree(folder, ignore_errors=True)
    told = json.dumps({**task, "folder": str(folder)})
    try:
        found: dict[str, Any] = json.loads(_call(setting, system, "run", system.name, told))
    except PeerFailed as error:
        return {"error": str(error)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _weigh(setting: Setting, system: _System) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_call(setting, system, "weigh", system.distribution, ""))
    return found


def _named(setting: Setting, system: _System) -> str:
    if not system.distribution:
        return f"{system.name} (numpy + BM25)"
    known = _weigh(setting, system)["version"] if system.is_peer else __version__
    return f"{system.distribution} {known or 'not installed'}"


def _call(setting: Setting, system: _System, module: str, argument: str, told: str) -> str:
    """Run one of benchmarks/peers in the system's own Python; return the last line that it prints."""
    python = str(setting.peers) if system.is_peer else sys.executable
    home = setting.folder / "home"
    home.mkdir(exist_ok=True)
    environment = {**os.environ, **_QUIET, "HOME": str(home)}
    command = [python, "-m", f"benchmarks.peers.{module}", argument]
    try:
        done = subprocess.run(
            command,
            input=told,
            capture_output=True,
            text=True,
            cwd=_PROJECT,
            env=environment,
            timeout=_PATIENCE_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise PeerFailed(f"not done after {_PATIENCE_SECONDS} s") from error
    if done.returncode:
        raise PeerFailed((done.stderr.strip().splitlines() or ["no message"])[-1])
    return done.stdout.strip().splitlines()[-1]
