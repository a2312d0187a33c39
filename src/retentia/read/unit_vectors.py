"""The vectors of records, whole: those of their passages put together."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from retentia.store import passages
from retentia.store.database import Transaction

Vector = NDArray[np.float32]


def vectors_of(
    transaction: Transaction, scope_id: int, generation: int, record_ids: Collection[bytes]
) -> dict[bytes, Vector]:
    """Return the unit vector of each record that has one: of a long text the mean of its passages."""
    parts = parts_of(transaction, scope_id, generation, record_ids)
    return {record_id: unit(sum_of(some)) for record_id, some in parts.items()}


def parts_of(
    transaction: Transaction, scope_id: int, generation: int, record_ids: Collection[bytes]
) -> dict[bytes, dict[int, Vector]]:
    """Return the vectors of the passages of records, by their places; none without a generation of vectors."""
    found: dict[bytes, dict[int, Vector]] = {}
    for row in passages.load_vectors(transaction, scope_id, generation, record_ids) if generation else ():
        found.setdefault(row.record_id, {})[row.part] = np.frombuffer(row.vector, dtype="<f2").astype(np.float32)
    return found


def sum_of(parts: dict[int, Vector]) -> Vector:
    """Add the vectors of passages."""
    whole: Vector = np.sum(list(parts.values()), axis=0, dtype=np.float32)
    return whole


def unit(vector: Vector) -> Vector:
    """Bring a vector to length 1; one of zeros stays."""
    scaled: Vector = vector / np.float32(float(np.linalg.norm(vector)) or 1.0)
    return scaled
