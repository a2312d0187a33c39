"""Reconcile: what a new claim does to those that are held. Pure and deterministic: the model proposes, this decides.

Only a single-valued attribute of one subject, where it applies, is superseded. Event time decides and not the order of
ingestion: what is said to have held earlier is kept as past. What is in the future, from outside, or cannot be ordered,
opens a conflict and changes nothing. Values that are corrected were never true; values that change were, until then.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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

    `ends_at` bounds when it holds, None for open. `is_flagged` says in words why it is doubtful, "" when it is not.
    """

    value: str
    start: int
    end: int
    has_many: bool
    ends_at: int | None = None
    trust: Trust = Trust.PERSON
    manner: Manner = Manner.ASSERTED
    is_flagged: str = ""
    is_not: bool = False
    is_correction: bool = False
    corrects: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A claim about the same slot, or about the opposite attribute (`is_opposite`), that is already there.

    It holds in [valid_from, valid_to), None is open, and was said of [said_start, said_end), UTC microseconds.
    `is_rejected` tells that the person did not want it.
    """

    id: RecordId
    value: str
    status: Status
    valid_from: int | None
    valid_to: int | None
    said_start: int
    said_end: int
    is_rejected: bool = False
    is_opposite: bool = False

    @property
    def is_current(self) -> bool:
        """Whether it is believed and holds on."""
        return self.status is not Status.CANDIDATE and self.valid_to is None and not self.is_rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do: `effect` with the new claim, `ends` what holds until a time, `retracts` what was never true.

    With SEEN_AGAIN, `same` is the claim that gets one more source. With ADD and PROPOSE the new claim holds in
    [valid_from, valid_to). `conflicts` are the claims it cannot stand beside; a person decides. `reason` is in words.
    """

    effect: Effect
    reason: str
    same: RecordId | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    ends: tuple[tuple[RecordId, int], ...] = ()
    retracts: tuple[RecordId, ...] = ()
    conflicts: tuple[RecordId, ...] = ()


def reconcile(new: New, held: Sequence[Held], *, now: int) -> Decision:
    """Decide what a new claim does to the claims that are held about its slot; `now` in UTC microseconds."""
    if new.manner in _NEVER_BELIEVED:
        return Decision(effect=Effect.REFUSE, reason=_NEVER_BELIEVED[new.manner])
    same = [one for one in held if one.value == new.value and not one.is_opposite]
    if new.is_not:
        return _denied(new, same)
    if any(one.is_rejected for one in same) and (new.trust is not Trust.PERSON or _proposal(new)):
        return Decision(effect=Effect.REFUSE, reason="the person rejected it before")
    if new.manner is Manner.FORMER:
        return _former(new, held, same)
    known = next((one for one in same if one.valid_to is None and not one.is_rejected), None)
    if why := _proposal(new):
        if known is not None:
            return Decision(effect=Effect.SEEN_AGAIN, same=known.id, reason=f"known already; {why}")
        return Decision(effect=Effect.PROPOSE, valid_from=new.start, valid_to=new.ends_at, reason=why)
    if known is not None and known.status is not Status.CANDIDATE:
        if not new.is_correction:
            return Decision(effect=Effect.SEEN_AGAIN, same=known.id, reason="known already")
        return _corrected(new, held, known)
    if new.is_correction:
        return _corrected(new, held, known)
    return _stated(new, held, known, now=now)


def _proposal(new: New) -> str:
    """Tell why a claim can only be proposed; "" when it may be believed."""
    if new.is_flagged:
        return new.is_flagged
    if new.trust is not Trust.PERSON:
        return "the person did not say it"
    return _ONLY_PROPOSED.get(new.manner, "")


def _stated(new: New, held: Sequence[Held], candidate: Held | None, *, now: int) -> Decision:
    """Decide on what the person said outright. A candidate of the same value gives way to it."""
    gone = () if candidate is None else (candidate.id,)
    rivals = _rivals(new, held)
    ends_at = new.ends_at
    if new.start > now and new.ends_at is None:
        return Decision(
            effect=Effect.PROPOSE,
            valid_from=new.start,
            conflicts=tuple(one.id for one in rivals),
            reason="it is to hold later, and is to be confirmed then",
        )
    ends: list[tuple[RecordId, int]] = []
    for rival in rivals:
        match _order(new, rival):
            case "after":
                ends.append((rival.id, new.start))
            case "before":
                ends_at = rival.said_start if ends_at is None else min(ends_at, rival.said_start)
            case _:
                return Decision(
                    effect=Effect.PROPOSE,
                    valid_from=new.start,
                    valid_to=new.ends_at,
                    conflicts=(rival.id,),
                    reason="it contradicts what is known, and which came later cannot be told",
                )
    ends += [(one.id, new.start) for one in _cut_short(new, held)]
    past = _next_after(new, held)
    if past is not None and (ends_at is None or past < ends_at):
        ends_at = past
    reason = "it takes the place of what held before" if ends else "the person said it"
    if ends_at is not None and new.ends_at is None:
        reason = "it held earlier than what is known now"
    return Decision(
        effect=Effect.ADD, valid_from=new.start, valid_to=ends_at, ends=tuple(ends), retracts=gone, reason=reason
    )


