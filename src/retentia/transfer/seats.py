"""The sessions of an import: which is which in this scope, and the places of new records in them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select, update

from retentia.model.ids import new_id_bytes
from retentia.model.scope import Scope
from retentia.store import binned, schema, sessions
from retentia.transfer.known import InScope, own_id, taken_elsewhere
from retentia.write.place import Place


class Seats:
    """Sessions by the name they have in the file, and numbers in them, within one transaction."""

    def __init__(self, place: Place, scope: Scope) -> None:
        self._place = place
        self._scope = scope
        self._found: dict[str, bytes] = {}

    def session(self, name: str, given_id: bytes | None, values: Mapping[str, Any] | None = None) -> tuple[bytes, bool]:
        """Return the id of the session with this name and whether it is new; one that is there goes on as it is."""
        here = self._place.transaction, self._place.scope_id, name
        known = self._found.get(name) or sessions.find(*here) or sessions.revive(*here)
        self._found[name] = known or self._begin(name, given_id or new_id_bytes(), values or {})
        return self._found[name], known is None

    def take(self, fresh: Iterable[tuple[InScope, bytes]]) -> dict[bytes, int]:
        """Return the places of new records by id: those of the file where they are free, else all at the end."""
        by_session: dict[bytes, list[tuple[InScope, bytes]]] = {}
        for one, record_id in fresh:
            if one.session_id is not None:
                by_session.setdefault(one.session_id, []).append((one, record_id))
        found: dict[bytes, int] = {}
        for session_id, new in by_session.items():
            places = self._given(session_id, [one for one, _ in new])
            if places is None:
                first = self._place.take(session_id, len(new))
                places = range(first, first + len(new))
            found.update(zip((record_id for _, record_id in new), places, strict=True))
        return found

    def _given(self, session_id: bytes, new: Sequence[InScope]) -> Sequence[int] | None:
        """Return the places that the file gives when it is of this very session and all of them are free."""
        places = [one.line.values["seq"] for one in new]
        if (
            not all(self._is_of(session_id, one) for one in new)
            or None in places
            or len(set(places)) < len(places)
            or self._has(session_id, places)
        ):
            return None
        self._reserve(session_id, max(places))
        return places

    def _is_of(self, session_id: bytes, one: InScope) -> bool:
        """Tell whether a record is of this very session, and not of another one with the same name."""
        given = one.line.values["session_id"]
        return given is not None and session_id in (given, own_id(self._scope, given, one.line.session.encode()))

    def _begin(self, name: str, session_id: bytes, values: Mapping[str, Any]) -> bytes:
        transaction, scope_id = self._place.transaction, self._place.scope_id
        if self._is_taken(session_id):
            session_id = own_id(self._scope, session_id, name.encode())
        now = {"next_seq": 1, "started_at": transaction.now, "last_at": transaction.now}
        given = {column: value for column, value in values.items() if value is not None}
        key = {"tenant": transaction.tenant, "scope_id": scope_id, "id": session_id, "name": name}
        transaction.insert_new(schema.session, {**now, **given, **key})
        return session_id

    def _is_taken(self, session_id: bytes) -> bool:
        transaction, scope_id = self._place.transaction, self._place.scope_id
        here = select(schema.session.c.id).where(
            schema.session.c.tenant == transaction.tenant,
            schema.session.c.scope_id == scope_id,
            schema.session.c.id == session_id,
        )
        return bool(
            transaction.rows(here)
            or sessions.is_kept(transaction, scope_id, session_id)
            or taken_elsewhere(transaction, scope_id, schema.session, [session_id])
        )

    def _has(self, session_id: bytes, places: Sequence[int]) -> bool:
        transaction = self._place.transaction
        return binned.has_place(transaction, self._place.scope_id, session_id, places) or any(
            transaction.rows(
                select(table.c.seq).where(
                    table.c.tenant == transaction.tenant,
                    table.c.scope_id == self._place.scope_id,
                    table.c.session_id == session_id,
                    table.c.seq.in_(places),
                )
            )
            for table in (schema.message, schema.tool_call)
        )

    def _reserve(self, session_id: bytes, last: int) -> None:
        """Let whoever writes next begin after a place."""
        session, transaction = schema.session, self._place.transaction
        transaction.run(
            update(session)
            .where(
                session.c.tenant == transaction.tenant,
                session.c.scope_id == self._place.scope_id,
                session.c.id == session_id,
                session.c.next_seq <= last,
            )
            .values(next_seq=last + 1)
        )
