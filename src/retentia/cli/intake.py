"""Take what was read from files into a memory, in batches, and count what became of it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from retentia.errors import InvalidInput
from retentia.ingest import (
    IngestDocument,
    IngestMessage,
    IngestRecord,
    IngestToolCall,
    Item,
    Skipped,
    Tally,
)
from retentia.model.scope import Scope
from retentia.transfer.batches import Restoring

if TYPE_CHECKING:
    from retentia.memory import Memory
    from retentia.write.receipt import Receipt

BATCH_MESSAGES = 500


class Intake:
    """Writes items as they come, messages in batches of one transaction, whichever sessions they belong to.

    Every item has a key that is the same each time its file is read, so that stopping at any point loses nothing and
    taking the same files in again adds only what is missing. `is_rehearsal` says that the memory keeps nothing; what
    comes twice is then told by the keys, which takes about 100 bytes for each.
    """

    def __init__(self, memory: "Memory", scope: Scope, *, is_rehearsal: bool = False) -> None:
        self.tally = Tally()
        self._memory = memory
        self._scope = scope
        self._waiting: list[IngestMessage] = []
        self._seen: set[tuple[str, ...]] | None = set() if is_rehearsal else None
        self._restoring = Restoring(
            lambda lines: memory.import_records(lines, scope=scope), scope, self.tally, is_rehearsal=is_rehearsal
        )

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
                case IngestRecord():
                    self._restoring.take(item)
                case Skipped():
                    self.tally.skip(item)
        self._flush()
        self._restoring.finish()

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
        self._count("messages", receipt, [(item.session, item.message.key) for item in batch])
        for refused in receipt.failed:
            self.tally.skip(Skipped(batch[refused.position].where, refused.reason))

    def _one(self, item: IngestToolCall | IngestDocument) -> None:
        try:
            if isinstance(item, IngestDocument):
                written = self._memory.add_document(item.document, scope=self._scope)
                self._count("documents", written, [(item.document.key,)])
            else:
                written = self._memory.log_tool_call(item.call, scope=self._scope, session=item.session)
                self._count("tool calls", written, [(item.session, item.call.key)])
        except InvalidInput as error:
            self.tally.skip(Skipped(item.where, str(error)))

    def _count(self, kind: str, receipt: "Receipt", keys: Sequence[tuple[str, ...]]) -> None:
        """Count what a write answered, refusals aside."""
        for written in receipt.written:
            name = (kind, *keys[written.position])
            is_known = self._seen is not None and name in self._seen
            if self._seen is not None:
                self._seen.add(name)
            self.tally.count(kind, is_new=written.is_new and not is_known)
        self.tally.note(receipt.notes)
