"""Keep a model on one thread: here more threads make short texts slower, not faster.

On two busy cores a question took the default embedder 25-84 ms with BLAS' own threads and 2 ms with one; the
multilingual one's 95th percentile went from 42 ms to 1.7 s with OpenMP's.
"""

import functools
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_depth = 0
_found: list[tuple[Any, int]] = []  # libraries, and how many threads each had; threadpoolctl has no types


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS at one thread, process wide, for as long as anyone is inside.

    The number is a global of the library. Setting and restoring it in each thread would race: the first to leave
    would set the others free, and the last could leave 1 behind for good. So the first sets it, the last restores it.
    """
    global _depth
    with _lock:
        if _depth == 0:
            _found[:] = ((library, library.num_threads) for library in _controller("blas").lib_controllers)
            _set_threads((library, 1) for library, _ in _found)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _set_threads(_found)


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Hold OpenMP at one thread inside the calling thread; the number is kept per thread, so nothing can race."""
    with _controller("openmp").limit(limits=1, user_api="openmp"):
        yield


def _set_threads(wanted: Iterable[tuple[Any, int]]) -> None:
    """Set the number of threads of libraries that have another one, and let any thread set it again."""
    changed = [(library, number) for library, number in wanted if library.num_threads != number]
    if changed:
        _take_control()
        for library, number in changed:
            library.set_num_threads(number)
        _take_control()


def _take_control() -> None:
    # From 3.8 on, threadpoolctl lets only the thread that set OpenBLAS first set it again, and ignores all others
    # silently. Who sets and who restores are two threads here.
    import threadpoolctl

    let_any_thread = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if let_any_thread is not None:
        let_any_thread(force=True)


@functools.cache
def _controller(api: str) -> Any:
    """Find the loaded libraries once for each interface, since looking takes 0.6 ms; call it after loading them."""
    import threadpoolctl

    return threadpoolctl.ThreadpoolController().select(user_api=api)
