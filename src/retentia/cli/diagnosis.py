"""Commands that diagnose an agent: amnesia, check-claims."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table

if TYPE_CHECKING:
    from retentia.diagnose.check import ClaimCheck
    from retentia.diagnose.symptom import Symptom
    from retentia.diagnosis import Amnesia
    from retentia.memory import Memory

_EXAMPLES = 3
_LONGEST_INPUT = 20_000_000


@click.command()
@click.option("--session", help="Only this session.")
@click.option("--since", help="Only what was said at or after this time.")
@click.option(
    "--import",
    "imported",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="Look through a log, as `ingest` reads it, instead of a store; nothing of it is kept.",
)
@click.option(
    "--fresh-minutes",
    type=click.IntRange(min=1),
    default=60,
    show_default=True,
    help="How long an answer of a tool counts as known.",
)
@click.option("--price", type=click.FloatRange(min=0), help="What a million tokens of input cost, in any currency.")
@click.option("--all", "every", is_flag=True, help="Show every finding, not three of each kind.")
@targeted
def amnesia(
    target: Target,
    session: str | None,
    since: str | None,
    imported: Path | None,
    fresh_minutes: int,
    price: float | None,
    every: bool,
) -> None:
    """Look for signs that an agent forgets: it repeats itself, contradicts itself, or claims what never was."""
    from retentia.model.price import Price

    with target.open() if imported is None else _log_of(target, imported) as memory:
        report = memory.diagnosis.amnesia(
            scope=target.scope,
            session=session,
            since=since,
            fresh_for=timedelta(minutes=fresh_minutes),
            price=None if price is None else Price(input_per_million=price),
        )
    if target.as_json:
        print_json({**_totals(report), "symptoms": [_as_json(one) for one in report.symptoms]})
        return
    _print_report(report, every=every)


@click.command("check-claims")
@click.argument("text", type=str)
@click.option("--session", help="What the window of this session shows counts as shown.")
@targeted
def check_claims(target: Target, text: str, session: str | None) -> None:
    """Check an agent's claims about the past: in context, stored but not shown, or nowhere. TEXT, or - to read it."""
    if text == "-":
        with click.open_file("-", encoding="utf-8", errors="replace") as given:
            text = given.read(_LONGEST_INPUT)
    with target.open() as memory:
        found = memory.diagnosis.check_claims(text, scope=target.scope, session=session)
    if target.as_json:
        print_json(found)
        return
    if not found:
        click.echo("no claims about the past")
        return
    columns = ("claimed", "by", "verdict", "score", "why", "evidence")
    print_table("", columns, [_claim_row(one) for one in found])


@contextmanager
def _log_of(target: Target, path: Path) -> Iterator["Memory"]:
    """Open a memory of one file alone, in a folder that goes; the user's store is neither read nor written."""
    from retentia.cli.intake import Intake
    from retentia.ingest import read

    with memory_that_goes() as memory:
        intake = Intake(memory, target.scope)
        intake.take(read([path]))
        tell_skipped(intake.tally.reasons)
        yield memory


@contextmanager
def memory_that_goes() -> Iterator["Memory"]:
    """Open a memory for a log, in a folder that goes; nothing in it is summarised."""
    from retentia.memory import Memory
    from retentia.working.settings import WorkingSettings
    from retentia.working.summary import SummaryPolicy

    working = WorkingSettings(summary=SummaryPolicy(kind="off"))
    with (
        TemporaryDirectory() as folder,
        Memory.open(Path(folder, "log.db"), embedder=None, worker=False, ledger=None, working=working) as memory,
    ):
        yield memory


def tell_skipped(reasons: Counter[str]) -> None:
    """Say on the error stream what of a log could not be read, and why."""
    if reasons:
        told = ", ".join(f"{count:,} × {reason}" for reason, count in reasons.most_common())
        click.echo(f"skipped: {told}", err=True)


def _totals(report: "Amnesia") -> dict[str, object]:
    return {
        "sessions": report.sessions,
        "messages": report.messages,
        "tool_calls": report.tool_calls,
        "tokens": report.tokens,
        "cost": report.cost,
    }


def _as_json(symptom: "Symptom") -> dict[str, object]:
    from retentia.cli.output import plain

    fields = plain(symptom)
    assert isinstance(fields, dict)  # noqa: S101 - a dataclass is a mapping in JSON
    return {**fields, "severity": symptom.severity.value, "would_help": symptom.would_help}


def _print_report(report: "Amnesia", *, every: bool) -> None:
    looked = f"{report.sessions:,} sessions, {report.messages:,} messages, {report.tool_calls:,} tool calls"
    if not report.symptoms:
        click.echo(f"no symptoms of amnesia in {looked}")
        return
    kinds = report.by_kind()
    rows = [(kind.value, some[0].severity.value, f"{len(some):,}", _cost(some)) for kind, some in kinds.items()]
    print_table(f"amnesia: {looked}", ("symptom", "severity", "how often", "cost"), rows)
    for kind, some in kinds.items():
        click.echo(f"\n{kind.value}; what would have helped: {some[0].would_help}")
        for one in some if every else some[:_EXAMPLES]:
            click.echo(f"  {one.session}: {one.reason}")
            for said in one.quotes:
                click.echo(f"    » {said}")


def _cost(some: Sequence["Symptom"]) -> str:
    tokens = sum(one.tokens for one in some)
    priced = [one.cost for one in some if one.cost is not None]
    return "" if not tokens else f"{tokens:,} tokens" + (f", {sum(priced):.4f}" if priced else "")


def _claim_row(one: "ClaimCheck") -> tuple[object, ...]:
    verdict = "no verdict" if one.verdict is None else one.verdict.value
    evidence = "" if one.evidence is None else f"{one.evidence.role} {one.evidence.id}: {_short(one.evidence.text)}"
    return (one.claim.content or one.claim.cue, one.claim.by.value, verdict, f"{one.score:.2f}", one.reason, evidence)


def _short(text: str) -> str:
    line = " ".join(text[:400].split())
    return line if len(line) <= 160 else f"{line[:159]}…"
