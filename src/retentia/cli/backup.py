"""Commands for backups: make one, put one back, and try whether it could be put back."""

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, progress_bar
from retentia.model.time import Moment

if TYPE_CHECKING:
    from retentia.lifecycle.backup import Manifest

_FILE = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))


@click.group()
def backup() -> None:
    """Copies of a whole store that can be put back, and that end."""


@backup.command()
@_FILE
@click.option(
    "--days", type=click.IntRange(1, 36_500), default=30, show_default=True, help="How long it may be put back."
)
@targeted
def create(target: Target, file: Path, days: int) -> None:
    """Write a backup of the whole store into a new FILE."""
    from retentia.store.key import find_key

    with target.open() as memory, progress_bar("copying") as progress:
        made = memory.backup(file, keep_for=timedelta(days=days), key=find_key(None), progress=progress)
    print_json(made) if target.as_json else click.echo(f"wrote {file}: {_described(made)}")


@backup.command()
@_FILE
@targeted
def restore(target: Target, file: Path) -> None:
    """Put a backup into the store named by --store, which must be new or empty, and repeat later erasures."""
    from retentia.lifecycle.backup import restore as put_back
    from retentia.store.key import find_key
    from retentia.store.open import find_keys

    key, content_key = find_key(None), find_keys(target.store).content_key
    with progress_bar("copying") as progress:
        found = put_back(file, target.store, key=key, content_key=content_key, progress=progress)
    with target.open(replay_erasures=True) as memory:
        replayed = memory.replayed
    if target.as_json:
        print_json({"restored": found, "erased_again": replayed})
    else:
        click.echo(f"restored {target.store}: {_described(found)}; erased again: {replayed} records")


@backup.command()
@_FILE
@targeted
def drill(target: Target, file: Path) -> None:
    """Put a backup into a folder that goes, and check it there as `doctor` would."""
    from retentia.lifecycle.backup import restore as put_back
    from retentia.memory import Memory
    from retentia.store.key import find_key
    from retentia.store.open import dialect_of

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "memory.db")
        with progress_bar("copying") as progress:
            found = put_back(file, store, key=find_key(None), progress=progress)
        ledger = dialect_of(target.store).ledger_path if target.ledger == "auto" else target.ledger
        with Memory.open(store, embedder=None, worker=False, ledger=ledger, replay_erasures=True) as memory:
            problems = [finding for finding in memory.doctor() if finding.level == "fault"]
    if target.as_json:
        print_json({"backup": found, "problems": problems})
    else:
        click.echo(f"{'could be restored' if not problems else 'NOT sound'}: {_described(found)}")
        for problem in problems:
            click.echo(f"- {problem.text}; {problem.remedy}")
    if problems:
        raise click.exceptions.Exit(1)


def _described(found: "Manifest") -> str:
    made, ends = (Moment.at(at).iso()[:16] for at in (found.created_at, found.expires_at))
    return f"made {made}, {found.size / 1e6:.1f} MB, may be restored until {ends}"
