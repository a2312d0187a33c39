"""Precision: does an answer hold what it must, nothing that it must not, and little else?

An answer is what an application would show before a reply: what holds everywhere, what is pinned in the domain, what is
open there, and what recall finds for the question above a floor of relevance. Everything goes through public verbs.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retentia.evals.loaders.precisionmembench import EVERYWHERE, Case, Part, PrecisionSet, SeedBelief
from retentia.memory import Memory
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.read.floor import NAMES

FLOOR = 0.99
"""What the meaning of a hit alone must reach: in a small scope a cosine of about .47 with the default embedder."""

_LIMIT = 12
_KINDS: Mapping[str, Kind] = {
    "preference": Kind.PREFERENCE,
    "decision": Kind.DECISION,
    "entity": Kind.KNOWLEDGE,
    "relation": Kind.KNOWLEDGE,
    "open_question": Kind.NOTE,
}
Answer = Mapping[Part, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What one case came to: what was missing, what must not have been there, and what else was."""

    case: Case
    answer: Answer
    included: int
    missing: tuple[str, ...]
    forbidden: tuple[str, ...]
    leaked: tuple[str, ...]
    right: int
    surplus: tuple[str, ...]


def run_precision(
    dataset: PrecisionSet, *, embedder: str = "auto", progress: Callable[[str, int, int], None] | None = None
) -> list[CaseResult]:
    """Remember the beliefs in a fresh store, ask every case, and judge the answers."""
    with (
        tempfile.TemporaryDirectory(prefix="retentia-eval-") as folder,
        Memory.open(Path(folder) / "eval.db", embedder=embedder, worker=False) as memory,
    ):
        held = _Held(memory, dataset)
        results = []
        for count, case in enumerate(dataset.cases):
            if progress is not None:
                progress("ask", count, len(dataset.cases))
            results.append(judge(case, held.answer(case), dataset.beliefs))
    return results


def judge(case: Case, answer: Answer, beliefs: Iterable[SeedBelief]) -> CaseResult:
    """Hold an answer against what the case expects of it."""
    known = {belief.id: belief for belief in beliefs}
    given = {source for sources in answer.values() for source in sources}
    wanted = [(source, _places(part)) for part, told in case.expected.items() for source in sorted(told.include)]
    missing = tuple(source for source, parts in wanted if not any(source in answer.get(part, ()) for part in parts))
    excluded = [
        source for part, told in case.expected.items() for source in answer.get(part, ()) if source in told.exclude
    ]
    told = " ".join(known[source].content.casefold() for source in answer.get("prelude", ()) if source in known)
    texts = case.expected["prelude"].texts if "prelude" in case.expected else ()
    unsaid = tuple(f"text {text!r}" for text in texts if text.casefold() not in told)
    relevant = case.expected.get("relevant")
    surplus: tuple[str, ...] = ()
    right = 0
    if relevant is not None and relevant.only is not None:
        surplus = tuple(source for source in answer["relevant"] if source not in relevant.only)
        right = len(answer["relevant"]) - len(surplus)
    return CaseResult(
        case=case,
        answer=answer,
        included=len(wanted) + len(texts) - len(missing) - len(unsaid),
        missing=missing + unsaid,
        forbidden=tuple(dict.fromkeys([*excluded, *(one for one in sorted(given) if known[one].is_past)])),
        leaked=tuple(
            one
            for one in sorted(given)
            if known[one].user != case.user or known[one].domain not in (case.domain, EVERYWHERE)
        ),
        right=right,
        surplus=surplus,
    )


def figures(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Add the results up. `precision` is the share of what recall returned that may be there, over all cases."""
    included = sum(one.included for one in results)
    wanted = included + sum(len(one.missing) for one in results)
    right, surplus = sum(one.right for one in results), sum(len(one.surplus) for one in results)
    judged = [one for one in results if "relevant" in one.case.expected]
    return {
        "suite": "precisionmembench",
        "cases": len(results),
        "must_not_returned": sum(len(one.forbidden) for one in results),
        "must_include_recall": round(included / wanted, 4) if wanted else 1.0,
        "precision": round(right / (right + surplus), 4) if right + surplus else 1.0,
        "leaks": sum(len(one.leaked) for one in results),
        "exact_cases": round(sum(not one.surplus and not one.missing for one in judged) / max(1, len(judged)), 4),
    }


class _Held:
    """The beliefs in a memory."""

    def __init__(self, memory: Memory, dataset: PrecisionSet) -> None:
        self._memory = memory
        self._sources: dict[str, str] = {}
        for belief in dataset.beliefs:
            (self._put_aside if belief.is_past else self._remember)(belief)
        memory.drain()

    def answer(self, case: Case) -> Answer:
        """Return the beliefs of each part of an answer, best first."""
        scope = _scope(case.user)
        pinned = self._listed(scope, {"domain": case.domain, "pinned": True, "open": False})
        room = _LIMIT if case.budget is None else case.budget - len(pinned)
        return {
            "prelude": self._listed(scope, {"domain": EVERYWHERE}),
            "pinned": pinned,
            "open": self._listed(scope, {"domain": case.domain, "pinned": True, "open": True}),
            "relevant": self._relevant(case, scope)[: max(0, room)],
        }

    def _relevant(self, case: Case, scope: Scope) -> list[str]:
        """Return what the question means, and behind each relation what it relates."""
        where = {"domain": case.domain, "pinned": False, "open": False}
        found: list[str] = []
        for hit in self._memory.recall(case.question, scope=scope, where=where, floor=FLOOR, limit=_LIMIT):
            found.append(self._sources[hit.id])
            if linked := hit.record.metadata.get("linked"):
                found += self._listed(scope, {**where, "source": {"in": linked}})
        return list(dict.fromkeys(found))

    def _listed(self, scope: Scope, where: Mapping[str, object]) -> list[str]:
        kinds = sorted(set(_KINDS.values()))
        pages = [self._memory.records(scope=scope, kind=kind, where=where, limit=1_000) for kind in kinds]
        return [self._sources[record.id] for page in pages for record in page.records]

    def _remember(self, belief: SeedBelief) -> None:
        receipt = self._memory.remember(
            f"{', '.join(belief.names)}: {belief.content}",
            _KINDS.get(belief.type, Kind.NOTE),
            scope=_scope(belief.user),
            metadata={
                NAMES: list(belief.names),
                "source": belief.id,
                "domain": belief.domain,
                "pinned": belief.is_pinned,
                "open": belief.is_open_question,
                "linked": list(belief.linked),
            },
        )
        self._sources[receipt.id] = belief.id

    def _put_aside(self, belief: SeedBelief) -> None:
        """Believe what is over and take it back: it is kept as history and must never come up again."""
        scope = _scope(belief.user)
        text = f"{', '.join(belief.names)}: {belief.content}"
        learned = self._memory.facts.set(belief.names[0], text, scope=scope, applies_to=belief.domain)
        if learned.record_id is not None:
            self._sources[learned.record_id] = belief.id
            self._memory.facts.retract(learned.record_id, scope=scope, reason="superseded or resolved")


def _places(part: Part) -> tuple[Part, ...]:
    """Return the parts where something wanted in one part is in its place: what is pinned is shown, too."""
    return ("relevant", "pinned") if part == "relevant" else (part,)


def _scope(user: str) -> Scope:
    return Scope(tenant="eval", user=user)
