"""What a file is, by looking into it."""

import json
import re
from enum import StrEnum
from pathlib import Path

from retentia.errors import InvalidInput
from retentia.ingest.sources import Source, find_sources
from retentia.ingest.text import encoding_of
from retentia.model.portable import FORMAT


class Format(StrEnum):
    """The formats that can be read."""

    RETENTIA = "retentia"
    JSONL = "jsonl"
    JSON = "json"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"
    MCP_MEMORY = "mcp-memory"
    LETTA = "letta"
    MARKDOWN = "markdown"
    TEXT = "text"


_CHATGPT = re.compile(r'"mapping"\s*:\s*\{')
_CLAUDE = re.compile(r'"chat_messages"\s*:\s*\[')
_OWN = re.compile(rf'\{{\s*"format"\s*:\s*"{FORMAT}"')
_MEM0 = re.compile(r'(?:\{\s*"results"\s*:\s*)?\[\s*\{(?=[^{}]*"id"\s*:)[^{}]*"memory"\s*:\s*"')
_LETTA = re.compile(r'\{\s*"agents"\s*:\s*\[|\{(?=.*"agent_type"\s*:).*"core_memory"\s*:\s*\[', re.DOTALL)
_MCP_ENTITY = {"type", "name", "entityType", "observations"}
_MCP_RELATION = {"type", "from", "to", "relationType"}
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
    if others := _of_another_memory(start, lines, suffix):
        return others
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


def _of_another_memory(start: str, lines: list[str], suffix: str) -> Format | None:
    """Recognise what memories write: our own export, and those of others."""
    if _OWN.match(start):
        return Format.RETENTIA
    if _MEM0.match(start):
        return Format.MEM0
    if suffix == ".af" or _LETTA.match(start):
        return Format.LETTA
    first = _object(lines[0]) if lines else {}
    return Format.MCP_MEMORY if first.keys() >= _MCP_ENTITY or first.keys() >= _MCP_RELATION else None


def _text_format(head: str, suffix: str) -> Format:
    return Format.MARKDOWN if suffix in _MARKDOWN_SUFFIXES or _MARKDOWN.search(head) else Format.TEXT


def _object(line: str) -> dict[str, object]:
    value = _parsed(line)
    return value if isinstance(value, dict) else {}


def _parsed(line: str) -> object:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value


def _is_record(line: str) -> bool:
    """Tell whether a line is a whole JSON object or list of objects."""
    value = _parsed(line)
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))
