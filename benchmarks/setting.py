"""Setting: what one run measures, where it may write, and how it says what it is doing."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DIMENSION = 512
"""Numbers in a vector: as many as those of the default embedder."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One run. `folder` is temporary; `data` holds the public benchmarks, or is None; `peers` is their Python."""

    folder: Path
    data: Path | None
    peers: Path
    quick: bool
    say: Callable[[str], None]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many passages a scope holds when it is searched."""
        return (300, 1_000) if self.quick else (1_000, 10_000, 100_000)

    @property
    def middle(self) -> int:
        """The size at which starting, disk and memory are measured."""
        return 1_000 if self.quick else 10_000

    @property
    def questions(self) -> int:
        return 50 if self.quick else 300

    @property
    def ingested(self) -> int:
        """How many messages are written to measure bulk ingest."""
        return 2_000 if self.quick else 20_000

    @property
    def logged(self) -> int:
        """How many entries the audit log has that is verified."""
        return 20_000 if self.quick else 200_000

    @property
    def strangers(self) -> int:
        """How many records of other tenants share the file."""
        return 10_000 if self.quick else 1_000_000

    @property
    def runs(self) -> int:
        """How often a process is started for a median."""
        return 3 if self.quick else 5
