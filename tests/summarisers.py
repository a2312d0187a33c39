"""Summarisers for tests: what they say tells what they were given."""

from collections.abc import Callable, Sequence

from retentia.errors import SummaryFailed
from retentia.model.record import MessageRecord
from retentia.model.summary import Summary
from retentia.working.summariser import Draft


class Telling:
    """Names what it was given; `meanwhile` runs while it works, and `failures` are raised first."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None, failures: int = 0) -> None:
        self.meanwhile = meanwhile
        self.failures = failures
        self.calls = 0

    def segment(self, messages: Sequence[MessageRecord], *, words: int) -> Draft:
        return self._draft(" ".join(message.text for message in messages))

    def boundaries(self, messages: Sequence[MessageRecord]) -> Sequence[int]:
        return [number for number, message in enumerate(messages) if message.text.startswith("next")]

    def merge(self, below: Sequence[Summary], *, words: int) -> Draft:
        return self._draft("; ".join(one.text for one in below))

    def _draft(self, told: str) -> Draft:
        self.calls += 1
        self.meanwhile()
        if self.failures:
            self.failures -= 1
            raise SummaryFailed
        return Draft(text=f"told: {told}", made_by="telling")
