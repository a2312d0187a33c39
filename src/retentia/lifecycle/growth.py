"""How much each person has and how fast it grows, by calendar month."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from retentia.store.growth import DayGrowth

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What is there of a user today, by the month ("2026-06", UTC) in which it was written; bytes of text in UTF-8.

    `in_bin` counts what was removed and is not purged yet, besides the others.
    """

    user: str
    month: str
    records: int
    bytes: int
    in_bin: int = 0


def by_month(days: Iterable[DayGrowth]) -> list[Growth]:
    """Add days up to months, in order of user and month."""
    months: dict[tuple[str, str], tuple[int, int, int]] = {}
    for one in days:
        key = one.user, f"{_EPOCH + timedelta(days=one.day):%Y-%m}"
        records, size, in_bin = months.get(key, (0, 0, 0))
        months[key] = records + one.records, size + one.size, in_bin + one.in_bin
    return [
        Growth(user=user, month=month, records=records, bytes=size, in_bin=in_bin)
        for (user, month), (records, size, in_bin) in sorted(months.items())
    ]
