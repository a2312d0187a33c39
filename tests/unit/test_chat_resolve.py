import subprocess
import sys

import pytest

from retentia.errors import InvalidInput, MissingExtra
from retentia.providers.chat import ChatOptions, resolve
from retentia.providers.chat.anthropic import AnthropicChat
from retentia.providers.chat.openai import OpenAIChat
from retentia.testing import FakeModel


@pytest.mark.parametrize(
    ("word", "identity"),
    [
        ("openai:qwen3@http://127.0.0.1:8080/v1", "openai:qwen3@http://127.0.0.1:8080/v1"),
        ("openai:@cf/meta/llama@https://example.org/v1/", "openai:@cf/meta/llama@https://example.org/v1"),
        ("openai:m@http://h:1/v1/chat/completions", "openai:m@http://h:1/v1"),
        (" Anthropic:claude-x ", "anthropic:claude-x"),
        ("anthropic:m@http://h:1/v1/messages", "anthropic:m@http://h:1"),
    ],
)
def test_words_name_models_and_ask_nobody(word: str, identity: str) -> None:
    model = resolve(word, api_key="sk-1")
    assert isinstance(model, OpenAIChat | AnthropicChat)
    assert model.identity == identity
    assert model._options.api_key == "sk-1"


def test_without_a_model_there_is_none_and_an_object_is_itself() -> None:
    assert resolve(None) is None
    assert resolve("none") is None
    model = FakeModel()
    assert resolve(model) is model
    assert resolve("anthropic:m", options=ChatOptions(attempts=1)) is not None


@pytest.mark.parametrize("word", ["", "gpt", "openai", "openai:", "anthropic:", "none:", "ollama:m@http://h"])
def test_an_unknown_word_is_answered_with_what_exists(word: str) -> None:
    with pytest.raises(InvalidInput, match="openai:MODEL@URL, anthropic:MODEL"):
        resolve(word)


def test_a_server_must_be_named() -> None:
    with pytest.raises(InvalidInput, match="say where the server is"):
        resolve("openai:gpt")


@pytest.mark.parametrize("thing", [FakeModel, 3, object(), lambda: None])
def test_what_is_no_model_is_refused(thing: object) -> None:
    with pytest.raises(InvalidInput, match="needs identity, complete and stream"):
        resolve(thing)  # type: ignore[arg-type]


@pytest.mark.parametrize(("word", "extra"), [("openai:m@http://h", "openai"), ("anthropic:m", "anthropic")])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    word: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"retentia.providers.chat.{extra}.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"pip install 'retentia\[{extra}\]'"):
        resolve(word)


def test_naming_a_model_loads_no_vendors_package() -> None:
    program = (
        "import sys; from retentia.providers.chat import resolve; resolve('openai:m@http://h'); resolve('anthropic:m');"
        "print({'openai', 'anthropic', 'httpx2', 'pydantic'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
