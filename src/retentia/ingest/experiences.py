"""Experiences as JSONL, one a line: read with every bad line named, and written."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from retentia.errors import InvalidInput, RetentiaError
from retentia.model.experience import Experience
from retentia.model.experience_fields import experience_given, fields_of
from retentia.model.time import Moment


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no experience, counted from 1, and why."""

    line: int
    reason: str


def read_experiences(path: Path, *, now: Moment) -> Iterator[Experience | BadLine]:
    """Yield what the lines of a file say, in order; empty lines are left out. Raise InvalidInput for no such file."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _read(line, number, now)
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{str(path)!r} is not UTF-8 text: {error.reason}") from error


def write_experiences(path: Path, experiences: Iterable[Experience]) -> int:
    """Write one experience a line; return how many. Raise InvalidInput where the file cannot be written."""
    count = 0
    try:
        with path.open("w", encoding="utf-8") as file:
            for one in experiences:
                file.write(json.dumps(fields_of(one), ensure_ascii=False) + "\n")
                count += 1
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be written: {error.strerror or error}") from error
    return count


def _read(line: str, number: int, now: Moment) -> Experience | BadLine:
    try:
        return experience_given(json.loads(line), now=now)
    except RetentiaError as error:
        return BadLine(number, str(error))
    except (ValueError, RecursionError) as error:
        return BadLine(number, f"no JSON: {error}")
