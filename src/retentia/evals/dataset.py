"""What every benchmark becomes before it is run: what was said, what is asked, and where the answers are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

EntryKind = Literal["message", "item"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing to remember: a message of a session, or an item (a tool, a paragraph, a fact) that stands alone.

    `source` is the benchmark's own id, the one its gold names. `at` is ISO 8601 as precise as the benchmark knows
    it, "" when it does not. `caption` says what a picture sent with the message shows.
    """

    source: str
    text: str
    kind: EntryKind = "message"
    session: str = ""
    role: str = ""
    speaker: str = ""
    at: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question and the sources that answer it.

    A question that is `answerable` but has no gold (the benchmark cites nothing that exists) cannot be scored; one
    that is not answerable has no gold on purpose.
    """

    id: str
    text: str
    gold: tuple[str, ...] = ()
    category: str = ""
    tags: tuple[str, ...] = ()
    answer: str = ""
    answerable: bool = True

    @property
    def is_scored(self) -> bool:
        """Say whether recall can be measured on this question."""
        return self.answerable and bool(self.gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What is remembered in one scope, and what is asked of it.

    `foreign` are questions that nothing in this group answers, asked to see whether it notices.
    """

    name: str
    entries: tuple[Entry, ...]
    questions: tuple[Question, ...]
    foreign: tuple[Question, ...] = ()

    @property
    def scored(self) -> tuple[Question, ...]:
        """Return the questions that recall is measured on, in order."""
        return tuple(question for question in self.questions if question.is_scored)

    @property
    def unanswerable(self) -> tuple[Question, ...]:
        """Return the questions about this group's own topics that it cannot answer."""
        return tuple(question for question in self.questions if not question.answerable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """One benchmark, loaded; `notes` say what of the raw data was left out or repaired.

    `is_of_chats` says that questions are asked of conversations, so that the context for each is judged, too.
    """

    name: str
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()
    is_of_chats: bool = False

    def first(self, count: int | None) -> "Dataset":
        """Keep the first `count` groups, all for None; their foreign questions stay."""
        return self if count is None else replace(self, groups=self.groups[:count])


def ask_neighbours(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Give each group the scored questions of the next one as foreign questions; a lone group gets none."""
    if len(groups) < 2:
        return tuple(groups)
    following = [*groups[1:], groups[0]]
    return tuple(replace(group, foreign=other.scored) for group, other in zip(groups, following, strict=True))


def existing(gold: Iterable[str], entries: Iterable[Entry]) -> tuple[str, ...]:
    """Keep the gold that names an entry, without repeats and in order; the rest can never be returned."""
    sources = {entry.source for entry in entries}
    return tuple(dict.fromkeys(source for source in gold if source in sources))
