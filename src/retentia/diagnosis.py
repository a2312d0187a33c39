"""Diagnosis: what a memory says about the agent that uses it. Is its claim true, does it repeat itself, does it forget?

Everything is read through the verbs of the memory it belongs to, so a principal sees what it may see and each look is
logged. Nothing is written, and nothing that was looked at is kept.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from retentia.diagnose.check import ClaimCheck, Found, Search, check
from retentia.diagnose.claims import find_claims
from retentia.diagnose.contradictions import contradictions
from retentia.diagnose.log import Called, Said, SessionLog, Step
from retentia.diagnose.repeated_calls import FRESH_FOR, repeated_calls
from retentia.diagnose.repeated_questions import repeated_questions
from retentia.diagnose.symptom import Symptom, SymptomKind
from retentia.diagnose.symptoms import accused, symptoms
from retentia.errors import InvalidInput, NotFound
from retentia.model.message import ToolCall, When
from retentia.model.price import Price
from retentia.model.record import DocumentRecord, ItemRecord, Kind, MessageRecord, Record, ToolCallRecord
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.read.query import Recall
from retentia.store.sessions import SessionSummary
from retentia.working.context import Context
from retentia.working.history import History
from retentia.working.said import window_message
from retentia.working.tokens import EstimatingCounter

_LIMIT = 10
_ALL_SESSIONS = 1_000_000
_PENDING = "pending"
_REPLY = "reply"


class Reads(Protocol):
    """The verbs of a memory that a diagnosis needs; `Memory` has them, and what a principal may do."""

    def recall(
        self,
        query: str,
        *,
        scope: Scope,
        limit: int = 10,
        kinds: Collection[Kind | str] = (),
        min_relevance: float | None = None,
    ) -> Recall: ...
    def get(self, record_id: str, *, scope: Scope) -> Record: ...
    def messages(self, *, scope: Scope, session: str = ...) -> list[MessageRecord]: ...
    def tool_calls(self, *, scope: Scope, session: str = ...) -> list[ToolCallRecord]: ...
    def history(self, *, scope: Scope, session: str = ...) -> History: ...
    def sessions(self, *, scope: Scope, limit: int = 100) -> list[SessionSummary]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Amnesia:
    """A report: how much was looked through, and every symptom in the order of sessions and of their steps."""

    sessions: int
    messages: int
    tool_calls: int
    symptoms: tuple[Symptom, ...]

    @property
    def tokens(self) -> int:
        """What repeating took."""
        return sum(one.tokens for one in self.symptoms)

    @property
    def cost(self) -> float | None:
        """What repeating cost; None without a price."""
        priced = [one.cost for one in self.symptoms if one.cost is not None]
        return sum(priced) if priced else None

    def by_kind(self) -> Mapping[SymptomKind, Sequence[Symptom]]:
        """Return the symptoms of each kind, those of which there are most first."""
        found: dict[SymptomKind, list[Symptom]] = {}
        for one in self.symptoms:
            found.setdefault(one.kind, []).append(one)
        return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))


class Diagnosis:
    """For those who build or run an agent; `Memory.diagnosis` has it."""

    def __init__(self, memory: Reads) -> None:
        self._memory = memory
        self._counter = EstimatingCounter()

    def check_claims(
        self,
        text: str,
        *,
        scope: Scope,
        context: Context | Collection[str] | None = None,
        session: str | None = None,
    ) -> list[ClaimCheck]:
        """Find the claims about the past in a reply, and say of each where it stands.

        What the model was shown is a `context`, or the ids of records (a manifest), or the window of a `session`; with
        none of them nothing was shown. One recall for each claim that is not in it, two where that finds nothing.
        """
        claims = find_claims(text)
        if not claims:
            return []
        return check(claims, self._shown(scope, context, session), self._search(scope))

    def guard(
        self,
        reply: str,
        *,
        scope: Scope,
        session: str,
        calls: Sequence[ToolCall] = (),
        context: Context | Collection[str] | None = None,
        fresh_for: timedelta = FRESH_FOR,
    ) -> list[Symptom]:
        """Look at the reply that a model is about to give, and at the tool calls it is about to make.

        Found are claims that are nowhere or were not shown, questions that were answered, contradictions to what the
        window of the session shows, and calls whose answer is known. The ids of what is not yet said are "reply" and
        "pending". Reads only; without an embedder a few milliseconds.
        """
        history = self._memory.history(scope=scope, session=session)
        said = [_said(one) for one in history.messages]
        new = Said(id=_REPLY, role="assistant", text=reply, session=session)
        found: list[Symptom] = []
        if claims := find_claims(reply):
            shown = self._shown(scope, context, None) if context is not None else _window(history)
            found += accused(check(claims, shown, self._search(scope)), session=session, said=new)
        found += contradictions(session, [*said, new], only=new)
        found += (one for one in repeated_questions(session, [*said, new], only=new) if one.ids[-1] == _REPLY)
        if calls:
            pending = [_pending(call, number) for number, call in enumerate(calls)]
            steps = [*self._steps(scope, session, history.messages), *pending]
            repeats = repeated_calls(session, steps, count_tokens=self._counter.count, fresh_for=fresh_for)
            found += (one for one in repeats if one.ids[-1].startswith(_PENDING))
        return found

    def amnesia(
        self,
        *,
        scope: Scope,
        session: str | None = None,
        since: When | None = None,
        fresh_for: timedelta = FRESH_FOR,
        price: Price | None = None,
    ) -> Amnesia:
        """Look through the stored sessions of a scope, or one of them, for every symptom since a time.

        With a `price` each repetition says what it cost, as input of a model. Raises NotFound for a session that is not
        there, and InvalidMoment.
        """
        begin = None if since is None else Moment.parse(since, zone="UTC").start
        names = [one.name for one in self._memory.sessions(scope=scope, limit=_ALL_SESSIONS)]
        names = list(dict.fromkeys(reversed(names)))
        if session is not None:
            if session not in names:
                raise NotFound(f"there is no session {session!r} in {scope}")
            names = [session]
        logs = [self._log(scope, name) for name in names]
        steps = [step for log in logs for step in log.steps]
        times = {step.id: step.at for step in steps}
        found = [
            _priced(one, price)
            for log in logs
            for one in symptoms(
                log,
                count_tokens=self._counter.count,
                search_before=lambda said, log=log: self._search(scope, before=said, log=log),  # type: ignore[misc]
                fresh_for=fresh_for,
            )
            if begin is None or (times.get(one.ids[-1]) or begin) >= begin
        ]
        return Amnesia(
            sessions=len(logs),
            messages=sum(isinstance(step, Said) for step in steps),
            tool_calls=sum(isinstance(step, Called) for step in steps),
            symptoms=tuple(found),
        )

    def _log(self, scope: Scope, session: str) -> SessionLog:
        messages = self._memory.messages(scope=scope, session=session)
        return SessionLog(session, self._steps(scope, session, messages))

    def _steps(self, scope: Scope, session: str, messages: Sequence[MessageRecord]) -> list[Step]:
        """Put what was said and what tools were asked into one order; calls that are only in messages count as well."""
        logged = self._memory.tool_calls(scope=scope, session=session)
        spoken: list[tuple[tuple[str, int], Step]] = [
            ((str(one.scope), one.seq), _said(one)) for one in messages if one.role != "tool" and one.text
        ]
        made = [((str(one.scope), one.seq), _called(one)) for one in logged] or list(_unlogged(messages, self._counter))
        return [step for _, step in sorted([*spoken, *made], key=lambda pair: pair[0])]

    def _shown(self, scope: Scope, context: Context | Collection[str] | None, session: str | None) -> list[Said]:
        if isinstance(context, Context):
            spoken = [
                Said(id="", role=turn.role, text=turn.text)
                for turn in context.turns
                if turn.part in ("pinned", "recent", "current")
            ]
            quoted = [one.id for one in context.manifest if one.part not in ("pinned", "recent")]
            known = [Said(id=one.id, role="", text="") for one in context.manifest]
            return [*spoken, *self._read(scope, quoted), *known]
        if context is not None:
            return self._read(scope, context)
        return [] if session is None else _window(self._memory.history(scope=scope, session=session))

    def _read(self, scope: Scope, ids: Collection[str]) -> list[Said]:
        """Read what ids name; what is no record (a summary), or is gone, is left out."""
        found = []
        for one in ids:
            with suppress(NotFound, InvalidInput):
                found.append(_said(self._memory.get(one, scope=scope)))
        return found

    def _search(self, scope: Scope, *, before: Said | None = None, log: SessionLog | None = None) -> Search:
        """Make a search of the memory: of all of it, or of what it held before a message and outside its session."""
        own = set() if log is None else {step.id for step in log.steps}
        end = None if before is None else before.at

        def search(text: str) -> Found:
            found = self._memory.recall(text, scope=scope, limit=_LIMIT)
            nearest = found or self._memory.recall(text, scope=scope, limit=_LIMIT, min_relevance=0.0)
            said = [_said(hit.record) for hit in nearest]
            return Found(
                said=[one for one in said if one.id not in own and (end is None or one.at is None or one.at <= end)],
                relevance=found.relevance,
                threshold=found.threshold,
                by_meaning=found.timing.embed_ms > 0 and not found.notes and not found.pending_count,
            )

        return search


def _window(history: History) -> list[Said]:
    summaries = [Said(id=one.id, role="item", text=one.text) for one in history.summaries]
    return [*summaries, *map(_said, history.messages)]


def _said(record: Record) -> Said:
    """Turn a record into what was said; a document and what is known have roles of their own."""
    session, role = "", "item"
    match record:
        case MessageRecord():
            session, role = record.session, record.role
        case ToolCallRecord():
            session, role = record.session, "tool"
        case DocumentRecord():
            role = "document"
        case ItemRecord():
            pass
    return Said(id=record.id, role=role, text=record.text, session=session, at=_at(record))


def _at(record: Record) -> int:
    return record.recorded_at if record.occurred is None else record.occurred.start


def _called(record: ToolCallRecord) -> Called:
    return Called(
        id=record.id,
        name=record.name,
        arguments=record.arguments,
        result=record.error or record.result,
        failed=record.status == "error",
        at=_at(record),
        tokens=record.tokens,
    )


def _unlogged(
    messages: Sequence[MessageRecord], counter: EstimatingCounter
) -> Iterator[tuple[tuple[str, int], Called]]:
    """Pair the calls and answers that stand in messages alone; a call that was never answered has no entry."""
    asked: dict[str, tuple[str, str]] = {}
    for record in messages:
        if not record.parts:
            continue
        shown = window_message(record, counter)
        answered = asked.pop(shown.tool_call_id, None) if shown.tool_call_id else None
        asked.update((use.id, (use.name, use.arguments)) for use in shown.tool_uses)
        if answered is not None:
            name, arguments = answered
            place = (str(record.scope), record.seq)
            yield place, Called(id=record.id, name=name, arguments=arguments, result=shown.text, at=_at(record))


def _pending(call: ToolCall, number: int) -> Called:
    return Called(id=f"{_PENDING}:{number}", name=call.name, arguments=call.arguments, at=None)


def _priced(symptom: Symptom, price: Price | None) -> Symptom:
    return symptom if price is None or not symptom.tokens else replace(symptom, cost=price.of(tokens_in=symptom.tokens))
