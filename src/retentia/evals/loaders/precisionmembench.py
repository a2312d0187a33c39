"""PrecisionMemBench: beliefs about a person, and for each question which of them must, may and must not come back.

A belief has a canonical name and aliases, holds everywhere ("user:universal") or in one domain, is pinned or not, and
may be superseded, resolved, or of another user. An answer has four parts; what a case says of a part holds there only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from retentia.errors import InvalidInput
from retentia.evals.loaders.reading import read_json, shape_of

Part = Literal["prelude", "pinned", "open", "relevant"]
EVERYWHERE = "user:universal"
_EXPECTED = "PrecisionMemBench: a folder with beliefs.seed.json and retrieval_cases*.json"
_PARTS: Mapping[str, Part] = {
    "personaPrelude": "prelude",
    "pinnedFacts": "pinned",
    "openQuestions": "open",
    "relevantBeliefs": "relevant",
}
_OPEN_QUESTION = "open_question"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedBelief:
    """One belief of the benchmark. `names` are its canonical name and aliases; `linked` the beliefs it relates."""

    id: str
    user: str
    type: str
    names: tuple[str, ...]
    content: str
    domain: str
    is_pinned: bool
    is_past: bool
    linked: tuple[str, ...]

    @property
    def is_open_question(self) -> bool:
        """Whether it is a question that somebody has still to decide, or had."""
        return self.type == _OPEN_QUESTION


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What one part of an answer must hold, must not, and, where `only` is no None, may hold at most."""

    include: frozenset[str]
    exclude: frozenset[str]
    only: frozenset[str] | None
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question in one domain and what its answer must look like. `budget` bounds pinned and relevant together."""

    id: str
    category: str
    user: str
    domain: str
    question: str
    budget: int | None
    expected: Mapping[Part, Expected]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionSet:
    """The whole benchmark."""

    beliefs: tuple[SeedBelief, ...]
    cases: tuple[Case, ...]


def load_precision(path: Path) -> PrecisionSet:
    """Read the folder. Raises InvalidInput when a file is missing or has another structure."""
    seed = path / "beliefs.seed.json"
    files = sorted(path.glob("retrieval_cases*.json")) if path.is_dir() else []
    if not files:
        raise InvalidInput(f"no retrieval_cases*.json in {str(path)!r}; expected {_EXPECTED}")
    raw = read_json(seed, _EXPECTED)
    with shape_of(seed, _EXPECTED):
        beliefs = tuple(_belief(one) for one in raw)
        user = max((belief.user for belief in beliefs), key=[belief.user for belief in beliefs].count)
    cases: list[Case] = []
    for file in files:
        asked = read_json(file, _EXPECTED)
        with shape_of(file, _EXPECTED):
            cases += [_case(one, user) for one in asked]
    return PrecisionSet(beliefs=beliefs, cases=tuple(cases))


def _belief(raw: Mapping[str, Any]) -> SeedBelief:
    return SeedBelief(
        id=raw["_id"],
        user=raw["user_id"],
        type=raw["type"],
        names=(raw["canonical_name"].replace("_", " "), *raw["aliases"]),
        content=raw["content"],
        domain=raw["scope"][0],
        is_pinned=bool(raw["pinned"]),
        is_past=raw["epistemic_status"] == "superseded" or raw["resolved_at"] is not None,
        linked=tuple(raw.get("participants", ())),
    )


def _case(raw: Mapping[str, Any], user: str) -> Case:
    return Case(
        id=raw["caseId"],
        category=raw["category"],
        user=raw.get("userId", user),
        domain=raw["scope"][0],
        question=raw["query"],
        budget=raw.get("budget", {}).get("maxBeliefs"),
        expected={_PARTS[name]: _expected(told) for name, told in raw["expect"].items() if name in _PARTS},
    )


def _expected(told: Mapping[str, Any]) -> Expected:
    only = told.get("shouldOnlyInclude")
    return Expected(
        include=frozenset((*told.get("mustInclude", ()), *(only or ()))),
        exclude=frozenset(told.get("mustExclude", ())),
        only=None if only is None else frozenset(only),
        texts=tuple(told.get("contains", ())),
    )
