"""A clock that stands still until it is told to go on."""


class FixedClock:
    """Tell the same time, in UTC microseconds, until `advance` moves it."""

    def __init__(self, now: int = 1_780_000_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, *, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * 1_000_000)
