"""A chat played message by message: what is promised of a context holds at every turn."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from retentia import Memory, Scope
from retentia.cli.main import cli
from retentia.errors import InvalidInput
from retentia.evals.replay import Chat, Replay, Turn, given_twice, load_chats, replay, unnamed
from retentia.model.message import Message, ToolCall
from retentia.working.context import Context, Shown
from retentia.working.window import Gap

DATA = Path(__file__).parents[3] / "shared" / "data" / "beam" / "100K"


def a_chat(messages: int) -> Chat:
    """Talk, now and then at length, with a tool call at every tenth message."""
    steps: list[Message | ToolCall] = []
    for number in range(1, messages + 1):
        text = f"Invoice {number} over ${number}.50 is paid. " + "It took a while. " * (number % 30)
        steps.append(Message(role="user" if number % 2 else "assistant", content=text))
        if number % 10 == 0:
            steps.append(ToolCall(name="lookup", arguments={"invoice": number}, result={"paid": True}))
    return Chat("invoices", tuple(steps))


def test_a_synthetic_chat_breaks_no_promise_and_takes_a_fraction_of_its_history() -> None:
    told: list[tuple[str, int, int]] = []
    done = replay([a_chat(120)], budget=900, embedder="none", progress=lambda *stage: told.append(stage))
    figures = done.figures()
    assert done.is_sound
    assert (figures["chats"], figures["messages"], figures["contexts"]) == (1, 120, 60)
    assert (figures["over_budget"], figures["unnamed_gaps"], figures["given_twice"]) == (0, 0, 0)
    assert max(turn.tokens for turn in done.made) <= 900
    assert done.made[-1].full_history_tokens > 6 * done.made[-1].tokens
    assert done.summaries >= 5
    assert told[-1] == ("replay", 132, 132)


@pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark data folder ../shared/data is absent")
def test_a_chat_of_beam_breaks_no_promise() -> None:
    (chat,) = load_chats(DATA / "1")
    done = replay([Chat(chat.name, chat.steps[:80])], budget=1500, embedder="none")
    assert done.is_sound
    assert len(done.made) >= 38
    assert done.made[-1].full_history_tokens > 10 * done.made[-1].tokens


def test_a_request_that_does_not_fit_by_itself_is_counted_and_not_taken_for_a_context() -> None:
    long = Message(role="user", content="word " * 2_000)
    done = replay([Chat("a", (long, Message(role="user", content="And now?")))], budget=300, embedder="none")
    assert [turn.refused for turn in done.turns] == [True, False]
    assert done.figures()["requests_too_long"] == 1
    assert done.is_sound


def test_nothing_replayed_has_no_figures_and_no_error() -> None:
    figures = Replay(budget=1, chats=0, messages=0, summaries=0, turns=()).figures()
    assert figures["context_p50_ms"] is None
    assert figures["full_history_ratio"] is None


@pytest.mark.parametrize("fault", [{"over_budget": True}, {"unnamed": 1}, {"twice": 1}])
def test_one_broken_promise_is_enough_to_say_so(fault: dict[str, int]) -> None:
    turns = (Turn(chat="a", message=0), Turn(chat="a", message=2, **fault))  # type: ignore[arg-type]
    assert not Replay(budget=1, chats=1, messages=3, summaries=0, turns=turns).is_sound


def context(shown: list[str], missing: tuple[str, ...]) -> Context:
    return Context(
        turns=(),
        tokens_by_part={},
        total_tokens=1,
        budget=1,
        counted="",
        gap=Gap(missing) if missing else None,
        manifest=tuple(Shown(id=one, kind="message", part="recent") for one in shown),
        dropped=(),
        full_history_tokens=1,
    )


def test_the_checks_see_what_is_wrong(sqlite_url: str) -> None:
    scope = Scope("acme", "anna")
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        a, b, c = memory.add(["one", "two", "three"], scope=scope, session="s").ids
        history = memory.history(scope=scope, session="s", whole=True)
    assert unnamed(context([a], (b,)), history) == {c}
    assert unnamed(context([a, c], (b,)), history) == set()
    assert given_twice(context([a, b, a], (c,)), history) == {a}
    assert given_twice(context([a, b], (b, c)), history) == {b}
    assert given_twice(context([a, b], (c,)), history) == set()


def replayed(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["eval", "replay-session", *map(str, arguments), "--embedder", "none"])


def test_the_command_replays_a_chat_file_and_answers_in_json_or_a_table(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines = [
        {"role": "user" if number % 2 else "assistant", "content": f"message {number}", "session": "s"}
        for number in range(1, 41)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    result = replayed(path, "--budget", 600, "--json")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["contexts"], figures["unnamed_gaps"], figures["budget"]) == (20, 0, 600)
    assert "given_twice" in replayed(path).output


def test_what_holds_no_chat_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("", "utf-8")
    result = replayed(path)
    assert result.exit_code == 2
    assert "BEAM folder" in result.output
    with pytest.raises(InvalidInput):
        load_chats(path)
