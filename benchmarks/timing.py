"""Timing: how long calls take, and on what kind of machine. Imports nothing heavy: it runs before what it times."""

import gc
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_PAGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Latency:
    """The median and the 95th percentile of some calls, in milliseconds.

    `cpu_p50` is the median of the processor time of this process: on a busy machine, what a call takes without waiting.
    """

    p50: float
    p95: float
    cpu_p50: float


def time_each(call: Callable[[T], object], arguments: Iterable[T]) -> Latency:
    """Time one call for each argument; garbage is collected before, and as usual between."""
    gc.collect()
    wall, processor = [], []
    for argument in arguments:
        started, worked = time.perf_counter(), time.process_time()
        call(argument)
        wall.append((time.perf_counter() - started) * 1000)
        processor.append((time.process_time() - worked) * 1000)
    return Latency(median(wall), _at(sorted(wall), 0.95), median(processor))


def of_times(wall: Sequence[float]) -> Latency:
    """Return the latency of calls that were timed one by one, in milliseconds; their processor time is not known."""
    return Latency(median(wall), _at(sorted(wall), 0.95), float("nan"))


def seconds(call: Callable[[], object]) -> tuple[float, float]:
    """Return how long a call takes, and how much processor time of it, in seconds."""
    started, worked = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - started, time.process_time() - worked


def median(values: Sequence[float]) -> float:
    """Return the middle value (the upper one of two)."""
    return _at(sorted(values), 0.5)


def resident_bytes() -> int | None:
    """Return the memory this process holds, or None where the system does not say (only Linux does)."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * _PAGE_BYTES
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Machine:
    """What kind of machine it is, and how busy it was: `load` is the mean number of running processes in a minute."""

    cores: int
    architecture: str
    system: str
    python: str
    load: float

    @classmethod
    def here(cls) -> "Machine":
        return cls(
            cores=os.cpu_count() or 0,
            architecture=platform.machine() + (" AVX2" if "avx2" in _cpu_flags() else ""),
            system=platform.system(),
            python=platform.python_version(),
            load=round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0,
        )

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.cores} cores, {self.architecture}, {self.system}, Python {self.python}, load {self.load}"


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def _cpu_flags() -> str:
    try:
        return Path("/proc/cpuinfo").read_text("ascii", errors="replace")
    except OSError:
        return ""
