"""`retentia advise`: which layer of memory is needed next, and which is not."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentia.cli.diagnosis import memory_that_goes, tell_skipped
from retentia.cli.options import Target, read_toml, targeted
from retentia.cli.output import print_json

if TYPE_CHECKING:
    from retentia.diagnose.advisor import Advice, LayerAdvice, Reading
    from retentia.memory import Memory

_LOG_HAS = ("buffer",)
"""What a log says of the memory behind it: the conversation was there, and nothing else is known."""
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option(
    "--import",
    "imported",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="Look at a log, as `ingest` reads it, instead of a store; nothing of it is kept.",
)
@click.option("--whole-tenant", is_flag=True, help="Everybody in the tenant, not only --user.")
@click.option("--on", "on", multiple=True, metavar="LAYER", help="A layer in use; replaces those of the settings.")
@click.option("--thresholds", type=_FILE, help="A TOML file with other thresholds: [summary] messages = 50 …")
@click.option("--symptoms", is_flag=True, help="Also look through every session for amnesia; always with --import.")
@click.option("--language", type=click.Choice(["en", "de", "uk"]), default="en", show_default=True)
@targeted
def advise(
    target: Target,
    imported: Path | None,
    whole_tenant: bool,
    on: tuple[str, ...],
    thresholds: Path | None,
    symptoms: bool,
    language: str,
) -> None:
    """Tell which layer of memory the traffic needs next, which it does not, and the number that decides."""
    given = None if thresholds is None else read_toml(thresholds)
    with target.open() if imported is None else _log_of(target, imported) as memory:
        advice = memory.advise(
            scope=target.scope,
            whole_tenant=whole_tenant or imported is not None,
            on=on or (_LOG_HAS if imported is not None else None),
            thresholds=given,
            symptoms=symptoms or imported is not None,
        )
    if target.as_json:
        print_json(_as_json(advice))
        return
    _print(advice, language, str(imported or (target.tenant if whole_tenant else target.scope)))


@contextmanager
def _log_of(target: Target, path: Path) -> Iterator["Memory"]:
    """Open a memory of one file alone, in which each person that the file tells apart is a user."""
    from retentia.cli.intake import Intake
    from retentia.ingest import by_person, read

    intakes: dict[str, Intake] = {}
    with memory_that_goes() as memory:
        for person, items in by_person(read([path])):
            if person not in intakes:
                named = replace(target.scope, user=f"person {len(intakes) + 1}")
                intakes[person] = Intake(memory, named)
            intakes[person].take(items)
        tell_skipped(sum((one.tally.reasons for one in intakes.values()), Counter()))
        memory.drain()
        yield memory


def _print(advice: "Advice", language: str, title: str) -> None:
    from retentia.diagnose.advice_words import AdviceWords

    words = AdviceWords(language)
    if advice.traffic.is_empty:
        click.echo(f"{title}: {words.empty}")
        return
    rungs = words.picture(advice)
    widths = [max(map(len, column)) for column in zip(*((one.title, one.stand) for one in rungs), strict=True)]
    click.echo(f"{title}: {words.traffic(advice)}\n")
    for one in rungs:
        click.echo(f"  {one.mark} {one.title:{widths[0]}}  {one.stand:{widths[1]}}  {one.numbers}")
    click.echo("\n" + "\n".join(words.lines(advice)))


def _as_json(advice: "Advice") -> dict[str, object]:
    return {
        "traffic": advice.traffic,
        "rung": advice.rung,
        "next": None if advice.next is None else advice.next.name,
        "closest": None if advice.closest is None else _reading(advice.closest),
        "layers": [_layer(one) for one in (*advice.ladder, *advice.beside)],
        "symptoms": [
            {"kind": one.kind, "count": one.count, "layer": one.layer.name, "setting": one.layer.setting}
            for one in advice.symptoms
        ],
    }


def _layer(one: "LayerAdvice") -> dict[str, object]:
    readings = [_reading(reading) for reading in one.readings]
    return {
        "name": one.name,
        "group": one.layer.group,
        "stand": one.stand,
        "setting": one.setting,
        "readings": readings,
    }


def _reading(reading: "Reading") -> dict[str, object]:
    return {
        "layer": reading.layer,
        "measure": reading.trigger.measure,
        "value": reading.value,
        "comparison": reading.trigger.comparison,
        "threshold": reading.trigger.threshold,
        "holds": reading.holds,
    }
