"""Advice: what an advisor says of the traffic that a memory holds, by its own settings."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from retentia.diagnose.advisor import Advice, advise, cures
from retentia.diagnose.advisor_table import shipped_table
from retentia.diagnose.symptom import SymptomKind
from retentia.diagnose.traffic import Spread, Traffic
from retentia.diagnosis import Diagnosis, Reads
from retentia.learn.inline import LearningSettings
from retentia.learn.relations import Relations
from retentia.model.record import PROFILE_KINDS, Kind
from retentia.model.scope import Scope
from retentia.store import records, traffic
from retentia.store.database import Database, Transaction
from retentia.store.traffic import Within
from retentia.working.settings import WorkingSettings

_EPISODES = (Kind.EVENT, Kind.DECISION, Kind.COMMITMENT)
_EXPERIENCE = "experience"
_ANY = "thing"


def advise_on(
    database: Database,
    working: WorkingSettings,
    learning: LearningSettings,
    *,
    scope: Scope,
    whole_tenant: bool = False,
    on: Collection[str] | None = None,
    thresholds: Mapping[str, object] | None = None,
) -> Advice:
    """Measure the traffic of a scope, or of its whole tenant, and tell which layer it needs next.

    `on` names the layers that are on, None those that the settings have on. Reads numbers only, never content.
    """
    table = shipped_table().with_thresholds(thresholds or {})
    with database.read(scope.tenant) as transaction:
        within = None if whole_tenant else records.view_of(transaction, scope).scope_ids
        measured = measure(transaction, within, learning)
    return advise(measured, on=layers_on(working, learning) if on is None else on, table=table)


def layers_on(working: WorkingSettings, learning: LearningSettings) -> tuple[str, ...]:
    """Return the layers that a context is made of by these settings."""
    kinds = set(learning.kinds) if learning.is_on else set()
    shows, opening = working.strategy, working.opening
    has_profile = shows.facts and opening.profile_items > 0
    on = {
        "buffer": True,
        "window": not shows.buffer,
        "summary": shows.summary and working.summary.due_at > 0,
        "sessions": shows.facts and opening.sessions_loaded > 0,
        "facts": has_profile and not kinds.isdisjoint(PROFILE_KINDS),
        "episodes": shows.semantic and not kinds.isdisjoint(_EPISODES),
        "relations": shows.semantic and Kind.FACT in kinds and bool(learning.relations.by_name),
        "procedures": has_profile and Kind.PROCEDURE in kinds,
    }
    return tuple(name for name, is_on in on.items() if is_on)


def measure(transaction: Transaction, within: Within, learning: LearningSettings) -> Traffic:
    """Count what decides, in some scopes or (None) all of the tenant."""
    people = Spread.of(traffic.sessions_of_people(transaction, within))
    messages = Spread.of(traffic.messages_of_sessions(transaction, within))
    once = sum(many for sessions, many in people.counts if sessions == 1)
    sessions = sum(number * many for number, many in people.counts)
    called = traffic.calls(transaction, within)
    known = traffic.believed_items(transaction, within)
    relations = _relations_by_attribute(learning)
    used = [one for one in traffic.attributes(transaction, within) if one in relations]
    return Traffic(
        sessions=sessions,
        people=people.total,
        returning_people=people.total - once,
        sessions_of_one=people.largest,
        one_off_share=once / sessions if sessions else 0.0,
        messages=messages.long,
        median_messages=messages.median,
        longest_messages=messages.largest,
        turns=Spread.of(traffic.turns_of_sessions(transaction, within)).long,
        tokens=Spread.of(traffic.tokens_of_sessions(transaction, within)).long,
        calls=called.made,
        tools=called.tools,
        repeated_calls=called.repeated,
        documents=traffic.documents(transaction, within),
        facts=sum(known.get(kind, 0) for kind in PROFILE_KINDS),
        episodes=sum(known.get(kind, 0) for kind in _EPISODES),
        instructions=known.get(Kind.PROCEDURE, 0),
        experiences=known.get(_EXPERIENCE, 0),
        looks_back=traffic.looks_back(transaction, within),
        entity_types=len(set(_types(learning.relations, (relations[one] for one in used)))),
        relation_steps=traffic.steps(transaction, within, used) if used else 0,
    )


def with_symptoms(given: Advice, memory: Reads, scopes: Iterable[Scope]) -> Advice:
    """Look through every session of some scopes for symptoms of amnesia, and name what cures them."""
    found = {
        (one.kind, one.ids) for scope in scopes for one in Diagnosis(memory).amnesia(scope=scope).symptoms
    }  # what the user's agents share is seen from each of their scopes
    seen: Mapping[SymptomKind, int] = Counter(kind for kind, _ in found)
    return replace(given, symptoms=cures(seen, shipped_table()))


def _relations_by_attribute(learning: LearningSettings) -> dict[str, str]:
    """Name the relation of each attribute that is one, by whatever name the registry keeps it."""
    return {learning.registry.of(name).name: name for name in learning.relations.by_name}


def _types(relations: Relations, names: Iterable[str]) -> Iterable[str]:
    """Return what kinds of things these relations connect; one that may be anything is a kind of its own."""
    for name in names:
        relation = relations.of(name)
        yield relation.subject if relation.subject != _ANY else f"{name} of"
        yield relation.object if relation.object != _ANY else name
