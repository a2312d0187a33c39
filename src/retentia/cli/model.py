"""Commands about chat models: check one, see what was spent, limit it."""

from datetime import date, timedelta
from pathlib import Path

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table
from retentia.errors import InvalidInput
from retentia.model.price import PRICES, price_of, read_prices
from retentia.model.spending import MICRO, Ceiling

_FAILED = 1
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("model")
def model_group() -> None:
    """Check a chat model, see what models were asked, and limit what they may take."""


@model_group.command()
@click.argument("spec")
@click.option("--key", default="", envvar="RETENTIA_MODEL_KEY", help="The key; safer in RETENTIA_MODEL_KEY.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def check(spec: str, key: str, timeout: float, as_json: bool) -> int:
    """Ask a model, such as openai:MODEL@URL, three short questions: does it answer, stream, and keep to a schema?"""
    from retentia.providers.chat import ChatOptions, resolve
    from retentia.providers.chat.check import check_model

    model = resolve(spec, options=ChatOptions(api_key=key, timeout_seconds=timeout, attempts=1))
    if model is None:
        raise InvalidInput("'none' is no model to check; name one, such as openai:MODEL@URL")
    found = check_model(model)
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(found.in_words()))
    return 0 if found.answers else _FAILED


@model_group.command()
@click.option("--days", type=click.IntRange(min=1), default=30, show_default=True, help="Today and before, in UTC.")
@click.option("--prices", type=_FILE, help="Price what was counted by this TOML or JSON file.")
@targeted
def usage(target: Target, days: int, prices: Path | None) -> None:
    """Show what a tenant's models were asked, by day, model and purpose, and what it cost."""
    with target.open() as memory:
        found = memory.spending.usage(target.tenant, days=days)
    table = PRICES if prices is None else read_prices(prices)
    rows = []
    for row in found:
        price = price_of(row.model, table)
        cost = row.cost if price is None else price.micros(tokens_in=row.tokens_in, tokens_out=row.tokens_out)
        rows.append({**row._asdict(), "day": _day(row.day), "cost": cost / MICRO if cost or price else None})
    if target.as_json:
        print_json(rows)
        return
    shown = [
        (
            row["day"],
            row["model"],
            row["purpose"],
            f"{row['calls']:,}",
            f"{row['tokens_in']:,}",
            f"{row['tokens_out']:,}",
            "no price" if row["cost"] is None else f"{row['cost']:.6f}",
        )
        for row in rows
    ]
    print_table(target.tenant, ("day", "model", "purpose", "calls", "tokens in", "tokens out", "cost"), shown)


@model_group.command()
@click.option("--calls", type=click.IntRange(min=0), help="Calls in a day.")
@click.option("--tokens", type=click.IntRange(min=0), help="Tokens in a day, read and written together.")
@click.option("--cost", type=click.FloatRange(min=0), help="Money in a day, in the currency of your price table.")
@click.option("--none", "lift", is_flag=True, help="Lift the ceiling.")
@targeted
def ceiling(target: Target, calls: int | None, tokens: int | None, cost: float | None, lift: bool) -> None:
    """Show or set what a tenant's models may take in a UTC day; calls beyond it are refused."""
    chosen = Ceiling(calls=calls, tokens=tokens, cost=cost)
    if lift and chosen.is_set:
        raise click.UsageError("use either --none or limits")
    with target.open() as memory:
        if lift or chosen.is_set:
            memory.spending.set_ceiling(chosen, tenant=target.tenant)
        found = memory.spending.ceiling(target.tenant)
    if target.as_json:
        print_json(found)
        return
    for name, limit in (("calls", found.calls), ("tokens", found.tokens), ("cost", found.cost)):
        click.echo(f"{name} in a day: {'no limit' if limit is None else f'{limit:,}'}")


def _day(days: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=days)).isoformat()
