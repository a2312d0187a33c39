"""A database on which nothing that is written stays, to tell what an import would do."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from retentia.store.database import Database, Transaction


class _Undone(Exception):
    """Ends a transaction without keeping it."""


class Rehearsal(Database):
    """From `begin` on everything is done as in earnest, one transaction at a time, and each is rolled back at its end.

    Opening a memory comes before: it finishes what a crash has left, as opening always does.
    """

    _has_begun = False

    def begin(self) -> None:
        """Keep nothing from now on."""
        self._has_begun = True

    @contextmanager
    def write(self, tenant: str) -> Iterator[Transaction]:
        """Write, and take it back."""
        with suppress(_Undone), super().write(tenant) as transaction:
            yield transaction
            if self._has_begun:
                raise _Undone
