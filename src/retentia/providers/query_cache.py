"""Remember the vectors of recent questions: agents ask the same thing again within a minute."""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence

from retentia.providers.base import Embedder, EmbedderIdentity
from retentia.providers.vectors import Rows


class CachedQueries:
    """An embedder that keeps the vectors of the `size` questions asked last; passages go straight through.

    Questions are kept as hashes under a key made for this object, never as text. The vectors it returns are
    read-only. Safe in several threads; two that ask the same new question at once both have it embedded.
    """

    def __init__(self, inside: Embedder, size: int = 512) -> None:
        self._inside = inside
        self._size = size
        self._key = os.urandom(32)
        self._kept: OrderedDict[bytes, Rows] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the identity of the embedder inside."""
        return self._inside.identity

    def embed(self, texts: Sequence[str]) -> Rows:
        """Return one unit row for each text, shape (n, dimension), float32."""
        return self._inside.embed(texts)

    def embed_query(self, text: str) -> Rows:
        """Return the unit vector of a question, shape (dimension,), float32, read-only."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        vector = self._inside.embed_query(text)
        vector.setflags(write=False)
        with self._lock:
            self._kept[key] = vector
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return vector

    def warm(self) -> None:
        """Make the embedder inside ready, so that the first question does not wait."""
        self._inside.embed_query("warm up")

    def clear(self) -> None:
        """Forget every question."""
        with self._lock:
            self._kept.clear()
