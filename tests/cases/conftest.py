"""A memory on each database, with an embedder that needs no model."""

from collections.abc import Iterator

import pytest

from retentia import Memory, Scope
from retentia.testing import FakeEmbedder


@pytest.fixture
def scope() -> Scope:
    return Scope("acme", "anna")


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def told(request: pytest.FixtureRequest, sqlite_url: str, scope: Scope) -> Iterator[Memory]:
    """A memory with the real default embedder that was told what the test's module names SAID."""
    with Memory.open(sqlite_url, worker=False) as opened:
        opened.add(request.module.SAID, scope=scope)
        opened.drain()
        yield opened


@pytest.fixture
def memory(store_url: str, embedder: FakeEmbedder) -> Iterator[Memory]:
    """A memory whose queued work runs when the test says `drain`."""
    with Memory.open(store_url, embedder=embedder, worker=False) as opened:
        yield opened
