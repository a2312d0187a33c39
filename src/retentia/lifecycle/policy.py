"""The written policy: why each layer is there, what enters, who reads it, how it is corrected, kept and deleted."""

import tomllib
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from retentia.model.record import ITEM_KINDS
from retentia.model.retention import RetentionRule, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPolicy:
    """The policy of one layer, in words; `retention` follows from the schedule in force."""

    name: str
    purpose: str
    enters: str
    readers: str
    source: str
    correction: str
    retention: str
    deletion: str


def policy(schedule: Schedule) -> list[LayerPolicy]:
    """Return the policy of every layer under a schedule."""
    found = []
    for layer in _layers():
        said = {name: value.format(days=restorable_for().days) for name, value in layer.items() if name != "kinds"}
        if "kinds" in layer:
            said["retention"] = _retention(frozenset(layer["kinds"]), schedule)
        found.append(LayerPolicy(**said))
    return found


def restorable_for() -> timedelta:
    """Return how long what the schedule lets go can be restored; nothing for what is erased at once."""
    return timedelta(days=_read()["restorable_days"])


def _layers() -> list[dict[str, Any]]:
    layers: list[dict[str, Any]] = _read()["layer"]
    return layers


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("policy.toml").read_text("utf-8"))


def _retention(kinds: frozenset[str], schedule: Schedule) -> str:
    said: list[str] = []
    for rule in schedule.rules:
        here = kinds & rule.kinds if rule.kinds else kinds
        has_traits = bool(rule.importance or rule.statuses)
        if not here or (has_traits and not here <= ITEM_KINDS):  # only items have an importance and a status
            continue
        decides = here == kinds and not has_traits
        conditions = "" if decides else _conditions(rule, here if here != kinds else frozenset())
        said.append(f"{conditions or ('otherwise' if said else '')}: {_terms(rule)}".removeprefix(": "))
        if decides:
            break
    return "; ".join(said)


def _conditions(rule: RetentionRule, kinds: frozenset[str]) -> str:
    importance = [f"{level} importance" for level in sorted(rule.importance)]
    return ", ".join((*sorted(kinds), *sorted(rule.statuses), *importance))


def _terms(rule: RetentionRule) -> str:
    said = []
    if rule.review_after_months is not None:
        said.append(f"review after {rule.review_after_months} months")
    if rule.expires_after_months is not None:
        said.append(f"erased after {rule.expires_after_months} months")
    return ", ".join(said) or "unlimited, by choice"
