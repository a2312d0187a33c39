"""Which columns hold what people said, and how each is sealed where the content of a store has keys.

What is not named here stays as it is: ids, times, numbers, kinds, roles, names of tools and scopes. A test fails for a
column with text or bytes that is in neither list.
"""

from collections.abc import Mapping
from enum import Enum
from functools import cache

from sqlalchemy import ColumnElement, Table, case, func
from sqlalchemy.sql.elements import KeyedColumnElement

from retentia.store import schema

SEAL_BYTES = 29
"""What sealing adds: one byte for the form, a nonce of 12, a tag of 16."""
_BLANK = " \t\n\r"


class Way(Enum):
    """How a column is sealed: differently each time, or always alike within a scope, so that it can be looked up."""

    CONTENT = "content"
    NAME = "name"
    MARK = "mark"


def _columns(content: str, *, name: str = "", mark: str = "") -> Mapping[str, Way]:
    found = dict.fromkeys(content.split(), Way.CONTENT)
    return found | dict.fromkeys(name.split(), Way.NAME) | dict.fromkeys(mark.split(), Way.MARK)


SEALED: Mapping[Table, Mapping[str, Way]] = {
    schema.session: _columns("metadata", name="name"),
    schema.message: _columns("speaker text parts metadata", name="client_key"),
    schema.tool_call: _columns("text arguments result error metadata", name="client_key"),
    schema.document: _columns("title uri text metadata", name="client_key"),
    schema.item: _columns("text author body metadata", mark="content_key"),
    schema.claim: _columns("", mark="subject_key value_key applies_key"),
    schema.revision: _columns("author reason before"),
    schema.passage: _columns("speaker stems grams"),
    schema.vector: _columns("vector"),
    schema.summary: _columns("text body"),
    schema.manifest_entry: _columns("label"),
    schema.bin_record: _columns("content", name="client_key"),
    schema.bin_session: _columns("metadata", name="name"),
    schema.custody: _columns("content"),
}
"""Every table with content, and its sealed columns."""

PLAIN: Mapping[str, frozenset[str]] = {
    table: frozenset(columns.split())
    for table, columns in {
        "message": "role precision zone trust",
        "tool_call": "name status precision zone trust",
        "document": "media_type precision zone trust",
        "item": "kind status importance precision zone trust",
        "claim": "attribute",
        "revision": "change",
        "passage": "kind role",
        "summary": "made_by",
        "manifest_entry": "kind part",
        "bin_record": "cause kind",
        "custody": "kind",
    }.items()
}
"""What else these tables hold as text: words of ours, zones, types of media, names of tools and models."""


@cache
def row_key(table: Table) -> tuple[str, ...]:
    """Return the columns that tell a row from the others of its scope."""
    return tuple(column.name for column in table.primary_key if column.name not in {"tenant", "scope_id"})


def is_blank(value: str | bytes) -> bool:
    """Tell whether a value says nothing; it is not sealed then."""
    return not value or (isinstance(value, str) and value.isspace())


def text_bytes(column: KeyedColumnElement[str]) -> ColumnElement[int]:
    """Return the expression for how many bytes a sealed text had: base64 without padding has four letters for three."""
    length = func.octet_length(column)
    return case((func.trim(column, _BLANK) == "", length), else_=length * 3 // 4 - SEAL_BYTES)
