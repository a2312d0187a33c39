"""The labelled dialogues of learning: what users say, and what should be learned from it and what must not be."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from retentia.index.fold import fold
from retentia.model.candidate import PERSON, Candidate
from retentia.model.record import Kind
from retentia.working.original import Original

Half = Literal["development", "held_out"]
HALVES: tuple[Half, ...] = ("development", "held_out")

_LINE = re.compile(r"^(?P<role>[UATS])(?:\((?P<speaker>[^)]+)\))?: ?", re.MULTILINE)
_ROLES = {"U": "user", "A": "assistant", "T": "tool", "S": "system"}
_ARTICLES = re.compile(r"^(?:the|a|an|my|der|die|das|den|dem|ein|eine|einen|mein|meine) ")


@dataclass(frozen=True, slots=True)
class Expected:
    """A fact that is expected, or must not be believed; several values may be right."""

    subject: str
    attribute: str
    values: frozenset[str]
    is_not: bool = False

    def is_met_by(self, found: Candidate) -> bool:
        """Tell whether a candidate says this, however it was meant."""
        return (
            (self.subject, self.attribute, self.is_not) == (found.subject, found.attribute, found.is_not)
            and plain(found.value) in self.values
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Some messages of one talk with what should be learned from them, and what must not be."""

    id: str
    language: str
    kinds: tuple[str, ...]
    messages: tuple[Original, ...]
    stated: tuple[Expected, ...]
    candidate: tuple[Expected, ...]
    others: tuple[Expected, ...]
    allowed: tuple[Expected, ...]
    never: tuple[Expected, ...]
    items: tuple[tuple[Kind, frozenset[str]], ...]


def load_dialogues(half: Half) -> list[Dialogue]:
    """Read one half of the shipped set."""
    raw = tomllib.loads((files("retentia.evals") / "data" / "learning" / f"{half}.toml").read_text("utf-8"))
    return [_parse(one) for one in raw["dialogue"]]


def plain(value: str) -> str:
    """Return a value as it is compared: folded, without an article in front."""
    return _ARTICLES.sub("", " ".join(fold(value).split()))


def _parse(raw: Mapping[str, Any]) -> Dialogue:
    parsed = {
        name: tuple(_expected(line) for line in raw.get(name, ()))
        for name in ("stated", "candidate", "others", "allowed", "never")
    }
    return Dialogue(
        id=raw["id"],
        language=raw["language"],
        kinds=tuple(raw["kinds"]),
        messages=tuple(_messages(raw["said"].strip())),
        items=tuple(_item(line) for line in raw.get("items", ())),
        **parsed,
    )


def _messages(said: str) -> Iterator[Original]:
    starts = list(_LINE.finditer(said))
    for place, (match, after) in enumerate(zip(starts, [*starts[1:], None], strict=True)):
        text = said[match.end() : after.start() if after else len(said)].rstrip()
        yield Original(id=f"m{place}", role=_ROLES[match["role"]], text=text, speaker=match["speaker"] or "")


def _expected(line: str) -> Expected:
    slot, _, values = line.partition(" = ")
    subject, _, attribute = slot.rpartition(": ")
    is_not = attribute.startswith("not ")
    return Expected(
        subject=subject or PERSON,
        attribute=attribute.removeprefix("not "),
        values=frozenset(plain(value) for value in values.split(" | ")),
        is_not=is_not,
    )


def _item(line: str) -> tuple[Kind, frozenset[str]]:
    kind, _, words = line.partition(" = ")
    return Kind(kind), frozenset(plain(words).split())
