"""What becomes of an item that is said again: it tells one time more, or another value came in between and parts it.

Each stretch of what is parted is known from the messages that said it then, quotes the first of them, and tells nothing
of the others.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete

from retentia.learn.again import Again, said_again, with_times
from retentia.learn.another_quote import Edge, Quote, edges_of, quotes_of, said_in
from retentia.model.claim import claim_of
from retentia.model.ids import RecordId, id_bytes, id_text
from retentia.model.message import JSON
from retentia.model.record import Kind
from retentia.model.time import Moment, Precision
from retentia.store import beliefs, claims, passages, personal
from retentia.store.database import batches
from retentia.store.records import View
from retentia.store.schema import derived_from, item
from retentia.write import indexed
from retentia.write.admission import dump
from retentia.write.place import Place
from retentia.write.rows import Row, moment_columns

_Values = dict[str, Any]


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


def edit(place: Place, edits: Sequence[Edit]) -> set[bytes]:
    """Write when items were said again, in order, and part those that need a stretch of their own; return the parted.

    How often each of these was said is counted already.
    """
    parted = {id_bytes(key) for one in edits if isinstance(one, Split) for key in (one.id, one.to)}
    rows = beliefs.rows(place.transaction, place.scope_id, {id_bytes(one.id) for one in edits})
    earlier = set(rows)
    known_from = _by_item(edges_of(place.transaction, parted))
    whole = dict(known_from)
    for one in edits:
        key = id_bytes(one.id)
        match one:
            case Seen(again=again):
                body = _body(rows[key])
                rows[key]["body"] = dump(with_times(body, [*said_again(body), again]))
            case Split():
                to = id_bytes(one.to)
                whole[to] = [*whole.get(key, []), *whole.get(to, [])]
                _part(rows, known_from, one)
    beliefs.rewrite(place.transaction, place.scope_id, {key: rows[key] for key in earlier - parted})
    if parted:
        _quote_own(place, {key: rows[key] for key in parted}, known_from, whole)
        _write_anew(place, [rows[key] for key in sorted(parted)], known_from, earlier)
    return parted


def _part(rows: dict[bytes, _Values], known_from: dict[bytes, list[Edge]], split: Split) -> None:
    """Part one item into an earlier and a later stretch, each with the times and the messages that said it then."""
    old, new = id_bytes(split.id), id_bytes(split.to)
    row, edges = rows[old], known_from.get(old, [])
    times = _times(row, edges)
    later = [one for one in times if one.at.start >= split.valid_from]
    earlier = [one for one in times if one.at.start < split.valid_from]
    theirs = _named(edges, later)
    mine = [edge for edge in edges if edge not in theirs or edge in _named(edges, earlier)]
    rows[old] = _stretch(row, earlier)
    rows[new] = _stretch(
        {
            **row,
            "id": new,
            "content_key": None,
            "valid_from": split.valid_from,
            "valid_to": split.valid_to,
            "retracted_at": None,
            "version": 1,
        },
        later,
    )
    known_from[old] = mine or edges
    known_from[new] = [*(theirs or edges), *known_from.get(new, [])]


def _times(row: _Values, edges: Sequence[Edge]) -> list[Again]:
    """Return all times that an item was said, the first one with the message that no other time names."""
    again = said_again(_body(row))
    named = {one.of for one in again}
    first = {parent for edge in edges if (parent := id_text(edge.parent_id)) not in named}
    own = Again(_moment(row), first.pop() if len(first) == 1 else RecordId(""))
    return sorted([own, *again], key=lambda one: one.span)


def _named(edges: Sequence[Edge], times: Sequence[Again]) -> list[Edge]:
    named = {id_bytes(one.of) for one in times if one.of}
    return [edge for edge in edges if edge.parent_id in named]


def _stretch(row: _Values, times: Sequence[Again]) -> _Values:
    """Return the row of what was said at these times, and no other."""
    began = _moment(row) if row["valid_from"] is None else Moment.at(row["valid_from"])
    first = times[0].at if times else began
    body = dump(with_times(_body(row), times[1:]))
    return {**row, "body": body, "seen_count": max(1, len(times)), **moment_columns(first)}


def _quote_own(
    place: Place,
    stretches: Mapping[bytes, _Values],
    known_from: dict[bytes, list[Edge]],
    whole: Mapping[bytes, list[Edge]],
) -> None:
    """Let each stretch quote what it is known from; one that this does not say stays known from the whole."""
    edges = [edge._replace(child_id=key) for key in stretches for edge in known_from.get(key, [])]
    quotes = quotes_of(place.transaction, View({place.scope_id: place.scope}), edges)
    for key, row in stretches.items():
        if not _quote(row, quotes.get(key, [])):
            known_from[key] = list(dict.fromkeys(whole.get(key, [])))


def _quote(row: _Values, quotes: Sequence[Quote]) -> bool:
    """Put a row in the words of the first quote that says its claim; tell whether there is one."""
    body = _body(row)
    told = claim_of(body)
    found = said_in(told, quotes) if told else None
    if found is not None and found[0] != row["text"]:
        row["text"], row["content_key"] = found[0], None
        row["body"] = dump(with_times(found[1].body(), said_again(body)))
    return found is not None


def _write_anew(
    place: Place, rows: Sequence[_Values], known_from: Mapping[bytes, list[Edge]], earlier: set[bytes]
) -> None:
    """Write stretches with what is derived from them, in the place of the items that were parted."""
    transaction, scope_id = place.transaction, place.scope_id
    ids = [row["id"] for row in rows]
    for remove in (passages.delete_passages, passages.delete_vectors, personal.delete_spans, claims.delete_claims):
        remove(transaction, scope_id, ids)
    beliefs.drop(transaction, scope_id, ids)
    here = (derived_from.c.tenant == transaction.tenant, derived_from.c.child_kind == item.name)
    for some in batches(ids):
        transaction.run(delete(derived_from).where(*here, derived_from.c.child_id.in_(some)))
    for row in rows:
        for edge in known_from.get(row["id"], []):
            linked = {**edge._asdict(), "child_id": row["id"], "child_kind": item.name, "tenant": transaction.tenant}
            transaction.insert_new(derived_from, linked)
    place.insert(
        item, [_row(row, is_new=row["id"] not in earlier, is_quote=bool(known_from.get(row["id"]))) for row in rows]
    )


def _row(row: _Values, *, is_new: bool, is_quote: bool) -> Row:
    known: indexed.Known = {
        "record_id": row["id"],
        "text": row["text"],
        "moment": _moment(row),
        "recorded_at": row["recorded_at"],
    }
    given = {"tenant", "scope_id", "recorded_at"} if is_new else {"tenant", "scope_id"}
    values = {name: value for name, value in row.items() if name not in given}
    is_past = row["valid_to"] is not None
    return Row(values, indexed.item(Kind(row["kind"]), is_past=is_past, is_quote=is_quote, **known))


def _by_item(edges: Iterable[Edge]) -> dict[bytes, list[Edge]]:
    found: dict[bytes, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.child_id, []).append(edge)
    return found


def _moment(row: _Values) -> Moment:
    return Moment(row["occurred_start"], row["occurred_end"], Precision(row["precision"]), row["zone"])


def _body(row: _Values) -> Mapping[str, JSON]:
    found: Mapping[str, JSON] = json.loads(row["body"] or "{}")
    return found
