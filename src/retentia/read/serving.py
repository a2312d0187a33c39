"""Which embedder serves: the one the store was indexed with, resolved once and followed when it changes."""

import threading
from dataclasses import dataclass

from retentia.errors import EmbedderMismatch, EmbeddingFailed, InvalidInput
from retentia.providers.base import Embedder, EmbedderIdentity, EmbedderSpec
from retentia.providers.query_cache import CachedQueries
from retentia.providers.resolve import resolve
from retentia.store import generations
from retentia.store.database import Database
from retentia.store.generations import Generation

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Serving:
    """The serving generation (0: the store has none) and its embedder (None: search by words only)."""

    generation: int
    embedder: Embedder | None
    identity: EmbedderIdentity

    @property
    def dimension(self) -> int:
        """How many numbers a vector has; 0 without vectors."""
        return self.identity.dimension


NOTHING = Serving(0, None, EmbedderIdentity("none", "", 0))


class ServingEmbedder:
    """Keeps the embedder of a store at hand.

    `requested` is "auto" (follow the store; a new store takes the default), a name, an object, or None (search by
    words only, whatever the store has). Asking for another one than the store was indexed with raises
    EmbedderMismatch with the remedy.
    """

    def __init__(self, database: Database, requested: EmbedderSpec) -> None:
        self._database = database
        self._requested = requested
        self._lock = threading.Lock()
        self._serving = self._open()

    def current(self, generation: int | None = None) -> Serving:
        """Return what serves; look again when a transaction has seen another generation than the one known."""
        known = self._serving
        if generation is None or generation == known.generation:
            return known
        with self._lock:
            if generation != self._serving.generation:
                self._serving = self._open()
            return self._serving

    def embedders(self) -> dict[int, Embedder]:
        """Return which embedder fills which generation, as the store says now: another process may have changed it.

        Raises EmbedderMismatch as opening does.
        """
        with self._database.read("") as transaction:
            found = generations.serving(transaction)
        serving = self.current(None if found is None else found.id)
        return {serving.generation: serving.embedder} if serving.embedder is not None else {}

    def _open(self) -> Serving:
        with self._database.read("") as transaction:
            found = generations.serving(transaction)
        if found is None:
            return self._begin()
        return self._follow(found)

    def _begin(self) -> Serving:
        embedder = resolve(self._requested)
        if embedder is None:
            return NOTHING
        identity = embedder.identity
        with self._database.write("") as transaction:
            found = generations.serving(transaction) or generations.begin(transaction, identity.to_json(), "serving")
        if found.identity != identity.to_json():
            return self._follow(found)
        return Serving(found.id, CachedQueries(embedder), identity)

    def _follow(self, found: Generation) -> Serving:
        identity = EmbedderIdentity.from_json(found.identity)
        if self._requested is None or self._requested == "none":
            return Serving(found.id, None, identity)
        embedder = self._named(identity) if self._requested == AUTO else resolve(self._requested)
        if embedder is None or not _fits(embedder, identity):
            given = "none" if embedder is None else f"{embedder.identity.name} ({embedder.identity.version})"
            raise EmbedderMismatch(
                f"the store was indexed with {identity.name} ({identity.version}), this is {given}; "
                f"open it with that embedder, or change the store with `retentia reembed --to NAME`"
            )
        return Serving(found.id, CachedQueries(embedder), identity)

    def _named(self, identity: EmbedderIdentity) -> Embedder | None:
        try:
            return resolve(identity.name)
        except InvalidInput as error:
            raise EmbedderMismatch(
                f"the store was indexed with {identity.name!r}, which cannot be found by its name; pass the embedder "
                "itself, as when the store was made, or None to search by words only"
            ) from error


def _fits(embedder: Embedder, identity: EmbedderIdentity) -> bool:
    """Compare identities; an embedder that does not answer now is believed, and asked again when it is needed."""
    try:
        return embedder.identity.matches(identity)
    except EmbeddingFailed:
        return True
