"""Two names for one: proposed with the reason, never merged by themselves; a person decides.

Names are held to be one where they differ by a title or a legal form, by a first name that is cut short or called
otherwise, by the alphabet, or where the data knows them as names of one place. Where the two contradict each other in
something that has one value, such as a birthday, they stay apart, even two of the same name.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import combinations
from pathlib import Path

from retentia.index.names import name_form
from retentia.learn.words import words_of

_CYRILLIC = re.compile("[\u0400-\u052f]")
_MAX_IN_BLOCK = 64


class Likeness(StrEnum):
    """Why two names may be one."""

    SAME = "the same name"
    TITLE = "the same name but for a title or a legal form"
    INITIALS = "the same family name, and initials that fit"
    NICKNAME = "the same family name, and a first name that is short for the other"
    SPELLING = "the same name in another alphabet or spelling"
    OTHER_NAME = "two names that are known for one thing"
    PART = "the first name alone, where one person is called so"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A name that things are said about. `type` is "" where it is not known; `key` tells two of one name apart.

    `unique` has its values by attributes that have one value at a time: they speak for or against a merge.
    """

    name: str
    type: str = ""
    key: str = ""
    unique: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasProposal:
    """That two entities may be one, with the reason, and the attributes in which they agree."""

    first: Entity
    second: Entity
    likeness: Likeness
    agree_in: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The reason in words."""
        agreeing = f"; they agree in {', '.join(self.agree_in)}" if self.agree_in else ""
        return f"{self.first.name!r} and {self.second.name!r}: {self.likeness.value}{agreeing}"


def propose_aliases(entities: Sequence[Entity]) -> list[AliasProposal]:
    """Return the pairs that may be one, in the order given; nothing is merged.

    Two that contradict each other in a unique value, or in their type, are never proposed. A first name alone is
    proposed where exactly one fuller name begins with it. Compares within groups of names that share a word or a
    spelling, of at most 64 names each.
    """
    found: dict[tuple[int, int], AliasProposal] = {}
    for first, second in _pairs(entities):
        likeness = _likeness(entities[first], entities[second])
        if likeness is not None and not _contradict(entities[first], entities[second]):
            found[first, second] = _proposal(entities[first], entities[second], likeness)
    for first, second in _parts(entities):
        if not _contradict(entities[first], entities[second]):
            found.setdefault((first, second), _proposal(entities[first], entities[second], Likeness.PART))
    return [found[pair] for pair in sorted(found)]


def _proposal(first: Entity, second: Entity, likeness: Likeness) -> AliasProposal:
    shared = first.unique.keys() & second.unique.keys()
    return AliasProposal(first=first, second=second, likeness=likeness, agree_in=tuple(sorted(shared)))


def _contradict(first: Entity, second: Entity) -> bool:
    if first.type and second.type and first.type != second.type:
        return True
    shared = first.unique.keys() & second.unique.keys()
    return any(name_form(first.unique[name]) != name_form(second.unique[name]) for name in shared)


def _likeness(first: Entity, second: Entity) -> Likeness | None:
    if name_form(first.name) == name_form(second.name):
        return Likeness.SAME if first.key != second.key else None
    one, other = _bare(first.name), _bare(second.name)
    if not one or not other:
        return None
    if one == other:
        return Likeness.TITLE
    if _data().other_names.get(" ".join(one), -1) == _data().other_names.get(" ".join(other), -2):
        return Likeness.OTHER_NAME
    if _spelling(one) == _spelling(other):
        return Likeness.SPELLING
    if len(one) > 1 and len(other) > 1 and _spelling(one[-1:]) == _spelling(other[-1:]):
        return _by_first_names(one[:-1], other[:-1])
    return None


def _by_first_names(one: Sequence[str], other: Sequence[str]) -> Likeness | None:
    shorter, longer = sorted((one, other), key=len)
    pairs = list(zip(shorter, longer, strict=False))
    if all(_is_initial(a, b) or a == b for a, b in pairs):
        return Likeness.INITIALS
    if all(a == b or _is_nickname(a, b) for a, b in pairs):
        return Likeness.NICKNAME
    return None


def _is_initial(a: str, b: str) -> bool:
    return 1 in (len(a), len(b)) and a[0] == b[0]


def _is_nickname(a: str, b: str) -> bool:
    groups = _data().nicknames
    return any((a == group[0]) != (b == group[0]) for group in groups if a in group and b in group)


def _parts(entities: Sequence[Entity]) -> Iterator[tuple[int, int]]:
    """Yield a single first name and the only fuller name that begins with it."""
    fuller: dict[str, set[int]] = {}
    for place, entity in enumerate(entities):
        words = _bare(entity.name)
        if len(words) > 1 and entity.type in ("", "person"):
            fuller.setdefault(words[0], set()).add(place)
    for place, entity in enumerate(entities):
        words = _bare(entity.name)
        others = fuller.get(words[0], set()) if len(words) == 1 else set()
        if len(others) == 1 and entity.type == "person":
            (other,) = others
            yield min(place, other), max(place, other)


def _pairs(entities: Sequence[Entity]) -> Iterator[tuple[int, int]]:
    """Yield pairs that share a family name, a spelling or a group of other names."""
    blocks: dict[str, dict[int, None]] = {}
    for place, entity in enumerate(entities):
        words = _bare(entity.name)
        group = _data().other_names.get(" ".join(words))
        for key in (
            _spelling(words),
            _spelling(words[-1:]),
            "" if group is None else f"#{group}",
            name_form(entity.name),
        ):
            if key:
                blocks.setdefault(key, {})[place] = None
    seen: set[tuple[int, int]] = set()
    for block in blocks.values():
        for pair in combinations(sorted(block)[:_MAX_IN_BLOCK], 2):
            if pair not in seen:
                seen.add(pair)
                yield pair


def _bare(name: str) -> list[str]:
    """Return the words of a name without titles and legal forms."""
    return [word for word in words_of(name) if word not in _data().left_out]


def _spelling(words: Sequence[str]) -> str:
    """Return one spelling of a name for both alphabets and for what is written in several ways."""
    return " ".join(_latin(word) for word in words)


def _latin(word: str) -> str:
    data = _data()
    if _CYRILLIC.search(word):
        word = _replaced(word, data.latin)
    return _replaced(word, data.same_latin)


def _replaced(word: str, table: Mapping[str, str]) -> str:
    longest = max(map(len, table))
    at, parts = 0, []
    while at < len(word):
        piece = next((word[at : at + n] for n in range(longest, 0, -1) if word[at : at + n] in table), "")
        parts.append(table[piece] if piece else word[at])
        at += len(piece) or 1
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Data:
    nicknames: Sequence[Sequence[str]]
    other_names: Mapping[str, int]
    left_out: frozenset[str]
    latin: Mapping[str, str]
    same_latin: Mapping[str, str]


@cache
def _data() -> _Data:
    raw = tomllib.loads((Path(__file__).parent / "aliases.toml").read_text("utf-8"))
    return _Data(
        nicknames=[[" ".join(words_of(name)) for name in group] for group in raw["nicknames"]],
        other_names={
            " ".join(words_of(name)): place for place, group in enumerate(raw["other_names"]) for name in group
        },
        left_out=frozenset(" ".join(words_of(word)) for word in (*raw["titles"], *raw["legal_forms"])),
        latin=raw["latin"],
        same_latin=raw["same_latin"],
    )
