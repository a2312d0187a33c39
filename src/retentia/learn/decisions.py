"""Decisions of the user with their reasons and rejected options, from what summaries keep."""

import re
from collections.abc import Iterator, Sequence

from retentia.languages.facts import fact_form, load_facts
from retentia.model.candidate import PERSON, Candidate
from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.record import Kind
from retentia.working.kept import Kept, KeptKind, kept_of
from retentia.working.original import Original

FAMILY = "decision"
_BEFORE, _AFTER = 4, 3
_WORD = re.compile(r"\w+")


def decisions_of(messages: Sequence[Original]) -> Iterator[Candidate]:
    """Yield what users decided in their own words; only messages with a word of deciding are looked at."""
    deciding = load_facts().deciding
    for place, message in enumerate(messages):
        if message.role == "user" and not deciding.isdisjoint(_WORD.findall(message.text.casefold())):
            kept = kept_of(messages[max(0, place - _BEFORE) : place + _AFTER])
            yield from _decisions_in(message, messages, kept)


def _decisions_in(message: Original, messages: Sequence[Original], kept: Sequence[Kept]) -> Iterator[Candidate]:
    users = {one.id for one in messages if one.role == "user"}
    for number, decided in enumerate(kept):
        if decided.kind is not KeptKind.DECISION or decided.message_id != message.id:
            continue
        what, reason = _parted(decided.quote)
        reasons = [reason] if reason else []
        rejected: list[JSON] = []
        for other in kept[number + 1 :]:
            if other.kind is KeptKind.DECISION:
                if (other.message_id, other.start) != (decided.message_id, decided.start):
                    break
            elif other.kind is KeptKind.REASON and other.message_id == message.id and other.start > decided.start:
                reasons.append(other.quote)
            elif other.kind is KeptKind.REJECTED and other.message_id in users:
                rejected.append(other.quote)
        yield Candidate(
            kind=Kind.DECISION,
            subject=message.speaker or PERSON,
            attribute="decision",
            value=what,
            message_id=RecordId(message.id),
            start=decided.start,
            end=decided.end,
            body={"reasons": list(reasons), "rejected": rejected},
        )


def _parted(quote: str) -> tuple[str, str]:
    """Return what was decided and why, as far as one sentence says both."""
    text = fact_form(quote)
    found = [match for words in load_facts().words.values() if (match := words.find("because", text))]
    if not found:
        return quote, ""
    first = min(found, key=lambda match: match.start())
    if first.start() < 3:
        return quote, ""
    return quote[: first.start()].rstrip(" ,;–—-"), quote[first.end() :].strip(" .!,")
