"""Commands about keeping: personal, review, keep, retention, quota, growth, policy."""

from datetime import UTC, datetime
from pathlib import Path

import click

from retentia.cli.options import Target, read_toml, targeted
from retentia.cli.output import print_json, print_table
from retentia.model.record import Record


@click.command()
@click.option("--ids", "kind", metavar="KIND", help="Print the ids of the records with this kind: email, phone …")
@targeted
def personal(target: Target, kind: str | None) -> None:
    """Count the personal data of a scope by kind."""
    with target.open() as memory:
        if kind is not None:
            ids = memory.personal_records(kind, scope=target.scope)
            print_json(ids) if target.as_json else click.echo("\n".join(ids) or "none")
            return
        found = memory.personal_data(scope=target.scope)
    if target.as_json:
        print_json({kind.value: count for kind, count in found.items()})
        return
    rows = [(kind.value, f"{count.spans:,}", f"{count.records:,}") for kind, count in found.items()]
    print_table(str(target.scope), ("kind", "found", "in records"), rows)


@click.command()
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@targeted
def review(target: Target, limit: int) -> None:
    """List records whose review is due: keep them with `retentia keep ID --forever`, or erase them."""
    with target.open() as memory:
        found = memory.due_for_review(scope=target.scope, limit=limit)
    if target.as_json:
        print_json(found)
        return
    rows = [
        (record.id, record.kind.value, _day(record.review_at), _day(record.expires_at), _line(record))
        for record in found
    ]
    print_table(str(target.scope), ("id", "kind", "due since", "expires", "text"), rows)


@click.command()
@click.argument("record_id")
@click.option("--until", help="Keep it until then: 2030, 2030-06, 2030-06-01 …")
@click.option("--forever", is_flag=True, help="Keep it without an end.")
@targeted
def keep(target: Target, record_id: str, until: str | None, forever: bool) -> None:
    """Keep one record longer, or shorter, than the schedule says."""
    with target.open() as memory:
        kept = memory.keep(record_id, scope=target.scope, until=until, forever=forever)
    if target.as_json:
        print_json(kept)
    else:
        how_long = "for ever" if kept.expires_at is None else f"until {_day(kept.expires_at)}"
        click.echo(f"kept {how_long}: {kept.id}")


@click.command()
@click.option(
    "--set", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A TOML file of rules."
)
@click.option("--reset", is_flag=True, help="Return to the shipped schedule.")
@targeted
def retention(target: Target, file: Path | None, reset: bool) -> None:
    """Show how long a tenant keeps what, or set it for what is written from now on."""
    if file is not None and reset:
        raise click.UsageError("use either --set or --reset")
    with target.open() as memory:
        if file is not None or reset:
            memory.keeping.set_schedule(None if file is None else read_toml(file), tenant=target.tenant)
        schedule = memory.keeping.schedule(target.tenant)
    if target.as_json:
        print_json(schedule.as_data())
        return
    rows = [
        (
            rule.name,
            ", ".join((*sorted(rule.kinds), *sorted(rule.statuses), *sorted(rule.importance))) or "everything else",
            _months(rule.review_after_months),
            _months(rule.expires_after_months),
        )
        for rule in schedule.rules
    ]
    print_table(target.tenant, ("rule", "for", "review after", "erased after"), rows)


@click.command()
@click.option("--max-records", type=click.IntRange(min=0), help="Records of one user in all scopes.")
@click.option("--max-bytes", type=click.IntRange(min=0), help="Bytes of their texts in UTF-8.")
@click.option("--none", "lift", is_flag=True, help="Lift the quota.")
@targeted
def quota(target: Target, max_records: int | None, max_bytes: int | None, lift: bool) -> None:
    """Show or set how much each user of a tenant may have."""
    with target.open() as memory:
        if lift or max_records is not None or max_bytes is not None:
            memory.keeping.set_quota(tenant=target.tenant, max_records=max_records, max_bytes=max_bytes)
        found = memory.keeping.quota(target.tenant)
    if target.as_json:
        print_json(found)
        return
    for name, limit in (("records", found.max_records), ("bytes", found.max_bytes)):
        click.echo(f"{name} of one user: {'no limit' if limit is None else f'{limit:,}'}")


@click.command()
@click.option("--all-users", is_flag=True, help="Every user of the tenant, not only --user.")
@targeted
def growth(target: Target, all_users: bool) -> None:
    """Show how many records and bytes of text a user has, by the month in which they were written."""
    with target.open() as memory:
        found = memory.keeping.growth(target.tenant, user=None if all_users else target.user)
    if target.as_json:
        print_json(found)
        return
    rows = [(one.user, one.month, f"{one.records:,}", f"{one.bytes:,}", f"{one.in_bin:,}") for one in found]
    print_table(target.tenant, ("user", "month", "records", "bytes", "in bin"), rows)


@click.command()
@targeted
def policy(target: Target) -> None:
    """Print the policy of each layer: purpose, what enters, who reads, source, correction, retention, deletion."""
    with target.open() as memory:
        layers = memory.keeping.policy(target.tenant)
    if target.as_json:
        print_json(layers)
        return
    for layer in layers:
        click.echo(layer.name)
        for name in ("purpose", "enters", "readers", "source", "correction", "retention", "deletion"):
            click.echo(f"  {name}: {getattr(layer, name)}")


def _day(microseconds: int | None) -> str:
    return "never" if microseconds is None else f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d}"


def _months(months: int | None) -> str:
    return "never" if months is None else f"{months} months"


def _line(record: Record) -> str:
    return " ".join(record.text.split())[:80]
