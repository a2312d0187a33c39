"""A row of a record as text, for where it is kept out of sight: JSON, with bytes in hexadecimal."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import LargeBinary, Table


def packed(row: Mapping[str, Any]) -> str:
    """Write a row as text."""
    return json.dumps(row, default=_hexadecimal, ensure_ascii=False)


def unpacked(table: Table, text: str) -> dict[str, Any]:
    """Read a row of a table back as it was, with the name of its session where it has one."""
    row: dict[str, Any] = json.loads(text)
    binary = {column.name for column in table.c if isinstance(column.type, LargeBinary)}
    return {
        name: bytes.fromhex(value) if name in binary and value is not None else value for name, value in row.items()
    }


def _hexadecimal(raw: object) -> str:
    if not isinstance(raw, bytes):
        raise TypeError(f"a row holds a {type(raw).__name__}")
    return raw.hex()
