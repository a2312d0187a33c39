"""Commands that forget: preview and forget, verify an erasure, look after the ledger."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentia.cli.options import Target, json_object, targeted
from retentia.cli.output import plain, print_json, print_table, tell_erased
from retentia.errors import InvalidInput

if TYPE_CHECKING:
    from retentia.lifecycle.forget import Forgetting, Sample

_SPAN = re.compile(r"(\d+)\s*(m|h|d|w)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@click.command()
@click.argument("request", default="")
@click.option("--id", "ids", multiple=True, help="A record; may be repeated.")
@click.option("--about", default="", help="A topic: what says all of these words, in any form.")
@click.option("--last", help="What was kept in the last 30m, 1h, 2d or 1w.")
@click.option("--since", help="What happened from then on: 2026-06-01, 2026-06 …")
@click.option("--until", help="What happened before then.")
@click.option("--session", help="One session.")
@click.option("--kind", "kinds", multiple=True, help="One kind of record; may be repeated.")
@click.option("--where", help='A filter of the metadata, such as {"project": "atlas"}.')
@click.option("--everything", is_flag=True, help="The whole scope.")
@click.option("--dry-run", is_flag=True, help="Show what would go, and stop.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo-for", metavar="SPAN", help="Keep it out of sight for 12h, 7d or 2w before it is erased.")
@click.option("--receipt", type=click.Path(dir_okay=False, path_type=Path), help="Write the receipt to a file.")
@targeted
def forget(
    target: Target,
    request: str,
    ids: tuple[str, ...],
    about: str,
    last: str | None,
    since: str | None,
    until: str | None,
    session: str | None,
    kinds: tuple[str, ...],
    where: str | None,
    everything: bool,
    dry_run: bool,
    yes: bool,
    undo_for: str | None,
    receipt: Path | None,
) -> None:
    """Show what would be forgotten, ask, and forget exactly that.

    REQUEST is a sentence such as "forget what I said about Anna" or "vergiss die letzte Stunde"; options do the same
    more exactly. With --undo-for, `retentia restore-removed ID` brings it back until the time is over.
    """
    window = None if undo_for is None else _span("--undo-for", undo_for)
    with target.open() as memory:
        planned = memory.plan_forgetting(
            request,
            scope=target.scope,
            ids=ids,
            about=about,
            since=since,
            until=until,
            within=None if last is None else _span("--last", last),
            session=session,
            kinds=kinds,
            where=json_object(where),
            everything=everything,
        )
        goes = len(planned.ids) + (0 if window else len(planned.binned))
        if dry_run or not goes:
            print_json(planned) if target.as_json else _show(planned)
            return
        if not yes:
            _show(planned, err=True)
            count = sum(planned.counts.values()) + (0 if window else len(planned.binned))
            how = "for good" if window is None else f"and purge them after {undo_for}"
            click.confirm(f"forget these {count} {how}?", abort=True, err=True)
        with _new_file(receipt) as write:
            done = memory.forget(planned, undo_for=window)
            write(json.dumps({"tenant": target.tenant, **_as_dict(done)}, indent=2) + "\n")
    print_json(done) if target.as_json else tell_erased(done)


@click.command("forget-person")
@click.option("--yes", is_flag=True, help="Do not ask.")
@targeted
def forget_person(target: Target, yes: bool) -> None:
    """Show all that is kept of the person --user, in every space and of every agent, ask, and forget it."""
    with target.open() as memory:
        planned = memory.plan_forgetting_person(target.user, tenant=target.tenant)
        if not yes:
            for one in planned:
                click.echo(f"{one.scope}: {sum(one.counts.values())} records, {len(one.binned)} in the bin", err=True)
            click.confirm(f"forget all of {target.user!r} for good?", abort=True, err=True)
        done = memory.forget_person(planned)
    if target.as_json:
        print_json(done)
        return
    click.echo(f"erased: {sum(len(one.records) for one in done)} records in {len(done)} scopes")
    for pending in {one.pending for one in done if one.pending}:
        click.echo(f"pending: {pending}")


@click.command("verify-erasure")
@click.argument("receipt", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--text", "texts", multiple=True, help="Words that must not be in any byte of the files; repeatable.")
@targeted
def verify_erasure(target: Target, receipt: Path, texts: tuple[str, ...]) -> None:
    """Look for what is left of an erasure, in every table and every byte; the exit code is 1 when there is anything."""
    try:
        read = json.loads(receipt.read_text("utf-8"))
        tenant, erasure, records = str(read["tenant"]), str(read["id"]), [str(one) for one in read["records"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidInput(
            f"{str(receipt)!r} is not a receipt; make one with `retentia forget --receipt FILE`"
        ) from error
    with target.open() as memory:
        found = memory.verify_erasure(tenant, records, erasure=erasure, texts=texts)
    if target.as_json:
        print_json({**_as_dict(found), "is_clean": found.is_clean})
    else:
        _report(found.rows, "rows with an id of an erased record")
        _report(found.files, "places with one of the texts")
        if found.is_pending:
            click.echo("the erasure is not finished: bytes may be left until the store is opened again")
        if found.in_ledger is False:
            click.echo("the ledger does not name this erasure: a restored backup could bring it back")
        for what in found.unsearched:
            click.echo(f"not searched: {what}")
        click.echo(f"{'clean' if found.is_clean else 'NOT clean'}: {found.records} records looked for")
    if not found.is_clean:
        raise click.exceptions.Exit(1)


@click.group()
def ledger() -> None:
    """The ledger of erasures, which keeps a restored backup from bringing back what was erased."""


@ledger.command("show")
@targeted
def show_ledger(target: Target) -> None:
    """List the erasures and backups the ledger knows."""
    with target.open() as memory:
        entries = memory.ledger_entries()
    if target.as_json:
        print_json(entries)
        return
    rows = [(entry.seq, entry.kind, entry.id, len(entry.records), len(entry.tombstones)) for entry in entries]
    print_table("", ("", "what", "id", "records", "tombstones"), rows)


@ledger.command("replay")
@targeted
def replay_ledger(target: Target) -> None:
    """Erase again what a restored backup brought back."""
    with target.open(replay_erasures=True) as memory:
        count = memory.replayed
    print_json({"erased": count}) if target.as_json else click.echo(f"erased again: {count} records")


@ledger.command("renew")
@click.option("--yes", is_flag=True, help="Do not ask.")
@targeted
def renew_ledger(target: Target, yes: bool) -> None:
    """Accept that the ledger is lost, and begin a new one.

    What was erased before can then come back from a backup made before it was erased, and from reading the same
    sources again.
    """
    from retentia.memory import Memory

    target.check_exists()
    if not yes:
        click.confirm("accept that earlier erasures are no longer protected?", abort=True, err=True)
    Memory.renew_ledger(target.store, ledger=target.ledger)
    click.echo("begun a new ledger")


@contextmanager
def _new_file(path: Path | None) -> Iterator[Callable[[str], object]]:
    """Open a file before anything is done that it is to tell of; remove it again when nothing was done."""
    if path is None:
        yield lambda _: None
        return
    try:
        file = path.open("x", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"the receipt {str(path)!r} cannot be written: {error.strerror}; name a new file") from error
    with file:
        try:
            yield file.write
        except BaseException:
            path.unlink()
            raise


def _span(option: str, text: str) -> timedelta:
    match = _SPAN.fullmatch(text.strip().lower())
    if match is None:
        raise InvalidInput(f"{option} takes a number and m, h, d or w, such as 1h; not {text!r}")
    try:
        return timedelta(**{_UNITS[match[2]]: int(match[1])})
    except (OverflowError, ValueError) as error:
        raise InvalidInput(f"{option} {text!r} is longer than anything is kept") from error


def _as_dict(value: object) -> dict[str, object]:
    read = plain(value)
    return read if isinstance(read, dict) else {}


def in_preview(planned: "Forgetting") -> Iterator[str]:
    """Say line by line what would be forgotten."""
    counts = ", ".join(f"{count} {kind}" for kind, count in planned.counts.items()) or "nothing"
    yield f"would forget: {counts}"
    yield from _listed("such as", planned.samples)
    if planned.along:
        yield f"of these, {len(planned.along)} go because they are known from nothing else"
    if planned.binned:
        yield f"{len(planned.binned)} were removed before; they are purged, unless --undo-for is given"
    for reason, count in planned.kept.items():
        yield f"a legal hold keeps the content of {count}, hidden, until it is released: {reason}"
    yield from _listed("stays, because it has another source", planned.remains)
    yield from _listed("related, but without these words, and not included", planned.related)


def _show(planned: "Forgetting", *, err: bool = False) -> None:
    for line in in_preview(planned):
        click.echo(line, err=err)


def _listed(title: str, samples: "tuple[Sample, ...]") -> Iterator[str]:
    if samples:
        yield f"{title}:"
    for sample in samples:
        yield f"  {sample.kind.value:<10} {sample.id}  {sample.text}"


def _report(found: object, what: str) -> None:
    for name, count in dict(found).items() if isinstance(found, dict) else ():
        click.echo(f"{name}: {count} {what}")
