"""Symptoms: one session's log, looked through for every sign of amnesia, in the order in which they happened."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import chain

from retentia.diagnose.check import ClaimCheck, Search, Verdict, check
from retentia.diagnose.claims import find_claims
from retentia.diagnose.complaints import complaints
from retentia.diagnose.contradictions import contradictions
from retentia.diagnose.log import Called, Said, SessionLog, Step
from retentia.diagnose.repeated_calls import FRESH_FOR, CountTokens, repeated_calls
from retentia.diagnose.repeated_questions import repeated_questions
from retentia.diagnose.symptom import Symptom, SymptomKind, quote

SearchBefore = Callable[[Said], Search]
"""Gives, for a message, the search in what the memory held before it and outside its session."""
_ACCUSED_BY = {Verdict.NOWHERE: SymptomKind.INVENTED, Verdict.NOT_SHOWN: SymptomKind.NOT_SHOWN}


def symptoms(
    log: SessionLog, *, count_tokens: CountTokens, search_before: SearchBefore, fresh_for: timedelta = FRESH_FOR
) -> list[Symptom]:
    """Find every symptom of one session. What was said earlier in it counts as shown."""
    found = chain(
        repeated_calls(log.session, log.steps, count_tokens=count_tokens, fresh_for=fresh_for),
        repeated_questions(log.session, log.steps),
        contradictions(log.session, log.steps),
        _claims(log, search_before),
        complaints(log.session, log.steps),
    )
    place = {step.id: number for number, step in enumerate(log.steps)}
    return sorted(found, key=lambda one: place.get(one.ids[-1], 0))


def accused(checks: Sequence[ClaimCheck], *, session: str, said: Said) -> Iterator[Symptom]:
    """Turn the checks of a reply into symptoms: what is nowhere, and what was stored and not shown."""
    for one in checks:
        kind = _ACCUSED_BY.get(one.verdict) if one.verdict is not None else None
        if kind is None:
            continue
        nearest = (one.evidence,) if one.evidence is not None else ()
        yield Symptom(
            kind=kind,
            session=session,
            ids=(*(near.id for near in nearest), said.id),
            quotes=(*(quote(near.text) for near in nearest), quote(said.text[one.claim.start : one.claim.end])),
            reason=one.reason,
            score=one.score,
        )


def said_in(steps: Sequence[Step]) -> list[Said]:
    """Return what was said and answered in a session so far: messages, and what tools were asked and returned."""
    return [step if isinstance(step, Said) else _as_said(step) for step in steps]


def _claims(log: SessionLog, search_before: SearchBefore) -> Iterator[Symptom]:
    """Check what the agent claims; what it had in its own session it is taken to have seen."""
    for place, step in enumerate(log.steps):
        if not isinstance(step, Said) or step.role != "assistant":
            continue
        claims = [claim for claim in find_claims(step.text) if not claim.is_bare]
        if claims:
            checks = check(claims, said_in(log.steps[:place]), search_before(step))
            yield from accused(checks, session=log.session, said=step)


def _as_said(call: Called) -> Said:
    return Said(id=call.id, role="tool", text=f"{call.name} {call.arguments} {call.result}", at=call.at)
