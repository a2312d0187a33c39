"""Pin: let a message that is stored already stand in every context of its session, or end that."""

from retentia.errors import NotFound
from retentia.model.ids import RecordId, id_bytes
from retentia.model.scope import Scope
from retentia.store import records, scopes
from retentia.store.database import Database
from retentia.store.records import View


def pin(database: Database, scope: Scope, message_id: RecordId, *, pinned: bool) -> None:
    """Pin a message of a scope, or unpin it; raise NotFound where the scope does not have it."""
    raw = id_bytes(message_id)
    with database.write(scope.tenant) as transaction:
        seen = scopes.view(transaction, scope)
        scopes.lock(transaction, [entry.scope_id for entry in seen])
        for entry in seen:
            if records.pin(transaction, View({entry.scope_id: scope}), raw, pinned=pinned):
                scopes.record_change(transaction, entry.scope_id, [raw])
                return
    raise NotFound(f"there is no message {message_id!r} in {scope}")
