"""`retentia export`: write everything a scope holds to a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, progress_bar

if TYPE_CHECKING:
    from retentia.transfer.export import ExportFormat

FORMATS = ("jsonl", "markdown")


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "as_format",
    type=click.Choice(FORMATS),
    default="jsonl",
    show_default=True,
    help="jsonl can be taken in again by `retentia ingest`; markdown is for people.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
@targeted
def export(target: Target, out: Path, as_format: "ExportFormat", overwrite: bool) -> None:
    """Write everything that a scope holds to the file OUT, as it is at one instant.

    What all agents of the user share is a scope of its own: export it without --agent.
    """
    with target.open() as memory:
        total = sum(memory.stats(scope=target.scope).records.values())
        with progress_bar("records", total=total) as advance:
            made = memory.export(out, scope=target.scope, as_format=as_format, overwrite=overwrite, progress=advance)
    if target.as_json:
        print_json(
            {
                "path": str(out),
                "format": as_format,
                "scope": made.scope,
                "created_at": made.created_at,
                "counts": made.counts,
                "bytes": made.bytes,
            }
        )
        return
    counted = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in made.counts.items())
    click.echo(f"exported to {out}: {counted or 'nothing, the scope is empty'} ({made.bytes:,} bytes)")
