"""Commands about what was learned by doing: experience record, list, show, recall, replay, skills, strategy, curve."""

import sys
from datetime import timedelta
from pathlib import Path

import click

from retentia.cli.options import Target, read_toml, targeted
from retentia.cli.output import print_json, print_table, progress_bar
from retentia.errors import InvalidInput
from retentia.model.experience import Experience, Outcome
from retentia.model.message import JSON

_PHASES = ("standard", "early", "late")
_ORDERS = ("prioritised", "similarity", "decayed")
_MOST_OF_A_TASK = 110
_OUTCOMES = click.Choice([one.value for one in Outcome])
_CATEGORY = click.option("--category", help="Only tasks of this category.")
_TASK = click.argument("task")


@click.group("experience")
def experience_group() -> None:
    """Learn from outcomes: what was tried, what came of it, and what that teaches for the next task."""


@experience_group.command("record")
@_TASK
@click.option("--outcome", type=_OUTCOMES, required=True, help="How it ended.")
@click.option("--reward", type=float, required=True, help="From 0 to 1, or within --reward-range.")
@click.option("--reward-range", type=(float, float), metavar="LOWEST HIGHEST", help="The range of the reward.")
@click.option("--solution", default="", help="How it was solved; - reads it from standard input.")
@click.option("--feedback", default="", help="What was said of it.")
@click.option("--tests", type=(int, int), metavar="PASSED TOTAL", default=(0, 0), help="How many tests passed.")
@click.option("--category", default="unknown", show_default=True, help="debugging, testing …, or one of your own.")
@click.option("--complexity", type=float, default=0.5, show_default=True, help="From 0, trivial, to 1.")
@click.option("--strategy", default="", help="How it was gone about.")
@click.option("--iterations", type=int, default=1, show_default=True, help="How many attempts it took.")
@click.option("--at", help="When it ended; now without it.")
@click.option("--key", default="", help="Your name for it: the same key again is the same experience.")
@click.option("--session", default="", help="The session it belongs to.")
@targeted
def record(target: Target, /, task: str, solution: str, tests: tuple[int, int], at: str | None, **fields: JSON) -> None:
    """Keep what came of TASK. It is never changed; what failed is kept as well, to be avoided."""
    told: dict[str, JSON] = {
        **fields,
        "task": task,
        "solution": sys.stdin.read() if solution == "-" else solution,
        "tests_passed": tests[0],
        "tests_total": tests[1],
        "timestamp": at,
    }
    with target.open(create=True) as memory:
        receipt = memory.experience.record(told, scope=target.scope)
        memory.drain()
    if target.as_json:
        print_json(receipt)
        return
    (written,) = receipt.written
    click.echo(f"kept: experience {written.id}" if written.is_new else f"known already: experience {written.id}")
    for note in receipt.notes:
        click.echo(note)


@experience_group.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=5, show_default=True)
@targeted
def listing(target: Target, limit: int) -> None:
    """Show the latest experiences, the newest first."""
    with target.open() as memory:
        found = memory.experience.recent(scope=target.scope, limit=limit)
    if target.as_json:
        print_json(found)
        return
    for one in found:
        click.echo(f"{one.at.iso()[:16]}  {_came_of(one)}")
        _print_below(one)


@experience_group.command("show")
@click.argument("record_id")
@targeted
def show(target: Target, record_id: str) -> None:
    """Show an experience whole."""
    with target.open() as memory:
        found = memory.experience.get(record_id, scope=target.scope)
    if target.as_json:
        print_json(found)
        return
    task, said = found.task, found.feedback
    click.echo(f"task: {task.description}")
    click.echo(f"  {task.category}, complexity {task.complexity:.2g}, ended {found.at.iso()[:16]}")
    click.echo(f"{found.outcome.value}: reward {said.reward:.2g}, {_counted(found)}")
    if found.strategy:
        click.echo(f"strategy: {found.strategy}")
    if found.solution:
        click.echo(f"solution:\n{found.solution}")
    if said.message:
        click.echo(f"feedback: {said.message}")


