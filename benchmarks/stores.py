"""Stores to measure on: written once a run through the public verbs, then copied."""

import shutil
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.corpus import Said, messages
from benchmarks.setting import Setting
from benchmarks.vectors import WordVectors
from retentia import Memory, Message, Scope
from retentia.providers.base import EmbedderSpec

SCOPE = Scope(tenant="ours", user="maria")


def said_in(setting: Setting, count: int) -> Sequence[Said]:
    """Return what a store of `count` messages holds."""
    return messages(count, setting.data)


def store_of(setting: Setting, count: int) -> Path:
    """Return the file of a store with `count` messages and their vectors, written on first use."""
    path = setting.folder / f"of-{count}.db"
    if not path.exists():
        setting.say(f"writing a store of {count:,} messages")
        with Memory.open(path, embedder=WordVectors(), worker=False) as memory:
            add_all(memory, said_in(setting, count))
            memory.drain()
    return path


def copy_of(setting: Setting, count: int, name: str) -> Path:
    """Return a copy of a store that may be changed."""
    target = setting.folder / f"{name}.db"
    shutil.copyfile(store_of(setting, count), target)
    return target


def empty_store(setting: Setting, name: str, embedder: EmbedderSpec) -> Memory:
    """Open a new store whose worker does not run."""
    return Memory.open(setting.folder / f"{name}.db", embedder=embedder, worker=False)


def add_all(memory: Memory, said: Sequence[Said], scope: Scope = SCOPE) -> None:
    """Add messages in one batch a session."""
    for session, some in groupby(said, key=lambda one: one.session):
        memory.add([as_message(one) for one in some], scope=scope, session=session)


def as_message(one: Said) -> Message:
    return Message(role=one.role, content=one.text, speaker=one.speaker, at=one.at)
