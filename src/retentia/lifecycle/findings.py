"""What a doctor should know of erasures: whether they are finished, and whether what was erased stays erased."""

from retentia.diagnose.doctor import Finding
from retentia.lifecycle.store_ledger import StoreLedger
from retentia.store import erasures
from retentia.store.database import Database


def erasure_findings(database: Database, ledger: StoreLedger) -> list[Finding]:
    """Look at erasures that were begun, and at the ledger. Reads only."""
    with database.read("") as transaction:
        unfinished = len(erasures.unfinished(transaction))
    findings = [_ledger(ledger)]
    if unfinished:
        findings.append(
            Finding(
                check="erasures",
                level="warning",
                text=f"{unfinished} erasures are not finished: bytes of erased records may be left",
                remedy="close processes that read for long, and open the store again, which finishes them",
            )
        )
    return findings


def _ledger(ledger: StoreLedger) -> Finding:
    if ledger.path is None:
        return Finding(
            check="ledger",
            level="warning",
            text="no ledger is kept: a restored backup, or the same source, could bring back what was erased",
            remedy="name a file with `ledger=`, --ledger or RETENTIA_LEDGER",
        )
    known = ledger.existing()
    count = 0 if known is None else len(known.entries())
    return Finding(check="ledger", level="ok", text=f"the ledger {str(ledger.path)!r} has {count} entries")
