"""A file that is there whole or not at all, and for its owner only."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from retentia.errors import InvalidInput

_OWNER_ONLY = 0o600


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[TextIO]:
    """Write UTF-8 to a file beside `path`, which takes its name when the block ends, on disk and with mode 0600.

    Where the block raises nothing is left. Raises InvalidInput when there is something under that name, unless
    `overwrite` says so and it is a file; and when the folder or the disk refuses.
    """
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise InvalidInput(f"{str(path)!r} is no file; name a file to write")
    if path.exists() and not overwrite:
        raise InvalidInput(f"{str(path)!r} is there already; name another file, or ask to overwrite it")
    part = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be written: {error.strerror or error}") from error
