"""Letting other threads run: work on many values in pure Python, given away again and again.

A thread that computes keeps the interpreter for 5 ms, and another one needs it after each of its statements: a recall
beside it would take ten times as long (measured). So a long loop sleeps for a moment, well before that.
"""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

_AT_ONCE = 1024  # half a millisecond of what is done here with each
_MOMENT = 1e-6  # the system makes it some 0.06 ms; to sleep for nothing would not wake the others
_T = TypeVar("_T")


def in_turns(values: Iterable[_T]) -> Iterator[_T]:
    """Yield values in order, letting other threads run after every few hundred."""
    rest = iter(values)
    while some := list(islice(rest, _AT_ONCE)):
        yield from some
        if len(some) == _AT_ONCE:
            time.sleep(_MOMENT)
