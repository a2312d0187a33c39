"""Read chats, exports and documents from files: pure parsing, lazily, with a reason for all that is skipped."""

from retentia.ingest.detect import Format, detect
from retentia.ingest.items import IngestDocument, IngestMessage, IngestRecord, IngestToolCall, Item, Skipped
from retentia.ingest.people import by_person
from retentia.ingest.pipeline import read
from retentia.ingest.sources import total_bytes
from retentia.ingest.tally import Tally

__all__ = [
    "Format",
    "IngestDocument",
    "IngestMessage",
    "IngestRecord",
    "IngestToolCall",
    "Item",
    "Skipped",
    "Tally",
    "by_person",
    "detect",
    "read",
    "total_bytes",
]
