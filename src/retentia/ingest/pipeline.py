"""Reading files, step by step: find them, look into them, read them with the reader that fits, pair tool calls."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from retentia.ingest.chatgpt import read_chatgpt
from retentia.ingest.chats import read_json, read_jsonl
from retentia.ingest.claude import read_claude
from retentia.ingest.detect import Format, detect_format
from retentia.ingest.documents import read_document
from retentia.ingest.items import Item, Skipped
from retentia.ingest.sources import Source, counted, find_sources
from retentia.ingest.text import encoding_of
from retentia.ingest.tool_calls import with_tool_calls
from retentia.model.progress import Progress


def read(
    paths: Iterable[Path], *, as_format: Format | None = None, zone: str = "UTC", progress: Progress | None = None
) -> Iterator[Item]:
    """Yield what files, folders and zip archives hold, in order, one at a time.

    `as_format` overrides what each file looks like. `zone` is where times without a zone were told. `progress` is
    called with the number of bytes read since the last call. Memory: one line or conversation (at most 32 million
    characters), and about 100 bytes for each message of the file at hand. Nothing raises for what a file contains:
    what cannot be read is yielded as Skipped.
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
        yield from _read_as(as_format or detect_format(start, source.suffix), source, encoding, zone)
    except OSError as error:
        yield Skipped(source.where, "the file cannot be read", error.strerror or str(error))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        yield Skipped(source.where, "the zip archive is damaged", str(error))


def _read_as(chosen: Format, source: Source, encoding: str, zone: str) -> Iterator[Item]:
    match chosen:
        case Format.JSONL:
            return read_jsonl(source, encoding, zone)
        case Format.JSON:
            return read_json(source, encoding, zone)
        case Format.CHATGPT:
            return read_chatgpt(source, encoding, zone)
        case Format.CLAUDE:
            return read_claude(source, encoding, zone)
        case Format.MARKDOWN:
            return read_document(source, encoding, zone, markdown=True)
        case Format.TEXT:
            return read_document(source, encoding, zone, markdown=False)
        case _:
            assert_never(chosen)
