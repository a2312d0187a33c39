"""Starting: import, open and the first search of a process, each the median of several processes."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.search import Asked
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, store_of
from benchmarks.tables import Table
from benchmarks.timing import median

_STEPS = {
    "import retentia": ("import retentia", 300.0),
    "import Memory": ("from retentia import Memory (numpy, SQLAlchemy)", None),
    "open": ("Memory.open", 1000.0),
    "first search": ("first recall, loads the scope's index", 150.0),
    "second search": ("second recall", None),
}


@dataclass(frozen=True, slots=True)
class Started:
    """What one fresh process measured: milliseconds by step, those of the processor, and bytes."""

    ms: dict[str, float]
    cpu_ms: dict[str, float]
    grown_bytes: int | None
    index_bytes: int
    passages: int


def measure(setting: Setting) -> list[Table]:
    """Start processes on a store of the middle size."""
    path = store_of(setting, setting.middle)
    asked = Asked.of(setting)
    setting.say("starting processes")
    start(path, asked)  # leaves the compiled modules behind, as an installation does
    started = [start(path, asked) for _ in range(setting.runs)]
    rows = []
    for step, (name, goal) in _STEPS.items():
        found = [one.ms[step] for one in started]
        rows.append((name, median(found), max(found), median([one.cpu_ms[step] for one in started]), goal))
    told = f"Median of {setting.runs} processes; {setting.middle:,} passages in the scope; "
    told += "the file is in the system's cache; the question's vector was made before; "
    told += "modules are compiled, as installed ones are."
    return [Table("A cold process", ("step", "median ms", "slowest ms", "CPU ms", "goal"), rows, (told,))]


def start(path: Path, asked: Asked) -> Started:
    """Start one process that asks two questions."""
    questions = asked.measured[:2]
    task = {
        "path": str(path),
        "tenant": SCOPE.tenant,
        "user": SCOPE.user,
        "identity": asked.embedder.identity.to_json(),
        "questions": questions,
        "vectors": asked.embedder.embed(questions).tolist(),
    }
    command = [sys.executable, "-m", "benchmarks.cold"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, input=json.dumps(task), capture_output=True, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout)
    return Started(**found)
