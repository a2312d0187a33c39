"""How often the verdict on a learning curve is wrong: chance called a trend, and a true rise not seen.

`python -m benchmarks.learning_curve` prints two tables in Markdown; the same seed, the same numbers.
"""

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from retentia.experience.curve import Trend, verdict_on

LENGTHS = (10, 20, 50, 100, 200)
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def solved(start: float, end: float) -> Draw:
    """Draw rewards of 0 or 1 whose chance goes evenly from `start` to `end`."""
    return lambda chance, count: (chance.random(count) < np.linspace(start, end, count)).astype(np.float64)


def graded(start: float, end: float) -> Draw:
    """Draw rewards around a mean that goes evenly from `start` to `end`, with a deviation of 0.2."""
    return lambda chance, count: np.clip(np.linspace(start, end, count) + chance.normal(0, 0.2, count), 0, 1)


def shuffled(draw: Draw) -> Draw:
    """Draw rewards and put them into an order of chance."""
    return lambda chance, count: chance.permutation(draw(chance, count))


def in_spells(chance: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Draw rewards without a trend in which each takes half of the last one's deviation."""
    noise = chance.normal(0, 0.17, count)
    for place in range(1, count):
        noise[place] += 0.5 * noise[place - 1]
    return np.clip(0.5 + noise, 0, 1)


CALM: dict[str, Draw] = {
    "solved or not, half of them": shuffled(solved(0.5, 0.5)),
    "solved or not, 9 of 10": shuffled(solved(0.9, 0.9)),
    "graded": shuffled(graded(0.5, 0.5)),
    "a true rise, shuffled": shuffled(graded(0.3, 0.7)),
    "good and bad spells (not shuffled)": in_spells,
}
TRUE: dict[str, Draw] = {
    "solved: from 3 in 10 to 8 in 10": solved(0.3, 0.8),
    "solved: from 4 in 10 to 6 in 10": solved(0.4, 0.6),
    "graded: from .3 to .7": graded(0.3, 0.7),
    "graded: from .4 to .6": graded(0.4, 0.6),
}


def share_called(trend: Trend, draw: Draw, count: int, rounds: int) -> float:
    """Return the share of sequences of so many rewards that are called by a trend."""
    chance = np.random.default_rng(count)
    return sum(verdict_on(draw(chance, count)).trend is trend for _ in range(rounds)) / rounds


def table(heading: str, draws: dict[str, Draw], rounds: int) -> str:
    """Return a table in Markdown: what is called rising, by the number of experiences."""
    head = [f"| {heading} | {' | '.join(map(str, LENGTHS))} |", "|---" * (len(LENGTHS) + 1) + "|"]
    for name, draw in draws.items():
        shares = (f"{share_called(Trend.RISING, draw, count, rounds):.1%}" for count in LENGTHS)
        head.append(f"| {name} | {' | '.join(shares)} |")
    return "\n".join(head)


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(table("no trend, called rising", CALM, runs), table("a true rise, called rising", TRUE, runs), sep="\n\n")
