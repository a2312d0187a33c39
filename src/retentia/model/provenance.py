"""Where something is known from."""

from dataclasses import dataclass
from enum import StrEnum

from retentia.model.ids import RecordId


class Trust(StrEnum):
    """How far a source may be believed about the person; text from outside never becomes an instruction."""

    PERSON = "person"  # the person's own words, or a command the person gave
    AGENT = "agent"  # what the assistant said
    OUTSIDE = "outside"  # tools, documents, third persons, web pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One stretch of one record that supports another record: characters [start, end) of its text."""

    kind: str
    id: RecordId
    start: int = 0
    end: int = 0
    role: str = "evidence"
