"""Commands about what happened, what is open, how things are done, all that is remembered, and what changed."""

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table
from retentia.model.episode import Promise, Remembered
from retentia.model.record import Importance
from retentia.model.time import Moment

_LIMIT = click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True)


@click.command()
@click.argument("query", default="")
@click.option("--when", help='A time: "last month", "am letzten Dienstag", "минулого тижня", 2026-06.')
@click.option("--since", help="Only what happened at or after this time.")
@click.option("--until", help="Only what happened before this time.")
@click.option("--topic", default="", help="Only what says all of these words, in any form.")
@click.option("--importance", type=click.Choice([one.value for one in Importance]))
@_LIMIT
@targeted
def episodes(
    target: Target,
    query: str,
    when: str | None,
    since: str | None,
    until: str | None,
    topic: str,
    importance: str | None,
    limit: int,
) -> None:
    """Find events, decisions and commitments: by meaning, by time, by topic."""
    times = (since, until) if since or until else when
    with target.open() as memory:
        found = memory.episodes.search_episodes(
            query, scope=target.scope, when=times, topic=topic, importance=importance, limit=limit
        )
    if target.as_json:
        print_json({**_understood(found.since, found.until), "reason": found.reason, "episodes": found.episodes})
        return
    rows = [
        (
            "" if one.record.occurred is None else one.record.occurred.iso()[:10],
            one.record.kind.value,
            " ".join(one.text.split()),
            one.id,
        )
        for one in found
    ]
    if rows:
        print_table("", ("when", "what", "in the words it was said", "id"), rows)
    told = ", ".join(f"{name} {value[:10]}" for name, value in _understood(found.since, found.until).items() if value)
    click.echo(found.reason + (f" ({told})" if told else ""))


@click.command("open-items")
@targeted
def open_items(target: Target) -> None:
    """Show what is promised and not done: what is overdue first."""
    with target.open() as memory:
        found = memory.episodes.list_open_items(scope=target.scope)
    if target.as_json:
        print_json(found)
        return
    _print_promises(found)
    if found:
        click.echo("when it is done: `retentia close ID`, and `retentia close ID --dropped` when nobody means to")


@click.command()
@click.argument("record_id")
@click.option("--dropped", is_flag=True, help="Nobody means to do it any more.")
@click.option("--evidence", metavar="ID", help="The record that shows it.")
@targeted
def close(target: Target, record_id: str, dropped: bool, evidence: str | None) -> None:
    """Say that a commitment is done, or dropped."""
    how = "dropped" if dropped else "done"
    with target.open() as memory:
        done = memory.episodes.close(record_id, scope=target.scope, how=how, evidence=evidence)
    if target.as_json:
        print_json(done)
        return
    click.echo(f"{done.status.value}: {done.what}")


@click.command()
@click.argument("task", default="")
@_LIMIT
@targeted
def procedures(target: Target, task: str, limit: int) -> None:
    """Show how things are done for the person: what is for TASK first, then what applies everywhere."""
    with target.open() as memory:
        found = memory.episodes.procedures_for(task, scope=target.scope, limit=limit)
    if target.as_json:
        print_json(found)
        return
    rows = [(one.task or "everywhere", " ".join(one.text.split()), one.record.status.value, one.id) for one in found]
    print_table("", ("when", "how", "status", "id"), rows)


@click.command()
@click.option("--after", default="", help="The cursor of the page before.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--token-budget", type=click.IntRange(min=1), default=1500, show_default=True, help="Tokens of a page.")
@targeted
def remembered(target: Target, after: str, limit: int, token_budget: int) -> None:
    """List what is believed now, kind by kind, in plain language, with status, source and review date."""
    with target.open() as memory:
        page = memory.episodes.list_what_you_remember(
            scope=target.scope, after=after, limit=limit, token_budget=token_budget
        )
    if target.as_json:
        print_json({"entries": page.entries, "kept": page.kept, "tokens": page.tokens, "cursor": page.cursor})
        return
    for kind, entries in page.by_kind().items():
        click.echo(f"{kind.value}:")
        for one in entries:
            click.echo(f"  {' '.join(one.says.split())}")
            click.echo(f"    {held_in_words(one)}  {one.id}")
    kept = ", ".join(f"{count} {kind}" for kind, count in page.kept.items() if count)
    click.echo(f"word for word: {kept or 'nothing'}")
    if page.cursor:
        click.echo(f"more: `retentia remembered --after {page.cursor}`")


@click.command()
@click.option("--after", default="", metavar="CURSOR", help="Only what changed behind this cursor.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True)
@targeted
def changes(target: Target, after: str, limit: int) -> None:
    """Show which records were added, changed or are gone since a cursor, and the next cursor."""
    with target.open() as memory:
        feed = memory.changes(scope=target.scope, after=after, limit=limit)
    if target.as_json:
        state = {"cursor": feed.cursor, "is_complete": feed.is_complete, "more": feed.more}
        print_json({"entries": feed.entries, **state})
        return
    rows = [
        ("" if one.at is None else _time(one.at), one.kind or "", one.change, one.version, one.author, one.record_id)
        for one in feed
    ]
    if rows:
        print_table("", ("when", "what", "change", "version", "by", "id"), rows)
    if not feed.is_complete:
        click.echo("that is too long ago: read anew what you need, then go on from here")
    click.echo(f"cursor: {feed.cursor}")


def held_in_words(one: Remembered) -> str:
    """Say how firmly something is held, where it applies, from how many records it is known, and until when."""
    parts = [one.status.value, f"applies {one.applies_to or 'everywhere'}"]
    if one.sources:
        parts.append(f"from {one.sources[0]}" + (f" and {len(one.sources) - 1} more" if one.sources[1:] else ""))
    if one.review_at is not None:
        parts.append(f"review {_time(one.review_at)[:10]}")
    if one.expires_at is not None:
        parts.append(f"kept until {_time(one.expires_at)[:10]}")
    return ", ".join(parts)


def _print_promises(found: list[Promise]) -> None:
    rows = [
        (one.status.value, "" if one.due is None else one.due.iso()[:16], one.owner, one.what, one.id) for one in found
    ]
    print_table("", ("status", "due", "who", "what", "id"), rows)


def _understood(since: int | None, until: int | None) -> dict[str, str]:
    times = {"since": since, "until": until}
    return {name: "" if one is None else Moment.at(one).iso() for name, one in times.items()}


def _time(instant: int) -> str:
    return Moment.at(instant).iso()[:16].replace("T", " ")
