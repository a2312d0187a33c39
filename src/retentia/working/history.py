"""History: of a session, what a context needs: the messages no summary covers, the newest, the pinned, the summaries.

It does not grow with the session: what is covered is not read, only counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from retentia.model.record import MessageRecord
from retentia.model.summary import Summary
from retentia.store import records, sessions, summaries
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.working.summary import Hole, holes, standing
from retentia.working.window import WindowSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A session as far as it was read: `messages` and `summaries` in order.

    `unread` counts, by the id of a summary, the messages that it covers and that were not read. `covered_tokens` is
    what the messages of all summaries would have taken in a prompt.
    """

    messages: tuple[MessageRecord, ...] = ()
    summaries: tuple[Summary, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    covered_tokens: int = 0

    def covering(self, seq: int) -> str:
        """Return the id of the summary that covers a message, "" for none."""
        return next((one.id for one in self.summaries if one.covers(seq)), "")


def read_history(
    transaction: Transaction, view: View, name: str, window: WindowSettings, *, whole: bool = False
) -> History:
    """Read a session of a view by its name; `whole` reads every message.

    A session that an agent has and that all agents share under the same name is read whole, without summaries.
    """
    found = [
        (scope_id, session_id)
        for scope_id in view.scope_ids
        if (session_id := sessions.find(transaction, scope_id, name)) is not None
    ]
    if len(found) == 1:
        return _read(transaction, view, *found[0], window, whole=whole)
    said = [records.session_messages(transaction, view, session_id) for _, session_id in found]
    return History(messages=tuple(message for messages in said for message in messages))


def _read(
    transaction: Transaction, view: View, scope_id: int, session_id: bytes, window: WindowSettings, *, whole: bool
) -> History:
    covered = standing(summaries.standing(transaction, scope_id, session_id))
    shown = [one for one in summaries.texts(transaction, scope_id, session_id, covered) if one.text]
    said = (
        records.session_messages(transaction, view, session_id)
        if whole or not covered
        else _needed(transaction, view, session_id, holes(covered), window)
    )
    read = Counter(next((one.id for one in shown if one.covers(message.seq)), "") for message in said)
    return History(
        messages=tuple(said),
        summaries=tuple(shown),
        unread={one.id: one.messages - read[one.id] for one in shown},
        covered_tokens=sum(one.tokens for one in covered),
    )


def _needed(
    transaction: Transaction, view: View, session_id: bytes, uncovered: Sequence[Hole], window: WindowSettings
) -> list[MessageRecord]:
    """Read what no summary covers, the newest, the first and the pinned messages."""
    *closed, end = uncovered
    said = records.session_messages(transaction, view, session_id, after=end.first - 1)
    if (short := window.history_size - (0 if window.anchored else len(said))) > 0:
        said += records.session_messages(transaction, view, session_id, until=end.first - 1, limit=short, newest=True)
    if window.pinned_count:
        said += records.session_messages(transaction, view, session_id, limit=window.pinned_count)
    said += records.session_messages(transaction, view, session_id, only_pinned=True)
    for hole in closed:
        said += records.session_messages(transaction, view, session_id, after=hole.first - 1, until=hole.last)
    return sorted({message.id: message for message in said}.values(), key=lambda message: message.seq)
