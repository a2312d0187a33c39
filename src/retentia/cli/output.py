"""What commands print: tables for people, JSON for programs, progress on the error stream."""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING

import click

from retentia.model.progress import Progress
from retentia.model.time import Moment

if TYPE_CHECKING:
    from rich.console import Console

    from retentia.lifecycle.erase import Erasure


def plain(value: object) -> object:
    """Turn our values into what JSON knows; moments become ISO 8601."""
    match value:
        case Moment():
            return value.iso()
        case Enum():
            return value.value
        case bytes():
            return value.hex()
        case Mapping():
            return {str(key): plain(entry) for key, entry in value.items()}
        case str() | int() | float() | None:
            return value
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        case Iterable():
            return [plain(entry) for entry in value]
    return str(value)


def tell_erased(done: "Erasure") -> None:
    """Print what an erasure or a removal did."""
    for line in erased_in_words(done):
        click.echo(line)


def erased_in_words(done: "Erasure") -> Iterator[str]:
    """Say what an erasure or a removal took, who has let go of it in memory, and what is still to come."""
    removed = ", ".join(f"{count} {name}" for name, count in done.removed.items()) or "nothing"
    if done.restorable_until is None:
        yield f"erased: {removed}"
    else:
        yield f"removed: {removed}"
        until = Moment.at(done.restorable_until).iso()[:16]
        yield f"until {until} `retentia restore-removed {done.id}` brings it back"
    if done.missing:
        yield f"not there: {', '.join(done.missing)}"
    if done.processes > 1:
        yield f"let go of in memory: {done.acknowledged} of {done.processes} processes"
    if done.pending:
        yield f"pending: {done.pending}"


def print_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(plain(value), ensure_ascii=False, indent=2))


def console(*, stderr: bool = False) -> "Console":
    """Return a console that fits the terminal."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=False)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; texts are shown as they are, never as markup."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title) if title else None, title_justify="left")
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console().print(table)


@contextmanager
def progress_bar(what: str, *, total: int | None = None) -> Iterator[Progress]:
    """Show progress on the error stream where a person is looking; yields a function that takes steps done."""
    from rich import progress as bars

    shown = console(stderr=True)
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=shown, transient=True, disable=not shown.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)