@experience_group.command("recall")
@_TASK
@click.option("-k", "--top-k", type=click.IntRange(min=1), default=3, show_default=True, help="So many at most.")
@click.option("--order", type=click.Choice(_ORDERS), default="prioritised", show_default=True, help="What ranks them.")
@click.option("--phase", type=click.Choice(_PHASES), default="standard", show_default=True, help="What leads.")
@click.option("--half-life", type=float, default=1.0, show_default=True, metavar="DAYS", help="What fades by half.")
@_CATEGORY
@click.option("--outcome", type=_OUTCOMES, help="Only what ended so.")
@click.option("--strategy", help="Only what was gone about so.")
@targeted
def recall(
    target: Target,
    task: str,
    top_k: int,
    order: str,
    phase: str,
    half_life: float,
    category: str | None,
    outcome: str | None,
    strategy: str | None,
) -> None:
    """Find the experiences that bear most on TASK, with what ranked them."""
    with target.open() as memory:
        found = memory.experience.recall(
            task,
            scope=target.scope,
            top_k=top_k,
            order=order,
            weights=phase,
            half_life=_days(half_life),
            category=category,
            outcome=outcome,
            strategy=strategy,
        )
    if target.as_json:
        print_json(found)
        return
    if not found:
        click.echo("nothing of that kind was experienced yet")
        return
    for one in found:
        parts = f"likeness {one.similarity:.2f}, recency {one.recency:.2f}"
        click.echo(f"{one.priority:.2f}  {_came_of(one.experience)}  ({parts})")
        _print_below(one.experience)


@experience_group.command("replay")
@_TASK
@click.option("--budget", type=click.IntRange(min=0), default=800, show_default=True, help="Tokens of the prompt.")
@click.option("-k", "--top-k", type=click.IntRange(min=1), default=3, show_default=True, help="So many at most.")
@click.option("--language", default="", help="en, de or uk; that of the task without it.")
@targeted
def replay(target: Target, task: str, budget: int, top_k: int, language: str) -> None:
    """Write the prompt that tells a model what worked for tasks like TASK, and what to avoid."""
    with target.open() as memory:
        found = memory.experience.replay(task, scope=target.scope, budget=budget, top_k=top_k, language=language)
    if target.as_json:
        print_json(found)
        return
    click.echo(found.prompt)
    click.echo(f"{found.tokens} of {budget} tokens ({found.counted})", err=True)


@experience_group.command("skills")
@targeted
def skills(target: Target) -> None:
    """Show how well each category of tasks has gone; weak is where less than half was solved."""
    with target.open() as memory:
        found = memory.experience.skills(scope=target.scope)
    if target.as_json:
        print_json(found)
        return
    rows = [
        (
            one.category,
            one.count,
            one.successes,
            f"{one.success_rate:.0%}",
            f"{one.average_reward:.2f}",
            f"{one.average_iterations:.1f}",
            "weak" if one.is_weak else "",
        )
        for one in found.values()
    ]
    print_table("", ("category", "tasks", "solved", "rate", "reward", "attempts", ""), rows)


@experience_group.command("strategy")
@_TASK
@click.option("--category", default="unknown", show_default=True, help="The category of the task.")
@click.option("--complexity", type=float, default=0.5, show_default=True, help="From 0, trivial, to 1.")
@click.option("--language", default="", help="en, de or uk; that of the task without it.")
@targeted
def strategy(target: Target, task: str, category: str, complexity: float, language: str) -> None:
    """Choose how to go about TASK, and say why."""
    with target.open() as memory:
        chosen = memory.experience.choose_strategy(
            task, scope=target.scope, category=category, complexity=complexity, language=language
        )
    if target.as_json:
        print_json(chosen)
        return
    click.echo(f"{chosen.strategy}: {chosen.reason}")
    if chosen.instruction:
        click.echo(chosen.instruction)


