"""What a summary keeps: goals, decisions, reasons, rejected options, open items, the environment, corrections.

A sentence is kept for what it says by itself, or for what the talk around it makes of it: an answer to a choice, a
proposal that was taken, something that the other side repeats. Much speaks against it: a question decides nothing, what
other people did is not the user's decision, and neither is somebody's next minute. What an assistant says counts only
where the user takes it, or where it repeats a decision that the user's own words do not show.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from retentia.languages.cues import Cue
from retentia.working.dialogue import Dialogue
from retentia.working.literal import LiteralKind
from retentia.working.literal_words import literal_words
from retentia.working.original import Original
from retentia.working.sentence import Sentence, all_sentences

_FEWEST_WORDS = 3
_GOALS = 2
_ELSEWHERE = (Cue.HYPOTHETICAL, Cue.OTHERS, Cue.REPORTED, Cue.NOW)
_NOT_SETTLED = (Cue.REJECTED, Cue.UNWANTED, Cue.OPEN_ITEM, Cue.CORRECTION, Cue.GOAL, Cue.PAST)
_NOT_THERE = (Cue.GOAL, Cue.HYPOTHETICAL, Cue.REJECTED, Cue.DECISION, Cue.OTHERS, Cue.REPORTED, Cue.PAST)
_FORMULA = re.compile(r"(?<!\w)[a-zα-ω]\s?[=<>≤≥]\s?[\d√(]|(?<!\w)[a-zα-ω]\s?[+*/^]\s?[a-zα-ω\d](?!\w)|[²³]")


class KeptKind(StrEnum):
    """What a kept sentence is."""

    GOAL = "goal"
    DECISION = "decision"
    REASON = "reason"
    REJECTED = "rejected"
    OPEN_ITEM = "open_item"
    ENVIRONMENT = "environment"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A sentence that a summary should not lose: the characters [start, end) of the message, word for word."""

    kind: KeptKind
    quote: str
    message_id: str
    start: int
    end: int


def kept_of(messages: Sequence[Original]) -> tuple[Kept, ...]:
    """Return what is to be kept, in the order of the messages; one sentence may be several kinds."""
    return tuple(kept_in(all_sentences(messages)))


def kept_in(sentences: Sequence[Sentence]) -> Iterator[Kept]:
    """Yield what is to be kept of all sentences of a stretch, small talk and all."""
    dialogue = Dialogue(sentences)
    last_answer = max((one.place for one in sentences if one.message.role == "assistant"), default=-1)
    goals = 0
    settled: set[int] = set()  # places of the user's messages with a decision
    before: tuple[Sentence, list[KeptKind]] | None = None
    for sentence in sentences:
        kinds = _kinds(sentence, dialogue, settled, is_answered=sentence.place <= last_answer)
        if before is not None and before[0].message is sentence.message and not sentence.is_question:
            follows = not {KeptKind.DECISION, KeptKind.REJECTED}.isdisjoint(before[1])
            if follows and KeptKind.REASON not in kinds and sentence.says(Cue.REASON) and _is_long_enough(sentence):
                kinds.append(KeptKind.REASON)
        if KeptKind.DECISION in kinds:
            settled.add(sentence.place)
        if KeptKind.GOAL in kinds:
            goals += 1
            kinds = kinds if goals <= _GOALS else []
        for kind in kinds:
            yield Kept(
                kind=kind,
                quote=sentence.quote,
                message_id=sentence.message.id,
                start=sentence.start,
                end=sentence.end,
            )
        before = sentence, kinds


def _kinds(sentence: Sentence, dialogue: Dialogue, settled: set[int], *, is_answered: bool) -> list[KeptKind]:
    if sentence.is_aside or not _is_long_enough(sentence):
        return []
    if sentence.message.role != "user":
        return _with_reason([KeptKind.DECISION], sentence) if _is_the_users(sentence, dialogue, settled) else []
    if sentence.is_question:
        return _asked(sentence, is_answered=is_answered)
    return _told(sentence, dialogue)


def _asked(sentence: Sentence, *, is_answered: bool) -> list[KeptKind]:
    if sentence.says(Cue.GOAL) and not sentence.says(*_ELSEWHERE):
        return [KeptKind.GOAL]
    return [] if is_answered else [KeptKind.OPEN_ITEM]


