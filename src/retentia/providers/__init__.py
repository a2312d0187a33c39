"""Providers: the models that turn text into vectors, each behind one small protocol."""

from retentia.providers.base import Embedder, EmbedderIdentity, EmbedderSpec
from retentia.providers.resolve import resolve

__all__ = ["Embedder", "EmbedderIdentity", "EmbedderSpec", "resolve"]
