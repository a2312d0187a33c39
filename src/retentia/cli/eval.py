"""`retentia eval`: measure recall on a benchmark, offline and without a language model."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from retentia.cli.output import console
from retentia.errors import InvalidInput

if TYPE_CHECKING:
    from retentia.evals import Dataset, Run
    from retentia.evals.runs import Progress
    from retentia.evals.score import Score

Command = TypeVar("Command", bound=Callable[..., None])


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What every benchmark can be told on the command line."""

    embedder: str
    out: Path | None
    cache_dir: Path | None
    without: tuple[str, ...]
    only: tuple[str, ...]
    no_learning: bool
    as_json: bool


class _Refused(click.ClickException):
    """The caller can correct it; said in one line."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print what is wrong and what to do."""
        click.echo(f"retentia: {self.message}", file=file, err=True)


@click.group("eval")
def eval_group() -> None:
    """Measure recall on a benchmark, offline and without a language model."""


def _choices(command: Command) -> Command:
    """Add the options that every benchmark has."""
    options = (
        click.option("--embedder", default="auto", show_default=True, help="Embedder, as for a store: auto, use, e5 …"),
        click.option("--out", type=click.Path(path_type=Path), help="Folder for one line a question and the summary."),
        click.option("--cache-dir", type=click.Path(path_type=Path), help="Folder for embeddings of earlier runs."),
        click.option("--without", multiple=True, metavar="SIGNAL", help="Leave a signal out of the score; repeatable."),
        click.option("--no-learning", is_flag=True, help="Let rules learn nothing from what is ingested."),
        click.option("--only", multiple=True, metavar="SIGNAL", help="Leave out every other signal; repeatable."),
        click.option("--json", "as_json", is_flag=True, help="End with one JSON object; the table goes to stderr."),
    )
    for option in reversed(options):
        command = option(command)
    return command


_path = click.argument("path", type=click.Path(path_type=Path))


def _limit(what: str) -> Callable[[Command], Command]:
    return click.option("--limit", type=click.IntRange(min=1), help=f"Only the first {what}.")


@eval_group.command("locomo")
@_path
@_limit("conversations")
@click.option("--corrections", type=click.Path(path_type=Path), help="The public audit's file with corrected gold.")
@_choices
def locomo(path: Path, limit: int | None, corrections: Path | None, **choices: object) -> None:
    """Ask LoCoMo's questions about long chats between two people. PATH is its JSON file."""
    from retentia.evals.loaders import load_locomo

    _evaluate(lambda: load_locomo(path, corrections=corrections).first(limit), choices)


@eval_group.command("beam")
@_path
@_limit("chats")
@_choices
def beam(path: Path, limit: int | None, **choices: object) -> None:
    """Ask BEAM's probing questions about long chats with an assistant. PATH is the folder of one size."""
    from retentia.evals.loaders import load_beam

    _evaluate(lambda: load_beam(path).first(limit), choices)


@eval_group.command("metatool")
@_path
@_limit("hundreds of requests")
@click.option("--several", is_flag=True, help="Requests that need two tools instead of one.")
@click.option(
    "--past",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Also select after so many past uses of each sort are known; 0 leaves that out.",
)
@_choices
def metatool(path: Path, limit: int | None, several: bool, past: int, **choices: object) -> None:
    """Find the tool for each of MetaTool's requests. PATH is the folder with plugin_des.json.

    Recall at 1, 5 and 10 is that of the tools that are selected; the rest is of the same tools as records.
    """
    from retentia.evals.cache import cached
    from retentia.evals.loaders import load_metatool, load_tool_requests
    from retentia.evals.tool_selection import measure_metatool
    from retentia.providers.resolve import resolve

    def selected() -> dict[str, float | int]:
        tools, one, two = load_tool_requests(path, limit=limit)
        chosen = Choices(**choices)  # type: ignore[arg-type]  # as `_evaluate` reads them
        with cached(resolve(chosen.embedder), chosen.cache_dir) as embedder, _progress("tools") as progress:
            return measure_metatool(tools, one, two, embedder=embedder, past=past, progress=progress)

    _evaluate(lambda: load_metatool(path, limit=limit, several=several), choices, None if several else selected)


