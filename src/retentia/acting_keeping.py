"""The bin as one principal may use it: what can be restored, and restoring it; each call checked before, and logged."""

from collections.abc import Sequence
from dataclasses import replace

from retentia.gate import Gate
from retentia.lifecycle.keeping import Keeping
from retentia.masked import masked_record
from retentia.model.grant import Right
from retentia.model.ids import RecordId
from retentia.model.record import Record
from retentia.model.removal import Removal
from retentia.model.scope import Scope
from retentia.security.access import Principal
from retentia.security.audit import Action
from retentia.security.audit_buffer import AuditBuffer
from retentia.store.database import Database

_SEES = (Right.READ,)
_RESTORES = (Right.READ, Right.WRITE, Right.ERASE)


class ActingKeeping(Gate):
    """What a principal may do with what was removed; `ActingMemory.keeping` has it. Every verb raises AccessDenied."""

    def __init__(self, principal: Principal, keeping: Keeping, database: Database, log: AuditBuffer) -> None:
        super().__init__(principal, database, log)
        self._keeping = keeping

    def removed(self, *, scope: Scope, content: bool = False) -> list[Removal]:
        """Return what can be restored, to who may read all of the scope; see `Keeping.removed`."""
        self._check_all(Action.READ, _SEES, scope)
        found = self._keeping.removed(scope=scope, content=content)
        self._tell(Action.READ, _SEES, scope)
        for one in {one for removal in found if content for one in removal.reaches}:
            self._check_all(Action.READ, _SEES, one)  # what went along may be of an agent's own memory
        return [replace(one, records=tuple(self._masked(one.records))) for one in found]

    def restore(self, removal_id: str, *, scope: Scope) -> tuple[RecordId, ...]:
        """Bring back what a removal took, as who may read, write and erase all of the scope; see `Keeping.restore`."""
        self._check_all(Action.RESTORE, _RESTORES, scope)
        known = {one.id: one.reaches for one in self._keeping.removed(scope=scope)}
        for one in known.get(RecordId(removal_id), ()):
            self._check_all(Action.RESTORE, _RESTORES, one)
        return self._keeping.restore(removal_id, scope=scope)

    def _masked(self, found: Sequence[Record]) -> list[Record]:
        return [
            masked_record(record) if is_masked else record
            for record, is_masked in zip(found, self._masking(found), strict=True)
        ]
