"""Contexts: what the next prompt costs in sessions of any length, and that adding to one does not get slower."""

from collections.abc import Sequence
from functools import partial

from benchmarks.corpus import Said, questions
from benchmarks.ingest import one_by_one
from benchmarks.setting import Setting
from benchmarks.stores import SCOPE, as_message, empty_store, said_in
from benchmarks.tables import Cell, Table
from benchmarks.timing import Latency, seconds, time_each
from benchmarks.vectors import WordVectors
from retentia import Memory

_BUDGET = 1_500
_SESSION = "one by one"
_ADDED = 100
_ROWS_AT_ONCE = 500


def measure(setting: Setting) -> list[Table]:
    """Measure contexts and single writes in sessions of growing length, each summarised as it goes."""
    lengths = (100, 1_000) if setting.quick else (100, 1_000, 10_000)
    contexts: list[tuple[Cell, ...]] = []
    adds: list[tuple[Cell, ...]] = []
    said = said_in(setting, lengths[-1] + len(lengths) * _ADDED)
    asked = questions(setting.questions, setting.data)
    with empty_store(setting, "context", WordVectors()) as memory:
        written = 0
        for length in lengths:
            setting.say(f"a session of {length:,} messages")
            spent, _ = seconds(partial(_write, memory, said[written:length]))
            made = _contexts(memory, asked)
            shown = memory.context(asked[0], scope=SCOPE, session=_SESSION, budget=_BUDGET)
            full = shown.full_history_tokens
            contexts.append(
                (length, made.p50, made.p95, made.cpu_p50, 10.0, shown.total_tokens, full, full / shown.total_tokens)
            )
            latency = one_by_one(memory, said[length : length + _ADDED])
            adds.append((length, latency.p50, latency.p95, latency.cpu_p50, (length - written) / spent))
            written = length + _ADDED
    return [
        Table(
            "The next prompt: recall, window, summaries, assembly; without embedding the question",
            ("messages in the session", "p50 ms", "p95 ms", "CPU p50", "goal p50", "tokens", "full history", "ratio"),
            contexts,
            (f"Budget {_BUDGET:,} tokens (estimated); one session, which is also all that the scope holds.",),
        ),
        Table(
            "Adding one message, durable, in a session of this length",
            ("messages in the session", "p50 ms", "p95 ms", "CPU p50", "messages/s, summarised"),
            adds,
            ("The last column: adding in batches with every embedding and every extractive summary made at once.",),
        ),
    ]


def _write(memory: Memory, said: Sequence[Said]) -> None:
    for at in range(0, len(said), _ROWS_AT_ONCE):
        memory.add([as_message(one) for one in said[at : at + _ROWS_AT_ONCE]], scope=SCOPE, session=_SESSION)
        memory.context("what now?", scope=SCOPE, session=_SESSION, budget=_BUDGET)  # queues the summaries of a batch
        memory.drain()


def _contexts(memory: Memory, asked: Sequence[str]) -> Latency:
    for question in asked[:5]:
        memory.context(question, scope=SCOPE, session=_SESSION, budget=_BUDGET)
    return time_each(lambda one: memory.context(one, scope=SCOPE, session=_SESSION, budget=_BUDGET), asked)
