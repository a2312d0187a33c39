"""Window: which messages of a session the model sees word for word, and which it is told it does not see.

The rule is "no silent gap": every message is pinned, covered by a summary, shown verbatim, or named as missing. So the
window is as long as the history asked for or as everything that no summary covers, whichever is longer, and only a
token budget cuts it, from the oldest end. A tool call and its results stay together.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from retentia.errors import InvalidInput
from retentia.model.time import Moment
from retentia.working.budget import fill


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One call in an assistant's message; `arguments` is JSON text, as the model wrote it."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMessage:
    """A message of a session as the window sees it.

    `tokens` counts the whole message. `summarised_by` is the id of the summary that covers it, "" without one. `group`
    ties an assistant's tool calls to the messages that answer them; `with_tool_groups` finds them.
    """

    id: str
    seq: int
    role: str
    tokens: int
    text: str = ""
    speaker: str = ""
    at: Moment | None = None
    pinned: bool = False
    summarised_by: str = ""
    group: str = ""
    tool_uses: tuple[ToolUse, ...] = ()
    tool_call_id: str = ""


Unit = tuple[WindowMessage, ...]
"""Messages that are shown or left out together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSettings:
    """How long the window is: the first `pinned_count` messages always, and at least the last `history_size`.

    An anchored window begins `history_size` messages before the first that no summary covers: it moves only when a
    summary is made, and is up to that many messages longer.
    """

    history_size: int = 20
    pinned_count: int = 3
    anchored: bool = False

    def __post_init__(self) -> None:
        if self.history_size < 0 or self.pinned_count < 0:
            raise InvalidInput("history_size and pinned_count are numbers of messages: they cannot be negative")


@dataclass(frozen=True, slots=True)
class Gap:
    """The messages of a session that are neither shown nor summarised; `since` and `until` where a time is known."""

    ids: tuple[str, ...]
    since: Moment | None = None
    until: Moment | None = None

    @property
    def count(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Window:
    """Every message of a session, each in exactly one place, in the session's order."""

    pinned: tuple[WindowMessage, ...] = ()
    summarised: tuple[WindowMessage, ...] = ()
    verbatim: tuple[WindowMessage, ...] = ()
    missing: tuple[WindowMessage, ...] = ()

    @property
    def gap(self) -> Gap | None:
        """Name what is missing, or None when nothing is."""
        if not self.missing:
            return None
        times = [message.at for message in self.missing if message.at is not None]
        since = min(times, key=lambda time: time.start, default=None)
        until = max(times, key=lambda time: time.end, default=None)
        return Gap(tuple(message.id for message in self.missing), since, until)

    def showing(self, messages: Collection[str], summaries: Collection[str] | None = None) -> "Window":
        """Narrow the window to messages and summaries with these ids (None: every summary).

        What is no longer shown is summarised where one of the summaries covers it, and missing otherwise.
        """
        rest = [*self.summarised, *self.missing]
        rest += (message for message in (*self.pinned, *self.verbatim) if message.id not in messages)
        rest.sort(key=lambda message: message.seq)
        covered: list[WindowMessage] = []
        missing: list[WindowMessage] = []
        for message in rest:
            summary = message.summarised_by
            (covered if summary and (summaries is None or summary in summaries) else missing).append(message)
        return Window(
            tuple(message for message in self.pinned if message.id in messages),
            tuple(covered),
            tuple(message for message in self.verbatim if message.id in messages),
            tuple(missing),
        )


def plan_window(
    messages: Iterable[WindowMessage], settings: WindowSettings | None = None, *, budget: int | None = None
) -> Window:
    """Decide what is pinned, shown, summarised and missing; the order of `messages` is that of their `seq`.

    With a budget in tokens, pinned messages take theirs first, then the newest. A tool call with its results that alone
    would take more than half of what is left makes a hole instead of ending the window there.
    """
    settings = settings or WindowSettings()
    ordered = sorted(messages, key=lambda message: message.seq)
    always = {message.id for message in ordered[: settings.pinned_count]}
    always |= {message.id for message in ordered if message.pinned}
    end = len(ordered)
    if settings.anchored:
        end = max((place for place, message in enumerate(ordered, 1) if message.summarised_by), default=0)
    recent = {message.id for message in ordered[max(0, end - settings.history_size) :]}
    pinned: list[Unit] = []
    verbatim: list[Unit] = []
    summarised: list[Unit] = []
    for unit in units_of(ordered):
        if any(message.id in always for message in unit):
            pinned.append(unit)
        elif any(message.id in recent or not message.summarised_by for message in unit):
            verbatim.append(unit)
        else:
            summarised.append(unit)
    window = Window(_in_order(pinned), _in_order(summarised), _in_order(verbatim))
    return window if budget is None else _within(window, budget)


def units_of(messages: Iterable[WindowMessage]) -> list[Unit]:
    """Return what cannot be split, in the order of the first messages: a tool group, or a message by itself."""
    units: dict[tuple[str, str], list[WindowMessage]] = {}
    for message in messages:
        key = ("group", message.group) if message.group else ("message", message.id)
        units.setdefault(key, []).append(message)
    return [tuple(unit) for unit in units.values()]


def newest_first(messages: Iterable[WindowMessage]) -> list[Unit]:
    """Return the units in the order in which they are kept when tokens are short: by their last message."""
    return sorted(units_of(messages), key=lambda unit: -unit[-1].seq)


def with_tool_groups(messages: Iterable[WindowMessage]) -> list[WindowMessage]:
    """Give each assistant's message with tool calls and the tool messages that answer it one group.

    An id belongs to the latest call before the answer: some providers count their ids anew in every message.
    """
    callers: dict[str, str] = {}
    grouped: list[WindowMessage] = []
    for message in sorted(messages, key=lambda message: message.seq):
        group = message.group
        if message.tool_uses:
            group = group or message.id
            callers |= {use.id: group for use in message.tool_uses}
        elif message.tool_call_id:
            group = group or callers.get(message.tool_call_id, "")
        grouped.append(message if group == message.group else replace(message, group=group))
    return grouped


def tokens_of(unit: Sequence[WindowMessage]) -> int:
    """Return the tokens of a unit."""
    return sum(message.tokens for message in unit)


def _within(window: Window, budget: int) -> Window:
    pinned = units_of(window.pinned)
    kept = [pinned[place] for place in fill([tokens_of(unit) for unit in pinned], budget)]
    newest = newest_first(window.verbatim)
    room = budget - sum(map(tokens_of, kept))
    kept += (newest[place] for place in fill([tokens_of(unit) for unit in newest], room, contiguous=True))
    return window.showing({message.id for unit in kept for message in unit})


def _in_order(units: Iterable[Unit]) -> Unit:
    return tuple(sorted((message for unit in units for message in unit), key=lambda message: message.seq))
