"""Calendar: days, weeks, months, seasons and parts of days around a present, as stretches of local time.

A stretch is [first, last) in wall time; it becomes UTC microseconds in a zone only at the end, so that a day is as
long as its clocks make it. A week begins on Monday (ISO 8601).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from retentia.model.time import Precision
from retentia.model.zone import first_instant, instant_of, zone_of

Choice = Literal["last", "this", "next", "last week", "past", "future"]
"""Which of the many Fridays or Mays is meant; "past" and "future" are what nothing but the talk says."""

DAY = timedelta(days=1)
_QUARTER = 3
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (20, 30)}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Wall time [first, last), and how exactly it is known. An instant lasts a microsecond."""

    first: datetime
    last: datetime
    precision: Precision = Precision.DAY

    @property
    def is_one_day(self) -> bool:
        """Whether it is a whole local day."""
        return self.precision is Precision.DAY and self.last - self.first == DAY and self.first == midnight(self.first)

    def part(self, name: str) -> "Stretch":
        """Return the morning, afternoon, evening or night of its first day; a night ends on the next."""
        start, end = _PARTS[name]
        return Stretch(self.first + timedelta(hours=start), self.first + timedelta(hours=end))

    def at(self, hour: int, minute: int) -> "Stretch":
        """Return an instant of its first day."""
        wall = self.first + timedelta(hours=hour, minutes=minute)
        return Stretch(wall, wall + timedelta(microseconds=1), Precision.INSTANT)

    def until(self, other: "Stretch") -> "Stretch":
        """Return what begins with this one and ends with the other."""
        return Stretch(self.first, other.last, other.precision if other.precision == self.precision else Precision.DAY)

    def bounds(self, zone: str) -> tuple[int, int]:
        """Return its bounds in UTC microseconds; raise InvalidMoment when there is no such zone."""
        return _instant(self.first, zone), _instant(self.last, zone)


def midnight(wall: datetime) -> datetime:
    """Return when the day of a wall time begins."""
    return wall.replace(hour=0, minute=0, second=0, microsecond=0)


def day(now: datetime, offset: int) -> Stretch:
    """Return the day so many days from today."""
    first = midnight(now) + offset * DAY
    return Stretch(first, first + DAY)


def unit(now: datetime, name: str, offset: int) -> Stretch:
    """Return the day, week, weekend, month, quarter or year so many after the present one."""
    match name:
        case "week":
            return _days(_monday(now) + timedelta(weeks=offset), 7)
        case "weekend":
            return _days(_monday(now) + timedelta(weeks=offset, days=5), 2)
        case "month":
            return _months(now.year, now.month + offset, 1)
        case "quarter":
            return _months(now.year, (now.month - 1) // _QUARTER * _QUARTER + 1 + offset * _QUARTER, _QUARTER)
        case "year":
            return year(now.year + offset)
        case "hour":
            first = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=offset)
            return Stretch(first, first + timedelta(hours=1))
    return day(now, offset)


def away(now: datetime, name: str, count: int) -> datetime:
    """Return the wall time so many units later, or earlier where the count is negative."""
    match name:
        case "hour":
            return now + timedelta(hours=count)
        case "week" | "weekend":
            return now + timedelta(weeks=count)
        case "month" | "quarter" | "year":
            months = count * {"month": 1, "quarter": _QUARTER, "year": 12}[name]
            first = _month(now.year, now.month + months)
            return now.replace(day=1) + (first - midnight(now.replace(day=1))) + (_day_within(first, now.day) - 1) * DAY
    return now + count * DAY


def weekday(now: datetime, number: int, choice: Choice) -> Stretch:
    """Return a weekday, 0 for Monday.

    The last one is the latest before today and the next one the first after it; so are those of the past and of the
    future, because today would be called today.
    """
    ahead = number - now.weekday()
    match choice:
        case "this":
            return day(now, ahead)
        case "last week":
            return day(now, ahead - 7)
        case "last" | "past":
            return day(now, ahead if ahead < 0 else ahead - 7)
    return day(now, ahead if ahead > 0 else ahead + 7)


