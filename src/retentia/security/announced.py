"""Secrets that a label announces: "my password is …", "Passwort: …", "пароль — …", `API_KEY=…`, "PIN 4821".

Behind a label almost anything can stand, and mostly it is prose ("the password is wrong"). So the rules ask how label
and value are joined, what the value looks like, and whether the clause ends with it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from retentia.security.secret_patterns import Span, secrets_table

Joint = Literal["mark", "verb", "change", "none"]
"""How a label and a value are joined: "password: x", "the password is x", "set the password to x", "password x"."""

_CLOSING = {'"': '"', "'": "'", "`": "`", "„": "“”", "“": "”", "«": "»", "»": "«", "‚": "‘", "‘": "’"}
_LONGEST_QUOTED = 4000
_JUDGED = 80  # characters that are read of a value before it is taken for a secret
_BARE = re.compile(r"""(?:(?![,;&][\w.-]{1,40}=)(?!\\[nrt"'])[^\s"<>`„“”«»])+""")
_AFTER_VALUE = ".,;:)]}>'’…\\"
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_SYMBOL = re.compile(r"[!@#$%^&*+=?~|§€£]")
_NO_VALUE = re.compile(
    r"[<\[{(]|\$[{(]|\$[a-z_]+$|%[a-z_({]|(.)\1*$|\.\.|https?://|[./~]|[a-z_][\w.]*\(|[^\d]*(?:passw|парол|kennwort)[^\d]*$",
    re.IGNORECASE | re.DOTALL,
)
_CLAUSE_END = re.compile(r"""["'`»“”’)\]}]*(?:[.,;!?…]|\s*$|\s*\n|\s*\\n|\s*[|&/])""")
_KEY = re.compile(r"[\w./+=~:%!@#$^*|-]{12,}")
_SCHEME = re.compile(r"(?:bearer|basic|token|digest|apikey) {1,3}", re.IGNORECASE)
_PIN = re.compile(r"[0-9]{4,8}(?![0-9]|[.,/-][0-9])")
_CARD_CODE = re.compile(r"[0-9]{3,4}(?![0-9]|[.,/-][0-9])")
_SEED_WORDS = re.compile(r"(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}")


class _Value(NamedTuple):
    """What stands behind a label: the characters [start, end), and whether quotes enclose them."""

    start: int
    end: int
    quoted: bool


@dataclass(frozen=True, slots=True)
class _Family:
    """Labels whose values are told from prose in the same way."""

    stems: tuple[str, ...]
    hints: tuple[str, ...]
    labels: re.Pattern[str]
    find: Callable[[str, str, re.Match[str]], Span | None]


@dataclass(frozen=True, slots=True)
class _Grammar:
    """How labels and values are joined, as regular expressions over lower-cased text."""

    direct: re.Pattern[str]
    phrased: re.Pattern[str]
    change: re.Pattern[str]
    none: re.Pattern[str]


def announced(text: str) -> list[Span]:
    """Return the secrets that labels announce, family by family."""
    lowered = text.lower()
    found: list[Span] = []
    done = None
    for stem, family in _stems(text.isascii()):
        if stem in lowered and family is not done and any(hint in lowered for hint in family.hints):
            found += _announced_by(family, text)
            done = family
    return found


def _announced_by(family: _Family, text: str) -> Iterator[Span]:
    folded = _lower_in_place(text)
    end = 0
    for label in family.labels.finditer(folded):
        if label.start() >= end and (span := family.find(text, folded, label)):  # not a label inside a value
            kind, start, end = span
            is_cut = end - start > _JUDGED - len(_AFTER_VALUE) and text[start - 1] not in _CLOSING
            if is_cut and (whole := _BARE.match(text, start)):
                end = max(end, _trimmed_end(whole))
            yield kind, start, end


def _lower_in_place(text: str) -> str:
    """Return the text in lower case with every character at its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _find_password(text: str, folded: str, label: re.Match[str]) -> Span | None:
    for joint, position in _joints(folded, label):
        value = _value_at(text, position)
        if value and _is_password(text, label, joint, value):
            return "password", value.start, value.end
    return None


def _is_password(text: str, label: re.Match[str], joint: Joint, value: _Value) -> bool:
    shown = text[value.start : value.end]
    core = shown.rstrip("!?")
    if len(core) < (3 if value.quoted else 4) or _NO_VALUE.match(core):
        return False
    if value.quoted:
        return not _is_prose(core.split()) and (joint != "none" or _looks_chosen(core))
    if joint == "none":
        return len(core) >= 8 and _has_letter_and_digit(core)
    if _looks_chosen(core):
        return True
    if joint == "change" or _is_ordinary(core):
        return False
    if text[label.end() : value.start] == "=" and text[label.start() : label.end()].isupper():
        return True  # a line of an environment file
    return _WORD.fullmatch(core) is not None and _CLAUSE_END.match(text, value.end, value.end + 80) is not None


def _looks_chosen(value: str) -> bool:
    """Tell whether a value is none of a language's words: letters with digits, four digits or more, a sign inside."""
    return _has_letter_and_digit(value) or (value.isdigit() and len(value) >= 4) or _SYMBOL.search(value) is not None


def _has_letter_and_digit(value: str) -> bool:
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value))


def _is_prose(words: list[str]) -> bool:
    return sum(map(_is_ordinary, words)) >= min(2, len(words))


def _is_ordinary(word: str) -> bool:
    words, suffixes = _ordinary()
    lowered = word.lower().strip(".,;:!?")
    return lowered in words or (len(lowered) > 5 and lowered.endswith(suffixes))


