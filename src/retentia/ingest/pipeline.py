"""Reading files, step by step: find them, look into them, read them with the reader that fits, pair tool calls."""

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from retentia.ingest.chatgpt import read_chatgpt
from retentia.ingest.chats import read_json, read_jsonl
from retentia.ingest.claude import read_claude
from retentia.ingest.detect import Format, detect_format
from retentia.ingest.documents import read_document
from retentia.ingest.items import Item, Skipped
from retentia.ingest.letta import read_letta
from retentia.ingest.mcp_memory import read_mcp_memory
from retentia.ingest.mem0 import read_mem0
from retentia.ingest.own_export import read_export
from retentia.ingest.sources import Source, counted, find_sources
from retentia.ingest.text import encoding_of
from retentia.ingest.tool_calls import with_tool_calls
from retentia.model.progress import Progress

_READERS: Mapping[Format, Callable[[Source, str, str], Iterator[Item]]] = {
    Format.RETENTIA: lambda source, encoding, _: read_export(source, encoding),
    Format.JSONL: read_jsonl,
    Format.JSON: read_json,
    Format.CHATGPT: read_chatgpt,
    Format.CLAUDE: read_claude,
    Format.MEM0: read_mem0,
    Format.MCP_MEMORY: lambda source, encoding, _: read_mcp_memory(source, encoding),
    Format.LETTA: read_letta,
    Format.MARKDOWN: partial(read_document, markdown=True),
    Format.TEXT: partial(read_document, markdown=False),
}
"""Who reads a format: (source, encoding, zone of times without one)."""


def read(
    paths: Iterable[Path], *, as_format: Format | None = None, zone: str = "UTC", progress: Progress | None = None
) -> Iterator[Item]:
    """Yield what files, folders and zip archives hold, in order, one at a time.

    `as_format` overrides what each file looks like. `zone` is where times without a zone were told. `progress` is
    called with the number of bytes read since the last call. Memory: one line or conversation (at most 32 million
    characters, 128 million in an export of ours), and about 100 bytes for each message of the file at hand. Nothing
    raises for what a file contains: what cannot be read is yielded as Skipped.
    """
    for found in find_sources(paths):
        if isinstance(found, Skipped):
            yield found
        else:
            yield from with_tool_calls(_read_source(found, as_format, zone, progress))


def _read_source(source: Source, as_format: Format | None, zone: str, progress: Progress | None) -> Iterator[Item]:
    try:
        head = source.head()
        encoding = encoding_of(head)
        if encoding is None:
            yield Skipped(source.where, "not text")
            return
        start = head.decode(encoding, "replace")
        if len(head) == source.size and not start.strip():
            yield Skipped(source.where, "the file is empty")
            return
        if progress is not None:
            source = replace(source, open=counted(source.open, progress))
        yield from _READERS[as_format or detect_format(start, source.suffix)](source, encoding, zone)
    except OSError as error:
        yield Skipped(source.where, "the file cannot be read", error.strerror or str(error))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        yield Skipped(source.where, "the zip archive is damaged", str(error))
