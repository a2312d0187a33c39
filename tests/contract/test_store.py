"""Both databases keep what retentia promises of a store."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from retentia.store.database import Database
from retentia.store.open import open_database
from retentia.testing_store import FixedClock, StoreContract


class TestKeyedStore(StoreContract):
    """The same, where the content of the store has keys."""

    @pytest.fixture
    def clock(self) -> FixedClock:
        return FixedClock()

    @pytest.fixture
    def database(self, postgres_url: str, clock: FixedClock) -> Iterator[Database]:
        with closing(open_database(postgres_url, clock=clock, content_key="5e" * 32)) as database:
            yield database


class TestStore(StoreContract):
    @pytest.fixture
    def clock(self) -> FixedClock:
        return FixedClock()

    @pytest.fixture
    def database(self, store_url: str, clock: FixedClock) -> Iterator[Database]:
        with closing(open_database(store_url, clock=clock)) as database:
            yield database
