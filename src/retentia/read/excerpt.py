"""What to show of a record: all of a short text, the best stretches of a long one. Pure."""

from collections.abc import Sequence

from retentia.index.ranking import RankedPassage
from retentia.read.query import Span

WHOLE_UP_TO = 600
_MOST_STRETCHES = 3
_GOOD_SHARE = 0.8
_ELLIPSIS = " … "


def choose_spans(passages: Sequence[RankedPassage]) -> tuple[Span, ...]:
    """Take the best passage and those nearly as good, at most three, in the order of the text."""
    if len(passages) == 1:
        return (Span(passages[0].start, passages[0].end),)
    best = passages[0].score
    good = [passage for passage in passages[:_MOST_STRETCHES] if passage.score >= best * _GOOD_SHARE]
    chosen = good or passages[:1]
    return tuple(Span(passage.start, passage.end) for passage in sorted(chosen, key=lambda passage: passage.start))


def excerpt(text: str, spans: Sequence[Span]) -> str:
    """Cut the spans out of a long text, with a mark for what is left out."""
    if len(text) <= WHOLE_UP_TO:
        return text
    pieces: list[str] = []
    reached = 0
    for span in spans:
        if span.start > reached:
            pieces.append(_ELLIPSIS if pieces else "… ")
        pieces.append(text[span.start : span.end].strip() if span.start > reached else text[span.start : span.end])
        reached = span.end
    return "".join(pieces) + (" …" if text[reached:].strip() else "")
