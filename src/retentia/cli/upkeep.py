"""Commands that look after a store: init, stats, doctor, reindex, reembed."""

from pathlib import Path

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table, progress_bar
from retentia.errors import InvalidInput

_FAULTY = 1
_MEBIBYTE = 1 << 20


@click.command()
@targeted
def init(target: Target) -> None:
    """Create a store, or check that it can be opened."""
    is_new = "://" not in target.store and not Path(target.store).exists()
    with target.open(create=True) as memory:
        found = memory.stats(scope=target.scope)
    if target.as_json:
        print_json({"store": target.store, "created": is_new, "embedder": found.embedder})
    else:
        click.echo(f"{'created' if is_new else 'opened'} {target.store} (embedder: {found.embedder or 'none'})")
        click.echo("next: `retentia ingest FILE`, or `retentia remember 'something'`")


@click.command()
@targeted
def stats(target: Target) -> None:
    """Count what a scope holds, what waits, and what it costs."""
    with target.open() as memory:
        found = memory.stats(scope=target.scope)
    if target.as_json:
        print_json(found)
        return
    rows: list[tuple[str, object]] = [(kind, f"{count:,}") for kind, count in found.records.items()]
    rows += [
        ("in the bin, to be restored or purged", f"{found.in_bin:,}"),
        ("passages", f"{found.passages:,}"),
        ("  found by words only so far", f"{found.without_vector:,}"),
        ("jobs waiting in this tenant", f"{found.jobs:,}"),
        ("store on disk, all tenants", f"{found.store_bytes / _MEBIBYTE:.1f} MiB"),
        ("embedder", found.embedder or "none"),
    ]
    print_table(str(target.scope), ("what", "how much"), rows)


@click.command()
@targeted
def doctor(target: Target) -> None:
    """Examine the store and say what to do. Exit code 1 when something is at fault."""
    with target.open(check_index=False) as memory:
        findings = memory.doctor()
    if target.as_json:
        print_json(findings)
    else:
        rows = [(found.level, found.check, found.text, found.remedy) for found in findings]
        print_table(target.store, ("", "check", "found", "what to do"), rows)
    if any(found.level == "fault" for found in findings):
        raise click.exceptions.Exit(_FAULTY)


@click.command()
@targeted
def reindex(target: Target) -> None:
    """Make the search index anew from the records. Safe to interrupt and run again."""
    with target.open(check_index=False) as memory, progress_bar("records") as advance:
        done = memory.reindex(progress=advance)
        memory.drain()
    _done(target, "records", done)


@click.command()
@targeted
def repair(target: Target) -> None:
    """Make everything derived anew from the records, queue again what lost its job, and finish what was interrupted.

    Records themselves are never changed. Safe to interrupt and run again.
    """
    with target.open(check_index=False) as memory, progress_bar("records") as advance:
        records = memory.reindex(progress=advance)
        queued = memory.sweep()
        done = memory.drain()
        left = [finding for finding in memory.doctor() if finding.level in ("fault", "warning")]
    if target.as_json:
        print_json({"records": records, "queued": queued, "jobs": done, "left": left})
    else:
        click.echo(f"indexed {records:,} records, queued {queued:,} again, ran {done:,} jobs")
        for finding in left:
            click.echo(f"left: {finding.text}; {finding.remedy}")
    if any(finding.level == "fault" for finding in left):
        raise click.exceptions.Exit(_FAULTY)


@click.command()
@click.option("--to", "new", required=True, help="The embedder to move to: use, e5, openai:MODEL@URL …")
@targeted
def reembed(target: Target, new: str) -> None:
    """Move the store to another embedder; the old one answers until the new one is complete."""
    with target.open(check_index=False) as memory:
        waiting = memory.stats(scope=target.scope).passages
        with progress_bar("passages", total=waiting or None) as advance:
            done = memory.reembed(new, progress=advance)
    _done(target, "passages", done)


def _done(target: Target, what: str, count: int) -> None:
    if target.as_json:
        print_json({what: count})
    else:
        click.echo(f"done: {count:,} {what}")


@click.command()
@targeted
def encrypt(target: Target) -> None:
    """Encrypt a SQLite store in place, with the key that the environment names.

    Set RETENTIA_KEY, RETENTIA_KEY_FILE or RETENTIA_KEY_COMMAND, and keep the key: without it nothing can be read.
    """
    from retentia.lifecycle.encrypt import encrypt as encrypt_file
    from retentia.store.key import find_key
    from retentia.store.open import dialect_of
    from retentia.store.sqlite import SqliteDialect

    key, dialect = find_key(None), dialect_of(target.store)
    if key is None:
        raise InvalidInput("set RETENTIA_KEY, RETENTIA_KEY_FILE or RETENTIA_KEY_COMMAND to the key first")
    if not isinstance(dialect, SqliteDialect):
        raise InvalidInput("only SQLite files are encrypted here; PostgreSQL encrypts its disks by other means")
    with progress_bar("encrypting") as progress:
        encrypt_file(dialect, key, progress=progress)
    print_json({"encrypted": str(dialect.path)}) if target.as_json else click.echo(f"encrypted {dialect.path}")
