"""Dates in figures, and the time of day behind a date.

2026-05-03 and 2026/05/03 begin with the year, 03.05.2026 with the day. 25/12/2026 is read because only one of the two
can be a month; 03/05/2026 could be both and is not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retentia.languages import calendar
from retentia.languages.calendar import Stretch

_MONTHS_OF_YEAR = 12
_NOON = 12
_DATE = re.compile(
    r"(?<![\w.,:/@$€£-])(?:"
    r"(?P<y>(?:19|20)\d\d)(?P<sep>[-/.])(?P<m>0?[1-9]|1[0-2])(?P=sep)(?P<d>0?[1-9]|[12]\d|3[01])(?=T\d\d:|(?!\w))"
    r"|(?P<ym>(?:19|20)\d\d)-(?P<mm>0[1-9]|1[0-2])"
    r"|(?P<dd>0?[1-9]|[12]\d|3[01])\.(?P<dm>0?[1-9]|1[0-2])\.(?:[ ]?(?P<dy>(?:19|20)\d\d)|(?P<dshort>\d\d))?"
    r"|(?P<s1>0?[1-9]|[12]\d|3[01])/(?P<s2>0?[1-9]|[12]\d|3[01])/(?P<sy>(?:19|20)\d\d)"
    r")(?![./-]?\d|-?[^\W\d_](?<!T)|[@%€$£])"
)
_CLOCK = re.compile(
    r"(?:,?[ ](?:at|um|gegen|о|об|at around)[ ]|,?[ ]|T)(?P<h>[01]?\d|2[0-3])"
    r"(?:[:.](?P<m>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?![\d]))?"
    r"(?P<mark>[ ]?(?:[ap]\.?m\b\.?|Uhr\b|год(?:ин[аиу])?\b\.?))?"
    r"(?P<zone>[ ]?\(?(?P<utc>UTC|GMT|Z)?[ ]?(?P<sign>[+-])?(?P<zh>\d\d?)?(?::?(?P<zm>[0-5]\d))?\)?)?(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NumericDate:
    """A date at [start, end) of a text; `needs_word` says that without a word before it it may be anything."""

    start: int
    end: int
    stretch: Stretch
    needs_word: bool


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day that ends at a place of a text; `zone` is "" where it has none of its own."""

    hour: int
    minute: int
    zone: str
    end: int


def numeric_dates(text: str) -> Iterator[NumericDate]:
    """Yield the dates in figures that can be read in one way only, in order."""
    for match in _DATE.finditer(text):
        try:
            found = _read(match)
        except ValueError:  # the 31st of February
            continue
        if found is not None:
            yield NumericDate(*match.span(), *found)


def clock_behind(text: str, place: int) -> Clock | None:
    """Return the time of day that follows a place; a bare number is none."""
    match = _CLOCK.match(text, place)
    if match is None or not (match["mark"] or (match["m"] and match.string[match.end("h")] == ":")):
        return None
    hour, mark = int(match["h"]), (match["mark"] or "").strip().casefold()
    if mark[:1] in ("a", "p"):
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if mark.startswith("p") else 0)
    zone, end = _zone(match)
    return Clock(hour, int(match["m"] or 0), zone, end)


def _zone(match: re.Match[str]) -> tuple[str, int]:
    sign, hours = match["sign"], match["zh"]
    if sign and hours and (match["utc"] or match["zm"]):
        return f"{sign}{int(hours):02}:{match['zm'] or '00'}", match.end()
    if match["utc"] and not hours:
        return "UTC", match.end()
    return "", match.start("zone") if match["zone"] is not None else match.end()


def _read(match: re.Match[str]) -> tuple[Stretch, bool] | None:
    if match["y"]:
        return calendar.date_of(int(match["y"]), int(match["m"]), int(match["d"])), False
    if match["ym"]:
        return calendar.month_of(int(match["ym"]), int(match["mm"])), True
    if match["dd"]:
        if not (year := match["dy"] or (match["dshort"] and f"20{match['dshort']}")):
            return None
        return calendar.date_of(int(year), int(match["dm"]), int(match["dd"])), match["dy"] is None
    first, second = int(match["s1"]), int(match["s2"])
    if first != second and first <= _MONTHS_OF_YEAR and second <= _MONTHS_OF_YEAR:
        return None
    month, day = (second, first) if first > _MONTHS_OF_YEAR else (first, second)
    return calendar.date_of(int(match["sy"]), month, day), False
