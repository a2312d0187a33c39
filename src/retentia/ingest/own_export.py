"""Our own export: a header, then one record a line. What the records must be is checked where they are written."""

from collections.abc import Iterator, Mapping

from retentia.ingest.chats import numbered_lines
from retentia.ingest.items import IngestRecord, Item, Skipped
from retentia.ingest.sources import Source
from retentia.ingest.text import MAX_CHARS
from retentia.model.portable import FORMAT, VERSION

MAX_RECORD_CHARS = 4 * MAX_CHARS
"""The longest line that is read: a document may have 64 million characters, and JSON writes some of them as two."""


def read_export(source: Source, encoding: str) -> Iterator[Item]:
    """Read an export line by line; a broken line costs only itself, and a file that was cut off says so."""
    lines = numbered_lines(source, encoding, limit=MAX_RECORD_CHARS)
    where, header = next(lines, (source.where, None))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        yield Skipped(where, "not an export of retentia: its first line is no header")
        return
    if header.get("version") != VERSION:
        yield Skipped(
            where,
            "an export of another version: use the retentia that wrote it, or a newer one",
            f"version {str(header.get('version'))[:20]!r}, this one reads {VERSION}",
        )
        return
    origin, count = _origin(header.get("scope")), 0
    for count, (where, value) in enumerate(lines, start=1):  # noqa: B007 - the last count is what matters
        if isinstance(value, dict):
            yield IngestRecord(where=where, record=value, origin=origin)
        elif isinstance(value, Skipped):
            yield value
        else:
            yield Skipped(where, "a record must be a JSON object", type(value).__name__)
    expected = _total(header.get("counts"))
    if count < expected:
        missing = f"{expected - count} of {expected} lines are missing"
        yield Skipped(source.where, "the export was cut off: it has fewer lines than its header says", missing)


def _origin(scope: object) -> str:
    names = [scope.get(part) for part in ("tenant", "user", "space", "agent")] if isinstance(scope, Mapping) else []
    return "/".join(name for name in names if isinstance(name, str) and name)[:200]


def _total(counts: object) -> int:
    given = counts.values() if isinstance(counts, Mapping) else ()
    return sum(count for count in given if isinstance(count, int))
