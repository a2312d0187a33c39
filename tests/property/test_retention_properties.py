from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from retentia.model.record import Importance, Kind, Status
from retentia.model.retention import months_after, shipped_schedule

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)).map(
    lambda wall: (wall.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
)


def wall(instant: int) -> datetime:
    return EPOCH + timedelta(microseconds=instant)


@given(INSTANTS, st.integers(0, 12_000))
def test_months_later_is_never_earlier(instant: int, months: int) -> None:
    assert months_after(instant, months) >= instant


@given(INSTANTS, st.integers(0, 1200))
def test_the_day_and_time_stay_or_the_month_was_too_short(instant: int, months: int) -> None:
    before, after = wall(instant), wall(months_after(instant, months))
    if after.year < 9999:
        assert (after.year * 12 + after.month) - (before.year * 12 + before.month) == months
        assert after.time() == before.time()
        assert after.day == before.day or (after.day < before.day and (after + timedelta(days=1)).day == 1)


@given(INSTANTS, INSTANTS, st.integers(0, 1200))
def test_what_was_written_later_is_never_due_earlier(one: int, other: int, months: int) -> None:
    first, second = sorted((one, other))
    assert months_after(first, months) <= months_after(second, months)


@given(st.sampled_from(Kind), st.sampled_from(Importance), st.sampled_from(Status), INSTANTS)
def test_a_term_is_the_same_each_time_and_never_before_the_record(
    kind: Kind, importance: Importance, status: Status, recorded_at: int
) -> None:
    term = shipped_schedule().term(kind, importance, status, recorded_at=recorded_at)
    assert term == shipped_schedule().term(kind, importance, status, recorded_at=recorded_at)
    assert all(due is None or due >= recorded_at for due in (term.review_at, term.expires_at))
    assert term.review_at is not None or term.expires_at is not None
    if term.review_at is not None and term.expires_at is not None:
        assert term.review_at <= term.expires_at
