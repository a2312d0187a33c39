"""Learning from outcomes on recorded experiences: what went how, what a memory would have advised, and what to avoid.

Run `make demo-replay`, or `python examples/demo_replay.py [PATH] [--embedder e5]`. PATH is a file of experiences, one
JSON object a line, or a file or folder of trajectories in the form of tau-bench; our own few dozen without it.
"""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from retentia import Memory, Scope
from retentia.errors import InvalidInput
from retentia.evals.experience import run_replay
from retentia.experience.curve import Curve, curve_of
from retentia.experience.curve_picture import blocks, svg
from retentia.experience.curve_png import png
from retentia.experience.off_policy import Attempt, report_on
from retentia.experience.strategy import Choice, Rule
from retentia.ingest.experiences import BadLine, read_experiences
from retentia.ingest.trajectories import read_trajectories
from retentia.model.experience import Experience, Outcome
from retentia.model.time import Moment, system_clock

OWN = Path(__file__).parent / "experiences.jsonl"
OUT = Path("out") / "replay"
SCOPE = Scope("larkspur", "agent")
BUDGET = 400
AVOIDED = 3
WIDTH = 60
LAST = 6
FROM_MEMORY = (Rule.PROVEN, Rule.WEAK)
Tried = tuple[Experience, Attempt]

console = Console(highlight=False, width=110)


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True), default=OWN)
@click.option("--embedder", default="use", show_default=True, help="use or e5, if it is installed")
def main(path: Path, embedder: str) -> None:
    """Play recorded experiences one after the other, and ask the memory before each what it would have advised.

    The last one is not kept: its task is what the memory is asked about at the end.
    """
    is_jsonl = path.suffix == ".jsonl"
    experiences = sorted(_read(path, is_jsonl=is_jsonl), key=lambda one: one.at.start)
    if len(experiences) < 2:
        raise click.ClickException(f"{str(path)!r} needs at least two experiences")
    *known, last = experiences
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", embedder=embedder, worker=False, clock=lambda: last.at.start) as memory,
    ):
        choices = _play(memory, known)
        _strategies(list(zip(known, choices, strict=True)))
        tried = _by_strategy(known, choices) if is_jsonl else _by_calls(path, embedder)
        _before_and_after(memory, tried)
        _skills(memory)
        _next_task(memory, last)
    if path == OWN:
        console.print("\nThese experiences were written for this demonstration: it shows what is told and how, and")
        console.print("proves nothing about an agent. Give it the path of your own.")


def _read(path: Path, *, is_jsonl: bool) -> list[Experience]:
    if not is_jsonl:
        return [one.experience for one in read_trajectories(path)]
    found = list(read_experiences(path, now=Moment.at(system_clock())))
    for bad in found:
        if isinstance(bad, BadLine):
            raise InvalidInput(f"line {bad.line} of {str(path)!r}: {bad.reason}")
    return [one for one in found if isinstance(one, Experience)]


def _play(memory: Memory, experiences: Sequence[Experience]) -> list[Choice]:
    """Ask before each task how to go about it, then keep what came of it: no choice knows what comes after it."""
    console.rule("1. Keep what came of each task, and ask before it")
    started = time.perf_counter()
    choices = []
    for one in experiences:
        choices.append(_chosen(memory, one))
        memory.experience.record(one, scope=SCOPE)
        memory.drain()
    spent = time.perf_counter() - started
    console.print(f"{len(experiences)} experiences kept and {len(choices)} strategies chosen in {spent:.1f} s")
    return choices


def _chosen(memory: Memory, one: Experience) -> Choice:
    task = one.task
    return memory.experience.choose_strategy(
        task.description, scope=SCOPE, category=task.category, complexity=task.complexity, language="en"
    )


def _strategies(played: Sequence[tuple[Experience, Choice]]) -> None:
    console.rule("2. How the memory would have gone about the last tasks, and why")
    for one, choice in played[-LAST:]:
        _choice(one, choice)


def _choice(one: Experience, choice: Choice) -> None:
    console.print(Text(_short(one.task.description)))
    console.print(Text(f"   {choice.strategy}: {choice.reason}", style="cyan"))
    console.print(Text(f"   recorded: {one.strategy or 'no strategy'}, {_came_of(one)}", style="dim"))


