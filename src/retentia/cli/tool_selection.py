"""Commands about registered tools: tools register, list, select, used, forget."""

import json
from pathlib import Path

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json
from retentia.cli.tools import tools_group
from retentia.errors import InvalidInput

__all__ = ["tools_group"]

_SERVER = click.option("--server", default="", help="The server of the tools; tells those of one name apart.")


@tools_group.command("register")
@click.argument("file", type=click.Path(path_type=Path))
@_SERVER
@click.option("--always", multiple=True, metavar="NAME", help="Put this tool into every selection; repeatable.")
@click.option("--replace", is_flag=True, help="Erase the tools of this server that are not in the file.")
@targeted
def register(target: Target, file: Path, server: str, always: tuple[str, ...], replace: bool) -> None:
    """Register the tools of a JSON FILE: schemas in the form of OpenAI, Anthropic or MCP, one or many."""
    given = _json(file)
    with target.open(create=True) as memory:
        done = memory.tools.register(given, scope=target.scope, server=server, always=always, replace=replace)
        memory.drain()
    if target.as_json:
        print_json(done)
        return
    counts = (("new", done.new), ("changed", done.changed), ("as they were", done.known), ("erased", done.removed))
    click.echo(", ".join(f"{len(names)} {what}" for what, names in counts))
    if done.without_description:
        click.echo(f"found by their names alone, without a description: {', '.join(done.without_description)}")


@tools_group.command("list")
@targeted
def listing(target: Target) -> None:
    """List the registered tools."""
    with target.open() as memory:
        found = memory.tools.registered(scope=target.scope)
    if target.as_json:
        print_json([{"name": one.name, "server": one.server, "always": one.is_always, "id": one.id} for one in found])
        return
    for one in found:
        at = f"{one.server}: " if one.server else ""
        click.echo(f"{at}{' '.join(one.name.split())}{' (always in)' if one.is_always else ''}")
    click.echo(f"{len(found)} registered", err=True)


@tools_group.command("select")
@click.argument("request")
@click.option("-k", type=click.IntRange(min=0), default=5, show_default=True, help="So many beside those always in.")
@targeted
def select(target: Target, request: str, k: int) -> None:
    """Select the tools that REQUEST needs, and say why."""
    with target.open() as memory:
        found = memory.tools.select(request, k, scope=target.scope)
    if target.as_json:
        print_json(found.tools)
        return
    for one in found:
        click.echo(f"{one.score:.2f}  {' '.join(one.name.split())}")
        click.echo(f"      {one.reason}")
    click.echo(f"{found.tokens:,} tokens instead of the {found.all_tokens:,} of all {found.registered}", err=True)


@tools_group.command("used")
@click.argument("request")
@click.argument("names", nargs=-1, required=True)
@targeted
def used(target: Target, request: str, names: tuple[str, ...]) -> None:
    """Say which tools served REQUEST: like requests get them from now on. Logged calls teach this by themselves."""
    with target.open() as memory:
        record_id = memory.tools.used(request, names, scope=target.scope)
        memory.drain()
    if target.as_json:
        print_json({"id": record_id})
        return
    click.echo(f"kept: {record_id}")


@tools_group.command("forget")
@click.argument("name")
@_SERVER
@targeted
def forget(target: Target, name: str, server: str) -> None:
    """Erase a registered tool."""
    with target.open() as memory:
        memory.tools.forget(name, scope=target.scope, server=server)
    if target.as_json:
        print_json({"forgotten": name})
        return
    click.echo(f"forgotten: {name}")


def _json(file: Path) -> object:
    try:
        return json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{str(file)!r} is no JSON: {error}") from error
