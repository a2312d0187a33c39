"""Seen: what is known of a call before it is made again, as a value. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.time import Moment
from retentia.tools.ages import ago
from retentia.tools.calls import Call, CallStatus, Pair
from retentia.tools.causes import cause_of, message_of
from retentia.tools.condense import condense
from retentia.tools.freshness import (
    CallAgain,
    Decision,
    Earlier,
    FailedBefore,
    NeverSeen,
    Reuse,
    ToolRule,
    decide,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Whether a call was made before, what came of it, and what to do now. True when it was.

    `count` counts how often, each call once, be it logged, said in messages, or both; "200 and more" is 200. `id` names
    the record with the last outcome, for `memory.tools.result`; `age` is None and `status` "" when it was never made.
    `condensed` is the result or the error in at most 500 characters.
    """

    name: str
    decision: Decision
    count: int = 0
    id: RecordId | None = None
    at: Moment | None = None
    age: timedelta | None = None
    status: CallStatus | None = None
    condensed: str = ""
    error: str = ""
    full_bytes: int | None = None

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def ago(self) -> str:
        """How long ago it was made, in words: "3 days ago"; "" when it never was."""
        return "" if self.age is None else ago(self.age)

    def text(self) -> str:
        """Tell a model in a few lines what is known and what to do."""
        match self.decision:
            case NeverSeen():
                return f"{self.name} was not called like this before."
            case FailedBefore(cause=cause, message=message, times=times):
                often = "once" if times == 1 else f"{times} times in a row"
                return f"{self.name} failed {often}, last {self.ago}: {cause}: {message}"
            case Reuse():
                return f"{self.name} was called {self.ago}, and its result still holds: {self.condensed}"
            case CallAgain(why):
                known = f" Earlier result: {self.condensed}" if self.condensed else ""
                return f"{self.name} is to be called again: {why}.{known}"


def seen_of(
    name: str,
    pairs: Sequence[Pair],
    last: Call | None,
    rule: ToolRule,
    *,
    now: int,
    fresh_for: timedelta | None = None,
    written_by: str = "",
    hides_secret: bool = False,
) -> Seen:
    """Tell what is known of a call from its earlier ones, the newest first, and the last of them that ended."""
    if last is None:
        return Seen(name=name, decision=NeverSeen())
    age = timedelta(microseconds=now - last.called_at)
    ended = [pair for pair in pairs if pair.status != "open"]
    failed_times = next((place for place, pair in enumerate(ended) if pair.status != "error"), len(ended))
    earlier = Earlier(
        status=last.status,
        age=age,
        result=last.result,
        cause=cause_of(last.error) if last.error else "error",
        message=message_of(last.error),
        failed_times=failed_times,
        written_by=written_by,
        is_cut=last.full_bytes is not None,
        hides_secret=hides_secret,
    )
    return Seen(
        name=name,
        decision=decide(earlier, rule, fresh_for=fresh_for),
        count=max(len(ended), 1),
        id=last.id,
        at=last.at,
        age=age,
        status=last.status,
        condensed=_condensed(last),
        error=last.error,
        full_bytes=last.full_bytes,
    )


def _condensed(call: Call) -> str:
    outcome: JSON = call.error if call.status == "error" else call.result
    return condense(outcome) if outcome is not None else ""
