"""Reconcile: what a new claim does to those that are held. Pure and deterministic: the model proposes, this decides.

Only a single-valued attribute of one subject, where it applies, is superseded. Event time decides and not the order of
ingestion: what is said to have held earlier is kept as past. What is in the future, from outside, or cannot be ordered,
opens a conflict and changes nothing. Values that are corrected were never true; values that change were, until then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from retentia.learn.timeline import Cut, Held, Place, cut, place
from retentia.model.candidate import Manner
from retentia.model.ids import RecordId
from retentia.model.learned import Effect
from retentia.model.provenance import Trust
from retentia.model.record import Status

_NEVER_BELIEVED = {
    Manner.ASKED: "it was asked, not said",
    Manner.ASSUMED: "it was only assumed",
    Manner.JOKING: "it was not meant",
}
_ONLY_PROPOSED = {
    Manner.INFERRED: "it was not said in so many words",
    Manner.POSSIBLE: "it may be so, no more",
    Manner.INTENDED: "it is to be so and is not yet",
    Manner.REPORTED: "others say it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """A claim that arrives. `value` is compared, in its form. It was said of [start, end), UTC microseconds.

    `told_at` is when it was said, `ends_at` bounds when it holds, None for open. `is_flagged` says in words why it is
    doubtful, "" when it is not.
    """

    value: str
    start: int
    end: int
    told_at: int
    has_many: bool
    ends_at: int | None = None
    trust: Trust = Trust.PERSON
    manner: Manner = Manner.ASSERTED
    is_flagged: str = ""
    is_not: bool = False
    is_correction: bool = False
    corrects: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do: `effect` with the new claim, `ends` what holds until a time, `retracts` what was never true.

    With SEEN_AGAIN, `same` is the claim that is seen again: it holds from `valid_from` on already where that is given,
    and gets one more source if this `is_evidence`. With ADD and PROPOSE the new claim holds in [valid_from, valid_to).
    What `resumes` was said again: it holds on in another stretch. `conflicts` are the claims it cannot stand beside; a
    person decides. `reason` is in words.
    """

    effect: Effect
    reason: str
    same: RecordId | None = None
    is_evidence: bool = True
    valid_from: int | None = None
    valid_to: int | None = None
    ends: tuple[tuple[RecordId, int], ...] = ()
    resumes: tuple[Cut, ...] = ()
    retracts: tuple[RecordId, ...] = ()
    conflicts: tuple[RecordId, ...] = ()


def reconcile(new: New, held: Sequence[Held], *, now: int) -> Decision:
    """Decide what a new claim does to the claims that are held about its slot; `now` in UTC microseconds."""
    if new.manner in _NEVER_BELIEVED:
        return _refused(_NEVER_BELIEVED[new.manner])
    same = [one for one in held if one.value == new.value and not one.is_opposite]
    believed = [one for one in held if one.is_believed]
    if new.is_not or new.manner is Manner.FORMER:
        if why := _proposal(new):
            return _refused(why)
        return _denied(new, same) if new.is_not else _former(new, believed, same)
    if any(one.wrong_until is not None and new.told_at < one.wrong_until for one in same):
        return _refused("the person took it back since")
    if why := _proposal(new):
        return _proposed(new, same, why)
    candidates = tuple(one.id for one in same if one.status is Status.CANDIDATE)
    if new.start > now:
        rivals = tuple(one.id for one in _line(new, believed) if one.is_current and one.value != new.value)
        return _open(new, rivals, "it is to hold later, and is to be confirmed then")
    decision = _corrected(new, believed) if new.is_correction else _stated(new, believed)
    if decision.effect is Effect.PROPOSE:
        return decision
    return replace(decision, retracts=(*decision.retracts, *candidates))  # they give way to the person's own word


def _refused(why: str) -> Decision:
    return Decision(effect=Effect.REFUSE, reason=why)


def _proposal(new: New) -> str:
    """Tell why a claim can only be proposed; "" when it may be believed."""
    if new.is_flagged:
        return new.is_flagged
    if new.trust is not Trust.PERSON:
        return "the person did not say it"
    return _ONLY_PROPOSED.get(new.manner, "")


def _proposed(new: New, same: Sequence[Held], why: str) -> Decision:
    """Decide on what the person did not say outright: it is proposed once, and supports nothing that is believed."""
    known = next((one for one in same if one.is_current), None)
    if known is not None:
        return Decision(effect=Effect.SEEN_AGAIN, same=known.id, is_evidence=False, reason=f"known already; {why}")
    if any(one.is_rejected for one in same):
        return _refused("the person rejected it before")
    if any(one.wrong_until is not None for one in same):
        return _refused("the person took it back before")
    waiting = next((one for one in same if one.status is Status.CANDIDATE), None)
    if waiting is not None:
        return Decision(effect=Effect.SEEN_AGAIN, same=waiting.id, reason=f"proposed already; {why}")
    return _open(new, (), why)


