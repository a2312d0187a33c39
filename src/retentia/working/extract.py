"""Extract: a summary without a model. It quotes the sentences that matter, word for word, each with its message's id.

What a sentence does is told by cues in English, German and Ukrainian; where no cue speaks, what counts is how much of
the range's vocabulary it carries (SumBasic, Nenkova and Vanderwende 2005). Nothing is rephrased or invented.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import sqrt

from retentia.errors import InvalidInput
from retentia.index.tokenizer import analyse
from retentia.languages.cues import Cue, cue_form, load_cues
from retentia.working.importance import by_importance
from retentia.working.kept import Kept, KeptKind, kept_in
from retentia.working.literal import Literal
from retentia.working.literals import find_literals
from retentia.working.missing import append_missing
from retentia.working.original import Original
from retentia.working.quote import short_ids
from retentia.working.sentence import Sentence, all_sentences
from retentia.working.tokens import EstimatingCounter, TokenCounter

HEAD = "Extractive summary, word for word:"
"""Says what it is; every extract opens with it."""

_FEWEST_WORDS = 30
_TOOL_WORDS, _TOOL_CHARACTERS = 30, 240
_TOO_ALIKE = 0.7
_FEWEST_TERMS = 4
_CENTRAL = 0.7
_FEWEST_SHARED = 2
_FEWEST_LINE_WORDS = 4


class LineKind(StrEnum):
    """What a line of an extract shows, in the order in which the lines stand."""

    GOAL = "goal"
    ENVIRONMENT = "environment"
    DECISION = "decision"
    REASON = "reason"
    REJECTED = "rejected"
    CORRECTION = "correction"
    TOOL = "tool"
    OPEN_ITEM = "open_item"
    SAID = "said"


_NAMES = {
    LineKind.GOAL: "Goal",
    LineKind.ENVIRONMENT: "Environment",
    LineKind.DECISION: "Decision",
    LineKind.REASON: "Reason",
    LineKind.REJECTED: "Rejected",
    LineKind.CORRECTION: "Correction",
    LineKind.TOOL: "Tool",
    LineKind.OPEN_ITEM: "Open",
    LineKind.SAID: "Said",
}
_ORDER = {kind: place for place, kind in enumerate(LineKind)}
# In which order the kinds give their next line, again and again while there is room.
_TURNS = (
    *(LineKind.DECISION, LineKind.GOAL, LineKind.REASON, LineKind.REJECTED, LineKind.DECISION, LineKind.CORRECTION),
    *(LineKind.ENVIRONMENT, LineKind.OPEN_ITEM, LineKind.DECISION, LineKind.TOOL, LineKind.SAID),
)
# Which kind a sentence is shown as that is of several.
_SHOWN_AS = (
    *(KeptKind.CORRECTION, KeptKind.DECISION, KeptKind.REJECTED, KeptKind.ENVIRONMENT),
    *(KeptKind.OPEN_ITEM, KeptKind.REASON, KeptKind.GOAL),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of an extract: the characters [start, end) of a message, word for word.

    A tool's line names the `tool` and its `status`, and says what the call was for in the words of the message before
    it (`purpose`, `purpose_id`). A correction's purpose is the sentence that it corrects, where one is found. All four
    are "" for other lines.
    """

    kind: LineKind
    quote: str
    message_id: str
    start: int
    end: int
    tool: str = ""
    status: str = ""
    purpose: str = ""
    purpose_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """A summary of messages in their own words: its text and lines, what is worth records of its own, and literals.

    `literals` are all of the messages', the most important first; `left_out` those that `text` has no room for.
    """

    text: str
    lines: tuple[Line, ...]
    kept: tuple[Kept, ...]
    literals: tuple[Literal, ...]
    left_out: tuple[Literal, ...]


def extract(
    messages: Sequence[Original],
    *,
    max_words: int = 200,
    literal_tokens: int = 400,
    counter: TokenCounter | None = None,
) -> Extract:
    """Summarise messages by quoting them: decisions with their reasons first, then what else was kept, tools, the rest.

    The text has at most `max_words` words, and behind them a line of at most `literal_tokens` tokens with the literals
    that the quotations lack. Raises InvalidInput for fewer than 30 words.
    """
    if max_words < _FEWEST_WORDS:
        raise InvalidInput(f"max_words is {max_words}: an extract needs at least {_FEWEST_WORDS}")
    sentences = all_sentences(messages)
    kept = tuple(kept_in(sentences))
    spoken = [sentence for sentence in sentences if not sentence.is_aside]
    ids = [message.id for message in messages]
    lines = _within(_candidates(spoken, kept, messages), max_words, ids)
    literals = by_importance(messages, kept)
    body = _text(lines, ids)
    appended = append_missing(body, literals, literal_tokens, counter or EstimatingCounter())
    return Extract(text=appended.text, lines=tuple(lines), kept=kept, literals=literals, left_out=appended.left_out)


