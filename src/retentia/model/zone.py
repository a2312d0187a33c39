"""Wall time and instants: what clocks in a zone show, also where they jump.

Instants are UTC microseconds since 1970; wall times are naive datetimes. Years 1 to 9999 of local time.
"""

import re
import reprlib
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from retentia.errors import InvalidMoment

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=UTC)
_DAY = 86_400_000_000
# zones are asked for offsets a day inside what datetime can express, so that no conversion overflows
_FIRST = (datetime.min - _EPOCH) // _MICROSECOND + _DAY
_LAST = (datetime.max - _EPOCH) // _MICROSECOND - _DAY

_OFFSET = re.compile(r"([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?")


@lru_cache(maxsize=512)
def zone_of(name: str) -> tzinfo:
    """Return the zone of an IANA name or a fixed offset; raise InvalidMoment when there is none."""
    if name == "UTC":
        return UTC
    if fixed := _OFFSET.fullmatch(name):
        sign, hours, minutes, seconds = fixed.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds or 0))
        if offset < timedelta(hours=24):
            return timezone(-offset if sign == "-" else offset)
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise InvalidMoment(
            f"{reprlib.repr(name)} is no time zone: use an IANA name ('Europe/Kyiv') or an offset ('-05:00')"
        ) from error


def check_range(start: int, end: int, zone: str) -> None:
    """Raise InvalidMoment when the zone is unknown or [start, end) leaves years 1 to 9999."""
    zone_of(zone)
    if start < _FIRST or end > _LAST:
        wall_time(start, zone)
        wall_time(end - 1, zone)


def wall_time(instant: int, zone: str) -> datetime:
    """Return what clocks in the zone show; raise InvalidMoment outside years 1 to 9999."""
    # added as numbers, because the first hours of year 1 east of Greenwich have a local datetime but no UTC one
    local = instant + offset_at(instant, zone_of(zone)) // _MICROSECOND
    try:
        return _EPOCH + timedelta(microseconds=local)
    except OverflowError as error:
        raise InvalidMoment(
            f"{instant!r} microseconds since 1970 lie outside the years 1 to 9999; are they nanoseconds?"
        ) from error


def offset_at(instant: int, tz: tzinfo) -> timedelta:
    """Return how far clocks in the zone are ahead of UTC."""
    if isinstance(tz, timezone):
        return tz.utcoffset(None)
    within = min(max(instant, _FIRST), _LAST)
    return (_EPOCH_UTC + timedelta(microseconds=within)).astimezone(tz).utcoffset() or timedelta(0)


def instant_of(wall: datetime, tz: tzinfo) -> int:
    """Return the instant of a wall time; in a repeated hour the first pass, unless `wall.fold` says otherwise."""
    return instant_with(wall, wall.replace(tzinfo=tz).utcoffset() or timedelta(0))


def instant_with(wall: datetime, offset: timedelta) -> int:
    """Return the instant of a wall time told together with its offset."""
    return (wall.replace(tzinfo=None) - _EPOCH - offset) // _MICROSECOND


def first_instant(midnight: datetime, tz: tzinfo) -> int:
    """Return when a local day begins; where the clocks skip midnight that is the jump, which is searched for."""
    by_old_offset, by_new_offset = instant_of(midnight, tz), instant_of(midnight.replace(fold=1), tz)
    if by_old_offset <= by_new_offset:
        return by_old_offset
    low, high, old_offset = by_new_offset, by_old_offset, offset_at(by_new_offset, tz)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if offset_at(middle, tz) == old_offset else (low, middle)
    return high


def last_instant(tz: tzinfo) -> int:
    """Return the last instant that still has a local time: there is no year 10000."""
    return instant_of(datetime.max, tz)


def offset_text(offset: timedelta) -> str:
    """Write an offset as ISO 8601 does: +02:00, with seconds where old local times need them."""
    seconds = round(abs(offset).total_seconds())
    text = f"{'-' if offset < timedelta(0) else '+'}{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return text if seconds % 60 == 0 else f"{text}:{seconds % 60:02}"
