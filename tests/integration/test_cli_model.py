import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chat_server import completion, failing, scripted
from retentia import Memory
from retentia.cli.main import cli
from retentia.errors import CostCeilingReached, InvalidInput
from retentia.model.spending import Ceiling
from retentia.providers.chat import ChatMessage
from retentia.testing import FakeModel

ASK = [ChatMessage("user", "where?")]


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "memory.db")
    Memory.open(path, embedder=None, worker=False).close()
    return path


def run(*words: str, env: dict[str, str] | None = None) -> Result:
    done = CliRunner().invoke(cli, [*words], env=env, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done


def test_a_check_says_what_an_endpoint_can_do(real_model_url: str) -> None:
    done = run("model", "check", f"openai:smollm2@{real_model_url}")
    assert done.return_value == 0
    lines = done.output.splitlines()
    assert lines[0].startswith(f"openai:smollm2@{real_model_url} answers, in ")
    assert lines[1].startswith("streaming: yes, the first piece after ")
    assert lines[2] == "schema: yes: the endpoint takes a schema and keeps to it"
    assert lines[3] == "tokens: reported by the server"


def test_a_check_says_what_an_endpoint_cannot_do() -> None:
    with scripted() as server:
        server.script = [
            completion("ready", usage=None),
            failing(500),
            failing(400, {"message": "response_format"}),
            failing(400, {"message": "response_format"}),
            completion("I like Lisbon"),
        ]
        done = run("model", "check", f"openai:m@{server.url}", "--json", env={"RETENTIA_MODEL_KEY": "sk-1"})
        assert server.headers[0]["authorization"] == "Bearer sk-1"
    found = json.loads(done.output)
    assert found["answers"] is True
    assert (found["streams"], found["keeps_schema"], found["reports_tokens"]) == (False, False, False)
    assert "HTTP 500" in found["stream_error"]
    assert "holds no JSON" in found["schema_error"]


def test_a_schema_that_is_only_told_in_words_is_named() -> None:
    with scripted() as server:
        refusal = failing(400, {"message": "response_format"})
        server.script = [completion("ready"), failing(404), refusal, completion('{"city": "Lisbon", "people": 3}')]
        output = run("model", "check", f"openai:m@{server.url}").output
    assert "schema: yes: the endpoint promises JSON, not a schema; the schema is told in words" in output
    assert "streaming: no: " in output


def test_an_endpoint_that_does_not_answer_is_a_failure_that_says_why() -> None:
    with scripted() as server:
        server.script = [failing(401, {"message": "no such key"})]
        done = run("model", "check", f"openai:m@{server.url}")
    assert done.return_value == 1
    assert "does not answer" in done.output
    assert "check the key" in done.output
    with pytest.raises(InvalidInput, match="no model to check"):
        run("model", "check", "none")


def test_usage_is_a_table_with_prices_of_ones_own(store: str, tmp_path: Path) -> None:
    with Memory.open(store, embedder=None, worker=False) as memory:
        memory.spending.meter(FakeModel("Lisbon"), tenant="local", purpose="extract").complete(ASK)
        memory.spending.meter(FakeModel("Lisbon"), tenant="other", purpose="extract").complete(ASK)
    (row,) = json.loads(run("model", "usage", "--store", store, "--json").output)
    assert (row["model"], row["purpose"], row["calls"], row["tokens_out"]) == ("fake:model", "extract", 1, 2)
    assert row["cost"] is None
    assert "no price" in run("model", "usage", "--store", store).output
    (tmp_path / "prices.toml").write_text("[model]\ninput_per_million = 1\noutput_per_million = 2\n")
    priced = run("model", "usage", "--store", store, "--prices", str(tmp_path / "prices.toml"), "--json")
    assert json.loads(priced.output)[0]["cost"] == (row["tokens_in"] + 4) / 1e6


def test_a_ceiling_is_set_shown_and_lifted(store: str) -> None:
    assert "calls in a day: no limit" in run("model", "ceiling", "--store", store).output
    output = run("model", "ceiling", "--store", store, "--calls", "0", "--tokens", "5000").output
    assert "calls in a day: 0" in output
    assert "tokens in a day: 5,000" in output
    with (
        Memory.open(store, embedder=None, worker=False) as memory,
        pytest.raises(CostCeilingReached, match=r"model ceiling"),
    ):
        memory.spending.meter(FakeModel(), tenant="local", purpose="extract").complete(ASK)
    assert json.loads(run("model", "ceiling", "--store", store, "--none", "--json").output) == {
        "calls": None,
        "tokens": None,
        "cost": None,
    }
    with Memory.open(store, embedder=None, worker=False) as memory:
        assert memory.spending.ceiling("local") == Ceiling()
