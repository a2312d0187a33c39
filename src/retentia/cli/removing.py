"""Commands for the bin and for custody: removed, restore-removed, custody."""

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table
from retentia.model.time import Moment


@click.command()
@click.option("--content", is_flag=True, help="Also what it says; that is in the audit log.")
@targeted
def removed(target: Target, content: bool) -> None:
    """List what was removed from a scope and can still be restored."""
    with target.open() as memory:
        found = memory.keeping.removed(scope=target.scope, content=content)
    if target.as_json:
        print_json(found)
        return
    rows = [
        (
            one.id,
            ", ".join(f"{count} {kind}" for kind, count in one.counts.items()),
            one.cause,
            _time(one.removed_at),
            _time(one.purge_at),
        )
        for one in found
    ]
    print_table(str(target.scope), ("id", "what", "why", "removed", "purged"), rows)
    for one in found:
        for record in one.records:
            click.echo(f"{one.id}  {record.kind.value:<10} {' '.join(record.text.split())[:160]}")


@click.command("restore-removed")
@click.argument("removal_id")
@targeted
def restore_removed(target: Target, removal_id: str) -> None:
    """Bring back what a removal took: the same records, in the same places, found at once."""
    with target.open() as memory:
        records = memory.keeping.restore(removal_id, scope=target.scope)
        memory.drain()
    if target.as_json:
        print_json({"restored": records})
    else:
        click.echo(f"restored: {len(records)} records")


@click.command()
@click.option("--content", is_flag=True, help="Also what it says; needs --reason.")
@click.option("--reason", default="", help="Why it is looked at: the number of a case. It stays in the audit log.")
@targeted
def custody(target: Target, content: bool, reason: str) -> None:
    """List the erased records of a tenant that legal holds keep. Each look is in the audit log."""
    with target.open() as memory:
        found = memory.custody(tenant=target.tenant, content=content, reason=reason)
    if target.as_json:
        print_json(found)
        return
    rows = [(one.id, one.kind.value, one.scope, one.hold, _time(one.erased_at)) for one in found]
    print_table(f"custody of {target.tenant}", ("id", "kind", "scope", "hold", "erased"), rows)
    for one in found:
        if one.content is not None:
            click.echo(f"{one.id}  {' '.join(str(one.content['text']).split())[:160]}")


def _time(microseconds: int) -> str:
    return Moment.at(microseconds).iso()[:16]
