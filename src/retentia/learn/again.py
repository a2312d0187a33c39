"""What was said again: when else, in the body of its item; and the stretch that splits off where another value came
in between.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select

from retentia.errors import RetentiaError
from retentia.model.ids import RecordId, id_bytes
from retentia.model.message import JSON
from retentia.model.record import Kind
from retentia.model.time import Moment, Precision
from retentia.store import beliefs
from retentia.store.schema import derived_from, item
from retentia.write import indexed
from retentia.write.admission import dump
from retentia.write.place import Place
from retentia.write.rows import Row, moment_columns

ALSO_SAID = "also_said"
_EDGE = [column.name for column in derived_from.c]
_MOST = 64
"""So many times are kept of what is said over and over; the middle ones go first."""


@dataclass(frozen=True, slots=True)
class Again:
    """A time that something was said of once more, and the record that said so, "" where a person did by a verb."""

    at: Moment
    of: RecordId

    @property
    def span(self) -> tuple[int, int]:
        """[start, end) in UTC microseconds."""
        return self.at.start, self.at.end


@dataclass(frozen=True, slots=True)
class Seen:
    """An item was said again."""

    id: RecordId
    again: Again


@dataclass(frozen=True, slots=True)
class Split:
    """The item `id` was said again behind its end: from then on it is the item `to`."""

    id: RecordId
    to: RecordId
    valid_from: int
    valid_to: int | None


Edit = Seen | Split


def said_again(body: Mapping[str, JSON]) -> list[Again]:
    """Read when else the item with this body was said; what is not written like it is left out."""
    told = body.get(ALSO_SAID)
    found = [_again(one) for one in told] if isinstance(told, list) else []
    return [one for one in found if one is not None]


def with_times(body: Mapping[str, JSON], times: Sequence[Again]) -> dict[str, JSON]:
    """Return a body that tells these times beside its own."""
    rest = {name: value for name, value in body.items() if name != ALSO_SAID}
    kept = sorted(times, key=lambda one: one.span)
    half = _MOST // 2
    kept = kept if len(kept) <= _MOST else [*kept[:half], *kept[-half:]]
    return {**rest, ALSO_SAID: [_told(one) for one in kept]} if kept else rest


def edit(place: Place, edits: Sequence[Edit]) -> None:
    """Write when items were said again, in order, and split off what needs a stretch of its own."""
    transaction, scope_id = place.transaction, place.scope_id
    rows = beliefs.rows(transaction, scope_id, {id_bytes(one.id) for one in edits})
    there = set(rows)
    for one in edits:
        row = rows[id_bytes(one.id)]
        match one:
            case Seen(again=again):
                body = _body(row)
                row["body"] = dump(with_times(body, [*said_again(body), again]))
            case Split():
                rows[id_bytes(one.to)] = _split_off(row, one)
    beliefs.rewrite(transaction, scope_id, {record_id: rows[record_id] for record_id in there})
    alone = beliefs.without_sources(transaction, there)
    is_quote = {id_bytes(one.to): id_bytes(one.id) not in alone for one in edits if isinstance(one, Split)}
    fresh = [(row, is_quote[record_id]) for record_id, row in rows.items() if record_id not in there]
    place.insert(item, [_row(row, is_quote=is_quoted) for row, is_quoted in fresh])
    for one in edits:
        if isinstance(one, Split):
            _share_sources(place, id_bytes(one.id), id_bytes(one.to), said_again(_body(rows[id_bytes(one.to)])))


def _split_off(row: dict[str, Any], split: Split) -> dict[str, Any]:
    """Return the row of the later stretch; the row of the earlier one loses what was said in it."""
    body = _body(row)
    times = said_again(body)
    later = [one for one in times if one.at.start >= split.valid_from]
    row["body"] = dump(with_times(body, [one for one in times if one.at.start < split.valid_from]))
    said = min(later, key=lambda one: one.span).at if later else Moment.at(split.valid_from)
    return {
        **row,
        "id": id_bytes(split.to),
        "body": dump(with_times(body, later)),
        "content_key": None,
        "valid_from": split.valid_from,
        "valid_to": split.valid_to,
        "retracted_at": None,
        "version": 1,
        **moment_columns(said),
    }


def _row(row: Mapping[str, Any], *, is_quote: bool) -> Row:
    known: indexed.Known = {
        "record_id": row["id"],
        "text": row["text"],
        "moment": Moment(row["occurred_start"], row["occurred_end"], Precision(row["precision"]), row["zone"]),
        "recorded_at": row["recorded_at"],
    }
    values = {name: value for name, value in row.items() if name not in {"tenant", "scope_id", "recorded_at"}}
    is_past = row["valid_to"] is not None
    return Row(values, indexed.item(Kind(row["kind"]), is_past=is_past, is_quote=is_quote, **known))


def _share_sources(place: Place, old: bytes, new: bytes, times: Sequence[Again]) -> None:
    """Give the later stretch the sources that said it, or all where these are not known; the earlier one loses them."""
    transaction = place.transaction
    here = (derived_from.c.tenant == transaction.tenant, derived_from.c.child_id == old)
    edges = [dict(zip(_EDGE, row, strict=True)) for row in transaction.rows(select(derived_from).where(*here))]
    named = {id_bytes(one.of) for one in times if one.of}
    theirs = [edge for edge in edges if bytes(edge["parent_id"]) in named]
    for edge in theirs or edges:
        transaction.insert_new(derived_from, {**edge, "child_id": new})
    if 0 < len(theirs) < len(edges):
        transaction.run(delete(derived_from).where(*here, derived_from.c.parent_id.in_(named)))


def _body(row: Mapping[str, Any]) -> Mapping[str, JSON]:
    found: Mapping[str, JSON] = json.loads(row["body"] or "{}")
    return found


def _told(one: Again) -> JSON:
    at = one.at
    return {"start": at.start, "end": at.end, "precision": at.precision.value, "zone": at.zone, "of": one.of}


def _again(told: Any) -> Again | None:
    try:
        at = Moment(int(told["start"]), int(told["end"]), Precision(told["precision"]), str(told["zone"]))
        return Again(at, RecordId(str(told["of"])))
    except (KeyError, TypeError, ValueError, RetentiaError):
        return None