def _find_key(text: str, folded: str, label: re.Match[str]) -> Span | None:
    before = folded[max(0, label.start() - 20) : label.start()].rstrip(" _.-")
    if before.endswith(_harmless()):
        return None
    for joint, position in _joints(folded, label):
        if joint in ("change", "none"):
            continue
        value = _value_at(text, position)
        if value is None:
            continue
        start, end = value.start, value.end
        if not value.quoted and (scheme := _SCHEME.match(text, start)):
            rest = _value_at(text, scheme.end())
            start, end = (rest.start, rest.end) if rest else (start, end)
        secret = text[start:end]
        if _KEY.fullmatch(secret) and _looks_random(secret) and not _NO_VALUE.match(secret):
            return ("token" if "key" not in label[0] else "api_key"), start, end
    return None


def _looks_random(value: str) -> bool:
    """Tell whether a value is no identifier: letters with three digits, or with one digit and in both cases."""
    digits = sum(map(str.isdigit, value))
    mixed = value != value.lower() and value != value.upper()
    return _has_letter_and_digit(value) and (digits >= 3 or mixed)


def _find_pin(text: str, folded: str, label: re.Match[str]) -> Span | None:
    digits = _CARD_CODE if label[0].startswith("cv") else _PIN
    # "pin 1000 posts" says what to do, "PIN 4821" is one.
    is_verb = text[label.start() : label.end()] in ("pin", "Pin")
    for joint, position in _joints(folded, label):
        if joint == "change" or (joint == "none" and is_verb):
            continue
        if value := digits.match(text, position):
            return "password", value.start(), value.end()
    return None


def _find_seed(text: str, folded: str, label: re.Match[str]) -> Span | None:
    for joint, position in _joints(folded, label):
        if joint in ("mark", "verb") and (words := _SEED_WORDS.match(folded, position)):
            return "seed_phrase", words.start(), words.end()
    return None


def _joints(folded: str, label: re.Match[str]) -> Iterator[tuple[Joint, int]]:
    """Yield how the text goes on after a label and where the value would start, most telling way first."""
    grammar = _grammar()
    for way in (grammar.direct, grammar.phrased):
        if joined := way.match(folded, label.end()):
            yield ("mark" if joined["mark"] else "verb"), joined.end()
    if joined := grammar.change.match(folded, label.end()):
        yield "change", joined.end()
    if joined := grammar.none.match(folded, label.end()):
        option = re.search(r"(?:^|\s)--[\w-]*$", folded[max(0, label.start() - 40) : label.start()])
        yield ("mark" if option else "none"), joined.end()


def _value_at(text: str, start: int) -> _Value | None:
    opening = text[start : start + 2]
    quote = opening[1:] if opening[:1] == "\\" else opening[:1]
    if closing := _CLOSING.get(quote):
        inside = start + len(opening.partition(quote)[0]) + 1
        ends = [end for mark in closing if (end := text.find(mark, inside, inside + _LONGEST_QUOTED)) >= 0]
        if not ends:
            return None
        end = min(ends)
        if opening[:1] == "\\" and text[end - 1] == "\\":
            end -= 1
        return _Value(inside, end, quoted=True) if inside < end else None
    bare = _BARE.match(text, start, start + _JUDGED)
    end = _trimmed_end(bare) if bare else start
    return _Value(start, end, quoted=False) if start < end else None


def _trimmed_end(bare: re.Match[str]) -> int:
    return bare.start() + len(bare[0].rstrip(_AFTER_VALUE))


@cache
def _families() -> tuple[_Family, ...]:
    finders = {"password": _find_password, "key": _find_key, "pin": _find_pin, "seed": _find_seed}
    table = secrets_table()
    families = []
    for name, find in finders.items():
        labels = re.compile(rf"(?:{'|'.join(table[name]['labels'])})(?!\w)")
        families.append(_Family(tuple(table[name]["stems"]), tuple(table[name]["hints"]), labels, find))
    return tuple(families)


@cache
def _stems(ascii_only: bool) -> tuple[tuple[str, _Family], ...]:
    return tuple((stem, family) for family in _families() for stem in family.stems if stem.isascii() or not ascii_only)


@cache
def _grammar() -> _Grammar:
    words = {name: "|".join(map(re.escape, text.split())) for name, text in secrets_table()["grammar"].items()}
    after = r"[\\\"'\])]{0,3}"
    joint = (
        r"[ \t]{0,3}(?:(?P<mark>:=|=>|->|→|[:=]|[—–]|-(?= ))"
        rf"|(?<![^\W_])(?P<verb>{words['verbs']})(?!\w)(?: (?:{words['fillers']})(?!\w)){{0,2}} ?[:=]?)[ \t]{{0,3}}"
    )
    return _Grammar(
        direct=re.compile(after + joint),
        phrased=re.compile(rf"{after} (?:{words['prepositions']}) [^\n:=.,;!?\"]{{1,40}}?{joint}"),
        change=re.compile(rf" (?:{words['changes']}) {{1,2}}"),
        none=re.compile(r"[ \t]{1,2}"),
    )


@cache
def _ordinary() -> tuple[frozenset[str], tuple[str, ...]]:
    table = secrets_table()["ordinary"]
    return frozenset(table["words"].split()), tuple(table["suffixes"])


@cache
def _harmless() -> tuple[str, ...]:
    return tuple(secrets_table()["key"]["harmless"])
