"""The `[fastembed]` extra: ONNX models by their name, such as BAAI/bge-small-en-v1.5.

The package downloads a model's weights the first time it is used; naming one here is what configures that.
"""

import importlib
import threading
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Protocol

from retentia.errors import MissingExtra
from retentia.providers.probed import ProbedEmbedder


class TextModel(Protocol):
    """The part of fastembed's TextEmbedding that is used; models know their own prefixes."""

    def passage_embed(self, texts: Iterable[str]) -> Iterable[object]:
        """Yield a vector for each stored text."""

    def query_embed(self, query: Iterable[str]) -> Iterable[object]:
        """Yield a vector for each question."""


class FastembedEmbedder(ProbedEmbedder):
    """Embeds with a model of the fastembed package, loaded at first use; raises MissingExtra without the package.

    `model` hands in an object that is already made, for other cache folders, threads or devices.
    """

    def __init__(self, name: str, model: TextModel | None = None) -> None:
        if model is None and find_spec("fastembed") is None:
            raise MissingExtra("fastembed")
        self._model_name = name
        self._model = model
        self._loading = threading.Lock()
        super().__init__(
            f"fastembed:{name}",
            lambda texts: list(self._loaded().passage_embed(texts)),
            lambda texts: list(self._loaded().query_embed(texts)),
        )

    def _loaded(self) -> TextModel:
        with self._loading:
            if self._model is None:
                made: TextModel = importlib.import_module("fastembed").TextEmbedding(self._model_name)
                self._model = made
            return self._model
