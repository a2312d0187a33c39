"""Ctrl-C: heard at a terminal, and not heard while something must not be left half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def listen() -> None:
    """Let Ctrl-C interrupt also where whoever started this process ignores it, as shells do in the background."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def shielded() -> Iterator[None]:
    """Ignore Ctrl-C in this block: it takes milliseconds, and what is written in it is written whole."""
    if threading.current_thread() is not threading.main_thread():  # only there signals arrive
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
