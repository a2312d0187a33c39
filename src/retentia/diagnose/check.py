"""Check: was it said? Three verdicts on a claim about the past: in context, stored but not shown, nowhere.

Pure over what is passed, but for one search of the memory (two where the first finds nothing). A wrong "nowhere" would
accuse an agent of inventing what is true, so it is given only where enough was claimed to be found again; otherwise
there is no verdict, and the reason says why.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from retentia.diagnose.claims import Author, Claim
from retentia.diagnose.log import Said
from retentia.diagnose.support import NO_SUPPORT, Stretch, Support, Wanted, stretches, support, wanted

SUPPORTED = 0.6
"""The share of a claim's terms from which a text says it; see docs/explain/amnesia.md."""
_UNHEARD = 0.25
_MANY_TERMS = 5
_FEW_TERMS = 2

_ROLES = {
    Author.AGENT: frozenset({"assistant", "item"}),
    Author.USER: frozenset({"user", "item"}),
    Author.TOOL: frozenset({"tool"}),
    Author.BOTH: frozenset({"user", "assistant", "item"}),
}


class Verdict(StrEnum):
    """Where what is claimed stands."""

    IN_CONTEXT = "in context"
    NOT_SHOWN = "stored but not shown"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search of the memory answers: records, best first, and how relevant the best of them is, 0 to 1.

    `by_meaning` tells whether vectors were compared; without them other words for the same are not found.
    """

    said: Sequence[Said]
    relevance: float
    threshold: float
    by_meaning: bool

    @property
    def is_relevant(self) -> bool:
        return self.relevance >= self.threshold


Search: TypeAlias = Callable[[str], Found]
"""Searches the memory for a text, below the relevance cutoff too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCheck:
    """A claim and its verdict, None where none can be given; `reason` says why in words.

    `score` is the share of the claim's terms that `evidence` says, `relevance` how likely the memory holds it at all
    (None where it was not asked). `evidence` is what says it, or what comes closest.
    """

    claim: Claim
    verdict: Verdict | None
    score: float
    reason: str
    evidence: Said | None = None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class _Match:
    said: Said
    support: Support

    @property
    def is_enough(self) -> bool:
        return self.support.share >= SUPPORTED and self.support.has_numbers


def check(claims: Iterable[Claim], shown: Sequence[Said], search: Search) -> list[ClaimCheck]:
    """Look for what each claims in what the model was shown, then in the memory."""
    checker = _Checker(shown, search)
    return [checker.check(claim) for claim in claims]


class _Checker:
    """What was shown, prepared once for all claims of a text; nothing of it outlives them."""

    def __init__(self, shown: Sequence[Said], search: Search) -> None:
        self._shown = shown
        self._ids = {one.id for one in shown if one.id}
        self._search = search
        self._prepared: dict[Said, list[Stretch]] = {}

    def check(self, claim: Claim) -> ClaimCheck:
        roles = _ROLES[claim.by] | ({"tool"} if claim.deed else set())
        if claim.is_bare:
            return _bare(claim, [one for one in self._shown if one.role in roles])
        needs = wanted(claim.content)
        shown = self._best(needs, [one for one in self._shown if one.role in roles])
        if shown is not None and shown.is_enough:
            return _judged(claim, Verdict.IN_CONTEXT, shown, "it was in what the model was shown")
        found = self._search(claim.content)
        hidden = [one for one in found.said if one.id not in self._ids]
        stored = self._best(needs, [one for one in hidden if one.role in roles])
        if stored is not None and stored.is_enough and len(needs.terms) >= _FEW_TERMS:
            return _judged(claim, Verdict.NOT_SHOWN, stored, "the memory holds it, the model was not shown it", found)
        other = self._best(needs, [one for one in (*self._shown, *hidden) if one.role not in roles])
        if other is not None and other.is_enough:
            return _judged(claim, None, other, f"it was not the {claim.by} who said it: {other.said.role}", found)
        matches = [match for match in (shown, stored, other) if match is not None]
        nearest = max(matches, key=lambda match: match.support.share, default=None)
        verdict, reason = _absent(needs, nearest, found)
        return _judged(claim, verdict, nearest, reason, found)

    def _best(self, needs: Wanted, said: Iterable[Said]) -> _Match | None:
        matches = (_Match(one, support(needs, self._stretches(one))) for one in said)
        return max(matches, key=lambda match: (match.is_enough, match.support), default=None)

    def _stretches(self, one: Said) -> list[Stretch]:
        if one not in self._prepared:
            self._prepared[one] = stretches(one.text)
        return self._prepared[one]


def _bare(claim: Claim, said: Sequence[Said]) -> ClaimCheck:
    """Tell at least whether the one who is named said anything in what was shown."""
    if said:
        reason = "nothing is claimed that could be compared; its author spoke in what was shown"
        return ClaimCheck(claim=claim, verdict=Verdict.IN_CONTEXT, score=0.0, reason=reason, evidence=said[-1])
    return ClaimCheck(claim=claim, verdict=None, score=0.0, reason="nothing is claimed that could be compared")


def _absent(needs: Wanted, nearest: _Match | None, found: Found) -> tuple[Verdict | None, str]:
    """Decide whether what was not found is nowhere, or only cannot be told."""
    best = nearest.support if nearest is not None else NO_SUPPORT
    count = len(needs.terms)
    if needs.tells_time:
        return None, "it tells a time, which can be said in other words"
    if best.share >= SUPPORTED and best.has_others:
        return Verdict.NOWHERE, "something like it was said, with other numbers"
    if best.share > _UNHEARD:
        return None, "something like it was said, too little to tell"
    if count >= _MANY_TERMS or (count >= _FEW_TERMS and not found.is_relevant and (found.by_meaning or needs.numbers)):
        return Verdict.NOWHERE, "nothing like it was said"
    return None, "not found, and too little is claimed to say that it is nowhere"


def _judged(
    claim: Claim, verdict: Verdict | None, match: _Match | None, reason: str, found: Found | None = None
) -> ClaimCheck:
    return ClaimCheck(
        claim=claim,
        verdict=verdict,
        score=round(match.support.share, 3) if match is not None else 0.0,
        reason=reason,
        evidence=match.said if match is not None and match.support.share > 0 else None,
        relevance=None if found is None else round(found.relevance, 3),
    )
