"""Advisor: which layer of memory a traffic needs next, and which it does not, by the trigger that decides. Pure.

A ladder: the conversation itself, then what outlives it. A layer is needed when the numbers reach its threshold, and at
most one is next, the lowest that is needed and not on. Of the stages of a conversation the highest that is needed is
enough. Where people do not come back, nothing that outlives a conversation is needed. Tools stand beside the ladder.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from retentia.diagnose.advisor_table import LASTING, AdvisorTable, Group, Layer, Trigger, shipped_table
from retentia.diagnose.symptom import SymptomKind
from retentia.diagnose.traffic import Traffic
from retentia.errors import InvalidInput


class Stand(StrEnum):
    """How a layer stands to a traffic.

    ON: needed and on. OUTGROWN: a stage of the conversation whose limit is reached. NEXT: needed and to be switched on
    now. LATER: needed, once the next one is on. ADVISED: needed beside the ladder. SPARE: on and not needed. UNNEEDED:
    neither.
    """

    ON = "on"
    OUTGROWN = "outgrown"
    NEXT = "next"
    LATER = "later"
    ADVISED = "advised"
    SPARE = "spare"
    UNNEEDED = "unneeded"


@dataclass(frozen=True, slots=True)
class Reading:
    """A number of the traffic against a threshold; `layer` is whose it is, "lasting" for all that outlive a session."""

    layer: str
    trigger: Trigger
    value: float

    @property
    def holds(self) -> bool:
        return self.trigger.holds(self.value)

    @property
    def nearness(self) -> float:
        """How far the number has come, from 0 to 1 at the threshold."""
        parts = (self.value, self.trigger.threshold)
        return 1.0 if self.holds else min(parts) / max(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerAdvice:
    """One layer: how it stands, and the numbers that decided it."""

    layer: Layer
    stand: Stand
    readings: tuple[Reading, ...]

    @property
    def name(self) -> str:
        return self.layer.name

    @property
    def setting(self) -> str:
        """What switches it on."""
        return self.layer.setting

    @property
    def missing(self) -> Reading | None:
        """The number that keeps a layer from being needed: the nearest, or the farthest where all must be reached."""
        waiting = sorted((one for one in self.readings if not one.holds), key=lambda one: one.nearness)
        return None if not waiting else waiting[0] if self.layer.needs_all else waiting[-1]


@dataclass(frozen=True, slots=True)
class Cure:
    """A symptom that was seen, how often, and the layer that cures it."""

    kind: SymptomKind
    count: int
    layer: Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Which layer is needed next and which are not: `ladder` from the lowest rung up, and `beside` it."""

    traffic: Traffic
    ladder: tuple[LayerAdvice, ...]
    beside: tuple[LayerAdvice, ...]
    symptoms: tuple[Cure, ...] = ()

    @property
    def next(self) -> LayerAdvice | None:
        """The one layer to switch on now; None where what is on is enough."""
        return next((one for one in self.ladder if one.stand is Stand.NEXT), None)

    @property
    def rung(self) -> str:
        """The highest layer of the ladder that the traffic needs, on or not."""
        needed = (Stand.ON, Stand.NEXT, Stand.LATER)
        return [one.name for one in self.ladder if one.stand in needed][-1]

    @property
    def sufficient(self) -> tuple[LayerAdvice, ...]:
        """The layers that are on and needed."""
        return tuple(one for one in self.ladder if one.stand is Stand.ON)

    @property
    def unneeded(self) -> tuple[LayerAdvice, ...]:
        """The layers that the numbers do not ask for, be they on or off."""
        return tuple(one for one in (*self.ladder, *self.beside) if one.stand in (Stand.UNNEEDED, Stand.SPARE))

    @property
    def closest(self) -> Reading | None:
        """The number that is closest to changing the answer; None where none has come any part of the way."""
        waiting = [one.missing for one in self.unneeded if one.missing is not None and one.missing.nearness]
        return max(waiting, key=lambda one: one.nearness, default=None)


def advise(
    traffic: Traffic,
    *,
    on: Collection[str] = ("buffer",),
    table: AdvisorTable | None = None,
    seen: Mapping[SymptomKind, int] | None = None,
) -> Advice:
    """Tell what a traffic needs, given the layers that are `on` and the symptoms that were `seen`, with their counts.

    Raises InvalidInput for a layer that there is not.
    """
    table = table or shipped_table()
    names = [layer.name for layer in table.layers]
    if unknown := sorted(set(on).difference(names)):
        raise InvalidInput(f"there is no layer {unknown[0]!r}; use {', '.join(names)}")
    needed = _needed(traffic, table)
    following = next((layer.name for layer in table.ladder if layer.name in needed and layer.name not in on), "")
    told = [_told(layer, traffic, table, needed=needed, on=on, following=following) for layer in table.layers]
    return Advice(
        traffic=traffic,
        ladder=tuple(one for one in told if one.layer.group is not Group.BESIDE),
        beside=tuple(one for one in told if one.layer.group is Group.BESIDE),
        symptoms=cures(seen or {}, table),
    )


def cures(seen: Mapping[SymptomKind, int], table: AdvisorTable) -> tuple[Cure, ...]:
    """Name for each symptom the layer that cures it, the most frequent first."""
    ordered = sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Cure(kind, count, table.cure(kind)) for kind, count in ordered if count)


def _needed(traffic: Traffic, table: AdvisorTable) -> set[str]:
    """Return the layers that the numbers ask for; of the stages of a conversation the highest."""
    asked = [layer for layer in table.layers if _is_asked_for(layer, traffic)]
    stages = [layer.name for layer in asked if layer.group is Group.WORKING]
    keeps = table.lasting.holds(_measured(traffic, table.lasting))
    lasting = [layer.name for layer in asked if layer.group is Group.LASTING and keeps]
    return {*stages[-1:], *lasting, *(layer.name for layer in asked if layer.group is Group.BESIDE)}


def _is_asked_for(layer: Layer, traffic: Traffic) -> bool:
    held = [trigger.holds(_measured(traffic, trigger)) for trigger in layer.triggers]
    return not held or (all(held) if layer.needs_all else any(held))


def _told(
    layer: Layer,
    traffic: Traffic,
    table: AdvisorTable,
    *,
    needed: Collection[str],
    on: Collection[str],
    following: str,
) -> LayerAdvice:
    readings = [Reading(layer.name, trigger, _measured(traffic, trigger)) for trigger in layer.triggers]
    gate = Reading(LASTING, table.lasting, _measured(traffic, table.lasting))
    if layer.group is Group.LASTING and not gate.holds:
        readings = [gate]
    return LayerAdvice(layer=layer, stand=_stand(layer, table, needed, on, following), readings=tuple(readings))


def _stand(layer: Layer, table: AdvisorTable, needed: Collection[str], on: Collection[str], following: str) -> Stand:
    if layer.name not in needed:
        if layer.group is Group.WORKING and table.is_below(layer, needed):
            return Stand.OUTGROWN
        return Stand.SPARE if layer.name in on else Stand.UNNEEDED
    if layer.name in on:
        return Stand.ON
    if layer.group is Group.BESIDE:
        return Stand.ADVISED
    return Stand.NEXT if layer.name == following else Stand.LATER


def _measured(traffic: Traffic, trigger: Trigger) -> float:
    value: float = getattr(traffic, trigger.measure)
    return value
