"""Retention: how long a record is kept, decided by its kind, importance and status from when it was written. Pure."""

import calendar
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Self

from retentia.errors import InvalidInput
from retentia.model.record import Importance, Kind, Status
from retentia.model.zone import instant_of, last_instant, wall_time

_LAST_YEAR = 9999
_MOST_MONTHS = 12_000
_CONDITIONS = ("kinds", "importance", "statuses")
_TERMS = ("review_after_months", "expires_after_months")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """When a record is due for review, and when it expires, in UTC microseconds; None is never."""

    review_at: int | None
    expires_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRule:
    """One rule: a condition that is empty fits everything; a term that is None never comes."""

    name: str
    kinds: frozenset[str] = frozenset()
    importance: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()
    review_after_months: int | None = None
    expires_after_months: int | None = None
    unlimited: bool = False

    @property
    def fits_all(self) -> bool:
        """Whether it has no condition."""
        return not (self.kinds or self.importance or self.statuses)

    def fits(self, kind: str, importance: str, status: str) -> bool:
        """Tell whether it decides on such a record; "" where a kind has no importance or status."""
        return (
            (not self.kinds or kind in self.kinds)
            and (not self.importance or importance in self.importance)
            and (not self.statuses or status in self.statuses)
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """Rules in order, of which the last fits everything."""

    rules: tuple[RetentionRule, ...]

    @classmethod
    def parse(cls, data: Mapping[str, object]) -> Self:
        """Read {"rule": [{…}, …]}, as the shipped retention.toml has it; raise InvalidInput naming what is wrong."""
        given = data.get("rule")
        if set(data) != {"rule"} or not isinstance(given, list) or not given:
            raise InvalidInput("a retention schedule is a list of [[rule]] and nothing else")
        rules = tuple(_rule(number, one) for number, one in enumerate(given, start=1))
        if not rules[-1].fits_all:
            raise InvalidInput(f"the last retention rule, {rules[-1].name!r}, must fit every record: no conditions")
        return cls(rules)

    def as_data(self) -> dict[str, object]:
        """Return what `parse` reads back."""
        return {"rule": [_as_data(rule) for rule in self.rules]}

    def rule_for(self, kind: str, importance: str = "", status: str = "") -> RetentionRule:
        """Return the rule that decides on such a record."""
        return next(rule for rule in self.rules if rule.fits(kind, importance, status))

    def term(self, kind: str, importance: str = "", status: str = "", *, recorded_at: int) -> Term:
        """Return when such a record is due, from when it was written; neither is before that."""
        rule = self.rule_for(kind, importance, status)
        return Term(
            review_at=_after(recorded_at, rule.review_after_months),
            expires_at=_after(recorded_at, rule.expires_after_months),
        )


@cache
def shipped_schedule() -> Schedule:
    """Read retention.toml beside this file once."""
    return Schedule.parse(tomllib.loads(Path(__file__).with_name("retention.toml").read_text("utf-8")))


def months_after(instant: int, months: int) -> int:
    """Return the same day and time so many calendar months later in UTC, or the last day of a shorter month.

    Ends with the year 9999, the last that there is.
    """
    wall = wall_time(instant, "UTC")
    years, month = divmod(wall.month - 1 + months, 12)
    year = wall.year + years
    if year > _LAST_YEAR:
        return max(instant, last_instant(UTC))
    day = min(wall.day, calendar.monthrange(year, month + 1)[1])
    moved: datetime = wall.replace(year=year, month=month + 1, day=day)
    return instant_of(moved, UTC)


def _after(recorded_at: int, months: int | None) -> int | None:
    return None if months is None else months_after(recorded_at, months)


def _rule(number: int, given: object) -> RetentionRule:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"retention rule {number} must be a table, not {type(given).__name__}")
    known: dict[str, Any] = dict(given)
    name = str(known.pop("name", f"rule {number}"))
    rule = RetentionRule(
        name=name,
        kinds=_chosen(name, "kinds", known, Kind),
        importance=_chosen(name, "importance", known, Importance),
        statuses=_chosen(name, "statuses", known, Status),
        review_after_months=_months(name, "review_after_months", known),
        expires_after_months=_months(name, "expires_after_months", known),
        unlimited=known.pop("unlimited", False) is True,
    )
    if known:
        raise InvalidInput(f"retention rule {rule.name!r} has unknown fields: {', '.join(sorted(known))}")
    if rule.unlimited == (rule.review_after_months is not None or rule.expires_after_months is not None):
        raise InvalidInput(
            f"retention rule {rule.name!r} needs review_after_months or expires_after_months, or unlimited = true"
        )
    return rule


def _chosen(rule: str, name: str, known: dict[str, Any], choices: type[StrEnum]) -> frozenset[str]:
    given = known.pop(name, [])
    if not isinstance(given, list) or not all(one in set(choices) for one in given):
        raise InvalidInput(f"{name} of retention rule {rule!r} must be a list of {', '.join(choices)}")
    return frozenset(given)


def _months(rule: str, name: str, known: dict[str, Any]) -> int | None:
    given = known.pop(name, None)
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= _MOST_MONTHS:
        raise InvalidInput(f"{name} of retention rule {rule!r} must be 1 to {_MOST_MONTHS} months, not {given!r}")
    return given


def _as_data(rule: RetentionRule) -> dict[str, object]:
    fields: dict[str, object] = {"name": rule.name}
    fields |= {name: sorted(getattr(rule, name)) for name in _CONDITIONS if getattr(rule, name)}
    fields |= {name: getattr(rule, name) for name in _TERMS if getattr(rule, name) is not None}
    return fields | ({"unlimited": True} if rule.unlimited else {})
