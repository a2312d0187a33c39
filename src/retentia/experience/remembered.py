"""Remembered: an experience that was found for a task, and why."""

from dataclasses import dataclass

from retentia.model.experience import Experience


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """An experience with its likeness to the task, from -1 to 1, and its recency and priority, from 0 to 1.

    `score` is what the chosen order ranked by.
    """

    experience: Experience
    similarity: float
    recency: float
    priority: float
    score: float
