"""What reading a file yields, each with its place: messages, tool calls, documents, records, and what was skipped."""

from dataclasses import dataclass
from typing import TypeAlias

from retentia.model.message import Document, Message, ToolCall
from retentia.model.portable import Line


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestMessage:
    """A message found in a file. `message.key` is the same each time the file is read, within its `session`."""

    where: str
    session: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestToolCall:
    """A call and its result, which stand in two messages of the session, as one entry for the tool-call log."""

    where: str
    session: str
    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestDocument:
    """A document found in a file. `document.key` changes with its text, so that an edited file is read anew."""

    where: str
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRecord:
    """A record with all its fields, as a line of our own export has them. `origin` names whose memory it was."""

    where: str
    record: Line
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was not taken over: `reason` is one of few and can be counted, `detail` is about this place."""

    where: str
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}" + (f" ({self.detail})" if self.detail else "")


Item: TypeAlias = IngestMessage | IngestToolCall | IngestDocument | IngestRecord | Skipped