def _by_strategy(experiences: Sequence[Experience], choices: Sequence[Choice]) -> list[Tried]:
    """Compare with the recorded strategy what experience, and not complexity alone, would have chosen."""
    return [
        (one, Attempt(one.task.category, frozenset({one.strategy}), frozenset({choice.strategy}), one.feedback.reward))
        for one, choice in zip(experiences, choices, strict=True)
        if choice.rule in FROM_MEMORY
    ]


def _by_calls(path: Path, embedder: str) -> list[Tried]:
    """Compare what later trials did with what the most similar success of the earlier trials did."""
    done = run_replay(path, embedder=embedder, progress=lambda *_: None)
    console.rule("Recall: the first half of the trials is memory, the others ask")
    console.print(
        f"the first success recalled is of the same task for {done.same_task_at_1:.0%} of {done.answerable} questions "
        f"whose task was solved before;\n{done.success_rate:.0%} of what is recalled are successes, "
        f"{done.base_rate:.0%} of what is in memory"
    )
    return list(done.held_out)


def _before_and_after(memory: Memory, tried: Sequence[Tried]) -> None:
    console.rule("3. Before and after")
    recorded = memory.experience.curve(scope=SCOPE)
    console.print(Text("As recorded, all tasks in the order of time:", style="bold"))
    console.print(Text(blocks(recorded, width=WIDTH)))
    followed = curve_of([one for one, attempt in tried if attempt.followed])
    console.print(Text("\nOnly the attempts that did what the memory would have advised before them:", style="bold"))
    console.print(Text(blocks(followed, width=WIDTH).removesuffix(followed.verdict.text()).rstrip()))
    report = report_on([attempt for _, attempt in tried])
    table = Table("of the attempts with advice", "count", "mean reward")
    table.add_row("did what was advised", str(report.followed), _number(report.reward_followed))
    table.add_row("did something else", str(report.attempts - report.followed), _number(report.reward_not))
    console.print(table)
    console.print(Text(report.verdict, style="bold"))
    console.print("Nothing was run again: all of this is read off what was recorded. Whoever did what was advised may")
    console.print("have had the easier task, so the verdict compares only attempts at one task, or in one category.")
    _draw(recorded, followed)


def _draw(recorded: Curve, followed: Curve) -> None:
    """Write the pictures. An SVG says its verdict in words, which attempts picked by what they did do not bear."""
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "recorded.svg").write_text(svg(recorded, title="As recorded"), "utf-8")
    (OUT / "recorded.png").write_bytes(png(recorded))
    (OUT / "advised.png").write_bytes(png(followed))
    console.print(f"written to {OUT}: recorded.svg, recorded.png, advised.png")


def _skills(memory: Memory) -> None:
    console.rule("4. Skills")
    table = Table("category", "tasks", "solved", "rate", "mean reward", "attempts", "")
    for one in memory.experience.skills(scope=SCOPE).values():
        numbers = (f"{one.success_rate:.0%}", f"{one.average_reward:.2f}", f"{one.average_iterations:.1f}")
        table.add_row(one.category, str(one.count), str(one.successes), *numbers, "weak" if one.is_weak else "")
    console.print(table)


def _next_task(memory: Memory, last: Experience) -> None:
    console.rule("5. The last task, which the memory has not seen: what a model is told before it")
    replay = memory.experience.replay(last.task.description, scope=SCOPE, budget=BUDGET)
    console.print(Text(replay.prompt))
    console.print(f"({replay.tokens} of {BUDGET} tokens)")
    _choice(last, _chosen(memory, last))
    _avoid(memory, last.task.description)


def _avoid(memory: Memory, task: str) -> None:
    console.rule("6. What to avoid")
    found = memory.experience.recall(task, scope=SCOPE, top_k=AVOIDED, outcome=Outcome.FAILURE, order="similarity")
    if not found:
        console.print("nothing failed so far")
    for one in found:
        failed = one.experience
        console.print(Text(f"{_short(failed.task.description)} (similarity {one.similarity:.2f})", style="bold"))
        console.print(Text(f"   did: {_short(failed.solution) or 'not recorded'}"))
        console.print(Text(f"   why it failed: {failed.feedback.message or 'not recorded'}", style="red"))


def _came_of(one: Experience) -> str:
    return f"{one.outcome.value}, reward {one.feedback.reward:.2f}"


def _number(value: float) -> str:
    return f"{value:.2f}" if value == value else "none"  # nan where there is none


def _short(text: str, most: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


if __name__ == "__main__":
    main()
