"""Take what was read from files into a memory, in batches, and count what became of it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from retentia.errors import InvalidInput
from retentia.ingest import IngestDocument, IngestMessage, IngestToolCall, Item, Skipped
from retentia.model.scope import Scope

if TYPE_CHECKING:
    from retentia.memory import Memory
    from retentia.write.receipt import Receipt

BATCH_MESSAGES = 500
_SHOWN = 10


@dataclass(slots=True)
class Tally:
    """What became of the items so far: by kind, what is new and what was there already, and why others were skipped.

    `notes` says what was changed so that it could be kept, such as masked secrets.
    """

    stored: Counter[str] = field(default_factory=Counter)
    already_there: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    skipped: list[Skipped] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)

    def count(self, kind: str, receipt: "Receipt") -> None:
        """Count what a write answered, refusals aside."""
        for written in receipt.written:
            (self.stored if written.is_new else self.already_there)[kind] += 1
        self.notes.update(receipt.notes)

    def skip(self, skipped: Skipped) -> None:
        """Count what was skipped; the first few are kept to be shown."""
        self.reasons[skipped.reason] += 1
        if len(self.skipped) < _SHOWN:
            self.skipped.append(skipped)


class Intake:
    """Writes items as they come, messages in batches of one transaction, whichever sessions they belong to.

    Every item has a key that is the same each time its file is read, so that stopping at any point loses nothing and
    taking the same files in again adds only what is missing.
    """

    def __init__(self, memory: "Memory", scope: Scope) -> None:
        self.tally = Tally()
        self._memory = memory
        self._scope = scope
        self._waiting: list[IngestMessage] = []

    def take(self, items: Iterable[Item]) -> None:
        """Take everything in; raises StoreError when the store fails, with all earlier batches durable."""
        for item in items:
            match item:
                case IngestMessage():
                    self._waiting.append(item)
                    if len(self._waiting) >= BATCH_MESSAGES:
                        self._flush()
                case IngestToolCall():
                    self._flush()  # the log and the messages of a session share one order
                    self._one(item)
                case IngestDocument():
                    self._one(item)
                case Skipped():
                    self.tally.skip(item)
        self._flush()

    def _flush(self) -> None:
        """Write the messages that wait."""
        batch, self._waiting = self._waiting, []
        if batch:
            self._messages(batch)

    def _messages(self, batch: list[IngestMessage]) -> None:
        try:
            receipt = self._memory.add_to_sessions([(item.session, item.message) for item in batch], scope=self._scope)
        except InvalidInput as error:  # not one of them could be kept
            if len(batch) == 1:
                self.tally.skip(Skipped(batch[0].where, str(error)))
                return
            for item in batch:
                self._messages([item])
            return
        self.tally.count("messages", receipt)
        for refused in receipt.failed:
            self.tally.skip(Skipped(batch[refused.position].where, refused.reason))

    def _one(self, item: IngestToolCall | IngestDocument) -> None:
        try:
            if isinstance(item, IngestDocument):
                self.tally.count("documents", self._memory.add_document(item.document, scope=self._scope))
            else:
                written = self._memory.log_tool_call(item.call, scope=self._scope, session=item.session)
                self.tally.count("tool calls", written)
        except InvalidInput as error:
            self.tally.skip(Skipped(item.where, str(error)))
