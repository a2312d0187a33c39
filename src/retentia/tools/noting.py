"""Noting the uses of tools: for new records with the write, for those from before this was known when first needed."""

import json
from collections.abc import Sequence
from functools import lru_cache

from retentia.model.ids import id_bytes
from retentia.model.record import Kind, Record
from retentia.model.scope import Scope
from retentia.store import records, scopes, tenant_settings, tool_uses
from retentia.store.database import Database, Transaction
from retentia.store.records import TABLES, View
from retentia.store.schema import message, tool_call
from retentia.store.tenant_settings import TenantSettings
from retentia.tools.freshness import ToolRules, shipped_rules
from retentia.tools.uses import uses_of_records

_RECORDS_AT_ONCE = 500


def rules_of(settings: TenantSettings) -> ToolRules:
    """Return the rules for tools that hold for a tenant: its own, then the shipped ones."""
    return _rules(settings.tool_rules)


def renote(transaction: Transaction, scope_id: int, found: Sequence[Record], rules: ToolRules) -> None:
    """Note the uses of tools that records tell of anew."""
    tool_uses.delete_uses(transaction, scope_id, [id_bytes(record.id) for record in found])
    tool_uses.insert_uses(transaction, scope_id, uses_of_records(found, tenant=transaction.tenant, rules=rules))


def note_earlier(database: Database, tenant: str) -> None:
    """Note the uses of tools of all records of a tenant that have none yet, in short transactions; once for ever."""
    with database.read(tenant) as transaction:
        named = scopes.all_scopes(transaction)
        rules = rules_of(tenant_settings.load(transaction))
    if not named:  # nothing was ever written for this tenant, and asking leaves nothing behind
        return
    for scope_id, scope in named:
        for table in (tool_call, message):
            after: bytes | None = b""
            while after is not None:
                after = _note_some(database, scope, scope_id, table.name, after, rules)
    with database.write(tenant) as transaction:
        tenant_settings.note_tools(transaction)


def _note_some(
    database: Database, scope: Scope, scope_id: int, kind: str, after: bytes, rules: ToolRules
) -> bytes | None:
    """Note the next records of a table; return the last one, None when there is none."""
    wanted = Kind(kind)
    with database.write(scope.tenant) as transaction:
        scopes.lock(transaction, [scope_id])  # two processes may do this at the same time
        ids = tool_uses.untold(transaction, scope_id, TABLES[wanted], after=after, limit=_RECORDS_AT_ONCE)
        if not ids:
            return None
        found = records.fetch(transaction, View({scope_id: scope}), {wanted: ids})
        renote(transaction, scope_id, list(found.values()), rules)
    return ids[-1]


@lru_cache(maxsize=256)
def _rules(text: str) -> ToolRules:
    return ToolRules.parse(json.loads(text)).followed_by(shipped_rules()) if text else shipped_rules()
