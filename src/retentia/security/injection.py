"""Injection: stretches of a text that look as if they were meant to command an assistant.

Found is what such text says openly: orders to drop instructions, orders for all time, posed roles and tool calls,
hidden and encoded text, requests to send something away. It flags text of outside origin for a person and for
contexts; it deletes nothing and proves nothing. That tools and documents teach no facts rests on their trust alone.
"""

import base64
import binascii
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_BEFORE, _AFTER = 160, 320
_FAINT = re.compile("[\u00ad\u180e\u200b\u2060-\u2064\ufeff]")
_ODD = re.compile("[\u00ad\u180e\u200b\u202d\u202e\u2060-\u2064\ufeff\U000e0001-\U000e007f]")
_UNSEEN = (
    (re.compile("(?<=[^\\W\\d_])[\u180e\u200b\u2060-\u2064\ufeff]{1,40}(?=[^\\W\\d_])"), "hides characters in words"),
    (re.compile("[\u200b\u2060]{4,40}"), "hides characters between words"),
    (re.compile("[\u202d\u202e]"), "turns the direction in which it is read"),
    (
        # A flag of a region is a black flag and up to seven such characters.
        re.compile(
            "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0001\U000e0020-\U000e007f]{2,2000}"
            "|\U0001f3f4[\U000e0020-\U000e007f]{8,2000}"
        ),
        "hides text in characters that nobody sees",
    ),
)
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{40,4000}={0,2}(?![A-Za-z0-9+/_=-])")
_SHORTEST_RUN = 40
_FEWEST_WORDS = 4
_WORDS = re.compile(r"[^\W\d_]{2,}(?=[\s,.:;!?]|\Z)")


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Characters [start, end) of a text that look like an injection; `reason` says why in words."""

    kind: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class _Pattern:
    kind: str
    reason: str
    hints: tuple[str, ...]
    regex: re.Pattern[str]
    needs: re.Pattern[str] | None


def suspect(text: str) -> list[Suspicion]:
    """Return what looks like an injection, in order; stretches of one kind do not overlap. Linear in the text."""
    found = list(_encoded(text))
    if not text.isascii() and _ODD.search(
        text
    ):  # what is read over invisible characters reads as if they were not there
        found += _unseen(text)
        places = [place for place, letter in enumerate(text) if not _FAINT.match(letter)]
        plain = "".join(text[place] for place in places)
        found += [Suspicion(one.kind, places[one.start], places[one.end - 1] + 1, one.reason) for one in _spoken(plain)]
    else:
        found += _spoken(text)
    return _apart(found)


def _spoken(text: str) -> Iterator[Suspicion]:
    """Yield what the patterns find; each is tried only around its hints."""
    lowered = text.replace("\u0130", "I").lower()  # the one letter whose lower case is two
    letters = lowered.encode("ascii", "ignore")  # bytes are searched faster than wide characters
    whole = letters if len(letters) == len(lowered) else lowered.encode("utf-8", "surrogatepass")
    there = (hint for hint, raw in _hints().items() if raw in (letters if hint.isascii() else whole))
    places = {hint: list(_places(lowered, hint)) for hint in there}
    for pattern in _patterns():
        around = sorted(place for hint in pattern.hints for place in places.get(hint, ()))
        for start, end in _windows(around, len(text)):
            for match in pattern.regex.finditer(text, start, end):
                if pattern.needs is not None and not pattern.needs.search(match[0]):
                    continue
                yield Suspicion(pattern.kind, *match.span(), pattern.reason)


def _places(text: str, hint: str) -> Iterator[int]:
    place = text.find(hint)
    while place >= 0:
        yield place
        place = text.find(hint, place + len(hint))


def _windows(places: Sequence[int], length: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches around places, those that overlap as one."""
    start = end = -1
    for place in places:
        if place - _BEFORE > end:
            if end >= 0:
                yield max(0, start), min(length, end)
            start = place - _BEFORE
        end = place + _AFTER
    if end >= 0:
        yield max(0, start), min(length, end)


def _unseen(text: str) -> Iterator[Suspicion]:
    """Yield characters that change what is read without being seen."""
    for pattern, reason in _UNSEEN:
        for match in pattern.finditer(text):
            yield Suspicion("hidden", *match.span(), reason)


def _encoded(text: str) -> Iterator[Suspicion]:
    """Yield Base64 that says several words; keys, digests and pictures do not."""
    place = 0
    for word in text.split():
        if len(word) < _SHORTEST_RUN:  # nearly all
            continue
        start = text.index(word, place)
        place = start + len(word)
        for match in _ENCODED.finditer(text, start, place):
            if len(_WORDS.findall(_decoded(match[0]))) >= _FEWEST_WORDS:
                yield Suspicion("encoded", *match.span(), "hides words in Base64")


def _decoded(run: str) -> str:
    bare = run.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


def _apart(found: Sequence[Suspicion]) -> list[Suspicion]:
    """Keep of each kind what does not overlap, the longer first; return all in order."""
    kept: dict[str, list[Suspicion]] = {}
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        of_kind = kept.setdefault(one.kind, [])
        if not of_kind or of_kind[-1].end <= one.start:
            of_kind.append(one)
    return sorted((one for ones in kept.values() for one in ones), key=lambda one: (one.start, one.end))


@cache
def _patterns() -> tuple[_Pattern, ...]:
    data = tomllib.loads(Path(__file__).with_name("injection.toml").read_text("utf-8"))
    return tuple(
        _Pattern(
            row["kind"],
            row["reason"],
            tuple(row["hints"]),
            _compiled(row["regex"]),
            _compiled(row["needs"]) if "needs" in row else None,
        )
        for row in data["pattern"]
    )


@cache
def _hints() -> dict[str, bytes]:
    """Return every hint and its bytes."""
    return {hint: hint.encode() for pattern in _patterns() for hint in pattern.hints}


def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(
        regex.strip("\n").replace("\n", "").replace(" ?", r"\s{0,4}").replace(" ", r"\s{1,4}"), re.IGNORECASE
    )
