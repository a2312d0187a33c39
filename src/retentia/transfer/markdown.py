"""An export for a person to read: sessions with dates and speakers, documents whole, items by kind with their sources.

Texts stand in block quotes, so that no heading within them looks like one of the file. Pure.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from retentia.model.message import JSON
from retentia.model.portable import SESSION
from retentia.model.record import Kind

_HEADINGS = {
    "document": "Documents",
    "note": "Notes",
    "fact": "Facts",
    "preference": "Preferences",
    "event": "Events",
    "decision": "Decisions",
    "commitment": "Commitments",
    "procedure": "Procedures",
    "knowledge": "Knowledge",
}
_LINE_END = re.compile(r"\r\n|\r|\n")

Cite: TypeAlias = Callable[[Sequence[str]], Mapping[str, str]]
"""Tell the records with some ids in one line each; those that are not there are left out."""
_Line: TypeAlias = Mapping[str, Any]  # a line of an export, which `line_of` has made


def render(header: Mapping[str, JSON], lines: Iterable[_Line], *, cite: Cite) -> Iterator[str]:
    """Yield the file piece by piece, from the header and the lines of an export in their order."""
    yield _title(header)
    heading = day = ""
    for line in lines:
        match line["kind"]:
            case "session":
                yield f"\n## Session {_flat(line['name'])}\n"
                day = ""
            case Kind.MESSAGE.value | Kind.TOOL_CALL.value:
                if (today := _day(line)) != day:
                    day = today
                    yield f"\n*{day or 'without a date'}*\n"
                yield _said(line)
            case kind:
                if heading != (heading := _HEADINGS[kind]):
                    yield f"\n## {heading}\n"
                yield _document(line) if kind == Kind.DOCUMENT.value else _item(line, cite)


def _title(header: Mapping[str, Any]) -> str:
    scope = "/".join(_flat(name) for name in header["scope"].values() if name)
    counted = [f"{count:,} {kind.replace('_', ' ')}" for kind, count in header["counts"].items() if kind != SESSION]
    return f"# Memory of {scope}\n\nExported {header['created_at']}: {', '.join(counted) or 'nothing'}.\n"


def _said(line: _Line) -> str:
    if line["kind"] == Kind.TOOL_CALL.value:
        who = f"**{_flat(line['name'])}** (tool call, {line['status']})"
    else:
        who = f"**{_flat(line['speaker'])}** ({line['role']})" if line["speaker"] else f"**{line['role']}**"
    parts = [who, _time(line), "pinned" if line.get("pinned") else ""]
    also = ", ".join(line.get("parts") or {})
    rest = f"\n*also, in the JSONL export: {also}*\n" if also else ""
    return f"\n{', '.join(part for part in parts if part)}\n\n{_quoted(line['text'])}\n{rest}"


def _document(line: _Line) -> str:
    about = " · ".join(_flat(part) for part in (line["uri"], line["media_type"], _when(line)) if part)
    return f"\n### {_flat(line['title']) or 'Untitled'}\n\n{about}\n\n{_quoted(line['text'])}\n"


def _item(line: _Line, cite: Cite) -> str:
    seen = f"seen {line['seen_count']} times" if line["seen_count"] > 1 else ""
    by = f"by {_flat(line['author'])}" if line["author"] else ""
    importance = f"{line['importance']} importance" if line["importance"] != "normal" else ""
    about = " · ".join(part for part in (_when(line), line["status"], importance, seen, by) if part)
    known = cite([source["id"] for source in line["sources"]]) if line["sources"] else {}
    sources = "".join(
        f"- source: {known.get(source['id'], source['kind'] + ' ' + source['id'])}\n" for source in line["sources"]
    )
    return f"\n{_quoted(line['text'])}\n\n- {about}\n{sources}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip(" ") for line in _LINE_END.split(text))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _when(line: _Line) -> str:
    return str(line["occurred"]["iso"]) if line["occurred"] else ""


def _day(line: _Line) -> str:
    return _when(line)[:10]


def _time(line: _Line) -> str:
    return _when(line)[11:16]