def _told(sentence: Sentence, dialogue: Dialogue) -> list[KeptKind]:
    if _corrects(sentence, dialogue):
        return [KeptKind.CORRECTION]
    kinds = []
    if _decides(sentence, dialogue):
        kinds.append(KeptKind.DECISION)
    if _rejects(sentence, dialogue) and KeptKind.DECISION not in kinds:
        kinds.append(KeptKind.REJECTED)
    kinds = _with_reason(kinds, sentence)
    if not kinds and _is_open(sentence):
        kinds.append(KeptKind.OPEN_ITEM)
    if _tells_environment(sentence):
        kinds.append(KeptKind.ENVIRONMENT)
    if not kinds and sentence.says(Cue.GOAL) and not sentence.says(Cue.OTHERS, Cue.NOW):
        kinds.append(KeptKind.GOAL)
    return kinds


def _is_long_enough(sentence: Sentence) -> bool:
    return len(sentence.quote.split()) >= _FEWEST_WORDS


def _with_reason(kinds: list[KeptKind], sentence: Sentence) -> list[KeptKind]:
    return [*kinds, KeptKind.REASON] if kinds and sentence.says(Cue.REASON) else kinds


def _decides(sentence: Sentence, dialogue: Dialogue) -> bool:
    if sentence.says(Cue.OTHERS, Cue.NOW, Cue.BARE_ACCEPT) or _FORMULA.search(sentence.quote):
        return False
    is_elsewhere, is_unsettled = sentence.says(*_ELSEWHERE), sentence.says(*_NOT_SETTLED)
    if sentence.says(Cue.DECISION) and not is_elsewhere:
        return True
    if is_unsettled:
        return False
    if dialogue.answers_choice(sentence):
        return True
    return not is_elsewhere and (
        (sentence.says(Cue.PLAN) and (sentence.says(Cue.FRAME) or _agrees(sentence, dialogue)))
        or (sentence.says(Cue.FRAGMENT) and _concludes(sentence, dialogue))
        or dialogue.takes_proposal(sentence)
        or dialogue.is_restated(sentence)
    )


def _agrees(sentence: Sentence, dialogue: Dialogue) -> bool:
    return sentence.says(Cue.ACCEPT) and not dialogue.answers_question(sentence)


def _concludes(sentence: Sentence, dialogue: Dialogue) -> bool:
    return dialogue.names_what_was_said(sentence) or dialogue.answers_question(sentence)


def _is_the_users(sentence: Sentence, dialogue: Dialogue, settled: set[int]) -> bool:
    """Tell whether what an assistant says is a decision of the user that the user's own last message does not show."""
    replied = dialogue.replied_to(sentence)
    if sentence.is_question or sentence.says(Cue.OPEN_ITEM):
        return False
    is_settled = bool(replied) and replied[0].place in settled
    if sentence.says(Cue.FIRM):
        return bool(replied) and not is_settled
    return dialogue.is_taken(sentence) and not (is_settled and dialogue.repeats(sentence))


def _rejects(sentence: Sentence, dialogue: Dialogue) -> bool:
    if sentence.says(*_ELSEWHERE):
        return False
    if sentence.says(Cue.REJECTED):
        return True
    return sentence.says(Cue.UNWANTED) and (sentence.says(Cue.REASON) or dialogue.names_what_was_offered(sentence))


def _corrects(sentence: Sentence, dialogue: Dialogue) -> bool:
    if sentence.says(Cue.HYPOTHETICAL):
        return False
    if sentence.says(Cue.CORRECTION):
        return True
    return sentence.says(Cue.MISTAKEN) and bool(sentence.literals) and not dialogue.answers_question(sentence)


def _is_open(sentence: Sentence) -> bool:
    return sentence.says(Cue.OPEN_ITEM) and not sentence.says(Cue.OTHERS, Cue.NOW, Cue.PAST)


def _tells_environment(sentence: Sentence) -> bool:
    """Tell whether a sentence names software that runs somewhere: "we're on X", or X with its version beside Y."""
    if sentence.says(*_NOT_THERE):
        return False
    named = len(set(_software().findall(sentence.quote)))
    has_version = any(literal.kind is LiteralKind.VERSION for literal in sentence.literals)
    return (sentence.says(Cue.ENVIRONMENT) and (named > 0 or has_version)) or (named > 1 and has_version)


@cache
def _software() -> re.Pattern[str]:
    names = sorted(map(re.escape, literal_words().software), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)")
