"""A passage: one indexed stretch of one record, made from that record alone."""

from typing import NamedTuple

ENDS_WITH_QUESTION = 1
HAS_TEMPORAL_EXPRESSION = 2
IS_QUOTE = 8
"""The record repeats what another says: its words count once, with those of its source."""
IS_PAST = 4
"""The record no longer holds: it answers questions about the past only."""


class Passage(NamedTuple):
    """What the index knows of one stretch of a record; context is mixed in later, never stored.

    `stems` and `grams` are little-endian uint32 ids: stems in text order without stop words, grams of `_word_` with
    repeats. `thread` is what context never crosses: the session or document (16 bytes), or empty. `seq` orders the
    records of a thread, `part` the passages of a record. `day` is the local date as yyyymmdd (yyyymm00 and yyyy0000
    when less is known, 0 when nothing is). Times are UTC microseconds; `start` and `end` are characters of the text.
    """

    record_id: bytes
    part: int
    kind: str
    thread: bytes
    seq: int
    role: str
    speaker: str
    day: int
    occurred_start: int
    occurred_end: int
    flags: int
    start: int
    end: int
    stems: bytes
    grams: bytes


PASSAGE_COLUMNS = Passage._fields


class VectorRow(NamedTuple):
    """The embedding of one passage: unit length, little-endian float16."""

    record_id: bytes
    part: int
    vector: bytes
