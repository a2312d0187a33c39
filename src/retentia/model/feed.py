"""The change feed: which records of a memory were added, changed or are gone since a reader looked last."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from retentia.errors import InvalidInput
from retentia.model.ids import RecordId
from retentia.model.record import Kind

GONE = "gone"
"""The change of a record that was erased, has expired, or lies in the bin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """One record that was touched: its last change, its version since then, when (UTC microseconds) and by whom.

    Only items change in versions; of what is kept verbatim it is 1. A version that the reader knows already tells
    nothing new. What is gone has no kind, no version (0), no time and no author.
    """

    record_id: RecordId
    kind: Kind | None
    change: str
    version: int
    at: int | None
    author: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed(Sequence[FeedEntry]):
    """Changes in the order they were made, each record once, at the place of its last one.

    `cursor` goes into the next call. `is_complete` is False where the cursor that was given is too old, or the store
    was restored from before it: then there are no entries, and what is needed must be read anew before going on from
    here. `more` tells that there are more changes already.
    """

    entries: tuple[FeedEntry, ...]
    cursor: str
    is_complete: bool = True
    more: bool = False

    @overload
    def __getitem__(self, index: int) -> FeedEntry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FeedEntry]: ...
    def __getitem__(self, index: int | slice) -> FeedEntry | Sequence[FeedEntry]:
        return self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[FeedEntry]:
        return iter(self.entries)


class Reached(NamedTuple):
    """How far a reader is in one scope: behind all writes up to `version`, and `taken` records of the one after it."""

    version: int
    taken: int = 0


def read_cursor(text: str) -> dict[int, Reached]:
    """Read a cursor: how far a reader is in each scope by its number; "" is the beginning. Raises InvalidInput."""
    reached: dict[int, Reached] = {}
    try:
        for part in filter(None, text.split("-")):
            scope_id, version, taken = (int(number, 16) for number in part.split("."))
            reached[scope_id] = Reached(version, taken)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is no cursor of changes; pass back what the last answer gave, or ''") from error
    return reached


def write_cursor(reached: Mapping[int, Reached]) -> str:
    """Write how far a reader is in each scope."""
    return "-".join(f"{scope_id:x}.{one.version:x}.{one.taken:x}" for scope_id, one in sorted(reached.items()))
