"""Run the benchmarks: print tables, and write each part to out/bench as JSON and Markdown."""

import importlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.page import replace_tables
from benchmarks.setting import Setting
from benchmarks.tables import Table
from benchmarks.timing import Machine
from retentia import __version__

_PARTS = {
    "search": "benchmarks.search:measure",
    "start": "benchmarks.start:measure",
    "tenants": "benchmarks.tenants:measure",
    "ingest": "benchmarks.ingest:measure",
    "context": "benchmarks.context:measure",
    "tools": "benchmarks.tools:measure",
    "experience": "benchmarks.experience:measure",
    "audit": "benchmarks.audit:measure",
    "erasure": "benchmarks.erasure:measure",
    "encryption": "benchmarks.encryption:measure",
    "disk": "benchmarks.space:disk",
    "memory": "benchmarks.space:memory",
    "peers": "benchmarks.comparison:measure",
    "literals": "benchmarks.literals:measure",
    "learning": "benchmarks.learning:measure",
    "facts": "benchmarks.facts:measure",
    "install": "benchmarks.install:measure",
}
_Measure = Callable[[Setting], list[Table]]
_VERSIONS = ("numpy", "sqlalchemy")


@dataclass(frozen=True, slots=True)
class Measured:
    """The tables of one part, and the machine before and after it."""

    part: str
    tables: list[Table]
    before: Machine
    after: Machine

    def as_json(self) -> dict[str, object]:
        return {
            "part": self.part,
            "versions": {"retentia": __version__, **{name: version(name) for name in _VERSIONS}},
            "machine": self.after.as_json(),
            "load_before": self.before.load,
            "tables": [table.as_json() for table in self.tables],
        }

    def as_markdown(self) -> str:
        tables = [table.as_markdown() for table in self.tables]
        return "\n\n".join([*tables, f"*{self.after}; load before {self.before.load}*"]) + "\n"


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of public benchmarks, for real texts.")
@click.option("--only", multiple=True, type=click.Choice(list(_PARTS)), help="Measure this part only; may be repeated.")
@click.option("--quick", is_flag=True, help="Small sizes: shows that everything runs, not what it costs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/bench"), show_default=True)
@click.option("--page", type=click.Path(exists=True, path_type=Path), help="Page to put the tables into.")
@click.option("--peers", type=click.Path(path_type=Path), default=Path(".venv-peers/bin/python"), show_default=True)
def main(
    data: Path | None, only: tuple[str, ...], quick: bool, as_json: bool, out: Path, page: Path | None, peers: Path
) -> None:
    """Measure what Retentia costs, beside a floor and beside other systems."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # read when numpy is imported, which the parts do
    out.mkdir(parents=True, exist_ok=True)
    found: list[Measured] = []
    console = Console(width=150 if not Console().is_terminal else None)
    with tempfile.TemporaryDirectory(prefix="retentia-bench-") as folder, _progress() as progress:
        task = progress.add_task("", total=None)
        for part in only or _PARTS:

            def say(what: str, part: str = part) -> None:
                progress.update(task, description=f"{part}: {what}")

            known = data if data is not None and data.is_dir() else None
            setting = Setting(folder=Path(folder), data=known, peers=peers.absolute(), quick=quick, say=say)
            measured = _measure(part, setting)
            found.append(measured)
            (out / f"{part}.json").write_text(json.dumps(measured.as_json(), indent=1), "utf-8")
            (out / f"{part}.md").write_text(measured.as_markdown(), "utf-8")
            if page is not None:
                replace_tables(page, part, measured.as_markdown())
            if not as_json:
                _print(console, measured)
    if as_json:
        click.echo(json.dumps({measured.part: measured.as_json() for measured in found}))


def _measure(part: str, setting: Setting) -> Measured:
    module, _, name = _PARTS[part].partition(":")
    run: _Measure = getattr(importlib.import_module(module), name)
    before = Machine.here()
    return Measured(part, run(setting), before, Machine.here())


def _print(console: Console, measured: Measured) -> None:
    for table in measured.tables:
        console.print(table.as_rich(), "")
    console.print(f"[dim]{measured.part}: {measured.after}; load before {measured.before.load}[/dim]\n")


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console, transient=True
    )


if __name__ == "__main__":
    main()
