"""Commands about tool calls: tools seen, log, series, failures, result, rules."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from retentia.cli.options import Target, read_toml, targeted
from retentia.cli.output import print_json, print_table
from retentia.errors import InvalidInput
from retentia.model.message import JSON

_SESSION = click.option("--session", help="Only this session.")


@click.group("tools")
def tools_group() -> None:
    """Tool calls that were made, whether their results still hold; and the tools that a request needs."""


@tools_group.command()
@click.argument("name")
@click.argument("arguments", required=False)
@click.option("--fresh-for", type=click.FloatRange(min=0), metavar="SECONDS", help="Replaces the rule of the tool.")
@_SESSION
@targeted
def seen(target: Target, name: str, arguments: str | None, fresh_for: float | None, session: str | None) -> None:
    """Tell whether a call was made before, with its result and whether that still holds.

    ARGUMENTS are JSON, such as '{"symbol": "TSLA"}'.
    """
    holds = None if fresh_for is None else timedelta(seconds=fresh_for)
    with target.open() as memory:
        found = memory.tools.seen(name, _json(arguments), scope=target.scope, session=session, fresh_for=holds)
    if target.as_json:
        told = {"decision": type(found.decision).__name__, "count": found.count, "id": found.id, "at": found.at}
        print_json(
            {**told, "age": found.ago, "status": found.status, "condensed": found.condensed, "text": found.text()}
        )
        return
    click.echo(found.text())
    if found:
        times = "once" if found.count == 1 else f"{found.count} times"
        click.echo(f"called {times}; the whole result: `retentia tools result {found.id}`")


@tools_group.command()
@click.option("--name", help="Only this tool.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@_SESSION
@targeted
def log(target: Target, name: str | None, limit: int, session: str | None) -> None:
    """List the last calls, the newest first."""
    from retentia.tools.condense import condense, written

    with target.open() as memory:
        found = memory.tools.log(scope=target.scope, name=name, session=session, limit=limit)
    if target.as_json:
        print_json(found)
        return
    rows = [
        (
            one.id,
            _time(one.called_at),
            one.name,
            condense(written(one.arguments), 80),
            one.status,
            condense(one.error or one.result, 120),
        )
        for one in found
    ]
    print_table(str(target.scope), ("id", "when", "tool", "arguments", "status", "result"), rows)


@tools_group.command()
@click.argument("name")
@click.argument("arguments", required=False)
@click.option("--path", help="The field, such as price or rows.0.total; without it the only number of a result.")
@_SESSION
@targeted
def series(target: Target, name: str, arguments: str | None, path: str | None, session: str | None) -> None:
    """Show how a value in the results of a call moved, the oldest first."""
    with target.open() as memory:
        found = memory.tools.series(name, _json(arguments), scope=target.scope, path=path, session=session)
    if target.as_json:
        print_json({"text": found.text(), "change": found.change, "points": found.points})
        return
    rows = [
        (one.id, _time(one.called_at), one.value, "" if one.change is None else f"{one.change:+.12g}")
        for one in found.points
    ]
    print_table(name, ("id", "when", path or "value", "change"), rows)
    click.echo(found.text() or "no such value")


@tools_group.command()
@click.option("--name", help="Only this tool.")
@_SESSION
@targeted
def failures(target: Target, name: str | None, session: str | None) -> None:
    """List what failed by tool and cause, the most frequent first."""
    with target.open() as memory:
        found = memory.tools.failures(scope=target.scope, name=name, session=session)
    if target.as_json:
        print_json(found)
        return
    rows = [
        (one.name, one.cause, f"{one.count:,}", _time(one.last_at), "works again" if one.is_over else "", one.message)
        for one in found
    ]
    print_table(str(target.scope), ("tool", "cause", "times", "last", "since then", "message"), rows)


@tools_group.command()
@click.argument("record_id")
@targeted
def result(target: Target, record_id: str) -> None:
    """Print the result of one call whole."""
    from retentia.tools.condense import written

    with target.open() as memory:
        found = memory.tools.result(record_id, scope=target.scope)
    if target.as_json:
        print_json(found)
    else:
        click.echo(found if isinstance(found, str) else written(found))


@tools_group.command()
@click.option(
    "--set", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A TOML file of rules."
)
@click.option("--reset", is_flag=True, help="Return to the shipped rules alone.")
@targeted
def rules(target: Target, file: Path | None, reset: bool) -> None:
    """Show how long the results of which tools hold, or put a tenant's own rules before the shipped ones."""
    if file is not None and reset:
        raise click.UsageError("use either --set or --reset")
    with target.open() as memory:
        if file is not None or reset:
            memory.tools.set_rules(None if file is None else read_toml(file), tenant=target.tenant)
        found = memory.tools.rules(target.tenant).rules
    if target.as_json:
        print_json(
            [{"name": one.name, "tools": one.tools, "holds": one.told_length, "effect": one.effect} for one in found]
        )
        return
    rows = [(one.name, " ".join(one.tools), one.told_length, one.effect.value) for one in found]
    print_table(target.tenant, ("rule", "tools", "holds", "effect"), rows)


def _json(text: str | None) -> JSON:
    if text is None:
        return None
    try:
        found: JSON = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f'arguments are JSON, such as \'{{"symbol": "TSLA"}}\': {error}') from error
    return found


def _time(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S}"