def _rivals(new: New, held: Sequence[Held]) -> list[Held]:
    """Return the current claims that a new one cannot stand beside."""
    return [
        one
        for one in held
        if one.is_current
        and (
            (one.is_opposite and one.value == new.value)
            or (not one.is_opposite and one.value != new.value and (not new.has_many or one.value == new.corrects))
        )
    ]


def _order(new: New, rival: Held) -> str:
    """Tell whether a claim is about a later or an earlier time than another, or about one that overlaps it."""
    if new.start >= rival.said_end or (new.start, new.end) == (rival.said_start, rival.said_end):
        return "after"  # of what is said of the same time, what arrives later
    return "before" if new.end <= rival.said_start else "unclear"


def _cut_short(new: New, held: Sequence[Held]) -> list[Held]:
    """Return the past values of a single-valued slot that held on beyond the time from which a claim says another."""
    return [
        one
        for one in _believed(held)
        if not new.has_many and one.valid_to is not None and one.value != new.value
        if one.said_start < new.start < one.valid_to
    ]


def _believed(held: Sequence[Held]) -> list[Held]:
    return [one for one in held if one.status is not Status.CANDIDATE and not one.is_rejected and not one.is_opposite]


def _next_after(new: New, held: Sequence[Held]) -> int | None:
    """Return when the next past value of a single-valued slot began, behind the time a claim is about."""
    if new.has_many:
        return None
    starts = [one.valid_from for one in _believed(held) if one.valid_from is not None and one.valid_from >= new.end]
    return min(starts, default=None)


def _corrected(new: New, held: Sequence[Held], known: Held | None) -> Decision:
    """Decide on a correction: what it takes back was never true, and the right value holds since that did."""
    current = [one for one in held if one.is_current and not one.is_opposite and one.value != new.value]
    wrong = [one for one in current if one.value == new.corrects] if new.corrects else []
    if not wrong and not new.has_many and (not new.corrects or len(current) == 1):
        wrong = current
    since = min((one.valid_from for one in wrong if one.valid_from is not None), default=new.start)
    gone = tuple(one.id for one in wrong)
    if known is not None and known.status is not Status.CANDIDATE:
        return Decision(
            effect=Effect.SEEN_AGAIN, same=known.id, retracts=gone, reason="the person corrected it; known already"
        )
    if known is not None:
        gone = (*gone, known.id)
    opposite = [(one.id, new.start) for one in held if one.is_current and one.is_opposite and one.value == new.value]
    return Decision(
        effect=Effect.ADD,
        valid_from=since,
        valid_to=new.ends_at,
        ends=tuple(opposite),
        retracts=gone,
        reason="the person corrected it",
    )


def _denied(new: New, same: Sequence[Held]) -> Decision:
    """Decide on what the person says is not, or no longer, so."""
    if why := _proposal(new):
        return Decision(effect=Effect.REFUSE, reason=why)
    current = [one for one in same if one.is_current and (one.valid_from is None or one.valid_from <= new.start)]
    candidates = [one for one in same if one.status is Status.CANDIDATE and one.valid_to is None]
    if not current and not candidates:
        return Decision(effect=Effect.REFUSE, reason="it denies what is not known")
    return Decision(
        effect=Effect.END,
        ends=() if new.is_correction else tuple((one.id, new.start) for one in current),
        retracts=tuple(one.id for one in candidates) + (tuple(one.id for one in current) if new.is_correction else ()),
        reason=f"the person said that it {'never was so' if new.is_correction else 'is no longer so'}",
    )


def _former(new: New, held: Sequence[Held], same: Sequence[Held]) -> Decision:
    """Decide on what was so and is over."""
    if why := _proposal(new):
        return Decision(effect=Effect.REFUSE, reason=why)
    current = [one for one in same if one.is_current and (one.valid_from is None or one.valid_from <= new.start)]
    if current:
        return Decision(
            effect=Effect.END,
            ends=tuple((one.id, new.start) for one in current),
            reason="the person said that it is over",
        )
    if known := next((one for one in same if one.valid_to is not None), None):
        return Decision(effect=Effect.SEEN_AGAIN, same=known.id, reason="known as past already")
    began = min((one.valid_from for one in _rivals(new, held) if one.valid_from is not None), default=new.start)
    until = new.ends_at if new.ends_at is not None else min(began, new.start)
    return Decision(effect=Effect.ADD, valid_from=None, valid_to=until, reason="it was so, and is over")
