"""What a way to say a time means: from a matched core to a stretch of wall time."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from retentia.languages import calendar
from retentia.languages.calendar import DAY, Choice, Stretch, midnight
from retentia.languages.period_words import Core, Means, PeriodWords

_NEAR: frozenset[Means] = frozenset(("weekday", "weekend", "month", "date", "days", "season", "quarter"))
_HALF_AN_HOUR = timedelta(minutes=30)
_CLOCK_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Said:
    """A core where it was found in a text."""

    core: Core
    match: re.Match[str]
    words: PeriodWords

    @property
    def start(self) -> int:
        """Where it begins in the text."""
        return self.match.start()

    @property
    def end(self) -> int:
        """Where it ends in the text."""
        return self.match.end()

    @property
    def is_near(self) -> bool:
        """Whether it names one of many: a Friday, a May, a date without a year."""
        return self.core.means in _NEAR and self.core.choose is None and self.text("year") is None

    @property
    def is_plural(self) -> bool:
        """Whether its unit is more than one."""
        return (self.text("unit") or "").casefold() in self.words.plurals

    @property
    def ends_in_name(self) -> bool:
        """Whether its last word could be a name or a verb: a month or season without a year, behind no "last"."""
        return self.is_near and self.core.means in ("month", "season", "date", "days")

    @property
    def is_bare_name(self) -> bool:
        """Whether it is nothing but a month that is also a name."""
        month = self.text("month")
        if month is None or self.core.means != "month" or not self.is_near:
            return False
        return month.casefold() in self.words.names

    def is_written_as_time(self) -> bool:
        """Tell whether words that are also others are written as times are, and short months beside a number."""
        if self.core.lower and (self.text(self.core.lower) or "")[:1].isupper():
            return False
        for name in ("weekday", "month"):
            word = self.text(name)
            if word is None:
                continue
            is_short = word.casefold() in self.words.short_months
            if is_short and self.core.means not in ("date", "days") and self.text("year") is None:
                return False
            if word.casefold() in self.words.lowered and word not in self.words.capitalised:
                return False
        return True

    def text(self, name: str) -> str | None:
        """Return the word in the place of a placeholder, None where there is none."""
        groups: Mapping[str, str | None] = self.match.groupdict()
        return next((value for key, value in groups.items() if key.partition("_")[0] == name and value), None)

    def number(self, name: str) -> int | None:
        """Return the number in the place of a placeholder, in words or figures."""
        word = self.text(name)
        if word is None:
            return None
        kind = "day" if name == "day2" else name
        known = self.words.values.get(kind, {}).get(word.casefold())
        return int(known) if known is not None else int("".join(filter(str.isdecimal, word)))

    def value(self, name: str) -> Any:
        """Return what the word in the place of a placeholder stands for, None where there is none."""
        word = self.text(name)
        return None if word is None else self.words.values[name].get(word.casefold())


def stretch_of(said: Said, now: datetime, toward: Choice) -> Stretch | None:
    """Return what a core means at a present in wall time; None when it means nothing in this direction.

    Raises ValueError and OverflowError when there is no such day.
    """
    found = _MEANINGS[said.core.means](said, now, said.core.choose or toward)
    part = said.value("part") or said.core.part
    return found.part(part) if part and found is not None and found.is_one_day else found


def _day(said: Said, now: datetime, choice: Choice) -> Stretch:
    return calendar.day(now, said.core.offset)


def _calendar(said: Said, now: datetime, choice: Choice) -> Stretch | None:
    if said.is_plural:
        return None
    unit = said.value("unit") or said.core.unit or "month"
    return calendar.unit(now, unit, said.core.offset)


def _weekend(said: Said, now: datetime, choice: Choice) -> Stretch:
    return calendar.weekend(now, choice)


def _rolling(said: Said, now: datetime, choice: Choice) -> Stretch | None:
    if said.is_plural and said.number("number") is None:
        return None
    unit = said.value("unit")
    first = calendar.away(now, unit, -(said.number("number") or 1))
    return Stretch(first if unit == "hour" else midnight(first), now + _CLOCK_TICK)


def _coming(said: Said, now: datetime, choice: Choice) -> Stretch:
    unit = said.value("unit")
    last = calendar.away(now, unit, said.number("number") or 1)
    return Stretch(now, last if unit == "hour" else midnight(last) + DAY)


def _ago(said: Said, now: datetime, choice: Choice) -> Stretch:
    unit, count = said.value("unit"), said.number("number") or said.core.many
    if unit == "hour":
        middle = calendar.away(now, unit, -count)
        return Stretch(middle - _HALF_AN_HOUR, middle + _HALF_AN_HOUR)
    return calendar.unit(now, unit, -count)


def _ahead(said: Said, now: datetime, choice: Choice) -> Stretch | None:
    if choice == "past":  # "read it in three days" tells how long it took
        return None
    unit = said.value("unit")
    when = calendar.away(now, unit, said.number("number") or 1)
    return Stretch(when, when + _CLOCK_TICK) if unit == "hour" else calendar.day(when, 0)


def _weekday(said: Said, now: datetime, choice: Choice) -> Stretch:
    return calendar.weekday(now, said.value("weekday"), choice)


def _date(said: Said, now: datetime, choice: Choice) -> Stretch:
    month, day, year = said.value("month"), said.number("day") or 1, said.number("year")
    return calendar.date_near(now, month, day, choice) if year is None else calendar.date_of(year, month, day)


def _days(said: Said, now: datetime, choice: Choice) -> Stretch | None:
    month, year, first, last = said.value("month"), said.number("year"), said.number("day"), said.number("day2")
    if first is None or last is None or first >= last:
        return None
    end = calendar.date_near(now, month, last, choice) if year is None else calendar.date_of(year, month, last)
    return calendar.date_of(end.first.year, month, first).until(end)


def _month(said: Said, now: datetime, choice: Choice) -> Stretch:
    month, year = said.value("month"), said.number("year")
    return calendar.month(now, month, choice) if year is None else calendar.month_of(year, month)


def _year(said: Said, now: datetime, choice: Choice) -> Stretch:
    return calendar.year(said.number("year") or now.year)


def _season(said: Said, now: datetime, choice: Choice) -> Stretch:
    name, year = said.value("season"), said.number("year")
    return calendar.season(now, name, choice) if year is None else calendar.season_of(year, name)


def _quarter(said: Said, now: datetime, choice: Choice) -> Stretch:
    number, year = said.number("quarter") or 1, said.number("year")
    return calendar.quarter(now, number, choice) if year is None else calendar.quarter_of(year, number)


_MEANINGS: Mapping[Means, Callable[[Said, datetime, Choice], Stretch | None]] = {
    "day": _day,
    "calendar": _calendar,
    "weekend": _weekend,
    "rolling": _rolling,
    "coming": _coming,
    "ago": _ago,
    "ahead": _ahead,
    "weekday": _weekday,
    "date": _date,
    "days": _days,
    "month": _month,
    "year": _year,
    "season": _season,
    "quarter": _quarter,
}
