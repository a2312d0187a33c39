"""Read benchmark files: every way a file can be wrong becomes an InvalidInput that says what was expected."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from retentia.errors import InvalidInput

_SURPRISES = (KeyError, TypeError, ValueError, AttributeError, IndexError)


def read_json(path: Path, expected: str) -> Any:
    """Return the parsed file; raise InvalidInput when it is missing, unreadable or not JSON."""
    try:
        return json.loads(read_text(path, expected))
    except ValueError as error:
        raise InvalidInput(f"{str(path)!r} is not JSON ({error}); expected {expected}") from error


def read_csv(path: Path, columns: tuple[str, ...], expected: str) -> list[dict[str, str]]:
    """Return the rows as dicts; raise InvalidInput when a column is missing."""
    rows = csv.DictReader(io.StringIO(read_text(path, expected), newline=""))
    missing = [column for column in columns if column not in (rows.fieldnames or ())]
    if missing:
        raise InvalidInput(f"{str(path)!r} has no column {missing[0]!r}; expected {expected}")
    return list(rows)


def read_text(path: Path, expected: str) -> str:
    """Return the file's text; raise InvalidInput when it is missing, a folder, unreadable or not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8 text"
        raise InvalidInput(f"cannot read {str(path)!r} ({reason.lower()}); expected {expected}") from error


@contextmanager
def shape_of(path: Path, expected: str) -> Iterator[None]:
    """Turn a surprise in the file's structure into an InvalidInput that says what was expected."""
    try:
        yield
    except _SURPRISES as error:
        raise InvalidInput(f"{str(path)!r} has another structure than expected: {expected}") from error
