from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import InvalidMoment
from retentia.model.time import Moment, Precision

ZONES = ("UTC", "Europe/Kyiv", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Kathmandu")
zones = st.sampled_from((*ZONES, "Pacific/Kiritimati", "America/Havana", "-05:00", "+13:45"))
instants = st.integers(-60_000_000_000_000_000, 250_000_000_000_000_000)


@given(instants, zones)
def test_an_instant_written_and_read_is_the_same_instant(instant: int, zone: str) -> None:
    moment = Moment.at(instant, zone)
    again = Moment.parse(moment.iso())
    assert (again.start, again.end, again.local_day()) == (moment.start, moment.end, moment.local_day())


@given(st.dates(), zones, st.sampled_from((4, 7, 10)))
def test_a_period_written_and_read_is_the_same_period(day: date, zone: str, length: int) -> None:
    moment = Moment.parse(day.isoformat()[:length], zone=zone)
    assert Moment.parse(moment.iso(), zone=zone) == moment


@given(st.dates(max_value=date(9998, 12, 31)), zones)
def test_days_of_a_zone_follow_each_other_without_gap_or_overlap(day: date, zone: str) -> None:
    first, second = Moment.parse(day, zone=zone), Moment.parse(day + timedelta(days=1), zone=zone)
    assert first.end == second.start
    assert second.starts_after(first)


@given(instants, zones)
def test_an_instant_lies_in_its_local_day_month_and_year(instant: int, zone: str) -> None:
    moment = Moment.at(instant, zone)
    for length in (4, 7, 10):
        period = Moment.parse(moment.iso()[:length], zone=zone)
        assert period.overlaps(moment.start, moment.end)


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5)), *map(ZoneInfo, ZONES)])))
def test_an_aware_datetime_keeps_its_instant_and_its_date(value: datetime) -> None:
    moment = Moment.parse(value)
    assert moment.start == (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert moment.precision is Precision.INSTANT


@given(st.text())
def test_any_text_is_a_time_or_a_named_error(text: str) -> None:
    try:
        moment = Moment.parse(text)
    except InvalidMoment:
        return
    assert moment.start < moment.end


@given(instants, instants, zones)
def test_of_two_different_instants_exactly_one_is_after_the_other(one: int, other: int, zone: str) -> None:
    first, second = Moment.at(one), Moment.at(other, zone)
    assert first.starts_after(second) + second.starts_after(first) == (one != other)
