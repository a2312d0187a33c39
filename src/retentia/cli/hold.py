"""Commands for legal holds: set, list, release."""

from datetime import UTC, datetime

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table


@click.group("hold")
def hold_group() -> None:
    """Keep what is erased in a scope, hidden, until its legal hold is released."""


@hold_group.command("set")
@click.option("--reason", required=True, help="Shown in receipts: the number of a case, not the name of a person.")
@targeted
def set_hold(target: Target, reason: str) -> None:
    """Hold the scope of --user, --space and --agent, and nothing else."""
    with target.open() as memory:
        hold = memory.hold(scope=target.scope, reason=reason)
    if target.as_json:
        print_json(hold)
        return
    click.echo(f"held: {hold.scope} by {hold.id}, {hold.records} records, {hold.in_custody} erased ones in custody")
    if hold.in_bin:
        click.echo(f"{hold.in_bin} removed ones are kept, too, when they are purged")
    if not hold.records and not hold.in_custody and not hold.in_bin:
        click.echo("it holds nothing: what was erased there before is gone")


@hold_group.command("list")
@targeted
def list_holds(target: Target) -> None:
    """List the holds of a tenant, and how many records each has and keeps."""
    with target.open() as memory:
        holds = memory.holds(tenant=target.tenant)
    if target.as_json:
        print_json(holds)
        return
    rows = [(hold.id, hold.scope, _day(hold.created_at), hold.records, hold.in_custody, hold.reason) for hold in holds]
    print_table(f"holds of {target.tenant}", ("id", "scope", "since", "records", "in custody", "reason"), rows)


@hold_group.command()
@click.argument("hold_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
@targeted
def release(target: Target, hold_id: str, yes: bool) -> None:
    """End a hold; what was erased under it is purged for good, unless another hold is on its scope."""
    with target.open() as memory:
        if not yes:
            click.confirm("purge for good what was erased under this hold alone?", abort=True, err=True)
        done = memory.release(hold_id, tenant=target.tenant)
    if target.as_json:
        print_json(done)
        return
    click.echo(f"released: {done.purged} records purged")
    if done.pending:
        click.echo(f"pending: {done.pending}")


def _day(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d}"
