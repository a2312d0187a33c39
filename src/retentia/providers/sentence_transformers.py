"""Models of the sentence-transformers package by their name, such as intfloat/multilingual-e5-base.

The package downloads a model's weights the first time it is used; naming one here is what configures that.
"""

import importlib
import threading
from importlib.util import find_spec
from typing import Protocol

from retentia.errors import MissingExtra
from retentia.providers.probed import ProbedEmbedder


class SentenceModel(Protocol):
    """The part of SentenceTransformer (version 5 and later) that is used; models know their own prompts."""

    def encode_document(self, inputs: list[str]) -> object:
        """Return a row for each stored text."""

    def encode_query(self, inputs: list[str]) -> object:
        """Return a row for each question."""


class SentenceTransformersEmbedder(ProbedEmbedder):
    """Embeds with a model of the sentence-transformers package, loaded at first use; MissingExtra without it.

    `model` hands in an object that is already made, for another device or precision.
    """

    def __init__(self, name: str, model: SentenceModel | None = None) -> None:
        if model is None and find_spec("sentence_transformers") is None:
            raise MissingExtra("sentence-transformers")
        self._model_name = name
        self._model = model
        self._loading = threading.Lock()
        super().__init__(
            f"sentence-transformers:{name}",
            lambda texts: self._loaded().encode_document(texts),
            lambda texts: self._loaded().encode_query(texts),
        )

    def _loaded(self) -> SentenceModel:
        with self._loading:
            if self._model is None:
                made: SentenceModel = importlib.import_module("sentence_transformers").SentenceTransformer(
                    self._model_name
                )
                self._model = made
            return self._model
