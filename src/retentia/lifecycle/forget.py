"""Forgetting: say what shall go, see exactly that, and then let it go.

A topic is matched by its words in any of their forms, never by likeness: what only resembles it is shown, and left.
Nothing is removed that was not in the preview.
"""

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retentia.errors import InvalidInput
from retentia.index.passages import passages_of
from retentia.index.tokenizer import analyse, analyse_query
from retentia.lifecycle.closure import closure, in_bin
from retentia.lifecycle.hold import kept_of
from retentia.model.filters import Filter
from retentia.model.ids import RecordId, id_bytes, id_text
from retentia.model.message import JSON
from retentia.model.record import ITEM_KINDS, ItemRecord, Kind, Record
from retentia.model.scope import Scope
from retentia.read.listing import list_records
from retentia.store import binned, experiences, records, scopes
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.write.indexed import indexed

SAMPLES = 5
_PAGE = 500
_KEPT_VERBATIM = (Kind.MESSAGE, Kind.TOOL_CALL, Kind.DOCUMENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What shall be forgotten; every condition that is given must hold. Times are UTC microseconds.

    `about` names a topic by its words. `since` and `until` bound when it happened, `recorded_since` when it was kept.
    `everything` is the whole scope, and must be said.
    """

    ids: tuple[RecordId, ...] = ()
    about: str = ""
    since: int | None = None
    until: int | None = None
    recorded_since: int | None = None
    session: str | None = None
    kinds: frozenset[Kind] = frozenset()
    where: Filter | None = None
    everything: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no condition is given."""
        times = (self.since, self.until, self.recorded_since, self.session, self.where)
        return not (self.ids or self.about or self.kinds or self.everything) and all(one is None for one in times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One record of a preview, as a person would recognise it."""

    id: RecordId
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """A preview: exactly these records go, and nothing else.

    `counts` is by kind; what is derived from them alone is counted, too, and listed in `along`. `remains` are records
    that are derived from some of them and from others: they stay. `related` resembles the topic without naming it.
    `kept` counts, by the reason of each legal hold, the records whose content stays in custody until it is released.
    `binned` lie in the bin already; they are purged at once when this is forgotten for good, and counted apart.
    """

    scope: Scope
    ids: tuple[RecordId, ...]
    along: tuple[RecordId, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    remains: tuple[Sample, ...] = ()
    related: tuple[Sample, ...] = ()
    kept: Mapping[str, int] = field(default_factory=dict)
    binned: tuple[RecordId, ...] = ()


def preview(
    transaction: Transaction,
    scope: Scope,
    wanted: Selection,
    *,
    about: Collection[bytes] | None,
    related: Sequence[Record] = (),
) -> Forgetting:
    """Find what a selection names in exactly one scope; what goes along may be of the user's agents.

    `about` are the records that say all words of its topic, None without a topic. Raises InvalidInput for a selection
    that says nothing.
    """
    if wanted.is_empty:
        raise InvalidInput("say what shall be forgotten: ids, a topic, a time, a session, kinds, or everything")
    if wanted.since is not None and wanted.until is not None and wanted.since >= wanted.until:
        raise InvalidInput("since= must be before until=")
    scope_id = scopes.find(transaction, scope)
    named = {} if scope_id is None else scopes.with_agents(transaction, [scope_id])
    view = View({number: name for number, name in named.items() if number == scope_id})
    if about is not None:
        about = {*about, *_experiences_saying(transaction, view, wanted.about)}
    found = [record for record in _candidates(transaction, view, wanted, about) if _matches(record, wanted)]
    start: dict[Kind, set[bytes]] = {}
    for record in found:
        start.setdefault(record.kind, set()).add(id_bytes(record.id))
    going, staying = closure(transaction, View(named), start)
    chosen = {id_bytes(record.id) for record in found}
    along = sorted({record_id for some in going.values() for record_id in some} - chosen)
    shown = records.fetch(transaction, view, records.kinds_of(transaction, view, staying))
    gone = chosen | set(along)
    buried = in_bin(transaction, named, gone, list(_matching_in_bin(transaction, view, wanted)))
    return Forgetting(
        scope=scope,
        ids=tuple(record.id for record in found),
        along=tuple(map(id_text, along)),
        counts={kind.value: len(some) for kind, some in sorted(going.items())},
        samples=tuple(map(_sample, found[:SAMPLES])),
        remains=tuple(map(_sample, list(shown.values())[:SAMPLES])),
        related=tuple(_sample(record) for record in related if id_bytes(record.id) not in gone)[:SAMPLES],
        kept=kept_of(transaction, named, sorted(gone), buried=[row.scope_id for row in buried]),
        binned=tuple(id_text(bytes(row.id)) for row in buried if row.scope_id == scope_id),
    )


def _experiences_saying(transaction: Transaction, view: View, about: str) -> Iterator[bytes]:
    """Find the experiences that say a topic anywhere: the index knows their tasks, not how they were solved."""
    topic = frozenset(_terms(analyse_query(about).stems))
    for scope_id in view.scope_ids if topic else ():
        for row in experiences.rows(transaction, scope_id):
            if topic <= _stems(" ".join(_texts(json.loads(row.body)))):
                yield row.record_id


def _texts(body: Mapping[str, JSON]) -> Iterator[str]:
    return (value for value in body.values() if isinstance(value, str))


def _stems(text: str) -> frozenset[int]:
    return frozenset(_terms(np.frombuffer(analyse(text).stems, dtype="<u4")))


def _matching_in_bin(transaction: Transaction, view: View, wanted: Selection) -> Iterator[bytes]:
    """Find what the selection names in the bin; as that is in no index, each record is looked at."""
    named = [id_bytes(record_id) for record_id in wanted.ids] or None
    topic = frozenset(_terms(analyse_query(wanted.about).stems)) if wanted.about else None
    for record_id, record in binned.within(transaction, view, named):
        is_about = topic is None or _says(record, topic)
        if is_about and _matches(record, wanted):
            yield record_id


def _says(record: Record, topic: Collection[int]) -> bool:
    """Tell whether one passage of a record says all words of a topic, each in any of its forms; or an experience."""
    passages = passages_of(indexed(record)) if topic else []
    if topic and isinstance(record, ItemRecord) and record.kind is Kind.EXPERIENCE:
        return frozenset(topic) <= _stems(" ".join((record.text, *_texts(record.body))))
    return any(frozenset(topic) <= frozenset(_terms(np.frombuffer(one.stems, dtype="<u4"))) for one in passages)


def _terms(stems: NDArray[np.uint32]) -> list[int]:
    terms: list[int] = stems.tolist()
    return terms


def _candidates(
    transaction: Transaction, view: View, wanted: Selection, about: Collection[bytes] | None
) -> list[Record]:
    """Return what the other conditions are asked of: the records that are named, by id or topic, or all of them."""
    if not wanted.ids and about is None:
        kinds = sorted(wanted.kinds or (*_KEPT_VERBATIM, *ITEM_KINDS))
        return [record for kind in kinds for record in _of_kind(transaction, view, kind)]
    ids = {id_bytes(record_id) for record_id in wanted.ids} if wanted.ids else set(about or ())
    if about is not None:
        ids.intersection_update(about)
    named = records.fetch(transaction, view, records.kinds_of(transaction, view, ids))
    return sorted(named.values(), key=lambda record: (record.kind, record.id))


def _of_kind(transaction: Transaction, view: View, kind: Kind) -> list[Record]:
    found: list[Record] = []
    cursor = ""
    while True:
        page = list_records(transaction, view, kind, None, after=cursor, limit=_PAGE)
        found.extend(page.records)
        if not page.cursor:
            return found
        cursor = page.cursor


def _matches(record: Record, wanted: Selection) -> bool:
    start = record.recorded_at if record.occurred is None else record.occurred.start
    end = record.recorded_at + 1 if record.occurred is None else record.occurred.end
    return (
        (wanted.since is None or end > wanted.since)
        and (wanted.until is None or start < wanted.until)
        and (wanted.recorded_since is None or record.recorded_at >= wanted.recorded_since)
        and (wanted.session is None or _session_of(record) == wanted.session)
        and (not wanted.kinds or record.kind in wanted.kinds)
        and (wanted.where is None or wanted.where.matches(record.metadata))
    )


def _session_of(record: Record) -> object:
    """Return the name of the session that a record is of; an experience names one."""
    if isinstance(record, ItemRecord) and record.kind is Kind.EXPERIENCE:
        return record.body.get("session")
    return getattr(record, "session", None)


def _sample(record: Record) -> Sample:
    return Sample(id=record.id, kind=record.kind, text=" ".join(record.text.split())[:160])


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a sentence asks to forget: a topic, or what was kept within a time, or everything."""

    about: str = ""
    within: timedelta | None = None
    everything: bool = False


@cache
def _words() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("forget.toml").read_text("utf-8"))


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(pattern, re.IGNORECASE), meaning)
        for meaning in ("everything", "within", "about")
        for pattern in _words()[meaning]
    )


def read_request(sentence: str) -> Request:
    """Read "forget what I said about Y", "forget the last hour" in English, German or Ukrainian.

    Raises InvalidInput for a sentence that is none of these: what is unclear is asked again, never guessed.
    """
    said = " ".join(sentence.split()).rstrip(" .!?…")
    for pattern, meaning in _phrases():
        if (match := pattern.fullmatch(said)) is None:
            continue
        if meaning == "everything":
            return Request(everything=True)
        if meaning == "within":
            return Request(within=_span(match.group("count") or "1", match.group("unit")))
        return Request(about=match.group("topic").strip(" \"'«»„“”"))
    raise InvalidInput(
        f"{sentence!r} does not say what to forget; try 'forget what I said about …' or 'forget the last hour'"
    )


def _span(count: str, unit: str) -> timedelta:
    number = int(count) if count.isdigit() else _words()["numbers"][count.casefold()]
    name = next(name for name, forms in _words()["units"].items() if unit.casefold() in forms)
    return timedelta(**{name: number})
