"""Stretches: what of a session is shown to a model that learns from it, in parts of bounded size. Pure.

Shown are the user's own words, and right before them what they may answer. Left out are system prompts, small talk,
code, remembered text that was quoted to the assistant, and everything that no word of the user follows; a stretch of
which nothing is left costs no call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from retentia.index.sentences import split_passages
from retentia.languages.cues import Cue, cue_form, load_cues
from retentia.languages.facts import fact_form
from retentia.learn.clause import own_words_until
from retentia.working.original import Original, sentences_of, spoken
from retentia.working.shorten import cut
from retentia.working.tokens import TokenCounter

LineRole = Literal["user", "assistant", "tool"]
LEFT_OUT = "[…]"
"""What stands where code or quoted memory was left out."""
_ASIDE = (Cue.SMALL_TALK, Cue.CLOSING)
_OTHERS_TOKENS = 120
_LABEL_TOKENS = 12
_FEWEST_TOKENS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message as it is shown, or a part of it: `mark` is what a model cites. Only those of a `user` teach."""

    mark: str
    role: LineRole
    text: str
    message: Original


Part = tuple[Line, ...]
"""What one call shows."""


def parts_of(messages: Sequence[Original], counter: TokenCounter, *, tokens: int) -> list[Part]:
    """Return what is shown of messages, in order: each part takes at most about `tokens`, and has words of the user."""
    parts: list[Part] = []
    part: list[Line] = []
    taken = 0
    for shown in _groups(messages, counter, tokens):
        cost = sum(counter.count(line.text) + _LABEL_TOKENS for line in shown)
        if part and taken + cost > tokens:
            parts.append(_marked(part))
            part, taken = [], 0
        part += shown
        taken += cost
    return [*parts, _marked(part)] if part else parts


def first_stretch(messages: Sequence[Original], counter: TokenCounter, *, tokens: int) -> tuple[int, list[Part]]:
    """Return how many of the messages are read next, and what is shown of them.

    That is one part, or the parts of one message that is too long for one; none where no message has anything to show.
    """
    parts = parts_of(messages, counter, tokens=tokens)
    if len(parts) < 2:
        return len(messages), parts
    next_id = next(line.message.id for line in parts[1] if line.role == "user")
    place = [message.id for message in messages].index(next_id)
    first_ids = {line.message.id for line in parts[0] if line.role == "user"}
    count = place + 1 if first_ids == {next_id} else place
    return count, parts_of(messages[:count], counter, tokens=tokens)


def own_text(message: Original) -> str:
    """Return what a message says in words of its own: code, quoted memory and what a user pasted are left out."""
    text = message.text
    until = own_words_until(fact_form(text)) if message.role == "user" else len(text)
    pieces: list[str] = []
    place = 0
    for start, end in spoken(text):
        if start >= until:
            break
        pieces += [LEFT_OUT] if start > place else []
        pieces.append(text[start : min(end, until)].strip())
        place = end
    pieces += [LEFT_OUT] if min(place, until) < len(text) else []
    return "" if set(pieces) <= {LEFT_OUT, ""} else "\n".join(filter(None, pieces))


def _groups(messages: Sequence[Original], counter: TokenCounter, tokens: int) -> Iterator[list[Line]]:
    """Yield what is shown together: words of the user, behind what they may answer."""
    before: Line | None = None
    for message in messages:
        if message.role == "system":
            continue
        if message.role != "user" or message.tool:
            before = _other(message, counter)
            continue
        own_words = own_text(message)
        if not _is_telling(own_words):
            continue
        for text in _pieces(own_words, counter, max(tokens - _OTHERS_TOKENS, _FEWEST_TOKENS)):
            own = Line(mark="", role="user", text=text, message=message)
            yield [before, own] if before else [own]
            before = None


def _other(message: Original, counter: TokenCounter) -> Line | None:
    text = cut(own_text(message), _OTHERS_TOKENS, counter)
    if not text:
        return None
    role: LineRole = "tool" if message.tool or message.role == "tool" else "assistant"
    return Line(mark="", role=role, text=text, message=message)


def _is_telling(text: str) -> bool:
    """Tell whether any sentence of a message is more than small talk."""
    cues = load_cues()
    return any(not cues.of(cue_form(text[start:end])).has(*_ASIDE) for start, end in sentences_of(text))


def _pieces(text: str, counter: TokenCounter, most: int) -> Iterator[str]:
    """Yield a text in pieces of at most about so many tokens, between sentences where that is possible."""
    cost = counter.count(text)
    if cost <= most:
        yield text
        return
    characters = max(1, len(text) * most // cost)
    yield from (text[start:end] for start, end in split_passages(text, whole_up_to=characters, target=characters))


def _marked(lines: Sequence[Line]) -> Part:
    return tuple(replace(line, mark=f"m{number}") for number, line in enumerate(lines, 1))
