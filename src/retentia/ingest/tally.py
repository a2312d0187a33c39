"""What became of what was read from files, counted."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from retentia.ingest.items import Skipped

_SHOWN = 10


@dataclass(slots=True)
class Tally:
    """What became of the items so far: by kind, what is new and what was there already, and why others were skipped.

    `notes` says what was changed so that it could be kept, such as masked secrets.
    """

    stored: Counter[str] = field(default_factory=Counter)
    already_there: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    skipped: list[Skipped] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)

    def count(self, kind: str, *, is_new: bool) -> None:
        """Count one thing that is there now."""
        (self.stored if is_new else self.already_there)[kind] += 1

    def note(self, notes: Iterable[str]) -> None:
        """Take over what a write says about what it changed."""
        self.notes.update(notes)

    def skip(self, skipped: Skipped) -> None:
        """Count what was skipped; the first few are kept to be shown."""
        self.reasons[skipped.reason] += 1
        if len(self.skipped) < _SHOWN:
            self.skipped.append(skipped)
