"""Presence: this process says that it holds content in memory, and lets go of it when another one has erased it.

A process that holds nothing has no row and no thread. With the first search or write of content it gets a row (see
`retentia.store.readers`) and a thread that looks for notices, a cheap read, some times a second. Reads wait for nobody
who writes: where the row cannot be had at once, a search keeps nothing of what it has loaded.
"""

import logging
import os
import platform
import threading
import time
import weakref
from collections.abc import Mapping
from functools import cache
from typing import Protocol

from retentia.errors import RetentiaError, StoreReadOnly
from retentia.index.tokenizer import forget_words
from retentia.model.ids import new_id_bytes
from retentia.store import readers
from retentia.store.database import Database, Transaction

_log = logging.getLogger("retentia.presence")
_POLL_SECONDS = {"sqlite": 0.1, "postgres": 0.5}
_PATIENCE_SECONDS = 0.1
_RENEW_SECONDS = readers.RENEW_MS / 1000


class LetsGo(Protocol):
    """What a process holds in memory of what scopes say."""

    def drop(self, erased: Mapping[int, int]) -> None:
        """Let go of what holds any of these scopes, each with the version from which on it may be held."""
        ...

    def clear(self) -> None:
        """Let go of everything."""
        ...

    def after_in_child(self) -> None:
        """Let go of what a forked process has inherited."""
        ...


class Presence:
    """The row of one open store, and what it holds in memory: the indexes and pools of scopes, and words.

    Safe to use from many threads; a forked child holds nothing, and begins anew.
    """

    def __init__(self, database: Database, *held: LetsGo) -> None:
        self._database = database
        self._held = held
        self._begin()
        _present().add(self)

    @property
    def is_known(self) -> bool:
        """Whether an eraser asks this process, so that it may hold content."""
        return self._known.is_set()

    def enter(self) -> bool:
        """Make this process known before it loads content; tell whether it may hold it. Waits a tenth of a second.

        Call it before the snapshot begins from which content is loaded: an erasure that is not in the snapshot then
        comes with a notice.
        """
        if self._known.is_set():
            return True
        self._start()
        return self._known.wait(max(self._wait_until - time.monotonic(), 0))

    def join(self, transaction: Transaction) -> None:
        """Make this process known in the transaction that writes content, whose words it now has in memory."""
        if self._known.is_set() or self._is_read_only:
            return
        readers.enter(transaction, self.id, _process())
        self._start()

    def let_go(self, erased: Mapping[int, int]) -> None:
        """Let go of scopes, each with the version from which on it may be held, and of all words."""
        for views in self._held:
            views.drop(erased)
        forget_words()

    def leave(self) -> None:
        """End the thread, let go of everything, and remove the row; where that cannot be, its lease ends."""
        with self._lock:
            self._stopping.set()
            thread = self._thread
        if thread is not None:
            thread.join()
        self._clear()
        if thread is None or self._is_read_only:
            return
        try:
            with self._database.write("") as transaction:
                readers.leave(transaction, self.id)
        except RetentiaError as error:
            _log.debug("the row of this process could not be removed, its lease will end: %s", error)

    def after_in_child(self) -> None:
        """Hold nothing: the parent answers for itself alone."""
        self._begin()
        for views in self._held:
            views.after_in_child()
        forget_words()

    def _clear(self) -> None:
        for views in self._held:
            views.clear()
        forget_words()

    def _begin(self) -> None:
        self.id = new_id_bytes()
        self._lock = threading.Lock()
        self._known = threading.Event()
        self._stopping = threading.Event()
        self._is_read_only = False
        self._renew_at = self._wait_until = 0.0
        self._thread: threading.Thread | None = None
        self._database.joining = self.join

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopping.is_set():
                self._wait_until = time.monotonic() + _PATIENCE_SECONDS
                watched = (weakref.ref(self), self._stopping, _POLL_SECONDS[self._database.dialect.name])
                self._thread = threading.Thread(target=_watch, args=watched, name="retentia-presence", daemon=True)
                self._thread.start()

    def look(self) -> None:
        """Answer what is asked, and renew the lease when it is time; what fails is tried again the next time."""
        try:
            self._look()
            if time.monotonic() >= self._renew_at:
                self._renew_at = time.monotonic() + _RENEW_SECONDS
                with self._database.write("") as transaction:
                    readers.renew(transaction, self.id)
        except StoreReadOnly:  # a standby, or a role that may only read: nobody can be told of this process
            self._is_read_only = True
            self._known.set()
            self._stopping.set()
        except RetentiaError as error:
            _log.debug("looked in vain for notices, and will look again: %s", error)

    def _look(self) -> None:
        """Answer what is asked; where the row is gone, the lease had ended and others did not wait: hold nothing."""
        with self._database.read("") as transaction:
            is_known = readers.is_known(transaction, self.id)
            asked = readers.asked_of(transaction, self.id)
        if not is_known:
            if self._known.is_set():
                self._known.clear()
                self._clear()
            with self._database.write("") as transaction:
                readers.enter(transaction, self.id, _process())
            self._renew_at = time.monotonic() + _RENEW_SECONDS
        self._known.set()
        if asked:
            for scopes in asked.values():
                self.let_go(scopes)
            with self._database.write("") as transaction:
                readers.answer(transaction, self.id, asked)


def _watch(presence: "weakref.ref[Presence]", stopping: threading.Event, poll_seconds: float) -> None:
    """Look again and again, until told to stop or the store was let go of without being closed."""
    while not stopping.is_set():
        if (watched := presence()) is None:
            return
        watched.look()
        del watched
        stopping.wait(poll_seconds)


def _process() -> str:
    return f"process {os.getpid()} on {platform.node() or 'an unnamed machine'}"


@cache
def _present() -> "weakref.WeakSet[Presence]":
    """Return what is present in this process; the first call arranges that a forked child hears of it."""
    known: weakref.WeakSet[Presence] = weakref.WeakSet()

    def in_child() -> None:
        for one in list(known):
            one.after_in_child()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)
    return known
