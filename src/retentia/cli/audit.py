"""Commands for the audit log: verify, list, head."""

import dataclasses
from datetime import UTC, datetime

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table
from retentia.security.audit import AuditEntry

_FAULTY = 1


@click.group("audit")
def audit_group() -> None:
    """Look at the audit log of a tenant: who read, wrote, erased, or was refused."""


@audit_group.command()
@click.option("--head", default="", metavar="HASH", help="A hash that `retentia audit head` printed and you kept.")
@targeted
def verify(target: Target, head: str) -> None:
    """Check the log from its first entry to its last. Exit code 1 when it is not as it was written."""
    with target.open(check_index=False) as memory:
        report = memory.verify_audit(target.tenant, head=head)
    if target.as_json:
        print_json({"sound": report.is_sound, **dataclasses.asdict(report)})
    elif report.is_sound:
        click.echo(f"sound: {report.entries:,} entries, the last has the hash {report.hash}")
    else:
        click.echo(f"entry {report.first_wrong:,}: {report.problem}; the {report.entries:,} before it are sound")
    if not report.is_sound:
        raise click.exceptions.Exit(_FAULTY)


@audit_group.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--of-scope", is_flag=True, help="Only what concerns the scope of --user, --space and --agent.")
@targeted
def listing(target: Target, limit: int, of_scope: bool) -> None:
    """List the last entries, the newest first."""
    with target.open(check_index=False) as memory:
        entries = memory.audit_log(target.tenant, limit=limit, scope=target.scope if of_scope else None)
    if target.as_json:
        print_json(entries)
        return
    columns = ("nr", "when (UTC)", "by", "role", "action", "scope", "records", "reason")
    print_table(f"audit log of {target.tenant}", columns, map(_row, entries))


@audit_group.command()
@targeted
def head(target: Target) -> None:
    """Print the end of the log. Keep it elsewhere: `verify --head` then notices when the end was cut off."""
    with target.open(check_index=False) as memory:
        found = memory.audit_head(target.tenant)
    if target.as_json:
        print_json(found)
    else:
        click.echo(found.hash)


def _row(entry: AuditEntry) -> tuple[object, ...]:
    when = datetime.fromtimestamp(entry.at / 1_000_000, UTC).isoformat(sep=" ", timespec="milliseconds")
    action = f"{entry.action} (refused)" if entry.refused else entry.action
    return entry.seq, when[:-6], entry.by, entry.role, action, entry.scope_id or "", entry.count, entry.reason
