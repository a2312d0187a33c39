"""Personal data: find what names or describes a person, and mask it for logs and exports. Pure.

What proves itself (a check digit, a country's length) has a high confidence, what only looks like it a lower one. Names
are found only where the text says that it is one. Patterns and words are data, in personal.toml beside this file.
"""

import ipaddress
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from retentia.languages import load_languages
from retentia.security.check_digits import is_iban, is_steuer_id, is_ukrainian_tax_number
from retentia.security.secret_patterns import is_card_number

_REJECTED = -1
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_WIDE_MARKS = "„“”«»…–—’"
_BLANKS = bytes.maketrans(b",.!?:;()[]*_\"'/", b" " * 15)
_DIGITS = b"0123456789"
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(?!\d)|(?:19|20)\d{2}[ /-]+(?:19|20)\d{2}$"
)
_FILE_ENDINGS = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "pdf", "js", "ts", "py", "css", "html", "zip", "json", "csv"}
)
_LOOK_BACK = 24
_VERSION = re.compile(r"(?i:(?<!\w)(?:version|release|ver\.|v|версі[яії])[:( ]{1,2})$")
_NEAR = 7
_NEAR_EACH_OTHER = re.compile(r"\d(?:[ ()./-]{0,2}\d){6}")


class PersonalKind(StrEnum):
    """What kind of personal data it is."""

    EMAIL = "email"
    PHONE = "phone"
    IBAN = "iban"
    CARD = "card"
    NATIONAL_ID = "national_id"
    ADDRESS = "address"
    IP_ADDRESS = "ip_address"
    BIRTH_DATE = "birth_date"
    HEALTH = "health"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class PersonalFinding:
    """The characters [start, end) of a text that hold personal data; `confidence` from 0 to 1."""

    kind: PersonalKind
    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class _Pattern:
    """One row of the table. `check` takes a text and a span; it returns where the finding ends, or _REJECTED."""

    kind: PersonalKind
    digits: int
    sign: str
    signs: int
    words: tuple[str, ...]
    hints: tuple[str, ...]
    regex: str
    check: Callable[[str, int, int], int]
    confidence: float

    def find(self, text: str) -> Iterator[PersonalFinding]:
        compiled = _compiled(self.regex)
        group = "found" if "found" in compiled.groupindex else 0
        for match in compiled.finditer(text):
            start, end = match.span(group)
            end = self.check(text, start, end)
            if end != _REJECTED:
                yield PersonalFinding(self.kind, start, end, self.confidence)


@dataclass(frozen=True, slots=True)
class _Table:
    """The patterns by what a text must have before they are tried, and the words that call for a closer look."""

    with_at: tuple[_Pattern, ...]
    with_words: tuple[_Pattern, ...]
    with_digits: tuple[_Pattern, ...]
    with_digits_and_words: tuple[_Pattern, ...]
    with_numbers: tuple[_Pattern, ...]
    words: frozenset[bytes]
    words_beside_digits: frozenset[bytes]


def find_personal(text: str) -> tuple[PersonalFinding, ...]:
    """Return the personal data in a text, in order and without overlap, in time linear in its length."""
    table = _table()
    folded = text.casefold()
    blanked = _blanked(folded)
    words = blanked.split()
    has_words = not table.words.isdisjoint(words)
    digits = len(blanked) - len(blanked.translate(None, _DIGITS))
    suspected = _with_digits(table, text, folded, words, digits) if digits else []
    if "@" in text:
        suspected += table.with_at
    if has_words:
        suspected += table.with_words
    if not suspected:
        return ()  # an ordinary message, in microseconds
    found = [finding for pattern in suspected for finding in pattern.find(text)]
    if has_words:
        found += _health_words(text)
    return _best(found)


def mask_personal(text: str, findings: Iterable[PersonalFinding]) -> str:
    """Replace each finding by its mark, such as "[email]". The findings are of this text, as `find_personal` gives."""
    kept: list[str] = []
    end = 0
    for finding in findings:
        kept += text[end : finding.start], f"[{finding.kind.value}]"
        end = finding.end
    return "".join((*kept, text[end:]))


