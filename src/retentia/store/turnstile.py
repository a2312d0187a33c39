"""The turnstile that every transaction of a process passes: one writer at a time where asked for, none during a fork.

A child process must not inherit a connection. SQLite keeps file locks per process and takes the copy of an inherited
connection for its own: the child then opens the file without the locks that keep the write-ahead log, and rows it was
told are durable vanish when the parent closes (measured: 5 of 10). So a fork waits for running transactions, which are
short, and closes every idle connection before it happens.
"""

import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache

from sqlalchemy import Engine

from retentia.errors import StoreUnavailable

_PATIENCE_SECONDS = 10.0


class Turnstile:
    """Counts who is inside a transaction on an engine; safe to use from many threads and across a fork."""

    def __init__(self, engine: Engine, *, one_writer: bool, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        self._engine = engine
        self._one_writer = one_writer
        self._patience_seconds = patience_seconds
        self._inherited = False
        self._is_unsafe = False
        self._begin()
        _turnstiles().add(self)

    @contextmanager
    def passing(self, *, write: bool) -> Iterator[None]:
        """Hold a place inside; wait for the writer before, where there is only one, and for a fork to be over.

        Raises StoreUnavailable in a child that inherited an open transaction.
        """
        if self._is_unsafe:
            raise StoreUnavailable(
                "this process was forked while a transaction was open, so it cannot use the store safely; "
                "start it with 'spawn', or fork before the store is in use"
            )
        with self._writer if write and self._one_writer else nullcontext():
            self._enter()
            try:
                yield
            finally:
                self._leave()

    def before_fork(self) -> None:
        """Hold everyone back, wait for those inside, and close every connection."""
        me = threading.get_ident()
        with self._changed:
            self._is_forking = True
            are_out = self._changed.wait_for(lambda: not self._inside.keys() - {me}, self._patience_seconds)
            self._inherited = not are_out or me in self._inside
        if not self._inherited:
            self._engine.dispose()

    def after_in_parent(self) -> None:
        """Let everyone pass again."""
        with self._changed:
            self._is_forking = False
            self._changed.notify_all()

    def after_in_child(self) -> None:
        """Start with locks and connections of the child's own."""
        self._begin()
        self._is_unsafe = self._inherited
        self._engine.dispose(close=False)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._writer = threading.Lock()
        self._inside: Counter[int] = Counter()
        self._is_forking = False

    def _enter(self) -> None:
        me = threading.get_ident()
        with self._changed:
            while self._is_forking and me not in self._inside:
                self._changed.wait()
            self._inside[me] += 1

    def _leave(self) -> None:
        me = threading.get_ident()
        with self._changed:
            self._inside[me] -= 1
            if not self._inside[me]:
                del self._inside[me]
            if self._is_forking:
                self._changed.notify_all()


@cache
def _turnstiles() -> "weakref.WeakSet[Turnstile]":
    """Return the turnstiles of this process; the first call arranges that they hear of forks."""
    known: weakref.WeakSet[Turnstile] = weakref.WeakSet()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_each(known, Turnstile.before_fork),
            after_in_parent=_each(known, Turnstile.after_in_parent),
            after_in_child=_each(known, Turnstile.after_in_child),
        )
    return known


def _each(known: "weakref.WeakSet[Turnstile]", hook: Callable[[Turnstile], None]) -> Callable[[], None]:
    def call() -> None:
        for one in list(known):
            hook(one)

    return call
