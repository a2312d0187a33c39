"""Which episodes a question asks for where it names no topic: all that happened, all decisions, all promises."""

import tomllib
from functools import cache
from pathlib import Path

from retentia.model.record import Kind
from retentia.working.procedures import stems_in

EPISODIC = (Kind.EVENT, Kind.DECISION, Kind.COMMITMENT)
"""The kinds of episodic memory."""


def kinds_named(question: str) -> tuple[Kind, ...] | None:
    """Return the kinds that a question asks for when it names no topic, None when it does."""
    words = _words()
    rest = stems_in(question) - words["any"]
    named = tuple(kind for kind in EPISODIC if rest & words.get(kind.value, frozenset()))
    for kind in named:
        rest -= words[kind.value]
    return None if rest else named or EPISODIC


@cache
def _words() -> dict[str, frozenset[int]]:
    told = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {name: stems_in(str(table["words"])) for name, table in told.items()}
