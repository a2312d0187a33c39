"""How well changed facts and chains of them are answered: FactConsolidation, through the verbs of a memory, no model.

The facts are added as messages of a user, a second apart, and learned from by rules. A question is right when the
answer of the best chain is one that counts. It is outdated when the chain rests on a value that a later fact has
replaced, right or wrong.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retentia.evals.loaders.factconsolidation import FactQuestion, FactSet
from retentia.evals.runs import Progress
from retentia.index.names import name_form
from retentia.learn.chains import Chain
from retentia.learn.statements import Statement, read_statement
from retentia.memory import Memory
from retentia.model.message import Message
from retentia.model.scope import Scope
from retentia.model.time import Moment

_SCOPE = Scope("eval", "factconsolidation")
_BEGAN = 1_700_000_000_000_000
_SECOND = 1_000_000
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How one set of questions was answered. `unread` counts the facts that were not understood, of `facts`."""

    name: str
    facts: int
    unread: int
    questions: int
    right: int
    unanswered: int
    outdated: int
    ms_per_question: float

    @property
    def share(self) -> float:
        """The share of questions that were answered right."""
        return self.right / self.questions if self.questions else 0.0


def ask_factconsolidation(sets: Sequence[FactSet], *, progress: Progress) -> list[Asked]:
    """Fill a fresh memory with the facts of each set and ask its questions; the stores are gone afterwards."""
    return [asked for one in sets for asked in _asked(one, progress)]


def figures(done: Sequence[Asked]) -> dict[str, float | int]:
    """Return the share of each set by its name, and how many answers over all were outdated or missing."""
    shares: dict[str, float | int] = {one.name: round(one.share, 4) for one in done}
    return shares | {
        "outdated": sum(one.outdated for one in done),
        "unanswered": sum(one.unanswered for one in done),
        "unread": sum(one.unread for one in {one.facts: one for one in done}.values()),
        "ms_per_question": round(max((one.ms_per_question for one in done), default=0.0), 2),
    }


def _asked(one: FactSet, progress: Progress) -> Iterator[Asked]:
    statements = [read_statement(fact) for fact in one.facts]
    latest = {_slot(told): name_form(told.object) for told in statements if told is not None}
    with (
        tempfile.TemporaryDirectory(prefix="retentia-eval-") as folder,
        Memory.open(Path(folder) / "eval.db", embedder=None, worker=False) as memory,
    ):
        _fill(memory, one.facts, lambda at: progress(f"facts {one.size}", at, len(one.facts)))
        for name, questions in one.questions.items():
            yield _ask(memory, name, questions, statements, latest, progress)


def _fill(memory: Memory, facts: Sequence[str], told: Callable[[int], None]) -> None:
    for start in range(0, len(facts), _AT_ONCE):
        some = facts[start : start + _AT_ONCE]
        said = [Message(role="user", content=fact, at=_at(start + place)) for place, fact in enumerate(some)]
        memory.add(said, scope=_SCOPE)
        told(start + len(some))
    memory.drain()


def _at(number: int) -> str:
    return Moment.at(_BEGAN + number * _SECOND, "UTC").iso()


def _ask(
    memory: Memory,
    name: str,
    questions: Sequence[FactQuestion],
    statements: Sequence[Statement | None],
    latest: Mapping[tuple[str, str], str],
    progress: Progress,
) -> Asked:
    best: list[Chain | None] = []
    started = time.perf_counter()
    for place, question in enumerate(questions, start=1):
        best.append(memory.facts.chains(question.text, scope=_SCOPE, limit=1).best)
        progress(f"questions {name}", place, len(questions))
    spent_ms = (time.perf_counter() - started) * 1000
    return Asked(
        name=name,
        facts=len(statements),
        unread=sum(statement is None for statement in statements),
        questions=len(questions),
        right=sum(_is_right(chain, question) for chain, question in zip(best, questions, strict=True)),
        unanswered=sum(chain is None for chain in best),
        outdated=sum(chain is not None and _is_outdated(chain, latest) for chain in best),
        ms_per_question=spent_ms / max(1, len(questions)),
    )


def _is_right(chain: Chain | None, question: FactQuestion) -> bool:
    return chain is not None and name_form(chain.answer) in {name_form(answer) for answer in question.answers}


def _is_outdated(chain: Chain, latest: Mapping[tuple[str, str], str]) -> bool:
    return any(
        latest.get((name_form(edge.subject), edge.relation)) not in (None, name_form(edge.object))
        for edge in chain.edges
    )


def _slot(told: Statement) -> tuple[str, str]:
    return name_form(told.subject), told.relation