def retold(lines: Sequence[Line], *, max_words: int, are_distinct: bool = False) -> tuple[list[Line], str]:
    """Choose among the lines of extracts of neighbouring stretches, given in their order; return them and their text.

    The goal is what was said first, of everything else the latest comes first. `are_distinct` says that no two of them
    say the same, as those of one extract.
    """
    found: dict[LineKind, list[Line]] = {kind: [] for kind in LineKind}
    for line in lines:
        found[line.kind].append(line)
    for kind, some in found.items():
        if kind is not LineKind.GOAL:
            some.reverse()
    ids = list(dict.fromkeys(one for line in lines for one in (line.message_id, line.purpose_id) if one))
    chosen = _within(found, max_words, ids, are_distinct=are_distinct)
    return chosen, _text(chosen, ids)


def _candidates(
    sentences: Sequence[Sentence], kept: Sequence[Kept], messages: Sequence[Original]
) -> dict[LineKind, list[Line]]:
    """Return what could be shown, kind by kind, the best first."""
    central = _centrality(sentences)
    weights = [
        share + 0.5 * (sentence.message.role == "user") + 0.3 * bool(sentence.literals)
        for share, sentence in zip(central, sentences, strict=True)
    ]
    kinds: dict[tuple[str, int], list[KeptKind]] = {}
    for one in kept:
        kinds.setdefault((one.message_id, one.start), []).append(one.kind)
    found: dict[LineKind, list[Line]] = {kind: [] for kind in LineKind}
    for place in sorted(range(len(sentences)), key=lambda place: (-weights[place], place)):
        sentence = sentences[place]
        known = kinds.get((sentence.message.id, sentence.start), ())
        kind = next((LineKind(one.value) for one in _SHOWN_AS if one in known), LineKind.SAID)
        if kind is LineKind.CORRECTION:
            found[kind].append(_correction(sentence, sentences[:place]))
        elif kind is not LineKind.SAID or _is_telling(sentence, central[place]):
            found[kind].append(_line(kind, sentence))
    order = {message.id: place for place, message in enumerate(messages)}
    found[LineKind.GOAL].sort(key=lambda line: (order[line.message_id], line.start))
    found[LineKind.TOOL] = list(_tool_lines(messages, sentences))
    return found


def _is_telling(sentence: Sentence, central: float) -> bool:
    """Tell whether a sentence that is of no kind says enough: something exact, or what the talk is about."""
    return (bool(sentence.literals) or central >= _CENTRAL) and len(_terms(sentence.quote)) >= _FEWEST_TERMS


def _correction(sentence: Sentence, earlier: Sequence[Sentence]) -> Line:
    """Return a correction with the sentence before it that has most words in common with it."""
    line, terms = _line(LineKind.CORRECTION, sentence), _terms(sentence.quote)
    shared = [
        (len(terms & _terms(one.quote)), one.place, one) for one in earlier if one.message is not sentence.message
    ]
    most, _, corrected = max(shared, key=lambda one: one[:2], default=(0, 0, sentence))
    if most < _FEWEST_SHARED:
        return line
    return replace(line, purpose=corrected.quote, purpose_id=corrected.message.id)


def _line(kind: LineKind, sentence: Sentence) -> Line:
    return Line(kind=kind, quote=sentence.quote, message_id=sentence.message.id, start=sentence.start, end=sentence.end)


def _centrality(sentences: Sequence[Sentence]) -> list[float]:
    """Return the share of the range's terms that each sentence carries, the most central one's being 1."""
    terms = [_terms(sentence.quote) for sentence in sentences]
    often = Counter(term for carried in terms for term in carried)
    central = [sum(often[term] for term in carried) / sqrt(len(carried) or 1) for carried in terms]
    most = max(central, default=0.0) or 1.0
    return [weight / most for weight in central]


def _terms(text: str) -> frozenset[int]:
    return frozenset(memoryview(analyse(text).stems).cast("I"))


