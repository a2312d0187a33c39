"""Telling how far a long piece of work has come."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int], None]
"""Called with how many steps (records, passages, jobs, bytes) were done since the last call."""


def unheard(_: int, /) -> None:
    """Tell nobody."""
