"""Another process that has the same store open, does what it is told by a test, and says what it holds in memory."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SCRIPT = """
import json, sys, time
from retentia import Memory, Scope
from retentia.index import tokenizer
from retentia.model.time import system_clock
from retentia.testing import FakeEmbedder

url, user, skew = sys.argv[1], sys.argv[2], int(sys.argv[3])
scope = Scope("acme", user)
memory = Memory.open(url, embedder=sys.argv[4] or FakeEmbedder(), worker=False, clock=lambda: system_clock() + skew)
print("null", flush=True)
for line in sys.stdin:
    verb, _, text = line.strip().partition(" ")
    answer = None
    if verb == "search":
        memory.recall(text, scope=scope)
        while not memory._presence.is_known:  # where the machine is busy, the first search keeps nothing
            time.sleep(0.005)
        answer = [hit.record.text for hit in memory.recall(text, scope=scope, min_relevance=0.0).hits]
    elif verb == "add":
        answer = list(memory.add(text, scope=scope).ids)
    elif verb == "erase":
        done = memory.erase(text, scope=scope)
        answer = [done.processes, done.acknowledged, done.pending]
    elif verb == "held":
        held = {scope_id for key in memory._residents._held for scope_id in key[1]}
        answer = {"scopes": sorted(held), "words": sorted(tokenizer._CHUNKS)}
    elif verb == "drain":
        answer = memory.drain()
    elif verb == "close":
        memory.close()
    print(json.dumps(answer), flush=True)
"""


class Companion:
    """One such process. `ask` tells it a verb and returns what it answers."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def ask(self, verb: str) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{verb}\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def send(self, sign: signal.Signals) -> None:
        os.kill(self.process.pid, sign)
        if sign == signal.SIGKILL:
            self.process.wait()


@contextmanager
def companion(url: str, *, user: str = "anna", skew: int = 0, embedder: str = "") -> Iterator[Companion]:
    """Start one on a store; `skew` is how many microseconds its clock is ahead. It ends with the block."""
    arguments = [sys.executable, "-c", SCRIPT, url, user, str(skew), embedder]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        started = Companion(process)
        try:
            started.answer()
            yield started
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
                process.kill()
