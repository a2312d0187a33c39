"""From a record's text to its passages, and from a passage to the text that is embedded. Pure."""

from dataclasses import dataclass
from typing import Self

from retentia.index.tokenizer import analyse, date_text, split_passages
from retentia.model.passage import IS_PAST, IS_QUOTE, Passage
from retentia.model.time import Moment

NO_THREAD = b""
"""The thread of records that stand alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexable:
    """What the index needs to know of a record.

    `thread` is 16 bytes or empty, times are UTC microseconds, 0 when unknown. `is_past` marks what no longer holds,
    `is_quote` what repeats another record.
    """

    record_id: bytes
    kind: str
    text: str
    thread: bytes = NO_THREAD
    seq: int = 0
    role: str = ""
    speaker: str = ""
    day: int = 0
    occurred_start: int = 0
    occurred_end: int = 0
    is_past: bool = False
    is_quote: bool = False

    @classmethod
    def of(
        cls,
        *,
        record_id: bytes,
        kind: str,
        text: str,
        moment: Moment | None,
        recorded_at: int,
        thread: bytes = NO_THREAD,
        seq: int = 0,
        role: str = "",
        speaker: str = "",
        is_past: bool = False,
        is_quote: bool = False,
    ) -> Self:
        """Describe a record. One without an event time is found by when it was recorded, but has no date to mix in."""
        return cls(
            record_id=record_id,
            kind=kind,
            text=text,
            thread=thread,
            seq=seq,
            role=role,
            speaker=speaker,
            day=moment.local_day() if moment else 0,
            occurred_start=moment.start if moment else recorded_at,
            occurred_end=moment.end if moment else recorded_at + 1,
            is_past=is_past,
            is_quote=is_quote,
        )


def passages_of(source: Indexable) -> list[Passage]:
    """Cut a record into passages with their own terms; a text without visible characters has none."""
    standing = (IS_PAST if source.is_past else 0) | (IS_QUOTE if source.is_quote else 0)
    return [
        Passage(
            source.record_id,
            part,
            source.kind,
            source.thread,
            source.seq,
            source.role,
            source.speaker,
            source.day,
            source.occurred_start,
            source.occurred_end,
            found.flags | standing,
            start,
            end,
            found.stems,
            found.grams,
        )
        for part, (start, end) in enumerate(_spans(source))
        for found in (analyse(source.text[start:end]),)
    ]


def _spans(source: Indexable) -> list[tuple[int, int]]:
    """Return where the passages of a record lie. The name of a tool, on the first line, is one of its own."""
    name = source.text.find("\n") + 1
    if source.kind == "tool" and name:
        rest = split_passages(source.text[name:], whole_up_to=600)
        return [(0, name), *((name + start, name + end) for start, end in rest)]
    return list(split_passages(source.text, whole_up_to=0 if source.kind == "document" else 600))


def embedding_text(passage_text: str, *, speaker: str, day: int) -> str:
    """Write what is embedded for a passage: when, who, what, as far as it is known."""
    when = f"[{date_text(day)}] " if day else ""
    who = f"{speaker}: " if speaker else ""
    return f"{when}{who}{passage_text}"