def weekend(now: datetime, choice: Choice) -> Stretch:
    """Return the latest weekend that has begun, or for the future the first that is not over."""
    found = unit(now, "weekend", 0)
    return found if choice == "future" or found.first <= now else unit(now, "weekend", -1)


def month(now: datetime, number: int, choice: Choice) -> Stretch:
    """Return a month, 1 for January; the past and the future may be the present month, the last and the next not."""
    match choice:
        case "this":
            number_of_year = now.year
        case "last":
            number_of_year = now.year if number < now.month else now.year - 1
        case "next":
            number_of_year = now.year if number > now.month else now.year + 1
        case "future":
            number_of_year = now.year if number >= now.month else now.year + 1
        case _:
            number_of_year = now.year if number <= now.month else now.year - 1
    return _months(number_of_year, number, 1)


def month_of(year_number: int, number: int) -> Stretch:
    """Return a month of a year."""
    return _months(year_number, number, 1)


def date_near(now: datetime, month_number: int, day_number: int, choice: Choice) -> Stretch:
    """Return a date without a year: the latest up to today, or the first from today on.

    Raises ValueError when no year near has it; the 29th of February is looked for in eight.
    """
    step = 1 if choice == "future" else -1
    for number in range(now.year, now.year + 9 * step, step):
        try:
            found = _days(datetime(number, month_number, day_number), 1)
        except ValueError:
            continue
        if (found.last > now) if choice == "future" else (found.first <= now):
            return found
    raise ValueError(f"there is no day {day_number} of month {month_number}")


def date_of(year_number: int, month_number: int, day_number: int) -> Stretch:
    """Return a date; raise ValueError when there is none."""
    return _days(datetime(year_number, month_number, day_number), 1)


def year(number: int) -> Stretch:
    """Return a year."""
    return Stretch(datetime(number, 1, 1), datetime(number + 1, 1, 1), Precision.YEAR)


def season_of(year_number: int, name: str) -> Stretch:
    """Return the three months of a season; winter begins in December of its year."""
    return _months(year_number, _SEASONS[name], _QUARTER)


def season(now: datetime, name: str, choice: Choice) -> Stretch:
    """Return a season near the present, chosen as a month is."""
    around = [season_of(now.year + offset, name) for offset in (-2, -1, 0, 1, 2)]
    match choice:
        case "this":
            return next(one for one in around if one.last > now and one.last.year >= now.year)
        case "last":
            return [one for one in around if one.last <= now][-1]
        case "next":
            return next(one for one in around if one.first > now)
        case "future":
            return next(one for one in around if one.last > now)
    return [one for one in around if one.first <= now][-1]


def quarter_of(year_number: int, number: int) -> Stretch:
    """Return a quarter of a year, 1 to 4."""
    return _months(year_number, (number - 1) * _QUARTER + 1, _QUARTER)


def quarter(now: datetime, number: int, choice: Choice) -> Stretch:
    """Return a quarter near the present, which may be the present one."""
    found = quarter_of(now.year, number)
    if choice == "future":
        return found if found.last > now else quarter_of(now.year + 1, number)
    return found if found.first <= now else quarter_of(now.year - 1, number)


def _monday(now: datetime) -> datetime:
    return midnight(now) - now.weekday() * DAY


def _days(first: datetime, count: int) -> Stretch:
    return Stretch(first, first + count * DAY)


def _months(year_number: int, number: int, count: int) -> Stretch:
    return Stretch(_month(year_number, number), _month(year_number, number + count), Precision.MONTH)


def _month(year_number: int, number: int) -> datetime:
    """Return when a month begins; the 13th is January of the next year, the 0th December of the last."""
    return datetime(year_number + (number - 1) // 12, (number - 1) % 12 + 1, 1)


def _day_within(first: datetime, number: int) -> int:
    """Return the day of a month that begins then, or its last day where it has no such day."""
    return min(number, (_month(first.year, first.month + 1) - first).days)


def _instant(wall: datetime, zone: str) -> int:
    tz = zone_of(zone)
    return first_instant(wall, tz) if wall == midnight(wall) else instant_of(wall, tz)
