"""Handing records to an import in batches, each in one transaction, and telling what became of them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from retentia.errors import InvalidInput
from retentia.ingest import Format, IngestRecord, Skipped, Tally, detect, read
from retentia.model.message import JSON
from retentia.model.portable import SESSION, Line
from retentia.model.progress import Progress
from retentia.model.scope import Scope
from retentia.transfer.lines import is_item

if TYPE_CHECKING:
    from retentia.transfer.restore import Restored

BATCH_RECORDS = 500
BATCH_CHARACTERS = 8_000_000
_NAMES = {"message": "messages", "tool_call": "tool calls", "document": "documents"}

Keep: TypeAlias = "Callable[[Sequence[Line]], Restored]"


class Restoring:
    """Collects records, hands them on, and comes back to items whose sources lie further on in the file.

    Remembers about 200 bytes for each record that got another id here, so that what cites it finds it. `is_rehearsal`
    says that nothing stays of what is handed on: then every id is remembered, as later records may cite it.
    """

    def __init__(self, keep: Keep, scope: Scope, tally: Tally, *, is_rehearsal: bool = False) -> None:
        self._keep = keep
        self._scope = scope
        self._tally = tally
        self._is_rehearsal = is_rehearsal
        self._waiting: list[IngestRecord] = []
        self._characters = 0
        self._ids: dict[str, str] = {}
        self._unlinked: list[IngestRecord] = []

    def take(self, item: IngestRecord) -> None:
        """Take one record; raises StoreError when the store fails, with all earlier batches durable."""
        text = item.record.get("text")
        self._waiting.append(item)
        self._characters += len(text) if isinstance(text, str) else 0
        if item.origin and item.origin != str(self._scope):
            self._tally.note([f"records of {item.origin!r} were read; all of them go into {self._scope}"])
        if len(self._waiting) >= BATCH_RECORDS or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Hand on what waits."""
        batch, self._waiting, self._characters = self._waiting, [], 0
        if not batch:
            return
        restored = self._keep([self._with_ids_here(item.record) for item in batch])
        for entry in restored.written:
            given = batch[entry.position].record
            is_known = self._note_id(given, entry.id)
            if name := _name(given):
                self._tally.count(name, is_new=entry.is_new and not is_known)
        for refused in restored.failed:
            self._tally.skip(Skipped(batch[refused.position].where, refused.reason))
        self._tally.note(restored.notes)
        self._unlinked.extend(batch[position] for position in restored.unlinked)

    def finish(self) -> None:
        """Hand on what waits, and link what was to be linked; say which sources are not there."""
        self.flush()
        again, self._unlinked = self._unlinked, []
        for start in range(0, len(again), BATCH_RECORDS):
            batch = again[start : start + BATCH_RECORDS]
            restored = self._keep([self._with_ids_here(item.record) for item in batch])
            for position, sources in restored.unlinked.items():
                missing = [one for one in sources if not self._is_rehearsal or one not in self._ids]
                if missing:
                    reason = "a source is not in this scope; the item was kept without it"
                    self._tally.skip(Skipped(batch[position].where, reason, ", ".join(missing)[:200]))

    def _note_id(self, given: Line, id_here: str) -> bool:
        """Remember under which id a record is here; tell whether a rehearsal has seen it before."""
        own = given.get("id")
        if self._is_rehearsal:
            name = own if isinstance(own, str) else f"{given.get('kind')}\0{given.get('key') or given.get('text')}"
            was_seen = name in self._ids
            self._ids[name] = name
            return was_seen and given.get("kind") != SESSION
        if isinstance(own, str) and own != id_here:
            self._ids[own] = id_here
        return False

    def _with_ids_here(self, record: Line) -> Line:
        sources = record.get("sources")
        if not self._ids or not isinstance(sources, list):
            return record
        return {**record, "sources": [self._source_here(source) for source in sources]}

    def _source_here(self, source: JSON) -> JSON:
        if not isinstance(source, Mapping) or not isinstance(source.get("id"), str):
            return source
        return {**source, "id": self._ids.get(str(source["id"]), source["id"])}


def take_export(path: str | Path, scope: Scope, keep: Keep, *, progress: Progress) -> Tally:
    """Keep everything of an export in a scope; `progress` counts bytes. Raises InvalidInput when it is no export."""
    if (found := detect(Path(path))) is not Format.RETENTIA:
        raise InvalidInput(f"{str(path)!r} is no export of retentia, it looks like {found.value}")
    tally = Tally()
    restoring = Restoring(keep, scope, tally)
    for item in read([Path(path)], progress=progress):
        match item:
            case IngestRecord():
                restoring.take(item)
            case Skipped():
                tally.skip(item)
    restoring.finish()
    return tally


def _name(record: Line) -> str:
    kind = str(record.get("kind"))
    if kind == SESSION:
        return ""
    return "items" if is_item(kind) else _NAMES[kind]
