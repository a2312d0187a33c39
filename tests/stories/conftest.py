"""What every story begins with: a file for the memory, a clock, and a person."""

import pytest

from retentia import Scope
from retentia.testing_store import FixedClock

NOON_OF_MARCH_10 = 1_773_140_400_000_000


@pytest.fixture
def anna() -> Scope:
    return Scope("acme", "anna")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON_OF_MARCH_10)
