"""The doctor: is the store whole, is work stuck, does the index fit the rows, does the embedder fit the scripts?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from retentia.diagnose.analyzer import analyzer_mismatch
from retentia.index.tokenizer import ANALYZER
from retentia.model.scope import Scope
from retentia.security import audit
from retentia.security.audit_buffer import AuditBuffer
from retentia.store import binned, generations, jobs, passages, records, scopes
from retentia.store.database import Database, Transaction
from retentia.store.records import RECORD_TABLES
from retentia.store.roles import unbound_role

Level = Literal["ok", "note", "warning", "fault"]
_STUCK_AFTER = 300_000_000
_SAMPLE = 500
_FOREIGN_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at: what was found, and what to do about it when it is not in order."""

    check: str
    level: Level
    text: str
    remedy: str = ""


def examine(
    database: Database,
    tenants: list[str] | None = None,
    *,
    unlogged: AuditBuffer | None = None,
) -> list[Finding]:
    """Look at the whole store, or at some tenants of it, and at what is still to be logged. Reads only."""
    with database.read("") as transaction:
        findings = [_integrity(database, transaction), _analyzer(transaction), _generation(transaction)]
        findings.extend(_role(transaction))
        findings.extend(_unlogged(unlogged))
        known = jobs.tenants(transaction) if tenants is None else tenants
    for tenant in known:
        with database.read(tenant) as transaction:
            findings.extend(_tenant(transaction))
    return findings


def _integrity(database: Database, transaction: Transaction) -> Finding:
    problems = database.dialect.integrity_problems(transaction.connection)
    if not problems:
        return Finding(check="integrity", level="ok", text="the database is sound")
    return Finding(
        check="integrity",
        level="fault",
        text=f"the database is damaged: {problems[0]}",
        remedy="restore a backup; keep the damaged file",
    )


def _analyzer(transaction: Transaction) -> Finding:
    if mismatch := analyzer_mismatch(transaction):
        return Finding(check="tokenizer", level="fault", text=mismatch, remedy="`retentia reindex`")
    return Finding(check="tokenizer", level="ok", text=f"indexed with tokenizer {ANALYZER}")


def _generation(transaction: Transaction) -> Finding:
    if (unfinished := generations.building(transaction)) is not None:
        return Finding(
            check="embedder",
            level="warning",
            text=f"a change of the embedder was begun and not finished: {unfinished.identity}",
            remedy="run the same `retentia reembed --to NAME` again; it continues",
        )
    found = generations.serving(transaction)
    text = f"vectors by {found.identity}" if found else "no embedder: search by words only"
    return Finding(check="embedder", level="ok" if found else "note", text=text)


def _role(transaction: Transaction) -> Iterator[Finding]:
    """Warn where the database does not hold this role to the rows of its tenant."""
    if role := unbound_role(transaction):
        yield Finding(
            check="role",
            level="warning",
            text=f"row-level security does not hold for the role {role!r}: it is a superuser or has BYPASSRLS",
            remedy="connect as a role made with CREATE ROLE … NOSUPERUSER NOBYPASSRLS that owns the tables",
        )


def _unlogged(buffer: AuditBuffer | None) -> Iterator[Finding]:
    """Report accesses that this process could not write into the audit log, or only later than promised."""
    if buffer is not None and buffer.failures:
        yield Finding(
            check="audit",
            level="fault" if buffer.waiting else "warning",
            text=f"the audit log could not be written {buffer.failures} times, {buffer.waiting} accesses wait; "
            f"the last cause: {buffer.failure}",
            remedy="remove the cause; what waits is tried again twice a second, and lost if this process ends before",
        )


def _audit(transaction: Transaction) -> Iterator[Finding]:
    if not audit.ends_right(transaction):
        yield Finding(
            check="audit",
            level="fault",
            text=f"tenant {transaction.tenant!r}: the audit log does not end as its head says",
            remedy="`retentia audit verify` names the first wrong entry",
        )


def _tenant(transaction: Transaction) -> Iterator[Finding]:
    yield _queue(transaction)
    yield from _audit(transaction)
    yield from _bin(transaction)
    serving = generations.serving(transaction)
    for scope_id, name in scopes.all_scopes(transaction):
        if orphans := passages.count_orphans(transaction, scope_id, RECORD_TABLES):
            yield Finding(
                check="orphans",
                level="fault",
                text=f"{name}: {orphans} index rows whose record is gone",
                remedy="`retentia reindex`",
            )
        if bare := records.count_without_passage(transaction, scope_id):
            yield Finding(
                check="unindexed",
                level="fault",
                text=f"{name}: {bare} records with text that search does not know",
                remedy="`retentia reindex`",
            )
        if serving and (pending := passages.count_without_vector(transaction, scope_id, serving.id)):
            yield Finding(
                check="pending",
                level="note",
                text=f"{name}: {pending} passages are found by words only, their vectors are still to come",
                remedy="keep a worker running (`retentia worker`), or run `retentia worker --once`",
            )
        yield from _scripts(transaction, scope_id, name, serving.identity if serving else "")


def _queue(transaction: Transaction) -> Finding:
    waiting = jobs.listing(transaction)
    dead = [job for job in waiting if job.state == "dead"]
    if dead:
        return Finding(
            check="queue",
            level="fault",
            text=f"tenant {transaction.tenant!r}: {len(dead)} jobs failed for good; the first: {dead[0].error}",
            remedy="once the cause is gone `retentia jobs --retry ID`, or `retentia jobs --cancel ID`",
        )
    oldest = min((job.created_at for job in waiting), default=transaction.now)
    age = (transaction.now - oldest) // 1_000_000
    if transaction.now - oldest > _STUCK_AFTER:
        return Finding(
            check="queue",
            level="warning",
            text=f"tenant {transaction.tenant!r}: {len(waiting)} jobs wait, the oldest for {age:,} s",
            remedy="start a worker: `retentia worker`",
        )
    return Finding(check="queue", level="ok", text=f"tenant {transaction.tenant!r}: {len(waiting)} jobs wait")


def _bin(transaction: Transaction) -> Iterator[Finding]:
    """Report what was removed, and what should have been purged by now."""
    waiting, overdue = binned.counts(transaction, overdue_at=transaction.now - _STUCK_AFTER)
    if overdue:
        yield Finding(
            check="bin",
            level="warning",
            text=f"tenant {transaction.tenant!r}: {overdue} removed records should have been purged by now",
            remedy="start a worker (`retentia worker`), or run `retentia worker --once`",
        )
    elif waiting:
        yield Finding(
            check="bin",
            level="ok",
            text=f"tenant {transaction.tenant!r}: {waiting} removed records can be restored until they are purged",
        )


def _is_latin(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)


def _scripts(transaction: Transaction, scope_id: int, name: Scope, identity: str) -> Iterator[Finding]:
    """Recommend the multilingual embedder where many texts are in a script the default knows badly."""
    sample = records.sample_texts(transaction, scope_id, limit=_SAMPLE)
    foreign = sum(not _is_latin(text) for text in sample)
    if sample and foreign / len(sample) >= _FOREIGN_SHARE and '"use' in identity:
        share = round(100 * foreign / len(sample))
        yield Finding(
            check="languages",
            level="note",
            text=f"{name}: {share} % of the latest texts are not in Latin script",
            remedy="pip install 'retentia[e5]' and `retentia reembed --to e5` find them better by meaning",
        )
