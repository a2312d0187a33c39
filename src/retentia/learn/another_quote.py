"""Which messages an item was learned from, what each says of it, and the item in the words of another of them."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from retentia.index.names import name_key
from retentia.learn.again import said_again, with_times
from retentia.model.claim import Claim
from retentia.model.record import MessageRecord
from retentia.store import records
from retentia.store.among import IDS, among, parcels
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.store.schema import derived_from, item
from retentia.write.admission import dump
from retentia.write.items import content_key
from retentia.write.rows import moment_columns

_COLUMNS = ("child_id", "parent_id", "parent_kind", "start", "end", "role")
_EDGES = select(*(derived_from.c[name] for name in _COLUMNS)).where(
    derived_from.c.tenant == bindparam("tenant"),
    derived_from.c.child_kind == bindparam("kind"),
    among(derived_from.c.child_id),
)
_MARKS = ".,;:!?\"'»«„“”()"


class Edge(NamedTuple):
    """Which characters [start, end) of a parent an item is known from."""

    child_id: bytes
    parent_id: bytes
    parent_kind: str
    start: int
    end: int
    role: str


class Quote(NamedTuple):
    """What a message says of an item."""

    message_id: bytes
    text: str


def edges_of(transaction: Transaction, item_ids: Collection[bytes]) -> list[Edge]:
    """Return what items are known from."""
    key = {"tenant": transaction.tenant, "kind": item.name}
    return [
        Edge(bytes(child), bytes(parent), *rest)
        for some in parcels(transaction, item_ids)
        for child, parent, *rest in transaction.tuples(_EDGES, {**key, IDS: some})
    ]


def quotes_of(transaction: Transaction, view: View, edges: Iterable[Edge]) -> dict[bytes, list[Quote]]:
    """Return by item what its messages say of it, in the order they were said; each a stretch of one."""
    edges = list(edges)
    kinds = records.kinds_of(transaction, view, {edge.parent_id for edge in edges})
    parents = records.fetch(transaction, view, kinds)
    found: dict[bytes, list[tuple[int, Quote]]] = {}
    for edge in edges:
        said = parents.get(edge.parent_id)
        if isinstance(said, MessageRecord) and edge.end > edge.start:
            at = said.occurred.start if said.occurred else said.recorded_at
            quote = Quote(edge.parent_id, said.text[edge.start : edge.end])
            found.setdefault(edge.child_id, []).append((at, quote))
    return {child: [quote for _, quote in sorted(some)] for child, some in found.items()}


def said_in(told: Claim, quotes: Iterable[Quote]) -> tuple[str, Claim] | None:
    """Return the first quote that says the value of a claim, and the claim in its words."""
    for quote in quotes:
        value = _value_in(quote.text, told.value)
        if value is not None:
            return quote.text, replace(told, value=value)
    return None


def quoting(row: Mapping[str, Any], quote: str, told: Claim) -> dict[str, Any]:
    """Return a row in the words of another quote, since that was said; what only the first one told is not kept."""
    times = sorted(said_again(json.loads(row["body"])), key=lambda one: one.span)
    key = content_key(quote)
    anew = {
        **row,
        "text": quote,
        "content_key": key if row["content_key"] == key else None,
        "body": dump(with_times(told.body(), times[1:])),
    }
    if not times:
        return anew
    first = times[0].at
    if row["valid_from"] == row["occurred_start"]:
        anew["valid_from"] = first.start if row["valid_to"] is None else min(first.start, row["valid_to"])
    return {**anew, **moment_columns(first)}


def _value_in(quote: str, value: str) -> str | None:
    """Return how a quote writes a value, in any form of its words."""
    if value in quote:
        return value
    words, key, width = quote.split(), name_key(value), len(value.split())
    for count in (width, width + 1, width - 1):
        for first in range(len(words) - count + 1 if count > 0 else 0):
            stretch = " ".join(words[first : first + count]).strip(_MARKS)
            if stretch and name_key(stretch) == key:
                return stretch
    return None
