"""Commands for what is put together or out of sight: consolidate, removed, restore-removed, custody."""

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table
from retentia.model.time import Moment


@click.command()
@click.option("--dry-run", is_flag=True, help="Only tell what would be done.")
@click.option("--topics", is_flag=True, help="Also gather what belongs together into topics.")
@targeted
def consolidate(target: Target, dry_run: bool, topics: bool) -> None:
    """Put together what says the same in a scope. What goes can be restored with `retentia restore-removed ID`."""
    with target.open() as memory:
        done = memory.keeping.consolidate(scope=target.scope, dry_run=dry_run, topics=topics or None)
        if not dry_run:
            memory.drain()
    if target.as_json:
        print_json(done)
        return
    rows: list[tuple[str, ...]]
    rows = [("merged", one.kept, f"{len(one.gone)} more: {_line(one.text)}", one.removal or "") for one in done.merged]
    rows += [("topic", one.id or "", f"{len(one.members)} in: {one.title}", "") for one in done.topics]
    rows += [("surer", one.id, f"{one.before:.2f} → {one.confidence:.2f}", "") for one in done.surer]
    print_table(str(target.scope), ("would be" if dry_run else "done", "id", "what", "removal"), rows)
    if done.skipped:
        click.echo(f"left alone, for it changed meanwhile: {done.skipped}")


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
            click.echo(f"{one.id}  {record.kind.value:<10} {_line(record.text)}")


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
            click.echo(f"{one.id}  {_line(str(one.content['text']))}")


def _line(text: str) -> str:
    return " ".join(text.split())[:160]


def _time(microseconds: int) -> str:
    return Moment.at(microseconds).iso()[:16]
