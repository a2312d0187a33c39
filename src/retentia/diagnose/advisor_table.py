"""The decision table of the advisor, its table of symptoms and its words: read from advisor.toml, once."""

import math
import operator
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from retentia.diagnose.symptom import SymptomKind
from retentia.errors import InvalidInput

LASTING = "lasting"
"""Names the trigger without which nothing that outlives a conversation is needed."""
LANGUAGES = ("en", "de", "uk")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {">=": operator.ge, ">": operator.gt, "<": operator.lt}


class Group(StrEnum):
    """What a layer belongs to: one conversation, what outlives it, or tools beside the ladder."""

    WORKING = "working"
    LASTING = "lasting"
    BESIDE = "beside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A measure of the traffic and the threshold from which it decides."""

    measure: str
    comparison: str
    threshold: float

    def holds(self, value: float) -> bool:
        """Tell whether a value decides."""
        return _COMPARE[self.comparison](value, self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer of memory: what switches it on, and which of its triggers (one, or all) ask for it.

    `titles` and `gives` have its name and what it is for, by language.
    """

    name: str
    group: Group
    setting: str
    triggers: tuple[Trigger, ...]
    needs_all: bool
    titles: Mapping[str, str]
    gives: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisorTable:
    """The layers from the lowest rung up, the trigger of all that outlives a conversation, and what cures symptoms."""

    layers: tuple[Layer, ...]
    lasting: Trigger
    cured_by: Mapping[str, str]

    @property
    def ladder(self) -> tuple[Layer, ...]:
        """The layers that are switched on one by one."""
        return tuple(layer for layer in self.layers if layer.group is not Group.BESIDE)

    def is_below(self, layer: Layer, others: Collection[str]) -> bool:
        """Tell whether one of the others is a higher stage of the conversation."""
        stages = [one.name for one in self.layers if one.group is Group.WORKING]
        return any(one in others for one in stages[stages.index(layer.name) + 1 :])

    def cure(self, kind: SymptomKind) -> Layer:
        """Return the layer that cures a symptom."""
        return next(layer for layer in self.layers if layer.name == self.cured_by[kind.value])

    def with_thresholds(self, given: Mapping[str, object]) -> "AdvisorTable":
        """Return the table with other thresholds, {layer: {measure: number}}; raise InvalidInput for what is wrong."""
        known = {LASTING: [self.lasting], **{layer.name: [*layer.triggers] for layer in self.layers if layer.triggers}}
        for name, changes in given.items():
            if name not in known:
                raise InvalidInput(f"there are no thresholds of {name!r}; use {', '.join(known)}")
            known[name] = _changed(name, known[name], changes)
        layers = tuple(replace(layer, triggers=tuple(known.get(layer.name, ()))) for layer in self.layers)
        return replace(self, layers=layers, lasting=known[LASTING][0])


@cache
def shipped_table() -> AdvisorTable:
    """Read the tables that ship with the package."""
    data = advisor_data()
    return AdvisorTable(
        layers=tuple(map(_layer, data["layer"])),
        lasting=Trigger(**data["lasting"]),
        cured_by={one["kind"]: one["layer"] for one in data["symptom"]},
    )


@cache
def advisor_data() -> Mapping[str, Any]:
    """Read advisor.toml once; `measure` and `words` of it are told by `retentia.diagnose.advice_words`."""
    return tomllib.loads(Path(__file__).with_name("advisor.toml").read_text("utf-8"))


def _layer(data: Mapping[str, Any]) -> Layer:
    return Layer(
        name=data["name"],
        group=Group(data["group"]),
        setting=data["setting"],
        triggers=tuple(Trigger(**one) for one in data.get("trigger", ())),
        needs_all=data.get("needs", "any") == "all",
        titles={language: data[language]["title"] for language in LANGUAGES},
        gives={language: data[language]["gives"] for language in LANGUAGES},
    )


def _changed(name: str, triggers: list[Trigger], given: object) -> list[Trigger]:
    measures = [one.measure for one in triggers]
    if not isinstance(given, Mapping) or not given:
        raise InvalidInput(f"thresholds of {name!r} are numbers by measure: {', '.join(measures)}")
    if unknown := sorted(str(one) for one in given if one not in measures):
        raise InvalidInput(f"{name!r} is not decided by {unknown[0]!r}; use {', '.join(measures)}")
    return [
        replace(one, threshold=_threshold(name, one.measure, given[one.measure])) if one.measure in given else one
        for one in triggers
    ]


def _threshold(name: str, measure: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
        raise InvalidInput(f"the threshold {measure!r} of {name!r} must be a number above 0, not {given!r}")
    return given
