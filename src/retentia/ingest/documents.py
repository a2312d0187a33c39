"""Documents: Markdown and plain text, kept whole under a title."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from retentia.errors import InvalidMoment
from retentia.ingest.items import IngestDocument, Item, Skipped
from retentia.ingest.keys import text_digest
from retentia.ingest.sources import Source
from retentia.ingest.text import MAX_CHARS, open_text, undecoded
from retentia.model.message import Document
from retentia.model.time import Moment

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(title|date):[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t#]*$|^([^\n#>`\-=\s][^\n]*)\n=+[ \t]*$", re.MULTILINE)
_CODE_BLOCK = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)


def read_document(source: Source, encoding: str, zone: str, *, markdown: bool) -> Iterator[Item]:
    """Read a file as one document."""
    with open_text(source.open, encoding) as file:
        text = file.read(MAX_CHARS + 1)
    if len(text) > MAX_CHARS:
        yield Skipped(source.where, "the document is too long", f"more than {MAX_CHARS} characters")
    elif bad := undecoded(text):
        yield Skipped(source.where, "the document is not UTF-8: convert it first", bad)
    elif not text.strip():
        yield Skipped(source.where, "the file is empty")
    else:
        document = text_document(text, name=source.name, uri=source.where, zone=zone, markdown=markdown)
        yield IngestDocument(where=source.where, document=document)


def text_document(
    text: str, *, name: str, uri: str, at: Moment | None = None, zone: str = "UTC", markdown: bool = False
) -> Document:
    """Make a document of a text. Markdown names its title and date itself: in front matter, or as first heading."""
    given = _front_matter(text) if markdown else {}
    title = given.get("title") or (_first_heading(text) if markdown else "") or PurePosixPath(name).stem
    return Document(
        text=text,
        title=title,
        uri=uri,
        media_type="text/markdown" if markdown else "text/plain",
        at=at or _date(given.get("date", ""), zone),
        key=f"{name[-80:]}#{text_digest(text)}",
    )


def _front_matter(text: str) -> dict[str, str]:
    block = _FRONT_MATTER.match(text)
    return {name.lower(): value.strip("'\"") for name, value in _FIELD.findall(block[1])} if block else {}


def _first_heading(text: str) -> str:
    found = _HEADING.search(_CODE_BLOCK.sub("", _FRONT_MATTER.sub("", text, count=1)[:20_000]))
    return (found[1] or found[2]).strip() if found else ""


def _date(text: str, zone: str) -> Moment | None:
    try:
        return Moment.parse(text, zone=zone) if text else None
    except InvalidMoment:
        return None
