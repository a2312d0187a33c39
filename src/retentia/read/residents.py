"""The resident indexes of a process: one for each view that is searched."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from retentia.index.resident import ResidentIndex
from retentia.read.views import Held, Touched, Views
from retentia.store import passages
from retentia.store.database import Transaction
from retentia.store.scopes import ScopeVersion


@dataclass(slots=True, kw_only=True)
class Resident(Held):
    """The index of one view, and whose vectors are still to come."""

    index: ResidentIndex
    unembedded: Counter[bytes] = field(default_factory=Counter)

    @property
    def content(self) -> ResidentIndex:
        """The index."""
        return self.index

    @property
    def pending(self) -> int:
        """How many passages are found by their words only."""
        return self.unembedded.total()


class Residents(Views[Resident]):
    """The indexes in memory; see `Views`."""

    def _empty(self, dimension: int) -> Resident:
        return Resident(index=ResidentIndex(dimension))

    def _load(
        self, held: Resident, transaction: Transaction, view: Sequence[ScopeVersion], generation: int, dimension: int
    ) -> None:
        held.unembedded.clear()
        held.index = ResidentIndex.load(_slices(held, transaction, view, generation), dimension=dimension)

    def _apply(self, held: Resident, transaction: Transaction, touched: Touched, generation: int) -> None:
        everything = {record_id for ids in touched.values() for record_id in ids}
        held.index.remove(everything)
        for record_id in everything & held.unembedded.keys():
            del held.unembedded[record_id]
        for scope_id, ids in touched.items():
            rows: list[Any] = list(passages.load_passages(transaction, scope_id, ids))
            vectors: list[Any] = list(passages.load_vectors(transaction, scope_id, generation, ids))
            held.index.add(rows, vectors)
            if generation:
                held.unembedded += _unembedded(rows, vectors)


def _unembedded(rows: Sequence[Any], vectors: Sequence[Any]) -> Counter[bytes]:
    """Count by record the passages that have no vector."""
    if len(rows) == len(vectors):
        return Counter()
    embedded = {(record_id, part) for record_id, part, _ in vectors}
    return Counter(row[0] for row in rows if (row[0], row[1]) not in embedded)


def _slices(
    resident: Resident, transaction: Transaction, view: Sequence[ScopeVersion], generation: int
) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    for entry in view:
        for rows, vectors in passages.slices(transaction, entry.scope_id, generation):
            if generation:
                resident.unembedded += _unembedded(rows, vectors)
            yield rows, vectors
