"""When: what a question says about time, taken out of its words, so that the rest is searched inside that time."""

import re
from typing import NamedTuple

from retentia.languages.periods import Period, find_periods
from retentia.model.time import Moment, Precision

_HOUR = 3_600_000_000
_MARKS = re.compile(r"\s+(?=[,.;:!?)])|(?<=\()\s+|\(\s*\)")
_BLANKS = re.compile(r"\s{2,}")
_EDGES = " ,;:–-"


class Timed(NamedTuple):
    """A question without its times, and the time it asks about: [since, until) in UTC microseconds, None is open."""

    question: str
    since: int | None
    until: int | None


def split_time(question: str, now: Moment) -> Timed:
    """Part a question about the past from the time it names: "What did we decide last month?".

    Times that things happened at are put together, from the first to the last; what something was since or until
    narrows that. A time of day stands for the hour that it begins. Without a time both bounds are None.
    """
    periods = find_periods(question, now=now)
    if not periods:
        return Timed(question, None, None)
    at = [_bounds(period) for period in periods if period.role == "when"]
    starts = [period.since for period in periods if period.role != "when" and period.since is not None]
    ends = [period.until for period in periods if period.role != "when" and period.until is not None]
    since = max([*starts, *([min(since for since, _ in at)] if at else [])], default=None)
    until = min([*ends, *([max(until for _, until in at)] if at else [])], default=None)
    if since is not None and until is not None and since >= until:  # the times contradict each other: none is meant
        return Timed(question, None, None)
    return Timed(_without(question, periods), since, until)


def _bounds(period: Period) -> tuple[int, int]:
    since, until = period.since or 0, period.until or 0
    return (since, since + _HOUR) if period.precision is Precision.INSTANT else (since, until)


def _without(question: str, periods: list[Period]) -> str:
    kept, place = [], 0
    for period in periods:
        kept.append(question[place : period.start])
        place = period.end
    left = " ".join([*kept, question[place:]])
    return _BLANKS.sub(" ", _MARKS.sub("", left)).strip(_EDGES)
