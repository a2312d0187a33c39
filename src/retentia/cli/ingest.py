"""`retentia ingest`: take chats, exports and documents in from files."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentia.cli.interrupt import interruptible
from retentia.cli.options import Target, targeted
from retentia.cli.output import console, print_json, progress_bar
from retentia.errors import RetentiaError
from retentia.model.progress import Progress

if TYPE_CHECKING:
    from retentia.ingest import Tally
    from retentia.memory import Memory

FORMATS = (
    "auto",
    "retentia",
    "jsonl",
    "json",
    "chatgpt",
    "claude",
    "mem0",
    "mcp-memory",
    "letta",
    "markdown",
    "text",
)
_KINDS = ("messages", "tool calls", "documents", "items")
_NOTHING_TAKEN = 1


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH...")
@click.option(
    "--format",
    "as_format",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="What the files are; auto looks into each.",
)
@click.option("--zone", default="UTC", show_default=True, help="Where times without a zone were told: Europe/Kyiv …")
@click.option("--embed/--no-embed", default=True, show_default=True, help="Embed what is new, or leave it to a worker.")
@click.option("--dry-run", is_flag=True, help="Say what would be added and skipped, and write nothing.")
@targeted
def ingest(target: Target, paths: tuple[Path, ...], as_format: str, zone: str, embed: bool, dry_run: bool) -> None:
    """Take in files, folders or zip archives, all into the one scope that the options name.

    Exports of retentia; chats (JSONL, JSON); exports of ChatGPT and Claude; memories of mem0, of MCP's memory server
    and of Letta (.af); Markdown and text. Taking the same files in again adds only what is new, so an interrupted run
    goes on where it stopped.
    """
    from retentia.cli.intake import Intake
    from retentia.ingest import Format, read, total_bytes
    from retentia.model.time import Moment

    Moment.now(zone)  # an unknown zone is refused before anything is read
    with target.rehearse() if dry_run else target.open(create=True) as memory:
        intake = Intake(memory, target.scope, is_rehearsal=dry_run)
        chosen = None if as_format == "auto" else Format(as_format)
        try:
            with _reading_bar(total_bytes(paths)) as advance, interruptible() as check:

                def advance_or_stop(size: int) -> None:
                    check()
                    advance(size)

                intake.take(read(paths, as_format=chosen, zone=zone, progress=advance_or_stop))
            if embed and not dry_run:
                _embed(memory, target)
        except (RetentiaError, KeyboardInterrupt):
            _report(target, intake.tally, waiting=None, dry_run=dry_run)
            raise
        _report(target, intake.tally, dry_run=dry_run, waiting=memory.stats(scope=target.scope).without_vector)
    if not intake.tally.stored and not intake.tally.already_there:
        raise click.exceptions.Exit(_NOTHING_TAKEN)


def _embed(memory: "Memory", target: Target) -> None:
    jobs = memory.stats(scope=target.scope).jobs
    if jobs:
        with progress_bar("embedding", total=jobs) as advance:
            memory.drain(progress=advance)


@contextmanager
def _reading_bar(total: int) -> Iterator[Progress]:
    from rich import progress as bars

    shown = console(stderr=True)
    columns = (bars.TextColumn("reading"), bars.BarColumn(), bars.DownloadColumn(), bars.TimeRemainingColumn())
    with bars.Progress(*columns, console=shown, transient=True, disable=not shown.is_terminal) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda size: bar.advance(task, size)


def _report(target: Target, tally: "Tally", *, waiting: int | None, dry_run: bool) -> None:
    """Say what became of everything; `waiting` passages have no vector yet, None after an interruption."""
    if target.as_json:
        print_json(
            {
                "complete": waiting is not None,
                "dry_run": dry_run,
                "stored": {kind: tally.stored[kind] for kind in _KINDS},
                "already_there": {kind: tally.already_there[kind] for kind in _KINDS},
                "skipped": tally.reasons.total(),
                "reasons": dict(tally.reasons.most_common()),
                "first_skipped": tally.skipped,
                "notes": sorted(tally.notes),
                "without_vector": waiting,
            }
        )
        return
    click.echo(f"{'would be stored' if dry_run else 'stored'}: {_counts(tally.stored)}")
    click.echo(f"already there: {_counts(tally.already_there)}")
    click.echo(f"skipped: {tally.reasons.total():,}")
    for reason, count in tally.reasons.most_common():
        click.echo(f"  {count:,} × {reason}")
    if tally.skipped:
        click.echo(f"the first {len(tally.skipped)} of them:")
    for skipped in tally.skipped:
        click.echo(f"  {skipped}")
    for note in sorted(tally.notes):
        click.echo(f"note: {note}")
    if waiting:
        click.echo(f"{waiting:,} passages are found by words only until they are embedded: `retentia worker`")


def _counts(counted: Counter[str]) -> str:
    return ", ".join(f"{counted[kind]:,} {kind}" for kind in _KINDS if counted[kind]) or "nothing"
