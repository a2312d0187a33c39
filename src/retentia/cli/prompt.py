"""Commands about prompts: assemble the next one, and see what an earlier one was made of."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import plain, print_json, print_table
from retentia.errors import InvalidInput
from retentia.model.cost import CostReport
from retentia.model.manifest import Shown, Why
from retentia.model.price import Price, read_prices

if TYPE_CHECKING:
    from retentia.working.context import Context, Layout

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_LONGEST = 80


@click.command()
@click.argument("request")
@click.option("--session", default="default", show_default=True)
@click.option("--budget", type=click.IntRange(min=1), default=1500, show_default=True, help="Tokens in all.")
@click.option("--role", default="", help="Role and rules for the model.")
@click.option("--layout", type=click.Choice(["standard", "cache"]), default="standard", show_default=True)
@click.option("--format", "as_format", type=click.Choice(["text", "openai", "anthropic"]), default="text")
@click.option("--price", metavar="IN,OUT[,CACHED]", help="What a million tokens cost, to tell what the call costs.")
@click.option("--prices", type=_FILE, help="A TOML or JSON file with prices of models.")
@click.option("--calls", type=click.IntRange(min=1), default=1, show_default=True, help="Calls in a day, to price.")
@click.option("--tokens-out", type=click.IntRange(min=0), default=0, help="Tokens of an answer, to price.")
@click.option("--explain", is_flag=True, help="Say what was kept and what was left out, instead of the prompt.")
@targeted
def context(
    target: Target,
    request: str,
    session: str,
    budget: int,
    role: str,
    layout: "Layout",
    as_format: str,
    price: str | None,
    prices: Path | None,
    calls: int,
    tokens_out: int,
    explain: bool,
) -> None:
    """Assemble the next prompt: recalled memories, pinned and recent messages, the request; and tell what it costs."""
    from retentia.working.context import ContextSettings
    from retentia.working.settings import WorkingSettings

    table = _table(price, prices)
    with target.open(working=WorkingSettings(context=ContextSettings(layout=layout))) as memory:
        made = memory.context(request, scope=target.scope, session=session, budget=budget, role=role)
    costs = {name: made.cost(one, tokens_out=tokens_out) for name, one in table.items()}
    if target.as_json:
        priced = {name: {"call": cost, "day": cost.times(calls)} for name, cost in costs.items()}
        print_json({**_json(made), **({"costs": priced} if table else {}), "prompt": _written(made, as_format)})
        return
    if explain:
        click.echo(made.explain())
    elif as_format == "text":
        click.echo(made.text())
        rows: list[tuple[str, object]] = list(made.tokens_by_part.items())
        rows += [("in all", f"{made.total_tokens} of {budget}"), ("same in the next call", made.cacheable_tokens)]
        print_table("", ("part", "tokens (estimated)"), [*rows, ("whole session", made.full_history_tokens)])
    else:
        print_json(_written(made, as_format))
    if table:
        shown = [(name, calls, *_figures(cost.times(calls))) for name, cost in costs.items()]
        columns = ("price", "calls", "as it is", "with a cache", "whole session", "whole, with a cache")
        print_table("", columns, shown)


@click.command()
@click.argument("reply_id")
@click.option("--replay", is_flag=True, help="Write the prompt again, of what is still there.")
@click.option("--role", default="", help="Role and rules of the prompt, which are not kept.")
@targeted
def why(target: Target, reply_id: str, replay: bool, role: str) -> None:
    """Show what the model saw when it gave a reply that was added with its context."""
    with target.open() as memory:
        found = memory.why(reply_id, scope=target.scope)
        again = memory.replay(reply_id, scope=target.scope, role=role) if replay else None
    if target.as_json:
        print_json(found if again is None else {**_json(again), "prompt": again.text()})
        return
    if again is not None:
        click.echo(again.text())
        return
    _print_why(found)


def _print_why(found: Why) -> None:
    click.echo(f"reply {found.reply.id}: {_line(found.reply.text)}")
    rows = [(one.seen.part, one.seen.label or one.seen.record_id or "", *seen_in_words(one)) for one in found.shown]
    print_table("", ("part", "id", "kind", "score", "what it says"), rows)
    told = found.manifest
    click.echo(f"{told.tokens} of {told.budget} tokens ({told.counted}); {told.missing} messages named as not shown")


def seen_in_words(one: Shown) -> tuple[str, str, str]:
    """Return of something that was shown its kind, its score, and what it says, as cells of a table."""
    score = f"{one.seen.score:.2f}" if one.seen.score else ""
    if one.seen.record_id is None:
        return one.seen.kind, score, "(erased since)"
    if one.record is None:
        return one.seen.kind, score, "(made anew or removed since)"
    mark = "(changed since) " if one.is_changed else ""
    return one.seen.kind, score, mark + _line(one.record.text)


def _table(price: str | None, prices: Path | None) -> dict[str, Price]:
    """Return the prices to tell costs by, each with its name; raise InvalidInput."""
    table = {} if prices is None else read_prices(prices)
    if price is None:
        return table
    try:
        paid_in, paid_out, *more = map(float, price.split(","))
        (cached,) = more or (None,)
    except ValueError as error:
        raise InvalidInput(f"--price takes IN,OUT or IN,OUT,CACHED for a million tokens, not {price!r}") from error
    given = Price(input_per_million=paid_in, output_per_million=paid_out, cached_input_per_million=cached)
    return {price: given, **table}


def _figures(report: CostReport) -> Iterator[str]:
    whole = (report.full_history_cost, report.cached_full_history_cost)
    yield from (f"{cost:.6f}" for cost in (report.cost, report.cached_cost, *whole))


def _json(made: "Context") -> dict[str, object]:
    found = plain(made)
    return found if isinstance(found, dict) else {}


def _written(made: "Context", as_format: str) -> object:
    match as_format:
        case "openai":
            return made.openai_messages()
        case "anthropic":
            return made.anthropic_prompt(cache_control=True)
    return made.text()


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
