"""Where a claim falls among those that are held of its slot: by when each was said, whatever the order they came in.

A claim holds from when it was said until another value was said. Each time it was said again is kept, so that another
value that comes later but was said in between takes only the time up to the next of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from retentia.model.ids import RecordId
from retentia.model.record import Status

Span = tuple[int, int]
"""[start, end) in UTC microseconds: what something was said of, as precisely as is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A claim about the same slot, or about the opposite attribute (`is_opposite`), that is already there.

    It holds in [valid_from, valid_to), UTC microseconds, None is open; `said` are the times it was said of. Of what a
    person rejected or took back, `wrong_until` is when that was: what was said before then does not bring it back.
    """

    id: RecordId
    value: str
    status: Status
    valid_from: int | None
    valid_to: int | None
    said: tuple[Span, ...]
    wrong_until: int | None = None
    is_rejected: bool = False
    is_opposite: bool = False

    @property
    def is_believed(self) -> bool:
        """Whether it holds, or held."""
        return self.status is not Status.CANDIDATE and not self.is_rejected and self.wrong_until is None

    @property
    def is_current(self) -> bool:
        """Whether it is believed and holds on."""
        return self.is_believed and self.valid_to is None

    def covers(self, instant: int) -> bool:
        """Tell whether it holds at an instant."""
        return (self.valid_from is None or self.valid_from <= instant) and (
            self.valid_to is None or instant < self.valid_to
        )

    def points(self) -> list[Span]:
        """Return when it was said to hold, within the time it holds; the beginning of that is one of them."""
        points = {span for span in self.said if self.covers(span[0])}
        if self.valid_from is not None and all(start != self.valid_from for start, _ in points):
            points.add((self.valid_from, self.valid_from + 1))
        return sorted(points)


@dataclass(frozen=True, slots=True)
class Cut:
    """What ends at a time; said again at `resumes` (None for never), it holds on from then until `until`."""

    id: RecordId
    at: int
    resumes: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a claim falls: in what holds then (`inside`), right before the same (`before`), or on its own until a time.

    `cuts` end what cannot stand beside it. `unclear` are those of which it cannot be told which was said first.
    """

    inside: Held | None = None
    before: Held | None = None
    until: int | None = None
    cuts: tuple[Cut, ...] = ()
    unclear: tuple[RecordId, ...] = ()


def place(value: str, span: Span, ends_at: int | None, line: Sequence[Held]) -> Place:
    """Place a claim on the line of the beliefs that it cannot stand beside, and those that say the same."""
    start, _ = span
    rivals = [one for one in line if not _is_same(one, value)]
    unclear = tuple(one.id for one in rivals if any(_is_unclear(span, point) for point in one.points()))
    if unclear:
        return Place(unclear=unclear)
    inside = next((one for one in line if _is_same(one, value) and one.covers(start)), None)
    if inside is not None:
        return Place(inside=inside)
    following = min(
        ((point[0], one) for one in line for point in after(one, start)), key=lambda at: at[0], default=None
    )
    cuts = tuple(cut(one, start) for one in rivals if one.covers(start))
    if following is None or (ends_at is not None and ends_at < following[0]):
        return Place(until=ends_at, cuts=cuts)
    if _is_same(following[1], value):
        return Place(before=following[1], cuts=cuts)
    return Place(until=following[0], cuts=cuts)


def cut(one: Held, at: int) -> Cut:
    """End a belief at a time within it; it resumes when it was said again."""
    again = after(one, at)
    return Cut(one.id, at, again[0][0] if again else None, one.valid_to)


def after(one: Held, instant: int) -> list[Span]:
    """Return when a belief was said again behind an instant."""
    return [point for point in one.points() if point[0] > instant]


def _is_same(one: Held, value: str) -> bool:
    return one.value == value and not one.is_opposite


def _is_unclear(span: Span, point: Span) -> bool:
    """Tell whether two times overlap; of what is said of the very same time, what arrives later holds."""
    return span != point and span[0] < point[1] and point[0] < span[1]