def _with_digits(table: _Table, text: str, folded: str, words: list[bytes], digits: int) -> list[_Pattern]:
    """Return the patterns with digits that may occur in a text with so many."""
    groups = [table.with_digits]
    if not table.words_beside_digits.isdisjoint(words):
        groups.append(table.with_digits_and_words)
    if digits >= _NEAR and _NEAR_EACH_OTHER.search(text):
        groups.append(table.with_numbers)
    return [
        pattern
        for patterns in groups
        for pattern in patterns
        if pattern.digits <= digits
        and (not pattern.sign or text.count(pattern.sign) >= pattern.signs)
        and (not pattern.hints or _has_one(folded, pattern.hints))
    ]


def _has_one(folded: str, hints: tuple[str, ...]) -> bool:
    for hint in hints:  # any() over a generator takes twice as long  # noqa: SIM110
        if hint in folded:
            return True
    return False


def _blanked(folded: str) -> bytes:
    """Return a text in UTF-8 with blanks for marks: its words are split off several times as fast as by a pattern."""
    if not folded.isascii():
        for mark in _WIDE_MARKS:
            folded = folded.replace(mark, " ")
    return folded.encode("utf-8", "surrogatepass").translate(_BLANKS)


def _health_words(text: str) -> Iterator[PersonalFinding]:
    health, confidence = _listed("health"), _data()["health"]["confidence"]
    for match in _WORD.finditer(text):
        if match[0].casefold() in health:
            yield PersonalFinding(PersonalKind.HEALTH, *match.span(), confidence)


