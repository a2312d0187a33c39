"""Dates in messages: the time that a clause names, as seen from when the message was said."""

from retentia.errors import InvalidMoment
from retentia.languages.periods import Direction, Period, find_periods
from retentia.model.time import Moment, Precision
from retentia.model.zone import wall_time

_ISO_LENGTHS = {Precision.YEAR: 4, Precision.MONTH: 7, Precision.DAY: 10}


def date_in(text: str, *, said: Moment, toward: Direction = "past") -> Moment | None:
    """Return the first time that a text names, seen from `said`; None without one.

    What is due or ends then is named by the last day of it.
    """
    return next((moment_of(period, said.zone) for period in find_periods(text, now=said, toward=toward)), None)


def moment_of(period: Period, zone: str) -> Moment | None:
    """Return a period as a moment of a zone.

    One that is open behind is when it begins, as exactly as it was said; one that is open before is its last day.
    """
    try:
        if period.since is not None and period.until is not None:
            return Moment(period.since, period.until, period.precision, zone)
        edge = period.since if period.since is not None else (period.until or 1) - 1
        if period.precision is Precision.INSTANT:
            return Moment.at(edge, zone)
        exactly = 10 if period.since is None else _ISO_LENGTHS[period.precision]
        return Moment.parse(wall_time(edge, zone).date().isoformat()[:exactly], zone=zone)
    except InvalidMoment:  # the last day of the calendar
        return None
