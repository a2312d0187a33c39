"""The command `retentia chat` and its loop."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentia.cli.options import Target, targeted
from retentia.errors import InvalidInput, RetentiaError

if TYPE_CHECKING:
    from retentia.cli.chat.commands import Chat
    from retentia.cli.chat.conversation import Conversation
    from retentia.cli.chat.screen import Screen
    from retentia.working.opening import Opening

_LAYERS = ("buffer", "summary", "facts", "semantic")
_PRESETS = ("personal_assistant",)
_NOT_ANSWERED = 1
_LONGEST_ROLE = 1_000_000


@click.command()
@click.option(
    "--model", required=True, envvar="RETENTIA_MODEL", help="Who answers: openai:MODEL@URL, anthropic:MODEL …"
)
@click.option("--key", default="", envvar="RETENTIA_MODEL_KEY", help="The key; safer in RETENTIA_MODEL_KEY.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, show_default=True)
@click.option("--session", default="chat", show_default=True, help="A session that is there goes on.")
@click.option(
    "--strategy",
    default="summary,facts,semantic",
    show_default=True,
    help=f"What a prompt is made of besides the last messages, with commas between: {', '.join(_LAYERS)}.",
)
@click.option("--budget", type=click.IntRange(min=1), default=4000, show_default=True, help="Tokens of a prompt.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=1000, show_default=True, help="Tokens of a reply.")
@click.option("--role", default="", help="Role and rules for the model; @FILE reads them.")
@click.option("--price", default="", metavar="IN,OUT[,CACHED]", help="What a million tokens cost, or a price file.")
@click.option("--opening", is_flag=True, help="Begin with the latest sessions, open items and profile.")
@click.option("--preset", type=click.Choice(_PRESETS), help="personal_assistant: --opening, with at most 3 sessions.")
@click.option("--summary-model", default="none", show_default=True, help="A model for summaries; none: rules.")
@targeted
def chat(
    target: Target,
    model: str,
    key: str,
    timeout: float,
    session: str,
    strategy: str,
    budget: int,
    max_tokens: int,
    role: str,
    price: str,
    opening: bool,
    preset: str | None,
    summary_model: str,
) -> int:
    """Talk to a model in the terminal, with all of working memory behind it; /help shows the commands.

    Each line is kept before the model is asked, so nothing is lost. Ctrl-C stops a reply, Ctrl-D ends. Where the input
    is no terminal, its lines are read, and the exit code is 1 when one of them failed. Nothing is written anywhere but
    into the store.
    """
    from retentia import Session
    from retentia.cli.chat.account import read_price
    from retentia.cli.chat.commands import Chat
    from retentia.cli.chat.conversation import PURPOSE, Conversation, Manner
    from retentia.providers.chat import ChatOptions, resolve
    from retentia.providers.chat.models import Models
    from retentia.working.opening import PERSONAL_ASSISTANT
    from retentia.working.strategy import Strategy

    options = ChatOptions(api_key=key, timeout_seconds=timeout)
    asked = resolve(model, options=options)
    if asked is None:
        raise InvalidInput("'none' is no model to talk to; name one, such as openai:MODEL@URL")
    prices = read_price(price, asked.identity)
    manner = Manner(
        strategy=Strategy.of(filter(str.strip, strategy.split(","))),
        budget=budget,
        role=_role(role),
        opening=PERSONAL_ASSISTANT if opening or preset else None,
        max_tokens=max_tokens,
    )
    models = Models(summary=resolve(summary_model, options=options), prices=prices)
    screen = _screen(as_json=target.as_json)
    with target.open(create=True, worker=True, models=models) as memory:
        meter = memory.spending.meter(asked, tenant=target.tenant, purpose=PURPOSE)
        talk = Conversation(memory, Session(memory, session, scope=target.scope), meter, manner)
        return _Loop(Chat(memory=memory, talk=talk, screen=screen, model=asked.identity, prices=prices)).run()


@dataclass
class _Loop:
    """Reads line after line until the end; `failed` counts what was refused or got no reply."""

    chat: "Chat"
    failed: int = 0

    def run(self) -> int:
        """Talk; return the exit code, which is 1 only where nobody was there to see what failed."""
        from retentia.cli.chat.screen import Person

        self._greet(self.chat.talk)
        while (line := self.chat.screen.read()) is not None:
            if line.strip() and not self._does(line.strip()):
                break
        return _NOT_ANSWERED if self.failed and not isinstance(self.chat.screen, Person) else 0

    def _does(self, line: str) -> bool:
        """Do what a line says, and show what went wrong; False where it ends the chat."""
        try:
            return self._run(line)
        except RetentiaError as error:
            self.failed += 1
            self.chat.screen.failed(error)
        except KeyboardInterrupt:
            self.chat.screen.note("stopped; what was said stays")
        return True

    def _run(self, line: str) -> bool:
        from retentia.cli.chat.commands import COMMANDS

        word, _, rest = line[1:].partition(" ")
        match word.lower() if line.startswith("/") and not line.startswith("//") else None:
            case None:
                for note in self.chat.talk.say(line[1:] if line.startswith("//") else line):
                    self.chat.screen.note(note)
                self._answer()
            case "retry":
                self._answer()
            case "quit":
                return False
            case name if name in COMMANDS:
                self.chat.screen.answer(COMMANDS[name](self.chat, rest.strip()))
                return name != "end"
            case name:
                raise InvalidInput(f"there is no command /{name}; /help shows them, and // begins a message with /")
        return True

    def _answer(self) -> None:
        self.chat.screen.replied(self.chat.talk.answer(self.chat.screen.piece))

    def _greet(self, talk: "Conversation") -> None:
        """Show what the conversation begins with, where that is wanted, and whether a message waits for its reply."""
        if (found := talk.opening()) is not None:
            _show_opening(self.chat.screen, found)
        if talk.unanswered() is not None:
            self.chat.screen.note("your last message has no reply yet; /retry asks for it")


def _show_opening(screen: "Screen", found: "Opening") -> None:
    from retentia.cli.chat.screen import Answer
    from retentia.model.time import Moment
    from retentia.working.extractive import without_head

    lines = [f"open: {one.text}" for one in found.open_items]
    lines += [f"known: {one.text}" for one in found.profile]
    for one in found.sessions:
        lines.append(f"session {one.session}, {Moment.at(one.started_at).iso()[:10]}: {without_head(one.summary)}")
    screen.answer(Answer(command="opening", value=found, lines=lines or ["nothing is known from earlier sessions yet"]))


def _screen(*, as_json: bool) -> "Screen":
    from retentia.cli.chat.screen import Objects, Person, Pipe

    if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        return Person()
    lines = click.open_file("-", encoding="utf-8", errors="replace")
    return Objects(lines) if as_json else Pipe(lines)


def _role(text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        with Path(text[1:]).open(encoding="utf-8") as file:
            return file.read(_LONGEST_ROLE)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the role {text[1:]!r} cannot be read; name a file with text in UTF-8") from error