def _best(found: list[PersonalFinding]) -> tuple[PersonalFinding, ...]:
    """Keep, where findings overlap, the surest, then the longest."""
    kept: list[PersonalFinding] = []
    for finding in sorted(found, key=lambda one: (one.start, one.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
        elif _rank(finding) > _rank(kept[-1]):
            kept[-1] = finding
    return tuple(kept)


def _rank(finding: PersonalFinding) -> tuple[float, int]:
    return finding.confidence, finding.end - finding.start


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("personal.toml").read_text("utf-8"))


@cache
def _table() -> _Table:
    patterns = [_pattern(row) for row in _data()["pattern"]]
    few = [pattern for pattern in patterns if 0 < pattern.digits < _NEAR]
    with_words = tuple(pattern for pattern in patterns if pattern.words and not pattern.digits)
    beside_digits = tuple(pattern for pattern in few if pattern.words)
    return _Table(
        with_at=tuple(pattern for pattern in patterns if pattern.sign == "@"),
        with_words=with_words,
        with_digits=tuple(pattern for pattern in few if not pattern.words),
        with_digits_and_words=beside_digits,
        with_numbers=tuple(pattern for pattern in patterns if pattern.digits >= _NEAR),
        words=_encoded(_listed("health").union(*(pattern.words for pattern in with_words))),
        words_beside_digits=_encoded(word for pattern in beside_digits for word in pattern.words),
    )


def _encoded(words: Iterable[str]) -> frozenset[bytes]:
    return frozenset(word.encode() for word in words)


def _pattern(row: Mapping[str, Any]) -> _Pattern:
    return _Pattern(
        kind=PersonalKind(row["kind"]),
        digits=row.get("digits", 0),
        sign=row.get("signs", "")[:1],
        signs=len(row.get("signs", "")),
        words=tuple(word.casefold() for word in row.get("words", ())),
        hints=tuple(row.get("hints", ())),
        regex=row["regex"],
        check=_CHECKS[row.get("check", "")],
        confidence=row["confidence"],
    )


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    # On first use only: a process meets few of the kinds.
    months = sorted({form for language in load_languages() for forms in language.months for form in forms})
    date = str(_data()["parts"]["date"]).replace("{month}", "|".join(sorted(months, key=len, reverse=True)))
    return re.compile(regex.replace("{date}", date))


@cache
def _listed(section: str, name: str = "words") -> frozenset[str]:
    return frozenset(word.casefold() for word in str(_data()[section][name]).split())


def _accepted(_text: str, _start: int, end: int) -> int:
    return end


def _digits_of(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def _email(text: str, start: int, end: int) -> int:
    name, _, host = text[start:end].partition("@")
    is_file = host.rpartition(".")[2].casefold() in _FILE_ENDINGS
    return _REJECTED if is_file or not name.strip(".'-+%") else end


def _phone(text: str, start: int, end: int) -> int:
    said = text[start:end]
    if not 7 <= len(_digits_of(said)) <= 15 or _DATE.match(said) or _counts_a_thing(text, start):
        return _REJECTED
    return end


def _phone_ten_digits(text: str, start: int, end: int) -> int:
    return _phone(text, start, end) if len(_digits_of(text[start:end])) == 10 else _REJECTED


def _phone_international(text: str, start: int, end: int) -> int:
    said = text[start:end]
    digits = _digits_of(said).removeprefix("00") if said.startswith("0") else _digits_of(said)
    code = next((digits[:size] for size in (3, 2, 1) if digits[:size] in _data()["calling_codes"]), None)
    if code is None or (code in ("1", "7") and said.startswith("0")):  # 001… and 007… begin other numbers too
        return _REJECTED
    shortest, longest = _data()["calling_codes"][code]
    trunk = "(0)" in said
    if not shortest <= len(digits) - trunk <= longest or (code == "1" and digits[1] in "01"):
        return _REJECTED
    return _phone(text, start, end)


def _iban(text: str, start: int, end: int) -> int:
    length = _data()["iban_lengths"].get(text[start : start + 2].upper())
    taken: list[str] = []
    for at in range(start, end):
        if text[at] not in " -":
            taken.append(text[at])
        if len(taken) == length:
            follows = text[at + 1 : at + 2]
            is_whole = not (follows.isalnum() and follows.isascii())
            return at + 1 if is_whole and is_iban("".join(taken)) else _REJECTED
    return _REJECTED


def _card(text: str, start: int, end: int) -> int:
    return end if is_card_number(text[start:end]) else _REJECTED


def _steuer_id(text: str, start: int, end: int) -> int:
    return end if is_steuer_id(_digits_of(text[start:end])) else _REJECTED


def _rnokpp(text: str, start: int, end: int) -> int:
    return end if is_ukrainian_tax_number(text[start:end]) else _REJECTED


def _ip_address(text: str, start: int, end: int) -> int:
    said = text[start:end]
    try:
        address = ipaddress.ip_address(said)
    except ValueError:
        return _REJECTED
    is_version = _VERSION.search(text, max(0, start - _LOOK_BACK), start) is not None
    is_nobody = address.is_loopback or address.is_unspecified or address.is_multicast or said.startswith("255.")
    too_short = address.version == 6 and len([part for part in said.split(":") if part]) < 3
    return _REJECTED if is_version or is_nobody or too_short else end


def _address_de(text: str, start: int, end: int) -> int:
    """Refuse a common word that ends like a street: "am Arbeitsplatz 5" has no name in it, "Am Marktplatz 5" has."""
    return _REJECTED if text[start:end].split()[0].casefold().startswith(_NO_STREETS) else end


def _name(text: str, start: int, end: int) -> int:
    """Take words as long as they are capitalised; a name in small letters is one word."""
    no_names, particles = _listed("no_names"), _listed("no_names", "particles")
    taken = _REJECTED
    for match in re.finditer(r"\S+", text[start:end]):
        word = match[0]
        if word.casefold() in no_names:
            break
        if word[0].isupper():
            taken = start + match.end()
        elif word.casefold() not in particles:
            return start + match.end() if taken == _REJECTED and len(word) > 1 else taken
    return taken


def _counts_a_thing(text: str, start: int) -> bool:
    before = _WORD.findall(text[max(0, start - _LOOK_BACK) : start].casefold())
    return not _listed("numbers_of_things").isdisjoint(before[-2:])


_NO_STREETS = ("arbeitsplatz", "parkplatz", "umweg", "ausweg", "stellplatz", "sitzplatz", "spielplatz", "supermarkt")
_CHECKS: Mapping[str, Callable[[str, int, int], int]] = {
    "": _accepted,
    "email": _email,
    "phone": _phone,
    "phone_ten_digits": _phone_ten_digits,
    "phone_international": _phone_international,
    "iban": _iban,
    "card": _card,
    "steuer_id": _steuer_id,
    "rnokpp": _rnokpp,
    "ip_address": _ip_address,
    "address_de": _address_de,
    "name": _name,
}
