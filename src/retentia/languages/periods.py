"""Periods: what a text in English, German or Ukrainian says about when, as half-open intervals of UTC microseconds.

Days are local days of the present's zone. A day without a year or a week is the nearest one in the direction of the
talk: "on Tuesday" is the last Tuesday in a question about the past, the next one in a promise. What can be read in
two ways is left out: 03/05 and 03/05/2026, a bare "2026", "May" and "June" where they may be a verb or a person.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from retentia.errors import InvalidMoment
from retentia.languages.calendar import Choice, Stretch
from retentia.languages.numeric_dates import Clock, clock_behind, numeric_dates
from retentia.languages.period_meanings import Said, stretch_of
from retentia.languages.period_words import EDGES, Edge, PeriodWords, cyrillic_words, latin_words, look_back
from retentia.model.time import Moment, Precision
from retentia.model.zone import wall_time

Direction = Literal["past", "future"]
Role = Literal["when", "due", "start", "end"]

_PLAIN = str.maketrans("’ʼ‘`´\u00a0\u202f\u2009\t−", "'''''    -")
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)*")
_DAY_BEFORE = re.compile(r"(?<!\d)\d{1,2}(?:st|nd|rd|th|\.)?[ ]{1,3}\Z")
_YEAR_DIGITS = 4
_AROUND = 60
_ROLES: dict[Edge, Role] = {"start": "start", "after": "start", "due": "due", "end": "end", "before": "end"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A time that characters [start, end) of a text name: [since, until) in UTC microseconds, None is open.

    `precision` says how exactly its bounds are known; an instant is a microsecond long. `role` says whether something
    is at that time, due then, or starts or ends there. `words` are those of the text.
    """

    start: int
    end: int
    since: int | None
    until: int | None
    precision: Precision
    role: Role
    words: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A stretch at [start, end) of a text, before what stands in front of it is looked at."""

    start: int
    end: int
    stretch: Stretch
    zone: str
    words: PeriodWords
    said: Said | None = None


def find_periods(text: str, *, now: Moment, toward: Direction = "past") -> list[Period]:
    """Return the times that a text names, in order and without overlap.

    `toward` says where days without a year or a week lie, and whether "from March" begins something. What lies
    outside the years 1 to 9999 is left out.
    """
    finder = _Finder(text, now, toward)
    chosen: list[Period] = []
    taken = bytearray(len(text))
    for period in sorted(finder.periods(), key=lambda one: (one.start - one.end, one.start)):
        if not any(taken[period.start : period.end]):
            taken[period.start : period.end] = b"\1" * (period.end - period.start)
            chosen.append(period)
    return sorted(chosen, key=lambda one: one.start)


class _Finder:
    """Looks for periods in one text."""

    def __init__(self, text: str, now: Moment, toward: Direction) -> None:
        self._text, self._now, self._toward = text, now, toward
        self._plain = text.translate(_PLAIN)
        self._wall = wall_time(now.start, now.zone)
        self._words = (*latin_words(), *cyrillic_words())

    def periods(self) -> Iterator[Period]:
        for found in (*self._in_words(), *self._in_figures()):
            try:
                yield self._joined(found) or self._alone(found)
            except (ValueError, OverflowError, InvalidMoment):
                continue

    def _in_words(self) -> Iterator[_Found]:
        for words in self._words:
            for start, end in _near_hints(self._plain, words):
                for core in words.cores:
                    for match in core.pattern.finditer(self._plain, start, end):
                        said = Said(core, match, words)
                        if self._counts(said) and (found := self._found(said, self._wall, self._toward)):
                            yield found

    def _in_figures(self) -> Iterator[_Found]:
        for date in numeric_dates(self._plain):
            before = look_back(self._plain, date.start)
            behind = [words for words in self._words if any(_edge(words, before, edge) for edge in EDGES)]
            if any(words.not_behind.search(before) for words in self._words) or (date.needs_word and not behind):
                continue
            stretch, end, zone = self._with_clock(date.stretch, date.end)
            yield _Found(date.start, end, stretch, zone, behind[0] if behind else self._words[0])

    def _counts(self, said: Said, *, in_range: bool = False) -> bool:
        """Tell whether a core is a time where it stands, and no name, verb or number."""
        words, before = said.words, look_back(self._plain, said.start)
        if not said.is_written_as_time() or words.every.search(before) or words.not_behind.search(before):
            return False
        if said.core.means == "month" and _DAY_BEFORE.search(before):  # a day that the month does not have
            return False
        if said.ends_in_name and words.not_followed.match(self._plain, said.end):
            return False
        if said.is_bare_name:
            could = words.needed["month"] if self._toward == "future" else words.names_after
            return in_range or bool(could.search(before))
        if said.core.bare or in_range:
            return True
        return bool(words.needed[said.core.means].search(before) or words.between.search(before))

    def _found(self, said: Said, wall: datetime, toward: Choice) -> _Found | None:
        try:
            stretch = stretch_of(said, wall, toward)
        except (ValueError, OverflowError):
            return None
        if stretch is None:
            return None
        stretch, end, zone = self._with_clock(stretch, said.end)
        return _Found(said.start, end, stretch, zone, said.words, said)

    def _with_clock(self, stretch: Stretch, end: int) -> tuple[Stretch, int, str]:
        clock: Clock | None = clock_behind(self._plain, end) if stretch.is_one_day else None
        if clock is None:
            return stretch, end, self._now.zone
        return stretch.at(clock.hour, clock.minute), clock.end, clock.zone or self._now.zone

    def _alone(self, found: _Found) -> Period:
        """Return a period by its core and the word before it."""
        words, before = found.words, look_back(self._plain, found.start)
        since, until = found.stretch.bounds(found.zone)
        if found.said is not None and found.said.core.means == "rolling":
            until = self._now.end
        edge, length = next(
            ((edge, length) for edge in EDGES if (length := _edge(words, before, edge))),
            (None, self._lead(found, before)),
        )
        start = found.start - length
        bounds: tuple[int | None, int | None] = (since, until)
        role: Role = "when"
        if edge == "from":
            edge = "start" if self._toward == "future" or words.onward.match(self._plain, found.end) else None
        if edge == "until":
            edge = "due" if self._toward == "future" else "end"
        if edge is not None and edge != "when":
            role = "due" if (edge, self._toward) == ("before", "future") else _ROLES[edge]
            bounds = {"start": (since, None), "after": (until, None), "before": (None, since)}.get(edge, (None, until))
        return self._period(start, found.end, bounds, found.stretch.precision, role)

    def _lead(self, found: _Found, before: str) -> int:
        """Return how long the words are that a core needed before it, where they are no edge of it."""
        needed = None if found.said is None else found.words.needed.get(found.said.core.means)
        match = needed.search(before) if needed is not None else None
        return len(match[0]) if match else 0

    def _joined(self, first: _Found) -> Period | None:
        """Return the period from a core to the one behind it: "between A and B", "from A to B"."""
        words, said = first.words, first.said
        between = words.between.search(look_back(self._plain, first.start))
        joint = words.joined.match(self._plain, first.end) if between else None
        if between is None or joint is None:
            return None
        second = self._at(joint.end(), words)
        if second is None:
            return None
        one, other = first.stretch, second.stretch
        if one.first > other.first and said is not None and said.is_near:
            one = stretch_of(said, other.last, "past") or one
        elif one.first > other.first and second.said is not None and second.said.is_near:
            other = stretch_of(second.said, one.first, "future") or other
        elif said is not None and said.is_near and second.said is not None and not second.said.is_near:
            one = stretch_of(said, other.last, "past") or one
        if one.first >= other.last:
            return None
        whole = one.until(other)
        since, until = one.bounds(first.zone)[0], other.bounds(second.zone)[1]
        return self._period(first.start - len(between[0]), second.end, (since, until), whole.precision, "when")

    def _at(self, place: int, words: PeriodWords) -> _Found | None:
        """Return the longest core that begins at a place."""
        found: list[_Found] = []
        for core in words.cores:
            match = core.pattern.match(self._plain, place)
            if match is None or not self._counts(said := Said(core, match, words), in_range=True):
                continue
            if one := self._found(said, self._wall, self._toward):
                found.append(one)
        dates = numeric_dates(self._plain[place : place + _AROUND])
        found += [
            _Found(place, place + date.end, date.stretch, self._now.zone, words) for date in dates if not date.start
        ]
        return max(found, key=lambda one: one.end, default=None)

    def _period(
        self, start: int, end: int, bounds: tuple[int | None, int | None], precision: Precision, role: Role
    ) -> Period:
        since, until = bounds
        return Period(
            start=start,
            end=end,
            since=since,
            until=until,
            precision=precision,
            role=role,
            words=self._text[start:end],
        )


def _near_hints(text: str, words: PeriodWords) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a text that have a word of times or a year, with what stands around it."""
    start = end = 0
    for match in _WORD.finditer(text):
        word = match[0].casefold().removesuffix("'s")
        if word not in words.hints and not (word.isdecimal() and len(word) == _YEAR_DIGITS):
            continue
        if match.start() - _AROUND > end and end:
            yield start, _word_end(text, end)
            start = match.start() - _AROUND
        elif not end:
            start = max(0, match.start() - _AROUND)
        end = match.end() + _AROUND
    if end:
        yield start, _word_end(text, end)


def _word_end(text: str, place: int) -> int:
    """Return where the word at a place ends: a pattern must not take its beginning for a whole."""
    while place < len(text) and text[place].isalnum():
        place += 1
    return min(place, len(text))


def _edge(words: PeriodWords, before: str, edge: Edge) -> int:
    """Return how long the words are that make an edge of what follows; 0 without any."""
    match = words.before[edge].search(before)
    return len(match[0]) if match else 0


__all__ = ["Direction", "Period", "Role", "find_periods"]
