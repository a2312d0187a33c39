"""Would it help if old memories ranked lower? Recall with a gentle factor on the score by age, and without.

`python -m benchmarks.decay --data ../shared/data`. Age is counted back from the newest entry of a group, because the
benchmarks are old. A question that names a date or asks when is left as it is. See docs/decisions/0011.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.tables import Cell, Table
from retentia.evals.dataset import Dataset, Group
from retentia.evals.loaders import load_beam, load_locomo
from retentia.evals.memory_subject import fresh_subject
from retentia.evals.metrics import recall_at, reciprocal_rank
from retentia.evals.subject import Found
from retentia.model.time import Moment

_DEEP = 100
_DAY = 86_400_000_000
_FACTORS = ((0.0, 365), (0.05, 90), (0.1, 90), (0.05, 365), (0.1, 365), (0.2, 365))
_DATED = re.compile(
    r"\b(?:when|how long|(?:19|20)\d\d|january|february|march|april|may|june|july|august|september|october|november|"
    r"december)\b",
    re.IGNORECASE,
)


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
def main(data: Path) -> None:
    """Print recall for each strength and half-life."""
    for dataset in (load_locomo(data / "locomo" / "locomo_dev.json"), load_beam(data / "beam" / "100K")):
        click.echo(measure(dataset).as_markdown())


def measure(dataset: Dataset) -> Table:
    """Ask each question once, and rank the answers by each factor."""
    asked = list(_asked(dataset))
    rows: list[tuple[Cell, ...]] = []
    for most, half_life in _FACTORS:
        ranked = [(_ranking(found, ages, most, half_life), gold) for found, ages, gold in asked]
        depths = [sum(recall_at(ranking, gold, k) for ranking, gold in ranked) / len(ranked) for k in (1, 5, 10)]
        mrr = sum(reciprocal_rank(ranking, gold) for ranking, gold in ranked) / len(ranked)
        rows.append((f"at most -{most:.0%}, half in {half_life} days" if most else "none", *depths, mrr))
    columns = ("decay", "recall@1", "recall@5", "recall@10", "MRR")
    return Table(f"{dataset.name}, {len(asked)} questions", columns, rows)


def _asked(dataset: Dataset) -> Iterator[tuple[tuple[Found, ...], dict[str, float], tuple[str, ...]]]:
    """Yield what was found for each question, the days by which each entry is older than the newest, and the gold."""
    with fresh_subject("auto") as subject:
        for group in dataset.groups:
            subject.ingest(group)
            ages = _ages(group)
            for question in group.scored:
                found = subject.ask(group, question.text, limit=_DEEP).found
                yield found, {} if _DATED.search(question.text) else ages, question.gold


def _ages(group: Group) -> dict[str, float]:
    told = {entry.source: Moment.parse(entry.at).start for entry in group.entries if entry.at}
    newest = max(told.values(), default=0)
    return {source: (newest - start) / _DAY for source, start in told.items()}


def _ranking(found: tuple[Found, ...], ages: dict[str, float], most: float, half_life: int) -> list[str]:
    def faded(one: Found) -> float:
        factor = 1 - most * (1 - 2 ** (-ages.get(one.source, 0.0) / half_life))
        return one.score * factor if one.score > 0 else one.score

    return [one.source for one in sorted(found, key=faded, reverse=True)]


if __name__ == "__main__":
    main()
