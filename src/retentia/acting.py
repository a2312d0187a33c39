"""A memory as one principal may use it: the verbs of Memory, each call checked before, and logged.

What is the principal's own is logged within a second. What is another's is logged before it is given: in one
transaction, behind the end of the log, the grants are read again, the scope and kind of every record that is about to
be shown are checked against them, and the entry is written. So the log itself shows that each access lies between the
entries of its grant and of its revocation. What is refused is logged too. A verb that is not here cannot be used by a
principal: those that look after a whole store belong to the process that opened it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from retentia.diagnose.doctor import Finding
from retentia.errors import AccessDenied, InvalidInput, NotFound
from retentia.lifecycle.erase import Erasure
from retentia.memory import DEFAULT_SESSION, Memory, Stats
from retentia.model.grant import Grant, Right
from retentia.model.ids import RecordId, id_bytes
from retentia.model.message import JSON, Document, ToolCall, When
from retentia.model.provenance import Source
from retentia.model.record import Importance, Kind, MessageRecord, Record
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.read.listing import Page
from retentia.read.query import Recall, Shared
from retentia.security import audit, sharing
from retentia.security.access import ALL_KINDS, NO_KINDS, Principal, may_administer, may_audit, may_share, permitted
from retentia.security.audit import Access, Action, Actor, AuditEntry, AuditHead, AuditReport
from retentia.security.audit_buffer import AuditBuffer
from retentia.shown import context_of
from retentia.store import audit as audit_rows
from retentia.store import grants, records, scopes
from retentia.store.audit import Head
from retentia.store.database import Database, Transaction
from retentia.store.jobs import Job
from retentia.store.records import View
from retentia.store.sessions import SessionSummary
from retentia.working.context import Context
from retentia.working.tokens import EstimatingCounter
from retentia.write.admission import MessageLike
from retentia.write.receipt import Receipt, WriteStatus

_MESSAGES = frozenset({Kind.MESSAGE})


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


class ActingMemory:
    """What a principal may do with a memory; made by `Memory.acting_as`. Every verb raises AccessDenied.

    Own scopes need no grant. Another scope of the tenant needs one that holds now, for the right and the kinds that the
    verb uses; a verb that cannot be narrowed to kinds needs all. Safe to use from many threads.
    """

    def __init__(self, principal: Principal, memory: Memory, database: Database, log: AuditBuffer) -> None:
        """Use `Memory.acting_as`."""
        self.principal = principal
        self._memory = memory
        self._database = database
        self._log = log
        self._actor = Actor(principal.id, str(principal.role), principal.reason)

    def add(
        self, messages: MessageLike | Sequence[MessageLike], *, scope: Scope, session: str = DEFAULT_SESSION
    ) -> Receipt:
        """Keep what was said; see `Memory.add`."""
        with self._writing(scope, _MESSAGES):
            return self._memory.add(messages, scope=scope, session=session)

    def add_to_sessions(self, messages: Sequence[tuple[str, MessageLike]], *, scope: Scope) -> Receipt:
        """Keep what was said in several sessions; see `Memory.add_to_sessions`."""
        with self._writing(scope, _MESSAGES):
            return self._memory.add_to_sessions(messages, scope=scope)

    def log_tool_call(self, call: ToolCall, *, scope: Scope, session: str = DEFAULT_SESSION) -> Receipt:
        """Keep one call of a tool; see `Memory.log_tool_call`."""
        with self._writing(scope, {Kind.TOOL_CALL}):
            return self._memory.log_tool_call(call, scope=scope, session=session)

    def add_document(self, document: Document, *, scope: Scope) -> Receipt:
        """Keep a document; see `Memory.add_document`."""
        with self._writing(scope, {Kind.DOCUMENT}):
            return self._memory.add_document(document, scope=scope)

    def remember(
        self,
        content: str,
        kind: Kind | str = Kind.NOTE,
        *,
        scope: Scope,
        at: When | None = None,
        importance: Importance | str = Importance.NORMAL,
        author: str = "",
        metadata: Mapping[str, JSON] | None = None,
        sources: Sequence[Source] = (),
    ) -> Receipt:
        """Keep something known; see `Memory.remember`."""
        chosen = _kind(kind)
        with self._writing(scope, {chosen}):
            return self._memory.remember(
                content,
                chosen,
                scope=scope,
                at=at,
                importance=importance,
                author=author,
                metadata=metadata,
                sources=sources,
            )

    def recall(
        self,
        query: str,
        *,
        scope: Scope,
        limit: int = 10,
        token_budget: int | None = None,
        kinds: Collection[Kind | str] = (),
        since: When | None = None,
        until: When | None = None,
        session: str | None = None,
        where: Mapping[str, object] | None = None,
        min_relevance: float | None = None,
        also: Sequence[Scope | Shared] = (),
    ) -> Recall:
        """Find what is known in a scope, and in granted scopes beside it; see `Memory.recall`."""
        named = [one if isinstance(one, Shared) else Shared(one) for one in also]
        asked = [scope, *(shared.scope for shared in named)]
        reach = self._look(Right.READ, asked)
        shown = self._narrowed(reach, Action.RECALL, scope, frozenset(map(_kind, kinds)))
        found = self._memory.recall(
            query,
            scope=scope,
            limit=limit,
            token_budget=token_budget,
            kinds=shown,
            since=since,
            until=until,
            session=session,
            where=where,
            min_relevance=min_relevance,
            also=[replace(one, kinds=self._narrowed(reach, Action.RECALL, one.scope, one.kinds)) for one in named],
        )
        self._give(Action.RECALL, Right.READ, asked, [hit.record for hit in found])
        is_partial = any(reach.kinds(Right.READ, one) != ALL_KINDS for one in asked)
        return _without_counts(found) if is_partial else found

    def context(
        self,
        request: str,
        *,
        scope: Scope,
        session: str = DEFAULT_SESSION,
        budget: int = 1500,
        role: str = "",
        limit: int = 20,
    ) -> Context:
        """Assemble the next prompt; see `Memory.context`."""
        recalled = self.recall(request, scope=scope, limit=limit)
        said = self.messages(scope=scope, session=session)
        return context_of(request, recalled=recalled, said=said, role=role, budget=budget, counter=EstimatingCounter())

    def get(self, record_id: str, *, scope: Scope) -> Record:
        """Return one record; see `Memory.get`."""
        self._check(Action.READ, Right.READ, scope, NO_KINDS)
        try:
            found = self._memory.get(record_id, scope=scope)
        except NotFound:
            self._give(Action.READ, Right.READ, [scope], [])
            raise
        self._give(Action.READ, Right.READ, [scope], [found])
        return found

    def messages(self, *, scope: Scope, session: str = DEFAULT_SESSION, after: int = 0) -> list[MessageRecord]:
        """Return the messages of a session in order; see `Memory.messages`."""
        self._check(Action.READ, Right.READ, scope, _MESSAGES)
        found = self._memory.messages(scope=scope, session=session, after=after)
        self._give(Action.READ, Right.READ, [scope], found)
        return found

    def records(
        self,
        *,
        scope: Scope,
        kind: Kind | str = Kind.MESSAGE,
        where: Mapping[str, object] | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Page:
        """Return records of one kind, page by page; see `Memory.records`."""
        self._check(Action.READ, Right.READ, scope, {_kind(kind)})
        found = self._memory.records(scope=scope, kind=kind, where=where, after=after, limit=limit)
        self._give(Action.READ, Right.READ, [scope], found.records)
        return found

    def sessions(self, *, scope: Scope, limit: int = 100) -> list[SessionSummary]:
        """Return the sessions of a scope; see `Memory.sessions`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.sessions(scope=scope, limit=limit)
        self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        return found

    def stats(self, *, scope: Scope) -> Stats:
        """Count what a scope holds; see `Memory.stats`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.stats(scope=scope)
        self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        return found

    def erase(self, record_ids: str | Sequence[str], *, scope: Scope) -> Erasure:
        """Remove records of exactly this scope; see `Memory.erase`. What the user's agents share is not an agent's."""
        reach = self._check(Action.ERASE, Right.ERASE, scope, ALL_KINDS)
        given = [record_ids] if isinstance(record_ids, str) else list(record_ids)
        raw = _raw(given)
        self._keep_from_others(reach, scope, raw)
        if not self._is_own(Right.ERASE, scope):  # an erasure that has begun is not taken back when the grant ends
            self._give(Action.ERASE, Right.ERASE, [scope], [], ids=raw, kinds=ALL_KINDS)
        with self._database.noting(self._log_erased):
            return self._memory.erase(given, scope=scope)

    def status(self, receipt: Receipt) -> WriteStatus:
        """Tell how far what was written has come; see `Memory.status`."""
        self._check(Action.READ, Right.READ, receipt.scope, NO_KINDS)
        return self._memory.status(receipt)

    def wait(self, receipt: Receipt, *, timeout: float = 60.0) -> WriteStatus:
        """Wait until what was written is found by meaning too; see `Memory.wait`."""
        self._check(Action.READ, Right.READ, receipt.scope, NO_KINDS)
        return self._memory.wait(receipt, timeout=timeout)

    def scopes(self, tenant: str) -> list[Scope]:
        """Return every scope that the principal may read; all of the tenant for an admin."""
        self._check_tenant(tenant)
        with self._database.read(tenant) as transaction:
            reach = self._reach(transaction)
            known = [name for _, name in scopes.all_scopes(transaction)]
        if may_administer(self.principal, tenant, now=reach.now):
            self._append(Action.ADMINISTER, None)
            return known
        return [name for name in known if reach.kinds(Right.READ, name)]

    def jobs(self, *, tenant: str) -> list[Job]:
        """Return a tenant's unfinished jobs, for its admin; see `Memory.jobs`."""
        self._administer(tenant)
        return self._memory.jobs(tenant=tenant)

    def retry_job(self, job_id: RecordId, *, tenant: str) -> None:
        """Queue a job again, as its admin; see `Memory.retry_job`."""
        self._administer(tenant)
        self._memory.retry_job(job_id, tenant=tenant)

    def cancel_job(self, job_id: RecordId, *, tenant: str) -> None:
        """Give a job up for good, as its admin; see `Memory.cancel_job`."""
        self._administer(tenant)
        self._memory.cancel_job(job_id, tenant=tenant)

    def doctor(self, *, tenants: Sequence[str] | None = None) -> list[Finding]:
        """Examine the principal's tenant, as its admin; see `Memory.doctor`."""
        wanted = [self.principal.tenant] if tenants is None else list(tenants)
        for tenant in wanted:
            self._administer(tenant)
        return self._memory.doctor(tenants=wanted)

    def grant(
        self,
        *,
        scope: Scope,
        to: Scope | str,
        expires_at: When,
        rights: Collection[Right | str] = (Right.READ,),
        kinds: Collection[Kind | str] = (),
    ) -> Grant:
        """Give rights to a memory, as the person whose it is or as an admin; see `Memory.grant`."""
        self._check_sharing(Action.GRANT, scope)
        return sharing.give(
            self._database,
            self._actor,
            scope=scope,
            to=to,
            rights=[_right(right) for right in rights],
            kinds=[_kind(kind) for kind in kinds],
            expires_at=Moment.parse(expires_at).start,
        )

    def revoke(self, grant_id: str, *, tenant: str) -> None:
        """End a grant, as the person whose memory it gives or as an admin; see `Memory.revoke`."""
        self._check_tenant(tenant)
        self._check_sharing(Action.REVOKE, sharing.find(self._database, grant_id, tenant=tenant).scope)
        sharing.take_back(self._database, self._actor, grant_id, tenant=tenant)

    def grants(self, *, tenant: str) -> list[Grant]:
        """Return the grants that the principal holds or may take back; an admin sees all."""
        self._check_tenant(tenant)
        now = self._now()
        return [
            grant
            for grant in sharing.listing(self._database, tenant)
            if may_share(self.principal, grant.scope, now=now) or self.principal.holds(grant)
        ]

    def audit_log(self, tenant: str, *, limit: int = 100, scope: Scope | None = None) -> list[AuditEntry]:
        """Return the last entries of the audit log, as auditor or admin; see `Memory.audit_log`."""
        self._check_audit(tenant)
        return self._memory.audit_log(tenant, limit=limit, scope=scope)

    def audit_head(self, tenant: str) -> AuditHead:
        """Return the end of the audit log, as auditor or admin; see `Memory.audit_head`."""
        self._check_audit(tenant)
        return self._memory.audit_head(tenant)

    def verify_audit(self, tenant: str, *, head: str = "") -> AuditReport:
        """Check the audit log, as auditor or admin; see `Memory.verify_audit`."""
        self._check_audit(tenant)
        return self._memory.verify_audit(tenant, head=head)

    # What follows decides. `_check` and `_narrowed` come before a call, `_give` and `_writing` hold while it is made.

    def _check(self, action: Action, right: Right, scope: Scope, kinds: Collection[Kind]) -> _Reach:
        """Raise AccessDenied unless the right holds now, for these kinds; for some kind at least."""
        reach = self._look(right, [scope])
        known = reach.kinds(right, scope)
        if not known or not known.issuperset(kinds):
            raise self._refused(action, scope)
        return reach

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

    @contextmanager
    def _writing(self, scope: Scope, kinds: Collection[Kind]) -> Iterator[None]:
        """Let a block write to a scope; its transaction is logged, and taken back when the right ended meanwhile."""
        self._check(Action.WRITE, Right.WRITE, scope, kinds)
        logged = []

        def note(transaction: Transaction) -> None:
            if not transaction.touched:
                return
            head = audit.lock(transaction)
            may = self._is_own(Right.WRITE, scope) or _covers(
                self._reach(transaction, head).kinds(Right.WRITE, scope), kinds
            )
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
            self._give(Action.WRITE, Right.WRITE, [scope], [], kinds=kinds)

    def _keep_from_others(self, reach: _Reach, scope: Scope, ids: Sequence[bytes]) -> None:
        """Raise AccessDenied when an id names a record that a read of the scope shows and that lies in another."""
        with self._database.read(scope.tenant) as transaction:
            view = View.of(scopes.view(transaction, scope), scope)
            others = {
                number: name for number, name in view.scopes.items() if reach.kinds(Right.ERASE, name) != ALL_KINDS
            }
            found = records.kinds_of(transaction, View(others), ids) if others else {}
        if found:
            raise self._refused(
                Action.ERASE, next(iter(others.values())), [one for some in found.values() for one in some]
            )

    def _log_erased(self, transaction: Transaction) -> None:
        audit.log_writes(self._actor, Action.ERASE, transaction)

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

    def _check_sharing(self, action: Action, scope: Scope) -> None:
        if not may_share(self.principal, scope, now=self._now()):
            raise self._refused(action, scope)

    def _check_audit(self, tenant: str) -> None:
        if not may_audit(self.principal, tenant, now=self._now()):
            raise self._refused(Action.AUDIT, None)

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
        is_its = self.principal.sees(scope) if right is Right.READ else self.principal.owns(scope)
        return is_its and self.principal.ends_at is None

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


def _without_counts(found: Recall) -> Recall:
    """Leave out how much was held back: it tells about kinds that were not granted."""
    reason = f"{len(found)} found" if found else "nothing relevant is remembered, or nothing that was granted"
    return replace(found, filtered_count=0, pending_count=0, reason=reason)


def _kind(given: Kind | str) -> Kind:
    try:
        return Kind(given)
    except ValueError as error:
        raise InvalidInput(f"unknown kind {given!r}; use one of {', '.join(Kind)}") from error


def _right(given: Right | str) -> Right:
    try:
        return Right(given)
    except ValueError as error:
        raise InvalidInput(f"unknown right {given!r}; use one of {', '.join(Right)}") from error


def _raw(record_ids: Sequence[str]) -> list[bytes]:
    try:
        return [id_bytes(record_id) for record_id in record_ids]
    except ValueError as error:
        raise InvalidInput(str(error)) from error
