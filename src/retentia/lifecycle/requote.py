"""What was learned from several records and loses one: it quotes another one from then on, and tells nothing of it.

The words of an item are a quote of the first record it was learned from. When that goes and the item stays, its words,
its value and its times are taken from what is left; where these do not say it, it goes, too.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, select

from retentia.index.names import name_key
from retentia.learn.again import said_again, with_times
from retentia.lifecycle.reindex import renew
from retentia.model.claim import Claim, claim_of
from retentia.model.ids import id_bytes, id_text
from retentia.model.record import MessageRecord
from retentia.model.scope import Scope
from retentia.store import beliefs, records
from retentia.store.among import IDS, among, parcels
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.store.schema import derived_from, item
from retentia.write.admission import dump
from retentia.write.items import content_key
from retentia.write.rows import moment_columns

_EDGES = select(derived_from.c.child_id, derived_from.c.parent_id, derived_from.c.start, derived_from.c.end).where(
    derived_from.c.tenant == bindparam("tenant"),
    derived_from.c.child_kind == bindparam("kind"),
    among(derived_from.c.child_id),
)
_MARKS = ".,;:!?\"'»«„“”()"


def requote(
    transaction: Transaction, named: Mapping[int, Scope], going: Collection[bytes], staying: Collection[bytes]
) -> set[bytes]:
    """Let what stays quote what does not go; return the items that nothing left says."""
    gone, lost = set(going), set[bytes]()
    quotes = _quotes(transaction, named, gone, staying)
    for scope_id, scope in sorted(named.items()):
        rows = beliefs.rows(transaction, scope_id, staying)
        anew: dict[bytes, Mapping[str, Any]] = {}
        for record_id, row in rows.items():
            body = json.loads(row["body"] or "{}")
            told = claim_of(body)
            if told is None:
                continue
            left = quotes.get(record_id, [])
            row = _without(row, body, gone)
            known = {one.of for one in said_again(json.loads(row["body"]))}
            is_first_there = any(text == row["text"] and id_text(parent) not in known for parent, text in left)
            found = None if is_first_there else _said(told, [text for _, text in left])
            if not is_first_there and found is None:
                lost.add(record_id)
                continue
            anew[record_id] = row if found is None else _quoting(row, *found)
        beliefs.rewrite(transaction, scope_id, anew)
        view = View({scope_id: scope})
        found_again = records.fetch(transaction, view, records.kinds_of(transaction, view, list(anew)))
        if found_again:
            renew(transaction, scope_id, list(found_again.values()))
    return lost


def _quotes(
    transaction: Transaction, named: Mapping[int, Scope], gone: Collection[bytes], staying: Collection[bytes]
) -> dict[bytes, list[tuple[bytes, str]]]:
    """Return the messages that are left of each item, and what they say of it, in the order they were said."""
    key = {"tenant": transaction.tenant, "kind": item.name}
    edges = [
        (bytes(child), bytes(parent), start, end)
        for some in parcels(transaction, staying)
        for child, parent, start, end in transaction.tuples(_EDGES, {**key, IDS: some})
        if bytes(parent) not in gone
    ]
    view = View(named)
    parents = records.fetch(transaction, view, records.kinds_of(transaction, view, {parent for _, parent, *_ in edges}))
    found: dict[bytes, list[tuple[int, bytes, str]]] = {}
    for child, parent, start, end in edges:
        said = parents.get(parent)
        if isinstance(said, MessageRecord) and end > start:
            at = said.occurred.start if said.occurred else said.recorded_at
            found.setdefault(child, []).append((at, parent, said.text[start:end]))
    return {child: [(parent, text) for _, parent, text in sorted(some)] for child, some in found.items()}


def _said(told: Claim, quotes: Iterable[str]) -> tuple[str, Claim] | None:
    """Return the first quote that says the value of a claim, and the claim in its words."""
    for quote in quotes:
        value = _value_in(quote, told.value)
        if value is not None:
            return quote, replace(told, value=value)
    return None


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


def _without(row: Mapping[str, Any], body: Mapping[str, Any], gone: Collection[bytes]) -> dict[str, Any]:
    """Return a row without the times that what is gone has told."""
    times = said_again(body)
    left = [one for one in times if not one.of or id_bytes(one.of) not in gone]
    return {**row, "version": row["version"] + 1, "body": dump(with_times(body, left))}


def _quoting(row: Mapping[str, Any], quote: str, told: Claim) -> dict[str, Any]:
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
