"""Event time: when something happened, as exactly as it is known and where it was known.

"2026" is a year and not its first of January; 19:00 in Kyiv stays on its own day. So a moment is a half-open interval
in UTC microseconds with a precision and a zone, and comparing two of them compares integers: nothing is naive or aware.
"""

import re
import reprlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import lru_cache
from typing import Self
from zoneinfo import ZoneInfo

from retentia.errors import InvalidMoment
from retentia.model.zone import (
    check_range,
    first_instant,
    instant_of,
    instant_with,
    last_instant,
    offset_at,
    offset_text,
    wall_time,
    zone_of,
)

Clock = Callable[[], int]
"""Tell the present in UTC microseconds since 1970."""

_PERIOD = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_DAY_AND_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[ Tt][0-9:.,]+) ?(Z|z|UTC|[+-][0-9:]+)?(?:\[([A-Za-z0-9_+/-]+)\])?"
)
_UTC_NAMES = {"Z": "+00:00", "z": "+00:00", "UTC": "+00:00"}


class NaiveTimeWarning(UserWarning):
    """A datetime without a zone was read as the wall time of the zone in use."""


class Precision(StrEnum):
    """How exactly a time is known; an instant is one microsecond long."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: [start, end) in UTC microseconds, how exactly that is known, and in which zone.

    `zone` is an IANA name ("Europe/Kyiv") or a fixed offset ("-05:00"). Years 1 to 9999. Raises InvalidMoment.
    """

    start: int
    end: int
    precision: Precision
    zone: str = "UTC"

    def __post_init__(self) -> None:
        if self.end <= self.start or (self.precision is Precision.INSTANT and self.end != self.start + 1):
            raise InvalidMoment(f"[{self.start}, {self.end}) is no {self.precision}: its end must follow its start")
        check_range(self.start, self.end, self.zone)

    @classmethod
    def parse(cls, value: "str | datetime | date | int | Moment", *, zone: str = "UTC") -> "Moment":
        """Read a time as people and programs write it, no more exact than it was given.

        Text: "2026", "2026-06", "2026-06-01", ISO 8601 with or without an offset (also "2026-06-01 19:00" and a zone
        in brackets, RFC 9557). An integer is a year; counted seconds go through `from_unix`. What has no zone of its
        own is wall time in `zone`; a naive datetime is too, with a NaiveTimeWarning. Raises InvalidMoment.
        """
        match value:
            case Moment():
                return value
            case datetime():
                return cls._of_datetime(value, zone)
            case date():
                return cls._of_period(zone, value.year, value.month, value.day)
            case str():
                return cls._of_text(value, zone)
            case int() if not isinstance(value, bool) and 1 <= value <= 9999:
                return cls._of_period(zone, value)
        raise InvalidMoment(_refusal(value))

    @classmethod
    def at(cls, microseconds: int, zone: str = "UTC") -> Self:
        """Name one instant by its UTC microseconds since 1970."""
        return cls(microseconds, microseconds + 1, Precision.INSTANT, zone)

    @classmethod
    def from_unix(cls, seconds: float, zone: str = "UTC") -> Self:
        """Name one instant by its seconds since 1970; raise InvalidMoment when they lie outside years 1 to 9999."""
        if not -1e12 < seconds < 1e12:
            raise InvalidMoment(
                f"{seconds!r} seconds since 1970 lie outside the years 1 to 9999; are they milliseconds?"
            )
        return cls.at(round(seconds * 1_000_000), zone)

    @classmethod
    def now(cls, zone: str = "UTC") -> Self:
        """Name the present instant."""
        return cls.at(system_clock(), zone)

    def local_day(self) -> int:
        """Return the local date as yyyymmdd, yyyymm00 or yyyy0000, as far as it is known."""
        wall = wall_time(self.start, self.zone)
        month = 0 if self.precision is Precision.YEAR else wall.month
        day = 0 if self.precision in (Precision.YEAR, Precision.MONTH) else wall.day
        return wall.year * 10_000 + month * 100 + day

    def iso(self) -> str:
        """Write the time as ISO 8601 at its precision; an instant carries its offset. `parse` reads it back."""
        text = wall_time(self.start, self.zone).isoformat()
        match self.precision:
            case Precision.YEAR:
                return text[:4]
            case Precision.MONTH:
                return text[:7]
            case Precision.DAY:
                return text[:10]
            case Precision.INSTANT:
                return text + offset_text(offset_at(self.start, zone_of(self.zone)))

    def overlaps(self, start: int, end: int) -> bool:
        """Tell whether this time and [start, end) in UTC microseconds share an instant."""
        return self.start < end and start < self.end

    def starts_after(self, other: "Moment") -> bool:
        """Tell whether this time begins only when `other` is over: certainly later, however inexact both are."""
        return self.start >= other.end

    @classmethod
    def _of_datetime(cls, value: datetime, zone: str) -> Self:
        offset = value.utcoffset()
        if offset is None:
            warnings.warn(f"{value!r} has no zone: read as {zone} time", NaiveTimeWarning, stacklevel=3)
            return cls.at(instant_of(value, zone_of(zone)), zone)
        name = value.tzinfo.key if isinstance(value.tzinfo, ZoneInfo) else None
        return cls.at(instant_with(value, offset), name or _name_of(offset))

    @classmethod
    def _of_text(cls, text: str, zone: str) -> Self:
        text = text.strip()
        if period := _PERIOD.fullmatch(text):
            return cls._of_period(zone, *(int(part) for part in period.groups() if part))
        parts = _DAY_AND_TIME.fullmatch(text)
        if parts is None:
            raise InvalidMoment(_refusal(text))
        wall_text, offset, named_zone = parts.groups()
        try:
            wall = datetime.fromisoformat(wall_text + _UTC_NAMES.get(offset, offset or ""))
        except ValueError as error:
            raise InvalidMoment(_refusal(text)) from error
        told = wall.utcoffset()
        if told is None:
            return cls.at(instant_of(wall, zone_of(named_zone or zone)), named_zone or zone)
        return cls.at(instant_with(wall, told), named_zone or _name_of(told))

    @classmethod
    def _of_period(cls, zone: str, year: int, month: int | None = None, day: int | None = None) -> Self:
        try:
            first = datetime(year, 1 if month is None else month, 1 if day is None else day)
        except ValueError as error:
            given = "-".join(f"{part:02}" for part in (year, month, day) if part is not None)
            raise InvalidMoment(f"{given} is no date: {error}") from error
        start, end = first_instant(first, zone_of(zone)), _end_of_period(first, month, day, zone_of(zone))
        if start == end:
            raise InvalidMoment(f"{first:%Y-%m-%d} did not exist in {zone}: the clocks there skipped it")
        precision = Precision.YEAR if month is None else Precision.MONTH if day is None else Precision.DAY
        return cls(start, end, precision, zone)


def system_clock() -> int:
    """Tell the present in UTC microseconds since 1970."""
    return time.time_ns() // 1_000


def _end_of_period(first: datetime, month: int | None, day: int | None, tz: tzinfo) -> int:
    try:
        if month is None:
            following = first.replace(year=first.year + 1)
        elif day is None:
            following = first.replace(year=first.year + month // 12, month=month % 12 + 1)
        else:
            following = first + timedelta(days=1)
    except (ValueError, OverflowError):  # there is no year 10000
        return last_instant(tz) + 1
    return first_instant(following, tz)


@lru_cache(maxsize=64)
def _name_of(offset: timedelta) -> str:
    return offset_text(offset) if offset else "UTC"


def _refusal(value: object) -> str:
    return (
        f"{reprlib.repr(value)} is no time: use ISO 8601 such as '2026-06-01T19:00:00+02:00', '2026-06-01', '2026-06' "
        "or '2026', a datetime, or a date"
    )