@eval_group.command("livemcpbench")
@_path
@click.option("--embedder", default="auto", show_default=True, help="Embedder, as for a store: auto, use, e5 …")
@click.option("--cache-dir", type=click.Path(path_type=Path), help="Folder for embeddings of earlier runs.")
@click.option("--json", "as_json", is_flag=True, help="End with one JSON object; the table goes to stderr.")
def livemcpbench(path: Path, embedder: str, cache_dir: Path | None, as_json: bool) -> None:
    """Select the tools for LiveMCPBench's tasks from those of 70 servers. PATH is the folder with tools.json."""
    from retentia.cli.output import print_table
    from retentia.evals.cache import cached
    from retentia.evals.loaders import load_livemcpbench
    from retentia.evals.tool_selection import measure_servers
    from retentia.providers.resolve import resolve

    with _refusals(), cached(resolve(embedder), cache_dir) as inside, _progress("livemcpbench") as progress:
        tools, asked = load_livemcpbench(path)
        told = {"suite": "livemcpbench", **measure_servers(tools, asked, embedder=inside, progress=progress)}
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        print_table("livemcpbench", ("", ""), told.items())


@eval_group.command("xquad")
@_path
@_limit("articles")
@_choices
def xquad(path: Path, limit: int | None, **choices: object) -> None:
    """Find XQuAD's paragraphs within and across English and German. PATH is the folder with xquad.*.json."""
    from retentia.evals.loaders import load_xquad

    _evaluate(lambda: load_xquad(path, limit=limit), choices)


@eval_group.command("factconsolidation")
@_path
@_limit("questions of each set")
@click.option("--json", "as_json", is_flag=True, help="End with one JSON object; the table goes to stderr.")
def factconsolidation(path: Path, limit: int | None, as_json: bool) -> None:
    """Ask FactConsolidation's questions about facts that replace one another, one by one and in chains.

    PATH is its JSON file, or the folder with it. No language model and no embedder is used.
    """
    from rich.table import Table

    from retentia.evals.factconsolidation import ask_factconsolidation, figures
    from retentia.evals.loaders import load_factconsolidation

    with _refusals(), _progress("factconsolidation") as progress:
        done = ask_factconsolidation(load_factconsolidation(path, limit=limit), progress=progress)
    table = Table("set", "facts", "questions", "right", "share", "outdated", "unanswered", "ms a question")
    for one in done:
        counts = (one.facts, one.questions, one.right, f"{one.share:.3f}", one.outdated, one.unanswered)
        table.add_row(one.name, *map(str, counts), f"{one.ms_per_question:.1f}")
    console(stderr=as_json).print(table)
    if as_json:
        click.echo(json.dumps(figures(done)))


@eval_group.command("replay")
@_path
@click.option("--embedder", default="use", show_default=True, help="Embedder: use, e5, none …")
@click.option(
    "--describe",
    type=click.Choice(["opening", "first", "user", "instruction"]),
    default="opening",
    show_default=True,
    help="What a task is described by: the user's first two messages, the first, all, or the instruction.",
)
@click.option(
    "--order",
    type=click.Choice(["prioritised", "similarity", "decayed"]),
    default="prioritised",
    show_default=True,
    help="What experiences are ranked by.",
)
@click.option("--json", "as_json", is_flag=True, help="End with one JSON object; the table goes to stderr.")
def replay(path: Path, embedder: str, describe: str, order: str, as_json: bool) -> None:
    """Recall experiences for tasks that were tried before, and ask whether following them would have helped.

    PATH is a file, or a folder, of trajectories in the form of tau-bench. The first half of the trials is memory, the
    others ask.
    """
    from retentia.cli.output import print_table
    from retentia.evals.experience import figures, run_replay

    with _refusals(), _progress("replay") as progress:
        named = None if embedder == "none" else embedder
        done = run_replay(path, embedder=named, describe=describe, order=order, progress=progress)
    told = {"suite": "replay", "embedder": embedder, "describe": describe, "order": order, **figures(done)}
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        print_table("replay", ("", ""), told.items())


@eval_group.command("lifebench")
@_path
@_limit("users")
@_choices
def lifebench(path: Path, limit: int | None, **choices: object) -> None:
    """Ask LifeBench's questions about a year of a person's phone. PATH is the folder with the users, or one user's."""
    from retentia.evals.loaders import load_lifebench

    _evaluate(lambda: load_lifebench(path).first(limit), choices)


