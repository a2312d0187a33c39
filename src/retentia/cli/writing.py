"""Commands that write: remember, erase."""

import click

from retentia.cli.episodes import held_in_words
from retentia.cli.options import Target, json_object, targeted
from retentia.cli.output import print_json, tell_erased

_KINDS = ("note", "fact", "preference", "event", "decision", "commitment", "procedure", "knowledge")


@click.command()
@click.argument("content")
@click.option("--kind", type=click.Choice(_KINDS), default="note", show_default=True)
@click.option("--at", help="When it happened: 2026-06-01, 2026-06-01T19:00+02:00, 2026-06, 2026 …")
@click.option("--metadata", help='A JSON object, such as {"project": "atlas"}.')
@targeted
def remember(target: Target, content: str, kind: str, at: str | None, metadata: str | None) -> None:
    """Keep something known."""
    with target.open(create=True) as memory:
        receipt = memory.remember(content, kind, scope=target.scope, at=at, metadata=json_object(metadata))
        memory.drain()
    if target.as_json:
        print_json(receipt)
        return
    (written,) = receipt.written
    click.echo(f"{'remembered' if written.is_new else 'already known, seen again'}: {written.id}")
    if receipt.remembered is not None:
        click.echo(f"  {held_in_words(receipt.remembered)}")
    for note in receipt.notes:
        click.echo(f"note: {note}")


@click.command()
@click.argument("record_ids", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@targeted
def erase(target: Target, record_ids: tuple[str, ...], yes: bool) -> None:
    """Remove records and everything derived from them, with their bytes."""
    with target.open() as memory:
        if not yes:
            for record_id in record_ids:
                click.echo(f"{record_id}  {memory.get(record_id, scope=target.scope).text[:100]}", err=True)
            click.confirm(f"erase {len(record_ids)} for good?", abort=True, err=True)
        erased = memory.erase(record_ids, scope=target.scope)
    if target.as_json:
        print_json(erased)
        return
    tell_erased(erased)