def _open(new: New, conflicts: tuple[RecordId, ...], why: str) -> Decision:
    return Decision(effect=Effect.PROPOSE, valid_from=new.start, valid_to=new.ends_at, conflicts=conflicts, reason=why)


def _stated(new: New, believed: Sequence[Held]) -> Decision:
    """Decide on what the person said outright."""
    found = place(new.value, (new.start, new.end), new.ends_at, _line(new, believed))
    if found.unclear:
        return _open(new, found.unclear, "it contradicts what is known, and which came later cannot be told")
    return _placed(new, found, new.start, "")


def _placed(new: New, found: Place, start: int, reason: str, retracts: tuple[RecordId, ...] = ()) -> Decision:
    ends = tuple((one.id, one.at) for one in found.cuts)
    resumes = tuple(one for one in found.cuts if one.resumes is not None)
    known = found.inside or found.before
    if known is not None:
        return Decision(
            effect=Effect.SEEN_AGAIN,
            same=known.id,
            valid_from=start if found.inside is None else None,
            ends=ends,
            resumes=resumes,
            retracts=retracts,
            reason=f"{reason}; known already" if reason else "known already",
        )
    earlier = "it held earlier than what is known now" if found.until is not None and new.ends_at is None else ""
    return Decision(
        effect=Effect.ADD,
        valid_from=start,
        valid_to=found.until,
        ends=ends,
        resumes=resumes,
        retracts=retracts,
        reason=reason or earlier or ("it takes the place of what held before" if ends else "the person said it"),
    )


def _line(new: New, believed: Sequence[Held]) -> list[Held]:
    """Return what a claim has to be placed among: what says the same, and what it cannot stand beside."""
    if not new.has_many:
        return [one for one in believed if not one.is_opposite]
    return [one for one in believed if one.value == new.value or (not one.is_opposite and one.value == new.corrects)]


def _corrected(new: New, believed: Sequence[Held]) -> Decision:
    """Decide on a correction: what it takes back was never true, and the right value holds since that did."""
    others = [one for one in believed if not one.is_opposite and one.value != new.value]
    wrong = [one for one in others if new.corrects and one.value == new.corrects and _began(one) <= new.start]
    then = [one for one in others if one.covers(new.start)]
    if not wrong and not new.has_many and (not new.corrects or len(then) == 1):
        wrong = then
    since = min((one.valid_from for one in wrong if one.valid_from is not None), default=new.start)
    gone = {one.id for one in wrong}
    line = [one for one in _line(new, believed) if one.id not in gone]
    again = tuple(one for one in (cut(one, new.start) for one in wrong) if one.resumes is not None)
    found = place(new.value, (new.start, new.start + 1), new.ends_at, line)
    if again and found.inside is None:
        until = min(one.resumes for one in again if one.resumes is not None)
        found = replace(found, before=None, until=until if found.until is None else min(until, found.until))
    decision = _placed(new, found, min(since, new.start), "the person corrected it", tuple(one.id for one in wrong))
    return replace(decision, resumes=(*decision.resumes, *again))


def _began(one: Held) -> int:
    return min((start for start, _ in one.said), default=0) if one.valid_from is None else one.valid_from


def _denied(new: New, same: Sequence[Held]) -> Decision:
    """Decide on what the person says is not, or no longer, so."""
    then = [one for one in same if one.is_believed and one.covers(new.start)]
    candidates = tuple(one.id for one in same if one.status is Status.CANDIDATE)
    if not then and not candidates:
        return _refused("it denies what is not known")
    ended = _ended(new, then, "the person said that it is no longer so")
    if not new.is_correction:
        return replace(ended, retracts=candidates)
    return replace(
        ended,
        ends=(),
        retracts=(*candidates, *(one.id for one in then)),
        reason="the person said that it never was so",
    )


def _former(new: New, believed: Sequence[Held], same: Sequence[Held]) -> Decision:
    """Decide on what was so and is over."""
    then = [one for one in same if one.is_believed and one.covers(new.start)]
    if then:
        return _ended(new, then, "the person said that it is over")
    if known := next((one for one in same if one.is_believed), None):
        return Decision(effect=Effect.SEEN_AGAIN, same=known.id, reason="known as past already")
    if any(one.wrong_until is not None and new.told_at < one.wrong_until for one in same):
        return _refused("the person took it back since")
    began = [_began(one) for one in _line(new, believed) if one.valid_from is not None]
    until = min([new.start if new.ends_at is None else new.ends_at, *began])
    return Decision(effect=Effect.ADD, valid_from=None, valid_to=until, reason="it was so, and is over")


def _ended(new: New, then: Sequence[Held], why: str) -> Decision:
    cuts = tuple(cut(one, new.start) for one in then)
    return Decision(
        effect=Effect.END,
        ends=tuple((one.id, one.at) for one in cuts),
        resumes=tuple(one for one in cuts if one.resumes is not None),
        reason=why,
    )
