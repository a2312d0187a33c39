"""A remembered experience: what a task at hand brought to mind, and how much it bears on it."""

from dataclasses import dataclass

from retentia.model.experience import Experience


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """An experience beside a task: likeness from -1 to 1, recency and priority from 0 to 1.

    `score` is what the chosen order ranked by.
    """

    experience: Experience
    similarity: float
    recency: float
    priority: float
    score: float
