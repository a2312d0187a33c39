"""How people say when, from the *.periods.toml files in this folder, compiled."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from retentia.languages.calendar import Choice
from retentia.languages.language import Language, load_languages

Means = Literal[
    "day",
    "calendar",
    "weekend",
    "rolling",
    "coming",
    "ago",
    "ahead",
    "weekday",
    "date",
    "days",
    "month",
    "year",
    "season",
    "quarter",
]
Edge = Literal["start", "from", "after", "due", "end", "until", "before", "when"]
"""What a word before a time makes of it."""

EDGES: tuple[Edge, ...] = ("due", "start", "from", "after", "end", "until", "before", "when")
_BLANK = r"[ ]{1,3}"
_LOOK_BACK = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """One way to say a time without the words before it; see en.periods.toml."""

    pattern: re.Pattern[str]
    means: Means
    bare: bool
    choose: Choice | None
    offset: int
    unit: str
    part: str
    many: int
    lower: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodWords:
    """One language's words and patterns. `values` maps each placeholder's words, case-folded, to what they mean."""

    cores: tuple[Core, ...]
    values: Mapping[str, Mapping[str, Any]]
    capitalised: frozenset[str]
    lowered: frozenset[str]
    hints: frozenset[str]
    short_months: frozenset[str]
    plurals: frozenset[str]
    names: frozenset[str]
    before: Mapping[Edge, re.Pattern[str]]
    needed: Mapping[str, re.Pattern[str]]
    between: re.Pattern[str]
    names_after: re.Pattern[str]
    joined: re.Pattern[str]
    onward: re.Pattern[str]
    not_behind: re.Pattern[str]
    every: re.Pattern[str]
    not_followed: re.Pattern[str]


@cache
def latin_words() -> tuple[PeriodWords, ...]:
    """Read English and German once; later calls return the same values."""
    return tuple(_load(language) for language in load_languages() if language.code != "uk")


@cache
def cyrillic_words() -> tuple[PeriodWords, ...]:
    """Read Ukrainian once; later calls return the same values."""
    return tuple(_load(language) for language in load_languages() if language.code == "uk")


def look_back(text: str, start: int) -> str:
    """Return what stands shortly before a place, from the beginning of a word on."""
    at = max(0, start - _LOOK_BACK)
    while at and at < start and text[at - 1].isalnum():
        at += 1
    return text[at:start]


def _load(language: Language) -> PeriodWords:
    data = _read(language.code)
    values = _values(data, language)
    slots = {name: f"(?P<{name}>{_any(words)})" for name, words in values.items()}
    slots["number"] = rf"(?P<number>\d{{1,4}}|{_any(values['number'])})"
    day_number = rf"(?:0?[1-9]|[12]\d|3[01])(?!\d)(?:{data['day_suffix']})?|{_any(values['day'])}"
    slots |= {"day": f"(?P<day>{day_number})", "day2": f"(?P<day2>{day_number})"}
    no_year = rf"\d|[.,:/-]\d|[ ]?[%‰€$£₴°]|{_BLANK}(?:{_counted()})\b"
    slots["year"] = rf"(?P<year>(?:19|20)\d\d)(?!{no_year})(?:{data['year_word'] or '(?!)'})?"
    slots["quarter"] = r"Q(?P<quarter>[1-4])"
    slots["month"] = rf"(?P<month>{_any(values['month'])})"
    before = data["before"]
    article = f"(?:(?:{_spaced(before['article'])}){_BLANK})?"
    return PeriodWords(
        cores=tuple(_core(row, slots) for row in data["core"]),
        values=values,
        capitalised=frozenset(data["capitalised"].split()),
        lowered=frozenset(data["capitalised"].casefold().split()),
        hints=_hints(data, values),
        short_months=frozenset(form.casefold() for forms in data["short_months"] for form in forms.split()),
        plurals=frozenset(data["plurals"].split()),
        names=frozenset(data["names"].split()),
        before={edge: _before(before[edge], article) for edge in EDGES},
        needed={
            "year": _before(before["year"], ""),  # "the 1998 law" names a law
            **{name: _before(before[name], article) for name in ("weekday", "quarter", "season", "month")},
        },
        between=_before(before["between"], article),
        names_after=_before("|".join(data["names_after"].split()), article),
        joined=re.compile(rf"[ ]{{0,2}}(?:{_spaced(before['and'])})[ ]{{0,2}}{article}", re.IGNORECASE),
        onward=re.compile(before["onward"], re.IGNORECASE),
        not_behind=_before(before["not_behind"], ""),
        every=_before(before["every"], ""),
        not_followed=re.compile(data["not_followed"]),
    )


@cache
def _read(code: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{code}.periods.toml").read_text("utf-8"))


def _counted() -> str:
    """Return what is counted in any language: "in 2000 cases" is matched by English and German alike."""
    return "|".join(word for language in load_languages() for word in _read(language.code)["counted"].split())


def _values(data: Mapping[str, Any], language: Language) -> dict[str, dict[str, Any]]:
    months = {form: number for number, forms in enumerate(language.months, 1) for form in forms}
    for number, forms in enumerate(data["short_months"], 1):
        months |= {form.casefold(): number for form in forms.split()}
    pairs = (pair.split("=") for pair in data["numbers"].split())
    return {
        "weekday": {form: number for number, forms in enumerate(data["weekdays"]) for form in forms.split()},
        "month": months,
        "unit": {form: name for name, forms in data["units"].items() for form in forms.split()},
        "number": {word: int(number) for word, number in pairs},
        "day": {word: number for number, word in enumerate(data["ordinals"].split(), 1)},
        "part": {form: name for name, forms in data["parts"].items() for form in forms.split()},
        "season": {form: name for name, forms in data["seasons"].items() for form in forms.split()},
    }


def _hints(data: Mapping[str, Any], values: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return the words one of which every time has, but for years; German writes Dienstagabend as one."""
    glued = (day + part for day in values["weekday"] for part in values["part"])
    single = (word for name in ("weekday", "month", "unit", "season", "part") for word in values[name])
    return frozenset((*glued, *single, *data["hints"].split()))


def _core(row: Mapping[str, Any], slots: Mapping[str, str]) -> Core:
    pattern = _spaced(row["pattern"])
    for name, alternatives in slots.items():  # a group of each alternative has a name of its own: unit, unit_1
        for again in range(pattern.count(f"{{{name}}}")):
            named = f"?P<{name}_{again}>" if again else f"?P<{name}>"
            pattern = pattern.replace(f"{{{name}}}", alternatives.replace(f"?P<{name}>", named), 1)
    return Core(
        pattern=re.compile(rf"(?<![\w.@/#$€£-])(?:{pattern})(?!\w|[@/]\w|-\d)", re.IGNORECASE),
        means=row["means"],
        bare=row.get("bare", True),
        choose=row.get("choose"),
        offset=row.get("offset", 0),
        unit=row.get("unit", ""),
        part=row.get("part", ""),
        many=row.get("many", 1),
        lower=row.get("lower", ""),
    )


def _before(words: str, article: str) -> re.Pattern[str]:
    """Match one of the words at the end of what stands before a core."""
    return re.compile(rf"(?<!\w)(?:{_spaced(words) or '(?!)'}){_BLANK}{article}\Z", re.IGNORECASE)


def _spaced(words: str) -> str:
    return words.replace("\n", "").replace(" ", _BLANK).replace(f"{_BLANK}?", "[ ]{0,2}").replace(f"{_BLANK}+", "[ ]+")


def _any(words: Iterable[str]) -> str:
    """Return alternatives, longer ones first: the first that matches counts."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
