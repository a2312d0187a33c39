"""Does recalling experiences find what helps? Trajectories with several trials: the first are memory, the last ask.

A query knows what its user opens with and nothing of how it went. All of it goes through the verbs of a memory.
"""

import math
import tempfile
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from retentia.errors import InvalidInput
from retentia.evals.runs import Progress
from retentia.experience.off_policy import Attempt, Report, report_on
from retentia.experience.priority import Order
from retentia.experience.remembered import Remembered
from retentia.experience.replay import relevant
from retentia.ingest.trajectories import Call, Describe, Trajectory, read_trajectories
from retentia.memory import Memory
from retentia.model.experience import Experience, Outcome
from retentia.model.scope import Scope
from retentia.providers.base import EmbedderSpec
from retentia.tools.freshness import Effect, shipped_rules
from retentia.tools.normalise import read_arguments

_SCOPE = Scope("eval", "replay")
_TOP_K = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """How well experiences were recalled.

    `same_task_at_1` is the share of the `answerable` questions, those whose task was solved in memory, for which the
    first success that is recalled is of the same task; `success_rate` that of successes among what is recalled,
    `base_rate` that of successes in memory. `held_out` are the questions with what they did beside what the success
    that is recalled did, and `advice` tells whether those that did the same fared better.
    """

    questions: int
    answerable: int
    same_task_at_1: float
    success_rate: float
    base_rate: float
    recall_p50_ms: float
    held_out: tuple[tuple[Experience, Attempt], ...]
    advice: Report


def run_replay(
    path: Path,
    *,
    embedder: EmbedderSpec,
    describe: Describe | str = Describe.OPENING,
    order: Order | str = Order.PRIORITISED,
    progress: Progress,
) -> Replayed:
    """Keep the first half of the trials, and ask with the others; raise InvalidInput."""
    given = list(read_trajectories(path, describe=describe))
    trials = sorted({one.trial for one in given})
    early = set(trials[: len(trials) // 2])
    known = [one for one in given if one.trial in early]
    asked = [one for one in given if one.trial not in early]
    if not known or not asked:
        raise InvalidInput(f"{str(path)!r} needs at least two trials: the first are memory, the others ask")
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", embedder=embedder, worker=False) as memory,
    ):
        memory.experience.record([one.experience for one in known], scope=_SCOPE)
        memory.drain()
        answers: list[_Answer] = []
        for place, one in enumerate(asked, start=1):
            answers.append(_asked(memory, one, known, order))
            progress("recall", place, len(asked))
    return _scored(known, asked, answers)


@dataclass(frozen=True, slots=True)
class _Answer:
    best: Sequence[Remembered]
    success: Trajectory | None
    advised: Trajectory | None
    ms: float


def _asked(memory: Memory, one: Trajectory, known: Sequence[Trajectory], order: Order | str) -> _Answer:
    task = one.experience.task.description
    memory.experience.recall(task, scope=_SCOPE, top_k=1)  # embeds the task, which is then known
    started = time.perf_counter()
    best = memory.experience.recall(task, scope=_SCOPE, top_k=_TOP_K, order=order)
    ms = (time.perf_counter() - started) * 1000
    solved = memory.experience.recall(task, scope=_SCOPE, top_k=1, order=order, outcome=Outcome.SUCCESS)
    by_key = {each.experience.key: each for each in known}
    success = by_key[solved[0].experience.key] if solved else None
    is_alike = bool(relevant(solved, memory.experience.embedder))
    return _Answer(best, success, success if is_alike else None, ms)


def _scored(known: Sequence[Trajectory], asked: Sequence[Trajectory], answers: Sequence[_Answer]) -> Replayed:
    solved = {one.task_id for one in known if one.experience.is_success}
    answerable = [(one, answer) for one, answer in zip(asked, answers, strict=True) if one.task_id in solved]
    same = [answer.success is not None and answer.success.task_id == one.task_id for one, answer in answerable]
    recalled = [found.experience.is_success for answer in answers for found in answer.best]
    held_out = tuple(
        (one.experience, _attempt(one, answer.advised))
        for one, answer in zip(asked, answers, strict=True)
        if answer.advised is not None
    )
    return Replayed(
        questions=len(asked),
        answerable=len(answerable),
        same_task_at_1=float(np.mean(same)) if same else 0.0,
        success_rate=float(np.mean(recalled)) if recalled else 0.0,
        base_rate=float(np.mean([one.experience.is_success for one in known])),
        recall_p50_ms=float(np.median([answer.ms for answer in answers])),
        held_out=held_out,
        advice=report_on([attempt for _, attempt in held_out]),
    )


def _attempt(one: Trajectory, advised: Trajectory) -> Attempt:
    return Attempt(one.task_id, _actions(one.calls), _actions(advised.calls), one.experience.feedback.reward)


def _actions(calls: Sequence[Call]) -> frozenset[Hashable]:
    """Return what was changed, with arguments that mean the same as one; how it was looked up does not matter."""
    rules = shipped_rules()
    return frozenset(
        (call.name, read_arguments(call.arguments).canonical)
        for call in calls
        if rules.rule_for(call.name, call.arguments).effect is not Effect.READS
    )


def figures(done: Replayed) -> dict[str, float | int | str]:
    """Return what was measured as flat numbers; what cannot be told is left out."""
    advice = done.advice
    told: dict[str, float | int | str] = {
        "questions": done.questions,
        "answerable": done.answerable,
        "same_task_at_1": round(done.same_task_at_1, 4),
        "success_rate": round(done.success_rate, 4),
        "base_rate": round(done.base_rate, 4),
        "recall_p50_ms": round(done.recall_p50_ms, 3),
        "advice_followed": advice.followed,
        "advice_comparable_tasks": advice.comparable,
        "advice_verdict": advice.verdict,
    }
    for name, one in (("difference", advice.difference), ("within", advice.within), ("always", advice.always)):
        for part, value in (("", one.value), ("_low", one.low), ("_high", one.high)):
            if math.isfinite(value):
                told[f"advice_{name}{part}"] = round(value, 4)
    return told
