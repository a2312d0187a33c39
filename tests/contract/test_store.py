"""Both databases keep what retentia promises of a store."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from retentia.store.database import Database
from retentia.store.open import open_database
from retentia.testing_store import FixedClock, StoreContract


class TestStore(StoreContract):
    @pytest.fixture
    def clock(self) -> FixedClock:
        return FixedClock()

    @pytest.fixture
    def database(self, store_url: str, clock: FixedClock) -> Iterator[Database]:
        with closing(open_database(store_url, clock=clock)) as database:
            yield database
