"""Run a benchmark: remember each group, ask its questions, keep what is needed to judge the answers.

Two searches answer a question: a timed one of `SHOWN` hits, as an application asks, and a deep one that is judged. Of
questions that nothing answers only the relevance is of interest. Of chats, the prompt for a question is judged, too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from retentia.evals.dataset import Dataset, Group, Question
from retentia.evals.metrics import hit_at, ndcg_at, recall_at, recall_within, reciprocal_rank
from retentia.evals.subject import Answer, Found, Subject

SHOWN = 20
RECALL_DEPTHS = (1, 5, 10, 20)
TOKEN_BUDGETS = (512, 1024, 1300, 2048)
CONTEXT_TOKENS = 1300
IN_CONTEXT = f"gold_in_context_{CONTEXT_TOKENS}"
_DEEP = 150  # more than 2,048 tokens of the shortest messages worth returning
_EMBEDDED_FOR_TIMING = 50

Asked = Literal["own", "foreign", "unsaid"]
Progress = Callable[[str, int, int], None]
"""Hear that `done` of `total` of a stage are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question asked of one group, and how well it was answered.

    `asked` says whether the group answers it ("own"), another one does ("foreign"), or it is about the group's own
    topics but was never said ("unsaid"). Only "own" questions have `scores`.
    """

    group: str
    question: Question
    asked: Asked
    shown: tuple[Found, ...]
    relevance: float
    threshold: float
    search_ms: float
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All outcomes of one benchmark, and what embedding a question took in milliseconds."""

    suite: str
    outcomes: tuple[Outcome, ...]
    embed_ms: tuple[float, ...]

    def asked(self, asked: Asked) -> tuple[Outcome, ...]:
        """Return the outcomes of one sort of question."""
        return tuple(outcome for outcome in self.outcomes if outcome.asked == asked)


def run(dataset: Dataset, subject: Subject, *, progress: Progress | None = None) -> Run:
    """Evaluate the subject on every group of the dataset."""
    told = progress or _silently
    for count, group in enumerate(dataset.groups):
        told("remember", count, len(dataset.groups))
        subject.ingest(group)
    told("remember", len(dataset.groups), len(dataset.groups))
    asked = [(group, sort, question) for group in dataset.groups for sort, question in _questions(group)]
    outcomes = []
    warm = None
    for count, (group, sort, question) in enumerate(asked):
        told("ask", count, len(asked))
        if group is not warm:
            subject.ask(group, question.text, limit=SHOWN)  # the first search loads the index; it is not timed
            warm = group
        outcomes.append(_outcome(subject, group, sort, question, in_context=dataset.is_of_chats))
    told("ask", len(asked), len(asked))
    sample = [question.text for group in dataset.groups for question in group.scored][:_EMBEDDED_FOR_TIMING]
    return Run(suite=dataset.name, outcomes=tuple(outcomes), embed_ms=tuple(subject.embedding_ms(sample)))


def judge(deep: Answer, gold: Sequence[str]) -> dict[str, float]:
    """Score one deep ranking against the sources that answer."""
    ranking, tokens = deep.ranking, [found.tokens for found in deep.found]
    scores = {f"recall_at_{k}": recall_at(ranking, gold, k) for k in RECALL_DEPTHS}
    scores |= {f"hit_at_{k}": hit_at(ranking, gold, k) for k in RECALL_DEPTHS}
    scores |= {"mrr": reciprocal_rank(ranking, gold), "ndcg_at_10": ndcg_at(ranking, gold, 10)}
    scores |= {f"gold_in_{size}_tokens": recall_within(ranking, tokens, gold, size) for size in TOKEN_BUDGETS}
    return scores


def _questions(group: Group) -> Iterable[tuple[Asked, Question]]:
    yield from (("own", question) for question in group.scored)
    yield from (("unsaid", question) for question in group.unanswerable)
    yield from (("foreign", question) for question in group.foreign)


def _outcome(subject: Subject, group: Group, asked: Asked, question: Question, *, in_context: bool) -> Outcome:
    answer = subject.ask(group, question.text, limit=SHOWN)
    scores = {}
    if asked == "own":
        deep = subject.ask(group, question.text, limit=_DEEP)
        scores = judge(deep, question.gold)
        if in_context:
            shown = subject.shown(group, question.text, budget=CONTEXT_TOKENS)
            scores[IN_CONTEXT] = recall_at(shown, question.gold, len(shown))
    return Outcome(
        group=group.name,
        question=question,
        asked=asked,
        shown=answer.found,
        relevance=answer.relevance,
        threshold=answer.threshold,
        search_ms=answer.search_ms,
        scores=scores,
    )


def _silently(stage: str, done: int, total: int) -> None:
    pass
