"""Hold a file, so that one process at a time uses it; the system lets go when the process dies."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

_POLL_SECONDS = 0.01
_POLL_LONGEST = 0.1

if sys.platform == "win32":
    import msvcrt

    _FAR = 0x7FFFFFFE  # past what is written: others may read meanwhile

    def _hold(file: IO[Any]) -> bool:
        os.lseek(file.fileno(), _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _let_go(file: IO[Any]) -> None:
        os.lseek(file.fileno(), _FAR, os.SEEK_SET)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _hold(file: IO[Any]) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _let_go(file: IO[Any]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)


@contextmanager
def locked(file: IO[Any], *, patience: float) -> Iterator[None]:
    """Wait until no one else holds the file, and hold it. Raises BlockingIOError after `patience` seconds."""
    deadline, pause = time.monotonic() + patience, _POLL_SECONDS
    while not _hold(file):
        if time.monotonic() >= deadline:
            raise BlockingIOError("another process holds the file")
        time.sleep(pause)
        pause = min(pause * 1.5, _POLL_LONGEST)
    try:
        yield
    finally:
        _let_go(file)
