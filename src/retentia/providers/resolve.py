"""Find the embedder that a word means: the one place that knows all of them."""

import re
from typing import TypeGuard

from retentia.errors import InvalidInput
from retentia.providers.base import Embedder, EmbedderSpec

CHOICES = (
    "auto",
    "use",
    "e5",
    "none",
    "openai:MODEL@URL",
    "fastembed:MODEL",
    "sentence-transformers:MODEL",
)

# The last @ before an address divides: model names may hold one themselves.
_AT_URL = re.compile(r"(?P<model>.+)@(?P<url>https?://.*)", re.DOTALL)


def resolve(spec: EmbedderSpec, *, api_key: str = "") -> Embedder | None:
    """Return the embedder a word, an object or a function stands for; None for "none": search by words alone.

    "auto" is the default embedder, "use", whatever else is installed: a store must not depend on that. A function
    takes a list of texts and returns a row for each. `api_key` is for servers. Loads no model and opens no
    connection. Raises InvalidInput for an unknown word and MissingExtra for a package that is not installed.
    """
    if spec is None:
        return None
    if isinstance(spec, str):
        return _named(spec.strip(), api_key)
    if _is_embedder(spec):
        return spec
    if not callable(spec) or isinstance(spec, type):
        raise InvalidInput(f"{spec!r} is no embedder; it needs identity, embed and embed_query, or to be a function")
    from retentia.providers.function import CallableEmbedder

    return CallableEmbedder(getattr(spec, "__qualname__", type(spec).__qualname__), spec)


def _named(word: str, api_key: str) -> Embedder | None:
    kind, colon, rest = word.partition(":")
    match kind.lower(), rest if colon else None:
        case "none", None:
            return None
        case "auto" | "use", None:
            from retentia.providers.use import UseEmbedder

            return UseEmbedder()
        case "e5", None:
            from retentia.providers.e5 import E5Embedder

            return E5Embedder()
        case "openai", str(target) if target:
            return _openai(target, api_key)
        case "fastembed", str(model) if model:
            from retentia.providers.fastembed import FastembedEmbedder

            return FastembedEmbedder(model)
        case "sentence-transformers", str(model) if model:
            from retentia.providers.sentence_transformers import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(model)
    raise InvalidInput(f"unknown embedder {kind!r}; choose one of {', '.join(CHOICES)}")


def _openai(target: str, api_key: str) -> Embedder:
    from retentia.providers.openai import OpenAICompatibleEmbedder, OpenAIOptions

    found = _AT_URL.fullmatch(target)
    if found is None:
        # No default address: a store made with a server at home must never send its texts to another one.
        raise InvalidInput(f"say where the server is: 'openai:{target}@URL', such as @https://api.openai.com/v1")
    return OpenAICompatibleEmbedder(found["model"], found["url"], OpenAIOptions(api_key=api_key))


def _is_embedder(candidate: object) -> TypeGuard[Embedder]:
    # Not by isinstance with a runtime protocol: before Python 3.12 that reads `identity`, which may ask a server.
    has_verbs = all(callable(getattr(candidate, verb, None)) for verb in ("embed", "embed_query"))
    return has_verbs and not isinstance(candidate, type)
