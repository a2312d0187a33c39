"""The schedule: what is shipped, what may be written, and what is refused."""

from datetime import UTC, datetime
from typing import Any

import pytest

from retentia.errors import InvalidInput
from retentia.lifecycle.policy import policy
from retentia.model.record import ITEM_KINDS, Kind
from retentia.model.retention import Schedule, Term, months_after, shipped_schedule
from retentia.store.tenant_settings import Quota

BORN = int(datetime(2024, 1, 31, 12, tzinfo=UTC).timestamp()) * 1_000_000
EVERYTHING = {"name": "rest", "expires_after_months": 12}


def at(*day: int) -> int:
    return int(datetime(*day, 12, tzinfo=UTC).timestamp()) * 1_000_000  # type: ignore[arg-type,misc]


def test_what_was_said_goes_after_a_year_and_what_is_important_is_looked_at_after_two() -> None:
    shipped = shipped_schedule()
    for kind in ("message", "tool_call", "document"):
        assert shipped.term(kind, recorded_at=BORN) == Term(review_at=None, expires_at=at(2025, 1, 31))
    routine = shipped.term("note", "normal", "stated", recorded_at=BORN)
    assert routine == Term(review_at=at(2024, 12, 31), expires_at=at(2025, 1, 31))
    assert shipped.term("note", "high", "stated", recorded_at=BORN) == Term(review_at=at(2026, 1, 31), expires_at=None)
    assert shipped.term("fact", "low", "confirmed", recorded_at=BORN) == Term(
        review_at=at(2025, 1, 31), expires_at=None
    )


def test_every_kind_of_record_gets_a_date_from_the_shipped_schedule() -> None:
    for kind in Kind:
        term = shipped_schedule().term(kind.value, "normal" if kind in ITEM_KINDS else "", recorded_at=BORN)
        assert term.review_at or term.expires_at


@pytest.mark.parametrize(
    ("months", "day"),
    [(0, (2024, 1, 31)), (1, (2024, 2, 29)), (2, (2024, 3, 31)), (13, (2025, 2, 28)), (12, (2025, 1, 31))],
)
def test_a_month_is_a_calendar_month(months: int, day: tuple[int, ...]) -> None:
    assert months_after(BORN, months) == at(*day)


def test_a_schedule_survives_being_written_down() -> None:
    assert Schedule.parse(shipped_schedule().as_data()) == shipped_schedule()


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ([], "a list of"),
        ([{"name": "x", "kinds": ["message"], "expires_after_months": 1}], "must fit every record"),
        ([{"name": "x"}], "unlimited = true"),
        ([{"name": "x", "unlimited": True, "expires_after_months": 1}], "unlimited = true"),
        ([{"name": "x", "expires_after_months": 0}], "1 to 12000 months"),
        ([{"name": "x", "expires_after_months": "12"}], "1 to 12000 months"),
        ([{"name": "x", "kinds": ["messages"], "expires_after_months": 1}, EVERYTHING], "kinds of retention rule 'x'"),
        ([{"name": "x", "kinds": "message", "expires_after_months": 1}, EVERYTHING], "must be a list"),
        ([{"name": "x", "expires_after_days": 1}], "expires_after_days"),
        (["x"], "must be a table"),
    ],
)
def test_a_schedule_that_is_wrong_is_refused_with_the_reason(rules: list[Any], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        Schedule.parse({"rule": rules})


def test_a_schedule_with_something_beside_its_rules_is_refused() -> None:
    with pytest.raises(InvalidInput, match="nothing else"):
        Schedule.parse({"rule": [EVERYTHING], "rules": []})


def test_the_policy_says_how_long_each_layer_is_kept_under_the_schedule_in_force() -> None:
    shipped = {layer.name: layer.retention for layer in policy(shipped_schedule())}
    assert shipped["Messages"] == "erased after 12 months"
    assert shipped["Items of knowledge"].startswith(
        "confirmed: review after 12 months; high importance: review after 24"
    )
    own = Schedule.parse({"rule": [{"kinds": ["note"], "unlimited": True}, EVERYTHING]})
    layers = {layer.name: layer.retention for layer in policy(own)}
    assert layers["Items of knowledge"] == "note: unlimited, by choice; otherwise: erased after 12 months"


def test_every_kind_of_record_belongs_to_one_layer_of_the_policy() -> None:
    from retentia.lifecycle.policy import _layers

    kinds = [kind for layer in _layers() for kind in layer.get("kinds", [])]
    assert sorted(kinds) == sorted(kind.value for kind in Kind)


@pytest.mark.parametrize("limit", [-1, 1.5, True, "10"])
def test_a_quota_is_a_whole_number(limit: Any) -> None:
    with pytest.raises(InvalidInput):
        Quota(max_records=limit)
