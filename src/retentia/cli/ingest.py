"""`retentia ingest`: take chats, exports and documents in from files."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import console, print_json, progress_bar
from retentia.errors import RetentiaError
from retentia.model.progress import Progress

if TYPE_CHECKING:
    from retentia.cli.intake import Tally
    from retentia.memory import Memory

FORMATS = ("auto", "jsonl", "json", "chatgpt", "claude", "markdown", "text")
_KINDS = ("messages", "tool calls", "documents")
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
@targeted
def ingest(target: Target, paths: tuple[Path, ...], as_format: str, zone: str, embed: bool) -> None:
    """Take in chats (JSONL, JSON), ChatGPT and Claude exports, Markdown and text: files, folders or zip archives.

    Taking the same files in again adds only what is new, so an interrupted run goes on where it stopped.
    """
    from retentia.cli.intake import Intake
    from retentia.ingest import Format, read, total_bytes
    from retentia.model.time import Moment

    Moment.now(zone)  # an unknown zone is refused before anything is read
    with target.open(create=True) as memory:
        intake = Intake(memory, target.scope)
        chosen = None if as_format == "auto" else Format(as_format)
        try:
            with _reading_bar(total_bytes(paths)) as advance:
                intake.take(read(paths, as_format=chosen, zone=zone, progress=advance))
            if embed:
                _embed(memory, target)
        except (RetentiaError, KeyboardInterrupt):
            _report(target, intake.tally, waiting=None)
            raise
        _report(target, intake.tally, waiting=memory.stats(scope=target.scope).without_vector)
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


def _report(target: Target, tally: "Tally", *, waiting: int | None) -> None:
    """Say what became of everything; `waiting` passages have no vector yet, None after an interruption."""
    if target.as_json:
        print_json(
            {
                "complete": waiting is not None,
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
    click.echo(f"stored: {_counts(tally.stored)}")
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
