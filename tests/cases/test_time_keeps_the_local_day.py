"""Cases 81 to 83: zones are never assumed, naive and aware times never clash, a year is not its first of January."""

from datetime import UTC, datetime

import pytest

from retentia.model.time import Moment, NaiveTimeWarning, Precision


def test_the_first_of_june_at_seven_in_the_evening_stays_the_first_of_june() -> None:
    moment = Moment.parse("2026-06-01T19:00-05:00")
    assert moment.start == Moment.parse("2026-06-02T00:00Z").start
    assert (moment.local_day(), moment.zone) == (2026_06_01, "-05:00")
    assert moment.iso() == "2026-06-01T19:00:00-05:00"


@pytest.mark.parametrize("zone", ["Europe/Kyiv", "US/Pacific", "Pacific/Kiritimati", "+05:45"])
def test_a_time_without_zone_is_read_in_the_zone_that_was_asked_for(zone: str) -> None:
    moment = Moment.parse("2026-06-01 23:59", zone=zone)
    assert (moment.zone, moment.local_day()) == (zone, 2026_06_01)


def test_naive_and_aware_datetimes_can_be_compared() -> None:
    with pytest.warns(NaiveTimeWarning, match="read as Europe/Kyiv time"):
        naive = Moment.parse(datetime(2026, 6, 1, 19), zone="Europe/Kyiv")
    aware = Moment.parse(datetime(2026, 6, 1, 17, tzinfo=UTC))
    assert (naive.zone, naive.local_day()) == ("Europe/Kyiv", 2026_06_01)
    assert aware.starts_after(naive)


def test_a_year_is_an_interval_and_not_its_first_of_january() -> None:
    year = Moment.parse("2026")
    assert year.precision is Precision.YEAR
    assert year.local_day() == 2026_00_00
    autumn = Moment.parse("2026-10-03")
    assert year.overlaps(autumn.start, autumn.end)
    assert not autumn.starts_after(year)