@experience_group.command("curve")
@click.option("--window", type=click.IntRange(min=1), default=5, show_default=True, help="Tasks that a rate is of.")
@_CATEGORY
@click.option("--svg", type=click.Path(path_type=Path), help="Write the picture to this file.")
@click.option("--png", type=click.Path(path_type=Path), help="Write the picture to this file.")
@click.option("--language", default="en", show_default=True, help="en, de or uk.")
@targeted
def curve(target: Target, window: int, category: str | None, svg: Path | None, png: Path | None, language: str) -> None:
    """Draw how rewards and successes went over time, and say whether they rise."""
    from retentia.experience import curve_picture, curve_png

    with target.open() as memory:
        found = memory.experience.curve(scope=target.scope, window=window, category=category)
    if svg is not None:
        _write(svg, curve_picture.svg(found, language=language).encode())
    if png is not None:
        _write(png, curve_png.png(found))
    if target.as_json:
        print_json(found)
        return
    click.echo(curve_picture.blocks(found, language=language))


@experience_group.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@targeted
def import_(target: Target, path: Path) -> None:
    """Keep the experiences of a file: JSONL, one a line, or trajectories of agents in the form of tau-bench.

    Run it again after an interruption: what has an id is not kept twice.
    """
    with target.open(create=True) as memory:
        with progress_bar("experiences") as progress:
            done = memory.experience.import_file(path, scope=target.scope, progress=progress)
        memory.drain()
    if target.as_json:
        print_json(done)
        return
    click.echo(f"{done.new} new, {done.known} known already, {len(done.skipped)} left out")
    for line in done.skipped:
        click.echo(f"  {line}", err=True)


@experience_group.command("export")
@click.argument("path", type=click.Path(path_type=Path))
@targeted
def export(target: Target, path: Path) -> None:
    """Write all experiences to a file, one a line, the oldest first."""
    with target.open() as memory:
        count = memory.experience.export_file(path, scope=target.scope)
    if target.as_json:
        print_json({"written": count, "path": str(path)})
        return
    click.echo(f"{count} written to {path}")


@experience_group.command("rules")
@click.option("--set", "file", type=click.Path(path_type=Path), help="A TOML file: categories, [strategies].")
@click.option("--reset", is_flag=True, help="Go back to the shipped ones.")
@targeted
def rules(target: Target, file: Path | None, reset: bool) -> None:
    """Show, or set, the categories and strategies that the tenant has beside the shipped ones."""
    if file is not None and reset:
        raise click.UsageError("use either --set or --reset")
    with target.open(create=file is not None) as memory:
        if file is not None or reset:
            memory.experience.set_rules(None if file is None else read_toml(file), tenant=target.tenant)
        found = memory.experience.rules(target.tenant)
    if target.as_json:
        print_json(found.as_data())
        return
    click.echo(f"categories: {', '.join(found.categories) or 'none of your own'}")
    click.echo("strategies:" if found.strategies else "strategies: none of your own")
    for name, instruction in found.strategies.items():
        click.echo(f"  {name}: {instruction}")


def _days(count: float) -> timedelta:
    try:
        return timedelta(days=count)
    except (OverflowError, ValueError) as error:
        raise InvalidInput(f"--half-life is a number of days, not {count!r}") from error


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} cannot be written: {error.strerror or error}") from error


def _came_of(one: Experience) -> str:
    gone_about = f", {one.strategy}" if one.strategy else ""
    return f"{one.outcome.value}, reward {one.feedback.reward:.2f}{gone_about}"


def _print_below(one: Experience) -> None:
    task = " ".join(one.task.description.split())
    click.echo(f"      {task if len(task) <= _MOST_OF_A_TASK else task[:_MOST_OF_A_TASK] + '…'}")
    click.echo(f"      {one.id}")


def _counted(one: Experience) -> str:
    attempts = "1 attempt" if one.iterations == 1 else f"{one.iterations} attempts"
    tests = one.feedback
    return f"{attempts}, {tests.tests_passed} of {tests.tests_total} tests passed" if tests.tests_total else attempts