def _tool_lines(messages: Sequence[Original], sentences: Sequence[Sentence]) -> Iterator[Line]:
    """Yield what came of each call, the latest first; failed calls before all others."""
    purposes = {sentence.place: sentence for sentence in sentences}  # the last sentence of each message
    calls: list[tuple[bool, int, Line]] = []
    for place, message in enumerate(messages):
        if message.role != "tool" and not message.tool:
            continue
        failed = message.status not in ("", "ok")
        start, end = _outcome(message.text, failed=failed)
        if start == end:
            continue
        asked = next((purposes[at] for at in range(place - 1, max(-1, place - 6), -1) if at in purposes), None)
        line = Line(
            kind=LineKind.TOOL,
            quote=message.text[start:end],
            message_id=message.id,
            start=start,
            end=end,
            tool=message.tool or "tool",
            status=message.status or "ok",
            purpose=asked.quote if asked else "",
            purpose_id=asked.message.id if asked else "",
        )
        calls.append((not failed, -place, line))
    yield from (line for _, _, line in sorted(calls, key=lambda call: call[:2]))


def _outcome(text: str, *, failed: bool) -> tuple[int, int]:
    """Return the stretch of a result that says most: its error with the cause, or its first line with a value."""
    lines = [span for span in _lines(text) if text[slice(*span)].strip("{}[](),;: \t")]
    if not lines:
        return 0, 0
    cues = load_cues()
    telling = [span for span in lines[:400] if failed and cues.said(Cue.ERROR, cue_form(text[slice(*span)][:400]))]
    if telling:
        # A traceback names its error on its last line.
        start, end = telling[-1] if "Traceback" in text else telling[0]
    else:
        start, end = next((span for span in lines[:20] if find_literals(text[slice(*span)][:400])), lines[0])
    words = text[start : min(end, start + _TOOL_CHARACTERS)].split(None, _TOOL_WORDS)
    end = min(end, start + _TOOL_CHARACTERS)
    if len(words) > _TOOL_WORDS:
        end -= len(words[-1])
    return start, start + len(text[start:end].rstrip())


def _lines(text: str) -> Iterator[tuple[int, int]]:
    place = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare:
            start = place + len(line) - len(line.lstrip())
            yield start, start + len(bare)
        place += len(line)


def _within(
    found: dict[LineKind, list[Line]], max_words: int, message_ids: Sequence[str], *, are_distinct: bool = False
) -> list[Line]:
    """Choose lines in turns, a line of each kind, while they fit; in the end by kind and by message."""
    chosen: list[Line] = []
    seen: list[frozenset[int]] = []
    room = max_words - len(HEAD.split())
    ids = short_ids(message_ids)
    waiting = {kind: iter(lines) for kind, lines in found.items()}
    while waiting and room >= _FEWEST_LINE_WORDS:
        for kind in _TURNS:
            line = next(waiting.get(kind, iter(())), None)
            if line is None:
                waiting.pop(kind, None)
                continue
            words = len(_shown(line, ids).split())
            if words > room:
                continue
            terms = frozenset[int]() if are_distinct else _terms(line.quote)
            if are_distinct or not any(_alike(terms, other) for other in seen):
                chosen.append(line)
                seen.append(terms)
                room -= words
    places = {message_id: place for place, message_id in enumerate(message_ids)}
    return sorted(chosen, key=lambda line: (_ORDER[line.kind], places[line.message_id], line.start))


def _alike(terms: frozenset[int], others: frozenset[int]) -> bool:
    if not terms or not others:
        return terms == others
    return len(terms & others) / min(len(terms), len(others)) >= _TOO_ALIKE


def _text(lines: Sequence[Line], message_ids: Sequence[str]) -> str:
    ids = short_ids(message_ids)
    return "\n".join((HEAD, *(_shown(line, ids) for line in lines)))


def _shown(line: Line, ids: dict[str, str]) -> str:
    name = _NAMES[line.kind]
    if line.kind is not LineKind.TOOL:
        before = f" (before, [{ids[line.purpose_id]}]: {line.purpose})" if line.purpose else ""
        return f"{name} [{ids[line.message_id]}]: {line.quote}{before}"
    purpose = f" (for [{ids[line.purpose_id]}]: {line.purpose})" if line.purpose else ""
    return f"{name} {line.tool}, {line.status} [{ids[line.message_id]}]: {line.quote}{purpose}"
