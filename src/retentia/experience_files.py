"""Experiences out of files: JSONL, one a line, and the trajectories of agents. `Memory.experience` has it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from retentia.ingest.experiences import BadLine, read_experiences
from retentia.ingest.trajectories import looks_like_trajectories, read_trajectories
from retentia.model.experience import Experience
from retentia.model.progress import Progress
from retentia.model.time import Moment
from retentia.write.receipt import Receipt

_AT_ONCE = 500
_HEAD = 1_000
Placed: TypeAlias = tuple[str, Experience]
"""Where in a file an experience stands, and the experience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of a file: how many experiences are new, how many were there already, and what was left out, why."""

    new: int
    known: int
    skipped: tuple[str, ...]


def import_file(
    path: Path, keep: Callable[[Sequence[Experience]], Receipt], *, now: Moment, progress: Progress
) -> Imported:
    """Keep what a file holds, some hundred experiences at a time, so that a run that was interrupted goes on.

    Raises InvalidInput for a file that cannot be read.
    """
    new = known = 0
    skipped: list[str] = []
    given = _trajectories(path) if _holds_trajectories(path) else _lines(path, now, skipped)
    while some := list(islice(given, _AT_ONCE)):
        receipt = keep([experience for _, experience in some])
        new += sum(one.is_new for one in receipt.written)
        known += sum(not one.is_new for one in receipt.written)
        skipped += (f"{some[one.position][0]}: {one.reason}" for one in receipt.failed)
        progress(len(some))
    return Imported(new=new, known=known, skipped=tuple(skipped))


def _holds_trajectories(path: Path) -> bool:
    if path.is_dir():
        return True
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return looks_like_trajectories(file.read(_HEAD))
    except OSError:
        return False  # whoever reads it says why


def _trajectories(path: Path) -> Iterator[Placed]:
    return ((one.experience.key, one.experience) for one in read_trajectories(path))


def _lines(path: Path, now: Moment, skipped: list[str]) -> Iterator[Placed]:
    for place, one in enumerate(read_experiences(path, now=now), start=1):
        if isinstance(one, BadLine):
            skipped.append(f"line {one.line}: {one.reason}")
        else:
            yield one.key or f"experience {place}", one
