import time
import warnings
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from retentia.errors import InvalidMoment
from retentia.model.time import Moment, NaiveTimeWarning, Precision, system_clock

HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("text", "precision", "day", "iso"),
    [
        ("2026", Precision.YEAR, 2026_00_00, "2026"),
        (" 2026-06 ", Precision.MONTH, 2026_06_00, "2026-06"),
        ("2026-06-01", Precision.DAY, 2026_06_01, "2026-06-01"),
        ("2026-06-01 19:00", Precision.INSTANT, 2026_06_01, "2026-06-01T19:00:00+03:00"),
        ("2026-06-01T19:00:30.25Z", Precision.INSTANT, 2026_06_01, "2026-06-01T19:00:30.250000+00:00"),
        ("2026-06-01 19:00:30 UTC", Precision.INSTANT, 2026_06_01, "2026-06-01T19:00:30+00:00"),
        ("2026-06-01T19:00-05:00", Precision.INSTANT, 2026_06_01, "2026-06-01T19:00:00-05:00"),
        ("2026-06-01T19:00-0530", Precision.INSTANT, 2026_06_01, "2026-06-01T19:00:00-05:30"),
        ("2026-06-01T22:30Z[Asia/Tokyo]", Precision.INSTANT, 2026_06_02, "2026-06-02T07:30:00+09:00"),
        ("0001", Precision.YEAR, 1_00_00, "0001"),
        ("9999-12-31", Precision.DAY, 9999_12_31, "9999-12-31"),
    ],
)
def test_text_is_as_exact_as_it_was_written(text: str, precision: Precision, day: int, iso: str) -> None:
    moment = Moment.parse(text, zone="Europe/Kyiv")
    assert (moment.precision, moment.local_day(), moment.iso()) == (precision, day, iso)


def test_an_instant_is_one_microsecond_and_a_day_is_its_local_day() -> None:
    instant, day = Moment.parse("2026-06-01T00:00Z"), Moment.parse("2026-06-01")
    assert instant.end == instant.start + 1
    assert (day.start, day.end - day.start) == (instant.start, 24 * HOUR)


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        (datetime(2026, 6, 1, 19, tzinfo=ZoneInfo("Europe/Kyiv")), "Europe/Kyiv"),
        (datetime(2026, 6, 1, 16, tzinfo=UTC), "UTC"),
        (datetime(2026, 6, 1, 11, tzinfo=timezone(timedelta(hours=-5))), "-05:00"),
    ],
)
def test_an_aware_datetime_keeps_its_own_zone(value: datetime, zone: str) -> None:
    moment = Moment.parse(value, zone="Asia/Tokyo")
    assert (moment.zone, moment.start) == (zone, Moment.parse("2026-06-01T16:00Z").start)


def test_dates_years_and_moments_are_accepted() -> None:
    assert Moment.parse(date(2026, 6, 1)) == Moment.parse("2026-06-01")
    assert Moment.parse(2026) == Moment.parse("2026")
    assert Moment.parse(Moment.parse("2026"), zone="Asia/Tokyo").zone == "UTC"


def test_one_call_warns_once_of_a_naive_datetime() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Moment.parse(datetime(2026, 6, 1, 19), zone="Europe/Kyiv")
    assert [(item.category, item.filename) for item in caught] == [(NaiveTimeWarning, __file__)]


NO_TIMES = (
    "",
    "yesterday",
    "2026-13",
    "2026-02-30",
    "2026-00",
    "2026-06-01T25:00",
    "2026-06-01T10:00:60",
    "2026-06-01T19:00+99:00",
    "2026-W23",
    "0000",
    "10000",
    "01.06.2026",
    "٢٠٢٦",
    "2026\0",
    "\ud83d",
    "x" * 100_000,
    0,
    10_000,
    True,
)


@pytest.mark.parametrize("value", NO_TIMES, ids=range(len(NO_TIMES)))
def test_what_is_no_time_is_named_with_a_remedy(value: str | int) -> None:
    with pytest.raises(InvalidMoment, match=r"is no (time|date)") as caught:
        Moment.parse(value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [None, 1.5, b"2026", ["2026"]])
def test_values_of_other_types_are_refused(value: object) -> None:
    with pytest.raises(InvalidMoment, match="use ISO 8601"):
        Moment.parse(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("zone", ["Mars/Phobos", "../etc/passwd", "Europe", "", "+25:00", "\0", "local"])
def test_an_unknown_zone_is_named_with_a_remedy(zone: str) -> None:
    with pytest.raises(InvalidMoment, match="use an IANA name"):
        Moment.parse("2026", zone=zone)
    with pytest.raises(InvalidMoment, match="use an IANA name"):
        Moment.at(0, zone)


def test_counted_time_outside_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidMoment, match="nanoseconds"):
        Moment.at(time.time_ns())
    for seconds in (1.7e12, float("nan"), float("inf"), -1e12):
        with pytest.raises(InvalidMoment, match="milliseconds"):
            Moment.from_unix(seconds)


def test_an_empty_interval_and_a_long_instant_are_refused() -> None:
    with pytest.raises(InvalidMoment):
        Moment(5, 5, Precision.DAY, "UTC")
    with pytest.raises(InvalidMoment):
        Moment(5, 7, Precision.INSTANT, "UTC")


def test_days_with_a_clock_change_have_their_real_length() -> None:
    def hours(day: str, zone: str) -> float:
        moment = Moment.parse(day, zone=zone)
        return (moment.end - moment.start) / HOUR

    assert hours("2026-03-29", "Europe/Berlin") == 23
    assert hours("2026-10-25", "Europe/Berlin") == 25
    assert hours("2018-11-04", "America/Sao_Paulo") == 23, "midnight was skipped"
    assert hours("1919-03-31", "America/Toronto") == 23.5, "the clocks jumped across midnight"
    assert hours("2011-12-29", "Pacific/Apia") == 24, "the next day never came"


def test_a_day_that_never_was_is_refused() -> None:
    with pytest.raises(InvalidMoment, match="did not exist in Pacific/Apia"):
        Moment.parse("2011-12-30", zone="Pacific/Apia")


def test_a_repeated_hour_is_told_apart_by_its_fold() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first, second = (Moment.parse(datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold)) for fold in (0, 1))
    assert second.start - first.start == HOUR
    assert Moment.parse("2026-10-25 02:30", zone="Europe/Berlin") == first


def test_the_present_comes_from_the_clock_in_microseconds() -> None:
    before = time.time_ns() // 1000
    assert before <= system_clock() <= Moment.now("Europe/Kyiv").start <= time.time_ns() // 1000


def test_later_means_after_the_whole_of_the_other_time() -> None:
    year, month, next_year = Moment.parse("2026"), Moment.parse("2026-06"), Moment.parse("2027")
    assert next_year.starts_after(year)
    assert not month.starts_after(year)
    assert not year.starts_after(year)
    assert month.overlaps(year.start, year.end)
    assert not next_year.overlaps(year.start, year.end)
