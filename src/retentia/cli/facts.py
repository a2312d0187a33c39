"""Commands about what is believed of a person, and the person's decisions about it."""

from collections.abc import Iterator

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table
from retentia.model.belief import Belief, Profile, Proposal
from retentia.model.candidate import PERSON
from retentia.model.time import Moment

_SUBJECT = click.option("--subject", default=PERSON, show_default=True, help="Of whom; a name for somebody else.")
_VERSION = click.option("--expected-version", type=int, help="Refuse when it was changed since you read this version.")
_REASON = click.option("--reason", default="", help="Why; it stays in the history.")


@click.command()
@_SUBJECT
@click.option("--as-of", help="What held at this time: 2026-06-01, 2026-06, 2026 …")
@click.option("--known-at", help="As it was known at this time.")
@targeted
def profile(target: Target, subject: str, as_of: str | None, known_at: str | None) -> None:
    """Show what is believed of a person, now or at another time."""
    with target.open() as memory:
        found = memory.facts.profile(scope=target.scope, subject=subject, as_of=as_of, known_at=known_at)
        waiting = len(memory.facts.inbox(scope=target.scope))
    if target.as_json:
        print_json({"subject": found.subject, "values": found.values(), "beliefs": found.beliefs})
        return
    _print_profile(found)
    if waiting:
        click.echo(f"{waiting} more {'waits' if waiting == 1 else 'wait'} for your decision: `retentia inbox`")


@click.command()
@targeted
def inbox(target: Target) -> None:
    """Show what would be learned and waits for the person: from which words, why it waits, what it contradicts."""
    with target.open() as memory:
        found = memory.facts.inbox(scope=target.scope)
    if target.as_json:
        print_json(found)
        return
    if not found:
        click.echo("nothing waits for a decision")
    for one in found:
        for line in proposal_in_words(one):
            click.echo(line)


@click.command()
@click.argument("record_id")
@_VERSION
@targeted
def confirm(target: Target, record_id: str, expected_version: int | None) -> None:
    """Confirm what is proposed or believed; what it contradicts ends."""
    with target.open() as memory:
        done = memory.facts.confirm(record_id, scope=target.scope, expected_version=expected_version)
        memory.drain()
    _tell(target, "confirmed", done)


@click.command()
@click.argument("record_id")
@_REASON
@_VERSION
@targeted
def reject(target: Target, record_id: str, reason: str, expected_version: int | None) -> None:
    """Throw out what is proposed or believed for good: it is not proposed again."""
    with target.open() as memory:
        done = memory.facts.reject(record_id, scope=target.scope, reason=reason, expected_version=expected_version)
    _tell(target, "rejected", done)


@click.command()
@click.argument("record_id")
@_REASON
@_VERSION
@targeted
def retract(target: Target, record_id: str, reason: str, expected_version: int | None) -> None:
    """Stop believing something; the history keeps it."""
    with target.open() as memory:
        done = memory.facts.retract(record_id, scope=target.scope, reason=reason, expected_version=expected_version)
    _tell(target, "retracted", done)


@click.command()
@click.argument("record_id")
@click.argument("value")
@_VERSION
@targeted
def correct(target: Target, record_id: str, value: str, expected_version: int | None) -> None:
    """Put the right value in the place of a wrong one, confirmed."""
    with target.open() as memory:
        done = memory.facts.correct(record_id, value, scope=target.scope, expected_version=expected_version)
        memory.drain()
    _tell(target, "corrected, and confirmed", done)


@click.command()
@click.argument("record_id")
@click.argument("applies_to")
@_VERSION
@targeted
def narrow(target: Target, record_id: str, applies_to: str, expected_version: int | None) -> None:
    """Say that something holds only somewhere, such as "at work"."""
    with target.open() as memory:
        done = memory.facts.narrow(record_id, applies_to, scope=target.scope, expected_version=expected_version)
        memory.drain()
    _tell(target, "narrowed, and confirmed", done)


@click.command()
@click.argument("attribute", default="")
@_SUBJECT
@targeted
def history(target: Target, attribute: str, subject: str) -> None:
    """Show all that was ever believed or proposed, of one attribute or of all, and how it changed."""
    with target.open() as memory:
        found = memory.facts.history(attribute, scope=target.scope, subject=subject)
    if target.as_json:
        print_json(found)
        return
    if not found:
        click.echo("nothing was ever believed of that")
    for one in found:
        for line in history_in_words(one):
            click.echo(line)


def proposal_in_words(one: Proposal) -> Iterator[str]:
    """Say what is proposed, from which words and why it waits, with the commands to decide."""
    yield _name(one.belief)
    yield f'  said: "{_line(one.belief.record.text)}"'
    yield f"  waits because {one.why}" if one.why else "  waits for your decision"
    for other in one.against:
        yield f"  against: {_name(other)} ({other.record.status.value})"
    yield f"  yes: `retentia confirm {one.id}`, no: `retentia reject {one.id}`"
    yield f"  or `retentia correct {one.id} VALUE`, or `retentia narrow {one.id} WHERE`"


def history_in_words(one: Belief) -> Iterator[str]:
    """Say what was believed, when it held, from which words, and each change with who made it and why."""
    yield f"{_name(one)}: {standing(one)}"
    yield f'  said: "{_line(one.record.text)}"'
    for change in one.changes:
        why = f": {change.reason}" if change.reason else ""
        yield f"  {_time(change.changed_at)} {change.change.value} by {change.author or 'nobody'}{why}"


def standing(one: Belief) -> str:
    """Say in words how something stands: its status, when it held, and whether it was retracted."""
    record = one.record
    parts = [record.status.value]
    if record.valid_from is not None:
        parts.append(f"since {_day(record.valid_from)}")
    if record.valid_to is not None:
        parts.append(f"until {_day(record.valid_to)}")
    if record.retracted_at is not None and record.status != "rejected":
        parts.append("retracted")
    return ", ".join(parts)


def _print_profile(found: Profile) -> None:
    rows = [
        (
            one.claim.attribute.replace("_", " "),
            one.value,
            one.claim.applies_to,
            standing(one),
            "" if one.record.review_at is None else _day(one.record.review_at),
            one.id,
        )
        for one in found
    ]
    print_table(found.subject, ("what", "value", "where", "status", "review", "id"), rows)


def _tell(target: Target, what: str, done: Belief) -> None:
    if target.as_json:
        print_json(done)
        return
    click.echo(f"{what}: {_name(done)} ({standing(done)}, version {done.record.version}) {done.id}")


def _name(one: Belief) -> str:
    who = "" if one.claim.subject == PERSON else f"{one.claim.subject}, "
    where = f" ({one.claim.applies_to})" if one.claim.applies_to else ""
    return f"{who}{one.claim.attribute.replace('_', ' ')}: {one.value}{where}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _day(instant: int) -> str:
    return Moment.at(instant).iso()[:10]


def _time(instant: int) -> str:
    return Moment.at(instant).iso()[:16].replace("T", " ")
