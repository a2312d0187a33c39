"""Ctrl-C that is never lost: where Python drops the interruption, the next step of the work notices it."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Yield what long work calls between its steps: it raises KeyboardInterrupt once Ctrl-C was pressed.

    Python raises it at once, but drops it where it falls into a callback of the interpreter (a weak reference, the
    collection of garbage); then the work would go on to its end.
    """
    pressed = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        pressed.set()
        raise KeyboardInterrupt

    def check() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield check
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
