"""Replay: play a chat message by message, make a context before each user turn, and check every one of them.

What is promised of a context holds at every step or not at all: it fits its budget, every earlier message is pinned,
summarised, shown or named as missing, and nothing is given twice. Summaries are made by the rules, between the turns.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from retentia.errors import BudgetTooSmall, InvalidInput
from retentia.evals.loaders.beam import load_beam
from retentia.evals.metrics import percentile
from retentia.evals.runs import Progress
from retentia.ingest import IngestMessage, IngestToolCall, read
from retentia.memory import Memory
from retentia.model.message import Message, ToolCall
from retentia.model.record import MessageRecord
from retentia.model.scope import Scope
from retentia.model.summary import Summary
from retentia.providers.resolve import resolve
from retentia.session import Session
from retentia.working.context import Context
from retentia.working.extractive import Extractive
from retentia.working.history import History
from retentia.working.summariser import Draft
from retentia.working.tokens import EstimatingCounter


@dataclass(frozen=True, slots=True)
class Chat:
    """A session to be replayed: what was said and which tools were called, in order."""

    name: str
    steps: tuple[Message | ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One user turn: what its context took and what is wrong with it. `refused` says that it alone is too long."""

    chat: str
    message: int
    tokens: int = 0
    full_history_tokens: int = 0
    ms: float = 0.0
    cpu_ms: float = 0.0
    refused: bool = False
    over_budget: bool = False
    unnamed: int = 0
    twice: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """All turns of all chats under one budget; `summaries` counts those that were written."""

    budget: int
    chats: int
    messages: int
    summaries: int
    turns: tuple[Turn, ...]

    @property
    def made(self) -> tuple[Turn, ...]:
        """The turns that got a context."""
        return tuple(turn for turn in self.turns if not turn.refused)

    @property
    def is_sound(self) -> bool:
        """Whether every context kept what is promised of it."""
        return not any(turn.over_budget or turn.unnamed or turn.twice for turn in self.turns)

    def figures(self) -> dict[str, float | int | None]:
        """Return what the replay measured, by name."""
        made = self.made
        times = [turn.ms for turn in made]
        tokens, whole = sum(turn.tokens for turn in made), sum(turn.full_history_tokens for turn in made)
        return {
            "chats": self.chats,
            "messages": self.messages,
            "budget": self.budget,
            "contexts": len(made),
            "requests_too_long": len(self.turns) - len(made),
            "over_budget": sum(turn.over_budget for turn in made),
            "unnamed_gaps": sum(turn.unnamed for turn in made),
            "given_twice": sum(turn.twice for turn in made),
            "context_p50_ms": percentile(times, 0.5),
            "context_p95_ms": percentile(times, 0.95),
            "context_cpu_p50_ms": percentile([turn.cpu_ms for turn in made], 0.5),
            "tokens": tokens,
            "full_history_tokens": whole,
            "full_history_ratio": whole / tokens if tokens else None,
            "summaries": self.summaries,
        }


def load_chats(path: Path) -> list[Chat]:
    """Read chats from a folder of BEAM, each as one session, or from any chat file that can be ingested.

    Raises InvalidInput when there is no message in it.
    """
    if path.is_dir() and any(path.glob("**/chat.json")):
        return [
            Chat(
                group.name,
                tuple(
                    Message(
                        role="assistant" if one.role == "assistant" else "user", content=one.text, at=one.at or None
                    )
                    for one in group.entries
                ),
            )
            for group in load_beam(path).groups
        ]
    steps: dict[str, list[Message | ToolCall]] = {}
    for item in read([path]):
        match item:
            case IngestMessage(session=session, message=said):
                steps.setdefault(session, []).append(said)
            case IngestToolCall(session=session, call=call):
                steps.setdefault(session, []).append(call)
            case _:
                continue
    if not steps:
        raise InvalidInput(f"{str(path)!r} holds no chat; name a file that `retentia ingest` reads, or a BEAM folder")
    return [Chat(name, tuple(those)) for name, those in steps.items()]


