"""What a file is, by looking into it."""

import json
import re
from enum import StrEnum
from pathlib import Path

from retentia.errors import InvalidInput
from retentia.ingest.sources import Source, find_sources
from retentia.ingest.text import encoding_of


class Format(StrEnum):
    """The formats that can be read."""

    JSONL = "jsonl"
    JSON = "json"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MARKDOWN = "markdown"
    TEXT = "text"


_CHATGPT = re.compile(r'"mapping"\s*:\s*\{')
_CLAUDE = re.compile(r'"chat_messages"\s*:\s*\[')
_JSON = re.compile(r'[\[{]\s*["\[{\]}]')
_MARKDOWN = re.compile(r"^#{1,6} \S|^```|^\|.+\|$|\A---\n", re.MULTILINE)
_JSONL_SUFFIXES = (".jsonl", ".ndjson")
_MARKDOWN_SUFFIXES = (".md", ".markdown")


def detect(path: Path) -> Format:
    """Return the format of a file; raise InvalidInput for what is no single readable file."""
    found = list(find_sources([path]))
    if len(found) == 1 and isinstance(found[0], Source):
        head = found[0].head()
        encoding = encoding_of(head)
        if encoding is not None and head:
            return detect_format(head.decode(encoding, "replace"), found[0].suffix)
    if path.is_dir() or len(found) > 1:
        raise InvalidInput(f"{str(path)!r} holds several files; each has a format of its own")
    raise InvalidInput(f"{str(path)!r} is not readable text")


def detect_format(head: str, suffix: str) -> Format:
    """Decide by the first characters of a file; the suffix only where they leave it open."""
    start = head.lstrip("\ufeff \t\r\n")
    lines = [line for line in start.splitlines() if line.strip()]
    if start.startswith(("{", "[")) or suffix in (".json", *_JSONL_SUFFIXES):
        return _json_format(start, lines, suffix)
    return Format.JSONL if any(map(_is_record, lines[:20])) else _text_format(start, suffix)


def _json_format(start: str, lines: list[str], suffix: str) -> Format:
    first_is_whole = bool(lines) and _is_record(lines[0])
    if not first_is_whole or len(lines) == 1:
        if _CHATGPT.search(start):
            return Format.CHATGPT
        if _CLAUDE.search(start):
            return Format.CLAUDE
    if suffix in _JSONL_SUFFIXES:
        return Format.JSONL
    if first_is_whole:
        return Format.JSON if start.startswith("[") and len(lines) == 1 else Format.JSONL
    if suffix != ".json" and start.startswith("{") and any(line.startswith("{") for line in lines[1:]):
        return Format.JSONL
    if suffix == ".json" or _JSON.match(start):
        return Format.JSON
    return _text_format(start, suffix)


def _text_format(head: str, suffix: str) -> Format:
    return Format.MARKDOWN if suffix in _MARKDOWN_SUFFIXES or _MARKDOWN.search(head) else Format.TEXT


def _is_record(line: str) -> bool:
    """Tell whether a line is a whole JSON object or list of objects."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))
