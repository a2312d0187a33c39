"""Screens: a person at a terminal, a pipe that wants plain text, a program that wants a JSON object for each reply."""

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Protocol

import click

from retentia.cli.chat.conversation import INTERRUPTED, Reply
from retentia.cli.chat.interrupt import listen
from retentia.cli.output import console, plain
from retentia.errors import RetentiaError

_PROMPT = "you> "
_MODEL = "model> "
_LONGEST_LINE = 4_000_000
# What moves the cursor, changes colours or turns the direction of text, in the hands of whoever wrote the text.
_STEERING = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HARMLESS = {code: None for code in _STEERING if code not in (ord("\n"), ord("\t"))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command answers: `value` for programs; for people `lines`, and a table where there is one."""

    command: str
    value: object
    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()


class Screen(Protocol):
    """Where lines come from and replies go to."""

    def read(self) -> str | None:
        """Return the next line; None at the end, "" where there is nothing to do."""

    def confirm(self, question: str) -> bool:
        """Ask yes or no; no where nobody answers."""

    def piece(self, text: str) -> None:
        """Show a piece of a reply that is still coming."""

    def replied(self, reply: Reply) -> None:
        """Show a reply that is there, or its end where its pieces were shown."""

    def answer(self, answer: Answer) -> None:
        """Show what a command answers."""

    def note(self, text: str) -> None:
        """Show a remark."""

    def failed(self, error: RetentiaError) -> None:
        """Show in one sentence what went wrong."""


class Person:
    """A terminal: replies appear as they come, remarks are dim; lines can be edited where readline is there."""

    def __init__(self) -> None:
        with suppress(ImportError):
            import readline  # noqa: F401 - importing it lets input() edit lines; it writes no file
        listen()
        self._out = console()
        self._is_replying = False

    def read(self) -> str | None:
        try:
            return input(_PROMPT)
        except EOFError:
            click.echo()
            return None
        except KeyboardInterrupt:
            click.echo()
            self.note("Ctrl-D or /quit ends; what was said stays")
            return ""

    def confirm(self, question: str) -> bool:
        try:
            return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return False

    def piece(self, text: str) -> None:
        if not self._is_replying:
            self._is_replying = True
            text = _MODEL + text.lstrip()
        click.echo(harmless(text, sys.stdout), nl=False)
        sys.stdout.flush()

    def replied(self, reply: Reply) -> None:
        self._end_line()
        for remark in remarks(reply):
            self.note(remark)

    def answer(self, answer: Answer) -> None:
        from rich.table import Table
        from rich.text import Text

        for line in answer.lines:
            click.echo(harmless(line, sys.stdout))
        if not answer.columns:
            return
        table = Table()
        for name in answer.columns:
            table.add_column(name, overflow="fold")
        for row in answer.rows:
            table.add_row(*(Text(harmless(str(cell), sys.stdout)) for cell in row))
        self._out.print(table)

    def note(self, text: str) -> None:
        self._end_line()
        self._out.print(harmless(text, sys.stdout), style="dim", markup=False)

    def failed(self, error: RetentiaError) -> None:
        self._end_line()
        self._out.print(harmless(str(error), sys.stdout), style="red", markup=False)

    def _end_line(self) -> None:
        if self._is_replying:
            click.echo()
            self._is_replying = False


class Pipe:
    """Plain text: each reply whole, on the output; remarks and errors on the error stream."""

    def __init__(self, lines: IO[str]) -> None:
        self._lines = lines

    def read(self) -> str | None:
        line = self._lines.readline(_LONGEST_LINE)
        return line.rstrip("\r\n") if line else None

    def confirm(self, question: str) -> bool:
        click.echo(f"{question} [y/N]", err=True)
        return (self.read() or "").strip().lower() in ("y", "yes")

    def piece(self, text: str) -> None:
        pass

    def replied(self, reply: Reply) -> None:
        if reply.text:
            click.echo(harmless(reply.text, sys.stdout))
        for remark in remarks(reply):
            self.note(remark)

    def answer(self, answer: Answer) -> None:
        for line in answer.lines:
            click.echo(harmless(line, sys.stdout))
        for row in (answer.columns, *answer.rows) if answer.columns else ():
            click.echo(harmless("\t".join(" ".join(str(cell).split()) for cell in row), sys.stdout))

    def note(self, text: str) -> None:
        click.echo(harmless(text, sys.stderr), err=True)

    def failed(self, error: RetentiaError) -> None:
        self.note(f"retentia: {error}")


class Objects(Pipe):
    """JSON Lines: one object for each reply, answer, and error; remarks are part of the reply."""

    def replied(self, reply: Reply) -> None:
        _print_object(
            {
                "reply": reply.text,
                "id": reply.id or None,
                "finish": reply.finish,
                "tokens_by_part": reply.context.tokens_by_part,
                "prompt_tokens_estimated": reply.context.total_tokens,
                "budget": reply.context.budget,
                "gap": 0 if reply.context.gap is None else reply.context.gap.count,
                "dropped": len(reply.context.dropped),
                "tokens_in": reply.spent.tokens_in,
                "tokens_out": reply.spent.tokens_out,
                "full_history_tokens": reply.context.full_history_tokens,
                "claims_nowhere": reply.nowhere,
            }
        )

    def answer(self, answer: Answer) -> None:
        _print_object({"command": answer.command, "answer": answer.value})

    def failed(self, error: RetentiaError) -> None:
        _print_object({"error": error.code, "message": str(error)})


def remarks(reply: Reply) -> list[str]:
    """Return what is to be said about a reply besides its text."""
    found = [f"nowhere: {one.claim.content or one.claim.cue} ({one.reason})" for one in reply.nowhere]
    if reply.finish == INTERRUPTED:
        found.append("stopped; what came is kept" if reply.text else "stopped before anything came; /retry asks again")
    if reply.finish == "length":
        found.append("cut off at its longest; raise --max-tokens")
    return found


def harmless(text: str, stream: IO[str]) -> str:
    """Return text that does not steer a terminal and that the stream can write."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.translate(_HARMLESS).encode(encoding, "replace").decode(encoding)


def _print_object(value: object) -> None:
    click.echo(json.dumps(plain(value), ensure_ascii=False))