def replay(chats: Sequence[Chat], *, budget: int, embedder: str = "auto", progress: Progress | None = None) -> Replay:
    """Play the chats into a new store, each in a scope of its own, and check the context of every user turn."""
    total = sum(len(chat.steps) for chat in chats)
    turns: list[Turn] = []
    done = 0
    with _fresh_memory(embedder) as (memory, summaries):
        for number, chat in enumerate(chats):
            session = Session(memory, chat.name or "chat", scope=Scope("replay", f"{number}-{chat.name}"[:60]))
            for place, step in enumerate(chat.steps):
                if isinstance(step, ToolCall):
                    session.log_tool_call(step)
                else:
                    if step.role == "user" and isinstance(step.content, str) and step.content.strip():
                        turns.append(_turn(memory, session, chat.name, place, step.content, budget))
                    session.append(step)
                memory.drain()
                done += 1
                if progress is not None:
                    progress("replay", done, total)
        messages = sum(isinstance(step, Message) for chat in chats for step in chat.steps)
        return Replay(
            budget=budget, chats=len(chats), messages=messages, summaries=summaries.written, turns=tuple(turns)
        )


def unnamed(context: Context, history: History) -> set[str]:
    """Return the messages of a session, read whole, that a context neither shows nor covers nor names as missing."""
    shown = {one.id for one in context.manifest}
    missing = set() if context.gap is None else set(context.gap.ids)
    return {
        message.id
        for message in history.messages
        if message.id not in shown and message.id not in missing and history.covering(message.seq) not in shown
    }


def given_twice(context: Context, history: History) -> set[str]:
    """Return what a context shows more than once, or shows, itself or by a summary, and names as missing as well."""
    ids = [one.id for one in context.manifest]
    twice = {one for one in ids if ids.count(one) > 1}
    missing = set() if context.gap is None else set(context.gap.ids)
    shown = {one.id for one in context.manifest if one.part in ("summary", "pinned", "recent")}
    told = {one.id for one in history.messages if one.id in shown or history.covering(one.seq) in shown}
    return twice | (missing & told)


def _turn(memory: Memory, session: Session, chat: str, place: int, request: str, budget: int) -> Turn:
    started, started_cpu = time.perf_counter(), time.process_time()
    try:
        context = session.context(request, budget=budget)
    except BudgetTooSmall:
        return Turn(chat=chat, message=place, refused=True)
    spent, spent_cpu = time.perf_counter() - started, time.process_time() - started_cpu
    history = memory.history(scope=session.scope, session=session.name, whole=True)
    return Turn(
        chat=chat,
        message=place,
        tokens=context.total_tokens,
        full_history_tokens=context.full_history_tokens,
        ms=spent * 1000,
        cpu_ms=spent_cpu * 1000,
        over_budget=context.total_tokens > budget,
        unnamed=len(unnamed(context, history)),
        twice=len(given_twice(context, history)),
    )


@contextmanager
def _fresh_memory(embedder: str) -> Iterator[tuple[Memory, "_Counting"]]:
    summaries = _Counting()
    with tempfile.TemporaryDirectory(prefix="retentia-replay-") as folder:
        path = Path(folder) / "replay.db"
        with Memory.open(path, embedder=resolve(embedder), worker=False, summariser=summaries) as memory:
            yield memory, summaries


class _Counting:
    """Summarises by the rules, and counts."""

    def __init__(self) -> None:
        self.written = 0
        self._rules = Extractive(EstimatingCounter())

    def segment(self, messages: Sequence[MessageRecord], *, words: int) -> Draft:
        self.written += 1
        return self._rules.segment(messages, words=words)

    def boundaries(self, messages: Sequence[MessageRecord]) -> Sequence[int]:
        return self._rules.boundaries(messages)

    def merge(self, below: Sequence[Summary], *, words: int) -> Draft:
        self.written += 1
        return self._rules.merge(below, words=words)
