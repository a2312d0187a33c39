"""A process that has just started: what importing, opening and the first search take. Run as `-m benchmarks.cold`.

Reads a task as JSON from standard input: the store's `path`, and two `questions` with their `vectors`. Nothing of
numpy or of Retentia is imported before the clock runs.
"""

import json
import sys
import time

from benchmarks.timing import resident_bytes


def main() -> None:
    """Print the milliseconds of each step, and the memory the index took, as JSON."""
    task = json.load(sys.stdin)
    clock = _Clock()
    import retentia  # noqa: F401

    clock.note("import retentia")
    from retentia import Memory, Scope

    clock.note("import Memory")
    import numpy as np

    from benchmarks.vectors import Prepared
    from retentia.providers.base import EmbedderIdentity

    vectors = dict(zip(task["questions"], np.array(task["vectors"], dtype=np.float32), strict=True))
    embedder = Prepared(EmbedderIdentity.from_json(task["identity"]), vectors)
    clock.skip()
    memory = Memory.open(task["path"], embedder=embedder, worker=False)
    clock.note("open")
    scope, before = Scope(tenant=task["tenant"], user=task["user"]), resident_bytes()
    clock.skip()
    for name, question in zip(("first search", "second search"), task["questions"], strict=True):
        memory.recall(question, scope=scope, min_relevance=0.0)
        clock.note(name)
    after = resident_bytes()
    grown = None if before is None or after is None else after - before
    stats = memory.stats(scope=scope)
    memory.close()
    counted = {"grown_bytes": grown, "index_bytes": stats.index_bytes, "passages": stats.passages}
    print(json.dumps({"ms": clock.noted, "cpu_ms": clock.worked, **counted}))


class _Clock:
    def __init__(self) -> None:
        self.noted: dict[str, float] = {}
        self.worked: dict[str, float] = {}
        self.skip()

    def note(self, name: str) -> None:
        self.noted[name] = (time.perf_counter() - self._started) * 1000
        self.worked[name] = (time.process_time() - self._worked) * 1000
        self.skip()

    def skip(self) -> None:
        self._started, self._worked = time.perf_counter(), time.process_time()


if __name__ == "__main__":
    main()
