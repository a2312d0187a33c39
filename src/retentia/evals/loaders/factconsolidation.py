"""FactConsolidation: numbered facts that contradict one another, the highest number holds (Hu et al. 2025)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retentia.errors import InvalidInput
from retentia.evals.loaders.reading import read_json, shape_of

_EXPECTED = "FactConsolidation: a JSON file, or a folder with one, of sets with name, context, questions and answers"
_NUMBERED = re.compile(r"^\d+\.\s+(?P<fact>\S.*)$", re.MULTILINE)
_SET = re.compile(r"(?P<hops>sh|mh)_(?P<size>\d+k)$")


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question with the answers that count, any of which will do."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSet:
    """Facts in the order of their numbers, and the questions about them by set: "sh_6k", "mh_6k"."""

    size: str
    facts: tuple[str, ...]
    questions: Mapping[str, Sequence[FactQuestion]]


def load_factconsolidation(path: Path, *, limit: int | None = None) -> list[FactSet]:
    """Read the sets, those with the same facts as one; `limit` counts the questions of each. Raises InvalidInput.

    `path` is the JSON file, or a folder with exactly one.
    """
    file = _file(path)
    raw = read_json(file, _EXPECTED)
    by_facts: dict[tuple[str, tuple[str, ...]], dict[str, list[FactQuestion]]] = {}
    with shape_of(file, _EXPECTED):
        for one in raw:
            named = _SET.search(one["name"])
            if named is None:
                continue
            facts = tuple(match["fact"].strip() for match in _NUMBERED.finditer(one["context"]))
            by_facts.setdefault((named["size"], facts), {})[named[0]] = _questions(one)[:limit]
    if not by_facts:
        raise InvalidInput(f"{str(file)!r} has no set named like mh_6k; expected {_EXPECTED}")
    return [FactSet(size=size, facts=facts, questions=asked) for (size, facts), asked in by_facts.items()]


def _questions(one: Mapping[str, Any]) -> list[FactQuestion]:
    pairs = zip(one["questions"], one["answers"], strict=True)
    return [FactQuestion(text, tuple([answers] if isinstance(answers, str) else answers)) for text, answers in pairs]


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = sorted(path.glob("*.json"))
    if len(files) != 1:
        raise InvalidInput(f"{len(files)} JSON files in {str(path)!r}; expected {_EXPECTED}")
    return files[0]
