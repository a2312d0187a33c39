"""Confidence: how often a way of saying something was read rightly, measured on our own dialogues."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from retentia.model.candidate import Manner

UNKNOWN = 0.5
"""The confidence in a reading that was never measured."""


def confidence_of(family: str, manner: Manner) -> float:
    """Return the share of right readings of a family of patterns: as measured for what is asserted, or otherwise."""
    by_family = _measured().get("asserted" if manner is Manner.ASSERTED else "otherwise", {})
    return by_family.get(family, UNKNOWN)


@cache
def _measured() -> Mapping[str, Mapping[str, float]]:
    return tomllib.loads(Path(__file__).with_name("confidence.toml").read_text("utf-8"))
