"""What was learned from several records and loses one: it quotes another one from then on, and tells nothing of it.

The words of an item are a quote of the first record it was learned from. When that goes and the item stays, its words,
its value and its times are taken from what is left; where these do not say it, it goes, too.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from retentia.learn.again import said_again, with_times
from retentia.learn.another_quote import edges_of, quotes_of, quoting, said_in
from retentia.lifecycle.reindex import renew
from retentia.model.claim import claim_of
from retentia.model.ids import id_bytes, id_text
from retentia.model.scope import Scope
from retentia.store import beliefs, records
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.write.admission import dump


def requote(
    transaction: Transaction, named: Mapping[int, Scope], going: Collection[bytes], staying: Collection[bytes]
) -> set[bytes]:
    """Let what stays quote what does not go; return the items that nothing left says."""
    gone, lost = set(going), set[bytes]()
    known_from = [edge for edge in edges_of(transaction, staying) if edge.parent_id not in gone]
    quotes = quotes_of(transaction, View(named), known_from)
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
            is_first_there = any(one.text == row["text"] and id_text(one.message_id) not in known for one in left)
            found = None if is_first_there else said_in(told, left)
            if not is_first_there and found is None:
                lost.add(record_id)
                continue
            anew[record_id] = row if found is None else quoting(row, *found)
        beliefs.rewrite(transaction, scope_id, anew)
        view = View({scope_id: scope})
        found_again = records.fetch(transaction, view, records.kinds_of(transaction, view, list(anew)))
        if found_again:
            renew(transaction, scope_id, list(found_again.values()))
    return lost


def _without(row: Mapping[str, Any], body: Mapping[str, Any], gone: Collection[bytes]) -> dict[str, Any]:
    """Return a row without the times that what is gone has told."""
    times = said_again(body)
    left = [one for one in times if not one.of or id_bytes(one.of) not in gone]
    return {**row, "version": row["version"] + 1, "body": dump(with_times(body, left))}
