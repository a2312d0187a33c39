"""Forked processes for tests, and what they report."""

import os
import signal
import traceback
import warnings
from collections.abc import Callable

_LONGEST_SECONDS = 180


class Child:
    """A forked process that runs a function; the function gets a way to report lines."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        receiving, sending = os.pipe()
        self.process = fork(lambda: work(lambda line: _report(sending, line)))
        os.close(sending)
        self.reported = os.fdopen(receiving)

    def kill_after(self, lines: int) -> int:
        """Kill the process once it has reported so many lines; return how many it had reported by then."""
        found = 0
        for _ in self.reported:
            found += 1
            if found == lines:
                os.kill(self.process, signal.SIGKILL)
        return found

    def status(self) -> int:
        """Wait for the end; 0 when the function returned, negative when a signal ended it."""
        self.reported.close()
        return status_of(self.process)


def _report(pipe: int, line: str) -> None:
    os.write(pipe, f"{line}\n".encode())


def fork(child: Callable[[], None]) -> int:
    """Run a function in a forked process, which ends with 0 when it returns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        process = os.fork()
    if process:
        return process
    status = 1
    signal.alarm(_LONGEST_SECONDS)  # a child whose test failed must not live on
    try:
        child()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def status_of(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