@eval_group.command("multilingual")
@_choices
def multilingual(**choices: object) -> None:
    """Ask our own small set, shipped with the package: English, German, Ukrainian and across."""
    from retentia.evals.loaders import load_multilingual

    _evaluate(load_multilingual, choices)


@eval_group.command("precision")
@_path
@click.option("--embedder", default="auto", show_default=True, help="Embedder, as for a store: auto, use, e5 …")
@click.option("--json", "as_json", is_flag=True, help="End with one JSON object; the cases go to stderr.")
def precision(path: Path, embedder: str, as_json: bool) -> None:
    """Ask PrecisionMemBench's cases: what must, may and must not come back. PATH is the folder with its two files."""
    from retentia.cli.output import print_table
    from retentia.evals.loaders import load_precision
    from retentia.evals.precision import figures, run_precision

    with _refusals(), _progress("precision") as progress:
        results = run_precision(load_precision(path), embedder=embedder, progress=progress)
    told = figures(results)
    for one in results:
        wrong = {"missing": one.missing, "forbidden": one.forbidden, "leaked": one.leaked, "surplus": one.surplus}
        if said := "; ".join(f"{name} {', '.join(sources)}" for name, sources in wrong.items() if sources):
            click.echo(f"{one.case.id}: {said}", err=as_json)
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        print_table("precision", ("", ""), told.items())


@eval_group.command("personal")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def personal(as_json: bool) -> None:
    """Measure how well personal data is found, on our own sentences in English, German and Ukrainian."""
    from retentia.evals.personal import load_personal, score_personal

    sentences = load_personal()
    _print_scores(f"personal data: {len(sentences)} sentences", score_personal(sentences), as_json=as_json)


@eval_group.command("claims")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def claims(as_json: bool) -> None:
    """Measure how well claims about the past are found, on our own sentences in English, German and Ukrainian."""
    from retentia.evals.claims import load_claims, score_claims

    sentences = load_claims()
    _print_scores(f"claims about the past: {len(sentences)} sentences", score_claims(sentences), as_json=as_json)


