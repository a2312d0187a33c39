"""Prove that a database keeps what retentia promises of a store. Needs pytest."""

from retentia.testing_store.clock import FixedClock
from retentia.testing_store.contract import StoreContract

__all__ = ["FixedClock", "StoreContract"]
