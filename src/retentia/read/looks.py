"""A look at what is held of a view: embed the question -> one snapshot -> what is held, brought up to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic

from retentia.errors import EmbeddingFailed
from retentia.model.scope import Scope
from retentia.read.presence import Presence
from retentia.read.serving import Serving, ServingEmbedder
from retentia.read.unit_vectors import Vector
from retentia.read.views import H, Views
from retentia.store import scopes
from retentia.store.database import Database, Transaction
from retentia.store.scopes import ScopeVersion


@dataclass(frozen=True, slots=True)
class Look(Generic[H]):
    """What one look sees: the snapshot, the scopes of the view, what is held of it, and the vector of the question."""

    transaction: Transaction
    view: list[ScopeVersion]
    held: H
    vector: Vector | None


class Looks(Generic[H]):
    """Looks at views. Safe to use from many threads."""

    def __init__(self, database: Database, views: Views[H], embedding: ServingEmbedder, presence: Presence) -> None:
        self._database = database
        self._views = views
        self._embedding = embedding
        self._presence = presence

    @property
    def embedder(self) -> str:
        """The name of the embedder that likeness is told by, "none" without one."""
        serving = self._embedding.current()
        return serving.identity.name if serving.embedder is not None else "none"

    @contextmanager
    def _look(self, scope: Scope, question: str = "") -> Iterator[Look[H]]:
        """Look at the view of a scope. Use what is held under its lock; the vector is None where none can be had."""
        serving = self._embedding.current()
        vector = _embedded(question, serving)
        keep = self._presence.enter()  # before the snapshot: what is erased after it comes with a notice
        with self._database.read(scope.tenant) as transaction:
            view = scopes.view(transaction, scope)
            if view and view[0].generation != serving.generation:
                serving, vector = self._embedding.current(view[0].generation), None
            held = self._views.current(
                transaction, view, generation=serving.generation, dimension=serving.dimension, keep=keep
            )
            yield Look(transaction, view, held, vector)


def _embedded(question: str, serving: Serving) -> Vector | None:
    if serving.embedder is None or not question.strip():
        return None
    try:
        return serving.embedder.embed_query(question)
    except EmbeddingFailed:
        return None
