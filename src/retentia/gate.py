"""The gate between a principal and a memory: what decides, and what is logged, around each verb of `ActingMemory`.

`_check` and `_narrowed` come before a call; `_give`, `_tell` and `_writing` hold while its answer is given.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from retentia.errors import AccessDenied
from retentia.model.grant import Grant, Right
from retentia.model.ids import id_bytes
from retentia.model.record import Kind, Record
from retentia.model.scope import Scope
from retentia.security import audit
from retentia.security.access import (
    ALL_KINDS,
    Principal,
    Role,
    may_administer,
    may_audit,
    may_forget_person,
    may_hold,
    may_see_custody,
    may_share,
    permitted,
)
from retentia.security.audit import Access, Action, Actor
from retentia.security.audit_buffer import AuditBuffer
from retentia.store import audit as audit_rows
from retentia.store import grants, records, scopes
from retentia.store.audit import Head
from retentia.store.database import Database, Transaction
from retentia.store.records import View


@dataclass(frozen=True, slots=True)
class _Reach:
    """What the principal may do at one time, under the grants of that time."""

    principal: Principal
    grants: Sequence[Grant]
    now: int

    def kinds(self, right: Right, scope: Scope) -> frozenset[Kind]:
        return permitted(self.principal, self.grants, right, scope, now=self.now)


class _Overtaken(Exception):
    """A right ended while it was being used."""


class Gate:
    """What a principal is let through, one call at a time. Safe to use from many threads."""

    def __init__(self, principal: Principal, database: Database, log: AuditBuffer) -> None:
        self.principal = principal
        self._database = database
        self._log = log
        self._actor = Actor(principal.id, str(principal.role), principal.reason)

    def _check(self, action: Action, right: Right, scope: Scope, kinds: Collection[Kind]) -> _Reach:
        """Raise AccessDenied unless the right holds now, for these kinds; for some kind at least."""
        reach = self._look(right, [scope])
        if not _covers(reach.kinds(right, scope), kinds):
            raise self._refused(action, scope)
        return reach

    def _check_all(self, action: Action, rights: Collection[Right], scope: Scope) -> None:
        """Raise AccessDenied unless all these rights hold now, for every kind."""
        for right in rights:
            self._check(action, right, scope, ALL_KINDS)

    def _narrowed(self, reach: _Reach, action: Action, scope: Scope, asked: frozenset[Kind]) -> frozenset[Kind]:
        """Return the kinds to ask a scope for: those that are asked and permitted; none when all are both."""
        known = reach.kinds(Right.READ, scope)
        both = known & (asked or ALL_KINDS)
        if not both:
            raise self._refused(action, scope)
        return frozenset() if both == ALL_KINDS else both

    def _give(
        self,
        action: Action,
        right: Right,
        asked: Sequence[Scope],
        shown: Sequence[Record],
        *,
        ids: Sequence[bytes] = (),
        kinds: Collection[Kind] = (),
    ) -> None:
        """Log an access, and check every record once more before it is shown; raise AccessDenied when one is not his.

        `ids` are logged beside those shown, and `kinds` are needed besides those shown.
        """
        expected = {part for scope in asked for part in (scope, scope.shared())}
        if all(self._is_own(right, scope) for scope in [*asked, *(record.scope for record in shown)]) and all(
            record.scope in expected for record in shown
        ):
            own = self._access(action, asked[0], [*ids, *(id_bytes(record.id) for record in shown)])
            self._log.add(self.principal.tenant, own)
            return
        with self._database.write(self.principal.tenant) as transaction:
            head = audit.lock(transaction)
            reach = self._reach(transaction, head)
            wrong = [
                record
                for record in shown
                if record.scope not in expected or record.kind not in reach.kinds(right, record.scope)
            ]
            ended = [scope for scope in asked if not _covers(reach.kinds(right, scope), kinds)]
            if not wrong and not ended:
                audit.append(transaction, self._by_scope(action, asked, shown, ids), head)
        if wrong or ended:
            seen = [id_bytes(record.id) for record in wrong]
            raise self._refused(action, wrong[0].scope if wrong else ended[0], seen)

    def _tell(
        self,
        action: Action,
        rights: Collection[Right],
        scope: Scope,
        shown: Sequence[Record] = (),
        *,
        ids: Sequence[bytes] = (),
    ) -> None:
        """Log an access before its answer, be it to the own memory, while all rights still hold for every kind."""
        wrong = [record for record in shown if record.scope not in (scope, scope.shared())]
        with self._database.write(self.principal.tenant) as transaction:
            head = audit.lock(transaction)
            reach = self._reach(transaction, head)
            may = not wrong and all(reach.kinds(right, scope) == ALL_KINDS for right in rights)
            if may:
                named = [*ids, *(id_bytes(record.id) for record in shown)]
                audit.append(transaction, [self._access(action, scope, named)], head)
        if not may:
            raise self._refused(action, scope, [id_bytes(record.id) for record in wrong])

    @contextmanager
    def _erasing(self, scope: Scope | None, ids: Sequence[bytes]) -> Iterator[None]:
        """Log what a block erases in the transactions that do; that it was asked for, where nothing is left to erase.

        The right was checked before: an erasure that has begun is not taken back when the grant ends.
        """
        logged = []

        def note(transaction: Transaction) -> None:
            if transaction.touched:
                audit.log_writes(self._actor, Action.ERASE, transaction)
                logged.append(True)

        with self._database.noting(note):
            yield
        if not logged:
            self._append(Action.ERASE, scope, ids)

    def _check_erasing(self, action: Action, scope: Scope, raw: Sequence[bytes]) -> None:
        """Raise AccessDenied unless these records of exactly this scope may be erased; that of another's is logged."""
        reach = self._check(action, Right.ERASE, scope, ALL_KINDS)
        self._keep_from_others(reach, scope, raw)
        if not self._is_own(Right.ERASE, scope):
            self._give(action, Right.ERASE, [scope], [], ids=raw, kinds=ALL_KINDS)

    @contextmanager
    def _writing(self, scope: Scope, kinds: Collection[Kind], right: Right = Right.WRITE) -> Iterator[None]:
        """Let a block write to a scope; its transaction is logged, and taken back when the right ended meanwhile."""
        self._check(Action.WRITE, right, scope, kinds)
        logged = []

        def note(transaction: Transaction) -> None:
            if not transaction.touched:
                return
            head = audit.lock(transaction)
            may = self._is_own(right, scope) or _covers(self._reach(transaction, head).kinds(right, scope), kinds)
            if not may or {number for number, _ in transaction.touched} != {scopes.find(transaction, scope)}:
                raise _Overtaken
            audit.append(transaction, audit.touched(transaction, self._actor, Action.WRITE), head)
            logged.append(True)

        try:
            with self._database.noting(note):
                yield
        except _Overtaken:
            raise self._refused(Action.WRITE, scope) from None
        if not logged:  # everything was there already
            self._give(Action.WRITE, right, [scope], [], kinds=kinds)

    def _keep_from_others(self, reach: _Reach, scope: Scope, ids: Sequence[bytes]) -> None:
        """Raise AccessDenied when an id names a record that a read of the scope shows and that lies in another."""
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            others = {
                number: name for number, name in view.scopes.items() if reach.kinds(Right.ERASE, name) != ALL_KINDS
            }
            found = records.kinds_of(transaction, View(others), ids) if others else {}
        if found:
            raise self._refused(
                Action.ERASE, next(iter(others.values())), [one for some in found.values() for one in some]
            )

    def _by_scope(
        self, action: Action, asked: Sequence[Scope], shown: Sequence[Record], ids: Sequence[bytes]
    ) -> list[Access]:
        """Return one access for each scope that was asked for or shows something."""
        found: dict[Scope, list[bytes]] = {scope: [] for scope in asked}
        found[asked[0]].extend(ids)
        for record in shown:
            found.setdefault(record.scope, []).append(id_bytes(record.id))
        return [self._access(action, scope, some) for scope, some in found.items()]

    def _administer(self, tenant: str) -> None:
        if not may_administer(self.principal, tenant, now=self._now()):
            raise self._refused(Action.ADMINISTER, None)
        self._append(Action.ADMINISTER, None)

    def _masks(self, scope: Scope, kinds: Collection[Kind]) -> bool:
        """Whether personal data of a scope is masked: for support, unless it was granted."""
        return self.principal.role is Role.SUPPORT and not _covers(
            self._look(Right.PERSONAL, [scope]).kinds(Right.PERSONAL, scope), kinds
        )

    def _masking(self, shown: Sequence[Record]) -> list[bool]:
        """Tell for each record whether personal data in it is masked."""
        if self.principal.role is not Role.SUPPORT or not shown:
            return [False] * len(shown)
        reach = self._look(Right.PERSONAL, [record.scope for record in shown])
        return [record.kind not in reach.kinds(Right.PERSONAL, record.scope) for record in shown]

    def _check_forgetting(self, action: Action, scopes_of: Collection[Scope]) -> None:
        """Raise AccessDenied unless all that is kept of these persons may be forgotten."""
        now = self._now()
        for scope in scopes_of:
            if not may_forget_person(self.principal, scope.tenant, scope.user, now=now):
                raise self._refused(action, scope)

    def _check_sharing(self, action: Action, scope: Scope) -> None:
        if not may_share(self.principal, scope, now=self._now()):
            raise self._refused(action, scope)

    def _check_audit(self, tenant: str) -> None:
        if not may_audit(self.principal, tenant, now=self._now()):
            raise self._refused(Action.AUDIT, None)

    def _check_holding(self, action: Action, tenant: str, scope: Scope | None = None) -> None:
        if not may_hold(self.principal, tenant, now=self._now()):
            raise self._refused(action, scope)

    def _check_custody(self, tenant: str, *, content: bool) -> None:
        if not may_see_custody(self.principal, tenant, content=content, now=self._now()):
            raise self._refused(Action.CUSTODY, None)

    def _check_tenant(self, tenant: str) -> None:
        if tenant != self.principal.tenant:
            raise self._refused(Action.READ, None)

    def _look(self, right: Right, asked: Sequence[Scope]) -> _Reach:
        """Return what the principal may do now; without a look at the database where everything is its own."""
        if all(self._is_own(right, scope) for scope in asked):
            return _Reach(self.principal, (), 0)
        with self._database.read(self.principal.tenant) as transaction:
            return self._reach(transaction)

    def _is_own(self, right: Right, scope: Scope) -> bool:
        """Whether the right is the principal's own, now and always: one that ends needs a look at the clock."""
        return self.principal.has(right, scope) and self.principal.ends_at is None

    def _reach(self, transaction: Transaction, head: Head | None = None) -> _Reach:
        now = audit.present(transaction, head or audit_rows.head(transaction))
        held = grants.held(transaction, principal=self.principal.id, user=self.principal.user)
        return _Reach(self.principal, held, now)

    def _now(self) -> int:
        with self._database.read(self.principal.tenant) as transaction:
            return audit.present(transaction, audit_rows.head(transaction))

    def _refused(self, action: Action, scope: Scope | None, ids: Sequence[bytes] = ()) -> AccessDenied:
        """Log a refusal and return the error to raise."""
        self._append(action, scope, ids, refused=True)
        what = "" if scope is None else f" {scope}"
        return AccessDenied(f"{self.principal.id!r} ({self.principal.role!s}) has no right to {action.value}{what}")

    def _append(self, action: Action, scope: Scope | None, ids: Sequence[bytes] = (), *, refused: bool = False) -> None:
        with self._database.write(self.principal.tenant) as transaction:
            audit.append(transaction, [replace(self._access(action, scope, ids), refused=refused)])

    def _access(self, action: Action, scope: Scope | None, ids: Sequence[bytes]) -> Access:
        return Access(actor=self._actor, action=action, scope=scope, ids=ids, at=self._database.now())


def _covers(known: frozenset[Kind], needed: Collection[Kind]) -> bool:
    return bool(known) and known.issuperset(needed)