@eval_group.command("injection")
@_path
@click.option("--benign", type=click.Path(path_type=Path), help="LoCoMo's JSON file: how many messages are marked.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def injection(path: Path, benign: Path | None, as_json: bool) -> None:
    """Count which of BIPIA's injections are marked as looking like an instruction. PATH is its JSON file."""
    from retentia.cli.output import print_json, print_table
    from retentia.evals.injection import load_injections, rows
    from retentia.evals.loaders import load_locomo

    with _refusals():
        counted = rows(load_injections(path), load_locomo(benign) if benign else None)
    if as_json:
        print_json({kind: {"marked": found, "of": of} for kind, (found, of) in counted.items()})
        return
    print_table("look like an instruction", ("", "marked", "of"), [(kind, *of) for kind, of in counted.items()])


@eval_group.command("replay-session")
@_path
@_limit("chats")
@click.option("--budget", type=click.IntRange(min=1), default=1500, show_default=True, help="Tokens of each context.")
@click.option("--embedder", default="auto", show_default=True, help="Embedder, as for a store: auto, use, e5 …")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def replay_session(path: Path, limit: int | None, budget: int, embedder: str, as_json: bool) -> None:
    """Play chats message by message and check the context of every user turn.

    PATH is a chat file that `retentia ingest` reads, or a folder of BEAM. Fails when a context is over its budget, or
    an earlier message is neither shown, summarised nor named as missing, or something is given twice.
    """
    from retentia.cli.output import print_json, print_table
    from retentia.evals.replay import load_chats, replay

    with _refusals(), _progress("replay-session") as progress:
        done = replay(load_chats(path)[:limit], budget=budget, embedder=embedder, progress=progress)
    figures = {name: round(value, 4) if isinstance(value, float) else value for name, value in done.figures().items()}
    if as_json:
        print_json(figures)
    else:
        print_table(f"contexts of {budget:,} tokens", ("", ""), figures.items())
    if not done.is_sound:
        raise click.ClickException("a context broke a promise: see over_budget, unnamed_gaps and given_twice")


def _print_scores(title: str, scores: Mapping[str, "Score"], *, as_json: bool) -> None:
    from retentia.cli.output import print_json, print_table

    if as_json:
        print_json({name: score.as_json() for name, score in scores.items()})
        return
    rows = [
        (name, f"{score.precision:.3f}", f"{score.recall:.3f}", score.right, score.wrong, score.missed)
        for name, score in scores.items()
    ]
    print_table(title, ("", "precision", "recall", "right", "wrong", "missed"), rows)


@eval_group.command("kept")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def kept(as_json: bool) -> None:
    """Measure what summaries keep without a model, on our own dialogues in English, German and Ukrainian."""
    from retentia.cli.output import print_json, print_table
    from retentia.evals.kept import COLUMNS, HALVES, load_dialogues, score_kept, table_rows

    scores = {half: score_kept(load_dialogues(half)) for half in HALVES}
    if as_json:
        print_json(
            {
                half: {
                    kind: {language: score.as_json() for language, score in by_language.items()}
                    for kind, by_language in by_kind.items()
                }
                for half, by_kind in scores.items()
            }
        )
        return
    for half, by_kind in scores.items():
        print_table(f"{half}: {len(load_dialogues(half))} dialogues", COLUMNS, table_rows(by_kind))


@eval_group.command("learning")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def learning(as_json: bool) -> None:
    """Measure what is learned without a model, on our own dialogues in English, German and Ukrainian."""
    from retentia.cli.output import print_table
    from retentia.evals.learning import BIN_COLUMNS, COLUMNS, bin_rows, report, table_rows
    from retentia.evals.learning_dialogues import HALVES, load_dialogues

    reports = {half: report(load_dialogues(half)) for half in HALVES}
    if as_json:
        click.echo(json.dumps({half: made.as_json() for half, made in reports.items()}, ensure_ascii=False))
        return
    for half, made in reports.items():
        print_table(f"{half}: {made.dialogues} dialogues", COLUMNS, table_rows(made.scores))
        print_table(f"{half}: confidence", BIN_COLUMNS, bin_rows(made.bins))


def _evaluate(
    load: Callable[[], "Dataset"],
    given: Mapping[str, object],
    beside: Callable[[], Mapping[str, float | int]] | None = None,
) -> None:
    """Run a benchmark and report it, with what is measured `beside` it."""
    choices = Choices(**given)  # type: ignore[arg-type]  # click made them from the options above
    with _refusals():
        done = _run(load(), choices)
        _report(done, choices, beside() if beside else {})


def _run(dataset: "Dataset", choices: Choices) -> "Run":
    if not any(group.scored for group in dataset.groups):
        raise InvalidInput(f"{dataset.name}: no question has an answer that is there; is the data complete?")
    from retentia.evals import run
    from retentia.evals.memory_subject import fresh_subject
    from retentia.index.signals import Weights

    weights = Weights().without(choices.without)
    if choices.only:
        weights = weights.only(choices.only)
    opened = fresh_subject(choices.embedder, choices.cache_dir, weights, learns=not choices.no_learning)
    with opened as subject, _progress(dataset.name) as progress:
        return run(dataset, subject, progress=progress)


def _report(done: "Run", choices: Choices, beside: Mapping[str, float | int]) -> None:
    from retentia.evals.reports import print_table, summarise, write_details

    summary = {**summarise(done), **beside}
    print_table(summary, console(stderr=choices.as_json))
    if choices.out is not None:
        click.echo(f"one line a question: {write_details(done, summary, choices.out)}", err=choices.as_json)
    if choices.as_json:
        click.echo(json.dumps(summary, ensure_ascii=False))


@contextmanager
def _progress(suite: str) -> Iterator["Progress"]:
    """Show a bar for each stage on stderr where a person is looking."""
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    shown = console(stderr=True)
    with Bars(console=shown, transient=True, disable=not shown.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(f"{suite}: {stage}", total=total)
            bars.update(tasks[stage], completed=done)

        yield told


@contextmanager
def _refusals() -> Iterator[None]:
    """End with exit code 2 and one line where the caller can correct the path, the file or an option."""
    try:
        yield
    except InvalidInput as error:
        raise _Refused(" ".join(str(error).split())) from error
