"""`retentia chat` as a process of its own, talking to a scripted server, to a real model, and through a terminal."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer, Line, failing, scripted, streamed
from retentia import Memory, Scope
from retentia.cli.chat.screen import Person

ME = Scope("local", "me")
RETENTIA = [sys.executable, "-m", "retentia"]
IN_A_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
PETRA = "As you mentioned, your neighbour Petra takes the parcel in Leipzig."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with scripted() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


def command(store: str, url: str, *options: str, model: str = "m") -> list[str]:
    named = ["--store", store, "--embedder", "none", "--model", f"openai:{model}@{url}"]
    return [*RETENTIA, "chat", *named, *options]


def talked(
    store: str, server: ChatServer, lines: list[str], *options: str, script: list[Line]
) -> subprocess.CompletedProcess[str]:
    server.script += script
    given = "".join(f"{line}\n" for line in lines)
    return subprocess.run(
        command(store, server.url, *options), input=given, capture_output=True, text=True, check=False
    )


def told(store: str, server: ChatServer, lines: list[str], *options: str, script: list[Line]) -> list[dict[str, Any]]:
    done = talked(store, server, lines, "--json", *options, script=script)
    return [json.loads(line) for line in done.stdout.splitlines()]


@contextmanager
def opened(store: str) -> Iterator[Memory]:
    with Memory.open(store, embedder=None, worker=False) as memory:
        yield memory


def said(store: str) -> list[tuple[str, str]]:
    with opened(store) as memory:
        return [(message.role, message.text) for message in memory.messages(scope=ME, session="chat")]


def sent(server: ChatServer) -> str:
    """Return all of the last prompt as one text."""
    return "\n".join(message["content"] for message in server.requests[-1]["messages"])


def test_lines_that_are_piped_in_get_plain_replies_and_all_of_it_is_kept(store: str, server: ChatServer) -> None:
    script = [streamed("Lis", "bon \x1b[31mis", " fine."), streamed("You asked about Lisbon.")]
    done = talked(store, server, ["How is Lisbon?", "", "What did I ask?"], "--role", "Be brief.", script=script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Lisbon [31mis fine.\nYou asked about Lisbon.\n"
    assert [role for role, _ in said(store)] == ["user", "assistant", "user", "assistant"]
    first, second = server.requests
    assert first["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is Lisbon?"},
    ]
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
    with opened(store) as memory:
        reply = memory.messages(scope=ME, session="chat")[-1]
        why = memory.why(reply.id, scope=ME)
        assert [one.seen.part for one in why.shown] == ["pinned", "pinned", "request"]
        assert reply.metadata["tokens_in"] == 9
        (row,) = memory.spending.usage("local")
        assert (row.purpose, row.calls, row.tokens_in, row.tokens_out) == ("chat", 2, 18, 8)


def test_nothing_is_written_but_the_store(store: str, server: ChatServer, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    server.script = [streamed("Fine.")]
    asked = command(store, server.url)
    environment = {**os.environ, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(asked, input="How are you?\n", env=environment, cwd=home, text=True, capture_output=True, check=True)
    assert list(home.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"home", "memory.db"}


def test_an_error_of_the_model_is_one_sentence_and_the_message_waits_for_a_retry(
    store: str, server: ChatServer
) -> None:
    refusal = failing(401, {"message": "no such key"})
    done = talked(store, server, ["Where is Lisbon?"], script=[refusal])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "check the key" in done.stderr
    assert said(store) == [("user", "Where is Lisbon?")]
    again = talked(store, server, ["/retry", "/retry"], script=[streamed("In Portugal.")])
    assert "your last message has no reply yet; /retry asks for it" in again.stderr
    assert again.stdout == "In Portugal.\n"
    assert "every message has its reply" in again.stderr
    assert said(store) == [("user", "Where is Lisbon?"), ("assistant", "In Portugal.")]


def test_late_unreachable_broken_and_empty_replies_and_a_ceiling_are_told_alike(store: str, server: ChatServer) -> None:
    with opened(store) as memory:
        memory.remember("nothing", scope=ME)
    lines = ["One?", "Two?", "Three?"]
    script = [streamed("   "), streamed("half", finish=None), lambda request: None, lambda request: None]
    found = told(store, server, lines, "--timeout", "1", script=[*script, lambda request: None])
    assert [one.get("error") for one in found] == ["model_reply_invalid", "model_timed_out", "model_unavailable"]
    assert said(store) == [("user", line) for line in lines]
    subprocess.run([*RETENTIA, "model", "ceiling", "--store", store, "--embedder", "none", "--calls", "0"], check=True)
    asked = len(server.requests)
    (refused,) = told(store, server, ["/retry"], script=[])
    assert refused["error"] == "cost_ceiling_reached"
    assert "retentia model ceiling" in refused["message"]
    assert len(server.requests) == asked


def test_each_reply_is_an_object_with_its_account(store: str, server: ChatServer) -> None:
    (reply,) = told(store, server, ["Hello"], "--budget", "300", script=[streamed("Hi.", finish="length")])
    assert (reply["reply"], reply["finish"], reply["tokens_in"], reply["tokens_out"]) == ("Hi.", "length", 9, 4)
    assert sum(reply["tokens_by_part"].values()) == reply["prompt_tokens_estimated"] <= reply["budget"] == 300
    assert reply["claims_nowhere"] == []
    with opened(store) as memory:
        assert memory.messages(scope=ME, session="chat")[-1].id == reply["id"]


def test_a_claim_that_nothing_bears_out_is_noted(store: str, server: ChatServer) -> None:
    done = talked(store, server, ["Where is my parcel?"], script=[streamed(PETRA)])
    assert done.stdout == f"{PETRA}\n"
    assert "nowhere: your neighbour Petra takes the parcel in Leipzig" in done.stderr


def test_a_secret_is_masked_before_the_model_sees_it(store: str, server: ChatServer) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    done = talked(store, server, [f"My key is {key}"], script=[streamed("I see.")])
    assert key not in json.dumps(server.requests)
    assert done.stderr != ""
    assert key not in done.stdout + done.stderr


def test_commands_tell_what_was_sent_what_it_cost_and_why(store: str, server: ChatServer) -> None:
    lines = [
        "/remember I live in Lisbon",
        "Where do I live?",
        "/context",
        "/cost",
        "/why",
        "/why 7",
        "/recall Lisbon",
        "/summary",
        "/bogus",
        "//etc is a folder",
    ]
    script = [streamed("In Lisbon.", usage=(1000, 100)), streamed("It is.")]
    done = talked(store, server, lines, "--price", "2,8", script=script)
    out = done.stdout
    assert "profile and procedures " in out
    assert "█" in out
    assert "of 4,000 tokens (estimated)" in out
    assert "last reply\t1\t1,000\t100\t" in out
    assert "0.002800" in out
    assert "reply 1 of 1: " in out
    assert "\tfact\t\tI live in Lisbon" in out
    assert "\tmessage\t\tWhere do I live?" in out
    assert "fact\t\tI live in Lisbon" in out
    assert "no summary yet" in out
    assert "1 to 1; not '7'" in done.stderr
    assert "there is no command /bogus" in done.stderr
    assert said(store)[-2] == ("user", "/etc is a folder")
    assert "| I live in Lisbon" in sent(server)


def test_what_is_pinned_is_remembered_and_what_is_forgotten_is_gone(store: str, server: ChatServer) -> None:
    lines = ["My door code is 4711", "/pin", "/forget about door code", "n", "/forget about door code", "y", "/context"]
    _, *found = told(store, server, lines, script=[streamed("Noted.")])
    assert found[0]["command"] == "pin"
    assert found[0]["answer"]["pinned"] is True
    assert [one.get("command") for one in found[1:5]] == ["forget preview", "forget", "forget preview", "forget"]
    assert found[2]["answer"] == {"erased": False}
    assert len(found[4]["answer"]["records"]) == 1
    assert found[5]["error"] == "not_found"
    assert said(store) == [("assistant", "Noted.")]


def test_a_second_run_goes_on_and_an_opening_comes_only_when_it_is_asked_for(store: str, server: ChatServer) -> None:
    before = ["I moved to Porto last week.", "/remember preference: short answers", "/end", "never read"]
    ended = talked(store, server, before, "--session", "monday", script=[streamed("Good luck!")])
    assert "Porto" in ended.stdout
    assert len(server.requests) == 1
    plain = talked(store, server, ["Hi"], script=[streamed("Hello.")])
    assert plain.stdout == "Hello.\n"
    shown = talked(store, server, ["How are you?"], "--preset", "personal_assistant", script=[streamed("Fine.")])
    assert "known: short answers" in shown.stdout
    assert "session monday, " in shown.stdout
    assert "Porto" in sent(server)
    assert "Hello." in sent(server)


def test_a_buffer_alone_that_is_too_long_names_its_gap(store: str, server: ChatServer) -> None:
    with opened(store) as memory:
        memory.add([f"Day {day} went by with nothing to report at all." for day in range(80)], scope=ME, session="chat")
    short = ["--strategy", "buffer", "--budget", "400"]
    (reply,) = told(store, server, ["And today?"], *short, script=[streamed("Nothing.")])
    assert reply["gap"] > 40
    assert f"({reply['gap']} earlier messages are not shown here" in sent(server)
    (whole,) = told(store, server, ["And now?"], "--strategy", "buffer", script=[streamed("Nothing.")])
    assert whole["gap"] == 0
    assert "Day 0 " in sent(server)
    assert "Day 41 " in sent(server)
    wrong = talked(store, server, ["x"], "--strategy", "buffer,telepathy", script=[])
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
    assert "unknown layer 'telepathy'" in wrong.stderr


def test_a_process_that_is_killed_loses_nothing_and_the_next_one_goes_on(store: str, server: ChatServer) -> None:
    server.script = [streamed("Just a", finish=None)]
    with subprocess.Popen(command(store, server.url), stdin=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        process.stdin.write("Will you answer?\n")
        process.stdin.flush()
        while not server.requests:
            threading.Event().wait(0.01)
        process.send_signal(signal.SIGKILL)
    assert said(store) == [("user", "Will you answer?")]
    assert talked(store, server, ["/retry"], script=[streamed("I will.")]).stdout == "I will.\n"


def test_ctrl_c_in_a_terminal_stops_a_reply_and_what_came_is_kept_as_cut(store: str, server: ChatServer) -> None:
    server.script = [streamed("Once upon", " a time", finish=None), streamed("The end.")]
    terminal = [sys.executable, "-c", IN_A_TERMINAL, *command(store, server.url)]
    environment = {**os.environ, "TERM": "dumb", "NO_COLOR": "1"}
    with subprocess.Popen(terminal, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()

        def type_in(keys: str) -> None:
            process.stdin.write(keys.encode())  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]

        def until(text: str) -> str:
            seen = b""
            while text.encode() not in seen:
                piece = os.read(process.stdout.fileno(), 4096)  # type: ignore[union-attr]
                assert piece, seen.decode(errors="replace")
                seen += piece
            return seen.decode(errors="replace")

        until("you> ")
        type_in("Tell me a story\n")
        assert "model> Once upon" in until("a time")
        type_in("\x03")
        assert "stopped; what came is kept" in until("you> ")
        type_in("And then?\n")
        assert "The end." in until("you> ")
        type_in("\x04")
        process.stdin.close()
        assert process.wait() == 0
        watchdog.cancel()
    assert said(store) == [
        ("user", "Tell me a story"),
        ("assistant", "Once upon a time […]"),
        ("user", "And then?"),
        ("assistant", "The end."),
    ]
    with opened(store) as memory:
        cut = memory.messages(scope=ME, session="chat")[1]
        assert cut.metadata["finish"] == "interrupted"
        assert 0 < cut.metadata["tokens_out"] < 20  # type: ignore[operator]
        (row,) = memory.spending.usage("local")
        assert row.tokens_out < 30


def test_ctrl_c_at_the_prompt_only_says_how_to_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    assert Person().read() == ""
    assert "Ctrl-D or /quit ends" in capsys.readouterr().out
    assert Person().confirm("forget?") is False


def test_a_real_model_holds_a_round(store: str, real_model_url: str) -> None:
    asked = [*command(store, real_model_url, "--json", "--max-tokens", "8", model="smollm2")]
    done = subprocess.run(asked, input="Where is Lisbon?\n/why\n", capture_output=True, text=True, check=False)
    reply, why = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 0
    assert reply["reply"]
    assert reply["tokens_out"] == 8
    assert why["answer"]["reply"]["id"] == reply["id"]
