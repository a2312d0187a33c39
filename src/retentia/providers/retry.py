"""Decide whether, and how long, to wait before asking a server once more. Pure; whoever waits does it elsewhere."""

_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 30.0
_TRANSIENT = frozenset({408, 409, 425, 429})
_FINAL = frozenset({501, 505})


def is_transient(status: int) -> bool:
    """Say whether the same request may succeed later: the server is overloaded, restarting or broken."""
    return status in _TRANSIENT or (status >= 500 and status not in _FINAL)


def wait_seconds(failures: int, retry_after: str = "", *, chance: float) -> float:
    """Return how long to wait after so many failures (from 1), at most 30 seconds.

    Doubles each time; `chance` (0 to 1, a random number) takes up to half of it off, so that clients do not come back
    together. What the server asks for in seconds is the least; a date instead of seconds is ignored.
    """
    doubled = float(min(_LONGEST_SECONDS, _FIRST_SECONDS * 2 ** min(failures - 1, 10)))
    wanted = min(float(retry_after), _LONGEST_SECONDS) if retry_after.strip().isdecimal() else 0.0
    return max(wanted, doubled * (1 - chance / 2))
