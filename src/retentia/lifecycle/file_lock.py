"""Hold a file, so that one process at a time uses it; the system lets go when the process dies."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

if sys.platform == "win32":
    import msvcrt

    def _hold(file: IO[Any]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

    def _let_go(file: IO[Any]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _hold(file: IO[Any]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)

    def _let_go(file: IO[Any]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)


@contextmanager
def locked(file: IO[Any]) -> Iterator[None]:
    """Wait until no one else holds the file, and hold it."""
    _hold(file)
    try:
        yield
    finally:
        _let_go(file)
