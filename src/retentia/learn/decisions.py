"""Decisions of the user with their reasons and rejected options, from what summaries keep."""

import re
from collections.abc import Iterator, Sequence

from retentia.languages.cues import Cue, cue_form, load_cues
from retentia.languages.facts import fact_form, load_facts
from retentia.model.candidate import PERSON, Candidate
from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.record import Kind
from retentia.working.kept import Kept, KeptKind, kept_of
from retentia.working.original import Original

FAMILY = "decision"
_FOLLOWING = 2
_WORD = re.compile(r"\w+")


def decisions_of(messages: Sequence[Original]) -> Iterator[Candidate]:
    """Yield what users say in their own words that they decided; messages without a word of deciding cost nothing."""
    deciding = load_facts().deciding
    own = [message for message in messages if message.role == "user" and not message.tool]
    for place, message in enumerate(own):
        text = cue_form(message.text)
        if not deciding.isdisjoint(_WORD.findall(text)) and load_cues().said(Cue.DECISION, text):
            yield from _decisions_in(message, own[place : place + _FOLLOWING])


def _decisions_in(message: Original, following: Sequence[Original]) -> Iterator[Candidate]:
    kept = kept_of(following)
    for number, decided in enumerate(kept):
        is_said = decided.kind is KeptKind.DECISION and decided.message_id == message.id
        if not is_said or not _is_decided(decided.quote):
            continue
        what, reason = _parted(decided.quote)
        others = list(_until_next_decision(kept[number + 1 :]))
        reasons: list[JSON] = [reason] if reason else []
        reasons += (
            one.quote
            for one in others
            if one.kind is KeptKind.REASON and one.message_id == message.id and one.start > decided.start
        )
        rejected: list[JSON] = [one.quote for one in others if one.kind is KeptKind.REJECTED]
        yield Candidate(
            kind=Kind.DECISION,
            subject=message.speaker or PERSON,
            attribute="decision",
            value=what,
            message_id=RecordId(message.id),
            start=decided.start,
            end=decided.end,
            body={"reasons": reasons, "rejected": rejected},
        )


def _until_next_decision(kept: Sequence[Kept]) -> Iterator[Kept]:
    for one in kept:
        if one.kind is KeptKind.DECISION:
            return
        yield one


def _is_decided(quote: str) -> bool:
    text = cue_form(quote)
    exhorts = any(words.says("exhorting", text) for words in load_facts().words.values())
    return load_cues().said(Cue.DECISION, text) and not exhorts


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
