"""Facts: how people say what is true of them, from the *.facts.toml files in this folder.

A pattern has words without which it cannot match, so that a text without any of them costs one look at each word.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from retentia.languages.language import load_languages

_CODES = ("en", "de", "uk")
_FOLDER = Path(__file__).parent
_APOSTROPHES = str.maketrans("’ʼ‘`´", "'''''")
_WORD = re.compile(r"\w+")
_MACRO = re.compile(r"\{([a-z_]+)\}")
_FLAGS = re.IGNORECASE
_TEXT = "{text}"
_DEEPEST = 8


@dataclass(frozen=True, kw_only=True)
class FactPattern:
    """One thing that people say, in some forms of words. What it names is in the registry of attributes.

    Groups of a form: `value` is what is learned, `gap` the words around the verb that say how it is meant, `elided`
    stands for a subject that was named before, `who` is another subject, `of` what the value is one of, `old` what is
    taken back, `due` and `task` belong to commitments and procedures. `question` is what an answer replies to. A form
    is `loose` where its value may be any words, so that the value itself has to be found in them.
    """

    place: int
    code: str
    attribute: str
    kind: str
    manner: str
    family: str
    forms: tuple[str, ...]
    loose: tuple[bool, ...]
    question: str
    is_list: bool
    is_presupposed: bool
    is_reported: bool
    is_not: bool
    is_whole: bool
    extra: frozenset[str]
    not_values: frozenset[str]

    @cached_property
    def expressions(self) -> tuple[re.Pattern[str], ...]:
        """The forms, compiled when they are first needed."""
        return tuple(re.compile(form, _FLAGS) for form in self.forms)

    @cached_property
    def asks(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{self.question})", _FLAGS)


@dataclass(frozen=True, kw_only=True)
class FactWords:
    """The small words of one language that say how something is meant; see the files for what each list is for.

    `classes` tell what a word in a gap does ("negated", "forced" …); `clause` has expressions over clauses.
    """

    code: str
    classes: Mapping[str, str]
    clause: Mapping[str, str]

    @cached_property
    def gap(self) -> re.Pattern[str]:
        """The longest known words at a place; group 1."""
        known = "|".join(_as_expression(words) for words in sorted(self.classes, key=len, reverse=True))
        return re.compile(rf"\s*({known})(?!\w)", _FLAGS)

    @cached_property
    def gap_at_end(self) -> re.Pattern[str]:
        known = "|".join(_as_expression(words) for words in sorted(self.classes, key=len, reverse=True))
        return re.compile(rf"(?:(?<=\s)|(?<=,)|^)({known})\s*$", _FLAGS)

    def class_of(self, words: str) -> str:
        """Return what known words of a gap do."""
        return self.classes.get(" ".join(words.casefold().split()), "plain")

    def says(self, cue: str, text: str) -> bool:
        """Tell whether a text has a cue of a clause."""
        return self.find(cue, text) is not None

    def find(self, cue: str, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the first place of a clause's cue."""
        expression = _expression(self.clause.get(cue, ""))
        return expression.search(text, start, len(text) if end is None else end) if expression else None

    def finds(self, cue: str, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        """Yield the places of a clause's cue."""
        expression = _expression(self.clause.get(cue, ""))
        if expression is not None:
            yield from expression.finditer(text, start, len(text) if end is None else end)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The patterns of all languages, by the words that call for them."""

    words: Mapping[str, FactWords]
    by_word: Mapping[str, tuple[FactPattern, ...]]
    by_beginning: Mapping[str, tuple[FactPattern, ...]]
    answers: tuple[FactPattern, ...]
    deciding: frozenset[str]
    telling: Mapping[str, frozenset[str]]

    def tells(self, attribute: str, text: str) -> bool:
        """Tell whether a text has a word that the patterns of an attribute ask for; so for one without patterns."""
        telling = self.telling.get(attribute)
        words = set(_WORD.findall(text.casefold()))
        return telling is None or any(
            word in words if not word.endswith("*") else any(one.startswith(word[:-1]) for one in words)
            for word in telling
        )

    @cached_property
    def _triggers(self) -> frozenset[str]:
        return frozenset(self.by_word)

    @cached_property
    def beginnings(self) -> re.Pattern[str] | None:
        known = "|".join(map(re.escape, self.by_beginning))
        return re.compile(rf"(?<!\w)(?:{known})") if known else None

    def called_for(self, text: str) -> list[FactPattern]:
        """Return the patterns that a text may match, in the order of the files."""
        folded = text.casefold()
        words = self._triggers.intersection(_WORD.findall(folded))
        found = {id(pattern): pattern for word in words for pattern in self.by_word[word]}
        if self.beginnings is not None:
            for beginning in set(self.beginnings.findall(folded)):
                found |= {id(pattern): pattern for pattern in self.by_beginning[beginning]}
        return sorted(found.values(), key=lambda pattern: pattern.place)


def fact_form(text: str) -> str:
    """Return a text as the patterns expect it, of the same length: with plain apostrophes."""
    return text.translate(_APOSTROPHES)


@cache
def load_facts() -> Facts:
    """Read every language once; later calls return the same value."""
    shapes = tomllib.loads((_FOLDER / "facts.toml").read_text("utf-8"))["macros"]
    words: dict[str, FactWords] = {}
    by_word: dict[str, list[FactPattern]] = {}
    by_beginning: dict[str, list[FactPattern]] = {}
    answers: list[FactPattern] = []
    deciding: set[str] = set()
    telling: dict[str, set[str]] = {}
    small = frozenset[str]().union(*(one.stop_words for one in load_languages()))
    place = 0
    for code, months in zip(_CODES, (one.months for one in load_languages()), strict=True):
        data = tomllib.loads((_FOLDER / f"{code}.facts.toml").read_text("utf-8"))
        month = "|".join(form for forms in months for form in forms)
        macros = {**shapes, "month": f"(?:{month})", **data["macros"]}
        macros |= {cue: f"(?:{'|'.join(data['clause'][cue])})" for cue in ("joined", "applies")}
        words[code] = _words(code, data, macros)
        for fields in data["pattern"]:
            pattern = _pattern(code, fields, macros, data["words"], place=(place := place + 1))
            for trigger in _triggers(fields["when"], data["words"]):
                telling.setdefault(pattern.attribute, set()).update({trigger} - small)
                table, key = (by_beginning, trigger[:-1]) if trigger.endswith("*") else (by_word, trigger)
                table.setdefault(key, []).append(pattern)
        deciding |= set(data["words"]["deciding"].split())
        answers += (_pattern(code, fields, macros, data["words"]) for fields in data["answer"])
    return Facts(
        words=words,
        by_word={word: tuple(patterns) for word, patterns in by_word.items()},
        by_beginning={word: tuple(patterns) for word, patterns in by_beginning.items()},
        answers=tuple(answers),
        deciding=frozenset(deciding),
        telling={attribute: frozenset(words) for attribute, words in telling.items()},
    )


def _words(code: str, data: Mapping[str, Any], macros: Mapping[str, str]) -> FactWords:
    classes = {phrase: name for name, phrases in data["gap"].items() for phrase in phrases}
    clause = {cue: _cue(cue, patterns) for cue, patterns in data["clause"].items()}
    return FactWords(code=code, classes=classes, clause={cue: _expanded(text, macros) for cue, text in clause.items()})


def _cue(cue: str, patterns: str | Sequence[str]) -> str:
    """Return one expression for all patterns of a cue, between word boundaries where the cue is made of words."""
    if isinstance(patterns, str):
        return patterns
    if not patterns:
        return ""
    joined = f"(?:{'|'.join(patterns)})"
    match cue:
        case "pasted":
            return joined
        case "stop":
            return rf"{joined}(?!\w)"
        case _:
            return rf"(?<![\w']){joined}(?!\w)"


def _pattern(
    code: str, fields: Mapping[str, Any], macros: Mapping[str, str], words: Mapping[str, str], *, place: int = 0
) -> FactPattern:
    forms: Sequence[str] = fields["say"] if "say" in fields else [fields["answer"]]
    return FactPattern(
        place=place,
        code=code,
        attribute=fields["attribute"],
        kind=fields.get("kind", "fact"),
        manner=fields.get("manner", "asserted"),
        family=fields.get("family", "answer"),
        forms=tuple(_expanded(form, macros) for form in forms),
        loose=tuple(_TEXT in form for form in forms),
        question=_expanded(fields.get("question", ""), macros),
        is_list=fields.get("is_list", False),
        is_presupposed=fields.get("is_presupposed", False),
        is_reported=fields.get("is_reported", False),
        is_not=fields.get("is_not", False),
        is_whole=fields.get("is_whole", False),
        extra=frozenset(fields.get("extra", "").split()),
        not_values=frozenset(words.get(fields.get("not_values", ""), "").split()),
    )


def _triggers(when: str, words: Mapping[str, str]) -> Iterator[str]:
    for word in when.split():
        yield from words[word[1:]].split() if word.startswith("@") else (word.casefold(),)


def _expanded(text: str, macros: Mapping[str, str]) -> str:
    for _ in range(_DEEPEST):
        if not _MACRO.search(text):
            return text
        text = _MACRO.sub(lambda found: macros[found[1]], text)
    return text


@cache
def _expression(text: str) -> re.Pattern[str] | None:
    return re.compile(text, _FLAGS) if text else None


def _as_expression(words: str) -> str:
    return words if "\\" in words else re.escape(words)
