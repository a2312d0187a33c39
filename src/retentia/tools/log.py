"""The tool log: what was called, whether to call it again, how values moved, what failed. `Memory.tools` has it."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from retentia.errors import InvalidInput, NotFound
from retentia.model.ids import id_bytes
from retentia.model.message import JSON
from retentia.model.record import Kind, Record, ToolCallRecord
from retentia.model.scope import Scope
from retentia.store import records, sessions, tenant_settings, tool_uses
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.store.tool_uses import ToolUse
from retentia.tools.calls import Call, Pair, by_id, call_of, ids_of, paired
from retentia.tools.failures import Failure, failures_of
from retentia.tools.freshness import Effect, ToolRule, ToolRules
from retentia.tools.normalise import ANYTHING, Arguments, call_key, read_arguments, target_key, targets_of
from retentia.tools.noting import note_earlier, rules_of
from retentia.tools.seen import Seen, seen_of
from retentia.tools.series import Series, series_of

TOLD_BY = frozenset({Kind.TOOL_CALL, Kind.MESSAGE})
"""The kinds of records that tell of calls."""
_CALLS_OF_ONE_KEY = 200
_CALLS_OF_A_SERIES = 1_000

Allowed = Mapping[Scope, frozenset[Kind]]
Allow = Callable[[Scope], Allowed]
"""Tell which of the kinds that tell of calls may be read in a scope, and in what the user's agents share beside it."""
Show = Callable[[Scope, Sequence[Record]], Sequence[Record]]
"""Let records be shown: log the access, and return them as they may be seen."""


def whole(scope: Scope) -> Allowed:
    """Allow everything, as the owner of a memory may."""
    return {scope: TOLD_BY, scope.shared(): TOLD_BY}


class ToolReading:
    """What may be asked of the tool log. Safe to use from many threads."""

    def __init__(self, database: Database, *, allow: Allow, show: Show) -> None:
        self._database = database
        self._allow = allow
        self._show = show
        self._noted: set[str] = set()

    def seen(
        self,
        name: str,
        arguments: JSON = None,
        *,
        scope: Scope,
        session: str | None = None,
        fresh_for: timedelta | None = None,
    ) -> Seen:
        """Tell whether a call with these arguments was made before, what came of it, and whether that still holds.

        Arguments that mean the same are the same, see `retentia.tools.normalise`. `session` looks into one session
        only. `fresh_for` replaces how long the tool's rule says that a result holds. Raises InvalidInput for arguments
        that are no JSON.
        """
        given = read_arguments(arguments)
        allowed = self._allow(scope)
        self._note_earlier(scope.tenant)
        with self._database.read(scope.tenant) as transaction:
            sight = _Sight.of(transaction, scope, allowed, session)
            rules = rules_of(tenant_settings.load(transaction))
            rule = rules.rule_for(name, given.value)
            pairs = sight.paired(sight.calls(call_key(scope.tenant, name, given.canonical), limit=_CALLS_OF_ONE_KEY))
            last = next((pair for pair in pairs if pair.status != "open"), pairs[0] if pairs else None)
            found = sight.records([last]) if last else []
            written_by = _writer(sight, rules, rule, given, last) if last else ""
        shown = by_id(self._show(scope, found))
        return seen_of(
            name,
            pairs,
            call_of(last, shown) if last else None,
            rule,
            now=transaction.now,
            fresh_for=fresh_for,
            written_by=written_by,
            hides_secret=given.hides_secret,
        )

    def log(self, *, scope: Scope, name: str | None = None, session: str | None = None, limit: int = 100) -> list[Call]:
        """Return the last calls, the newest first: logged ones and those in messages, each once."""
        if limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {limit}")
        return self._calls(
            scope,
            session,
            lambda sight: sight.latest(limit=limit) if name is None else sight.named(name, limit=limit),
        )[0]

    def series(
        self,
        name: str,
        arguments: JSON = None,
        *,
        scope: Scope,
        path: str | None = None,
        session: str | None = None,
    ) -> Series:
        """Return the values of one field of the results of a call over time, the oldest first, with their changes.

        `path` names the field ("price", "rows.0.total"), None the only number of a result. Without arguments all calls
        of the tool count, the last thousand.
        """
        key = None if arguments is None else call_key(scope.tenant, name, read_arguments(arguments).canonical)

        found, now = self._calls(
            scope,
            session,
            lambda sight: (
                sight.named(name, limit=_CALLS_OF_A_SERIES)
                if key is None
                else sight.calls(key, limit=_CALLS_OF_A_SERIES)
            ),
        )
        return series_of(name, found, path, now=now)

    def failures(
        self, *, scope: Scope, name: str | None = None, session: str | None = None, limit: int = 1_000
    ) -> list[Failure]:
        """Return what failed among the last calls, grouped by tool, class of error and message."""
        return failures_of(self.log(scope=scope, name=name, session=session, limit=limit))

    def result(self, record_id: str, *, scope: Scope) -> JSON:
        """Return the result of a call whole, or the text of its error; the id is that of `Seen`, `Call` or `Point`.

        A result that was cut when it came is as it was kept, which its text says. Raises NotFound.
        """
        try:
            raw = id_bytes(record_id)
        except ValueError as error:
            raise InvalidInput(str(error)) from error
        allowed = self._allow(scope)
        with self._database.read(scope.tenant) as transaction:
            sight = _Sight.of(transaction, scope, allowed)
            named = records.kinds_of(transaction, sight.view, [raw]) if sight.view.scopes else {}
            readable = {kind: ids for kind, ids in named.items() if kind in sight.kinds}
            found = records.fetch(transaction, sight.view, readable)
        shown = self._show(scope, list(found.values()))
        if not shown:
            raise NotFound(f"there is no tool call {record_id!r} in {scope}")
        (record,) = shown
        return _outcome(record)

    def _calls(
        self, scope: Scope, session: str | None, wanted: "Callable[[_Sight], list[ToolUse]]"
    ) -> tuple[list[Call], int]:
        allowed = self._allow(scope)
        self._note_earlier(scope.tenant)
        with self._database.read(scope.tenant) as transaction:
            sight = _Sight.of(transaction, scope, allowed, session)
            pairs = sight.paired(wanted(sight))
            found = sight.records(pairs)
        shown = by_id(self._show(scope, found))
        return [call for pair in pairs if (call := call_of(pair, shown)) is not None], transaction.now

    def _note_earlier(self, tenant: str) -> None:
        """Note, once for each tenant of a store, what was written before uses of tools were noted."""
        if tenant in self._noted:
            return
        with self._database.read(tenant) as transaction:
            is_noted = tenant_settings.load(transaction).has_noted_tools
        if not is_noted:
            note_earlier(self._database, tenant)
        self._noted.add(tenant)


class ToolLog(ToolReading):
    """The tool log with what its owner may set."""

    def rules(self, tenant: str) -> ToolRules:
        """Return the rules that decide how long results hold: the tenant's own, then the shipped ones."""
        with self._database.read(tenant) as transaction:
            return rules_of(tenant_settings.load(transaction))

    def set_rules(self, rules: Mapping[str, object] | None, *, tenant: str) -> ToolRules:
        """Put rules of a tenant's own, as freshness.toml has them, before the shipped ones; None removes them.

        How long a result holds is decided anew at once; what is kept how long, and what a call writes, from now on.
        Raises InvalidInput.
        """
        if rules is not None:
            ToolRules.parse(rules)
        with self._database.write(tenant) as transaction:
            tenant_settings.set_tool_rules(transaction, rules)
        return self.rules(tenant)


@dataclass(frozen=True, slots=True)
class _Sight:
    """What one question may look at: scopes, the kinds that may be read in all of them, sessions (None for all)."""

    transaction: Transaction
    view: View
    kinds: frozenset[Kind]
    session_ids: frozenset[bytes] | None

    @classmethod
    def of(cls, transaction: Transaction, scope: Scope, allowed: Allowed, session: str | None = None) -> Self:
        named = records.view_of(transaction, scope).scopes
        view = View({number: name for number, name in named.items() if allowed.get(name)})
        kinds = TOLD_BY.intersection(*(allowed[name] for name in view.scopes.values()))
        if session is None:
            return cls(transaction, view, kinds, None)
        found = (sessions.find(transaction, scope_id, session) for scope_id in view.scope_ids)
        return cls(transaction, view, kinds, frozenset(one for one in found if one is not None))

    def calls(self, key: bytes, *, limit: int) -> list[ToolUse]:
        if not self.view.scopes:
            return []
        return tool_uses.calls(
            self.transaction, self.view, key, kinds=self.kinds, limit=limit, session_ids=self.session_ids
        )

    def named(self, name: str, *, limit: int) -> list[ToolUse]:
        if not self.view.scopes:
            return []
        return tool_uses.named(
            self.transaction, self.view, name, kinds=self.kinds, limit=limit, session_ids=self.session_ids
        )

    def latest(self, *, limit: int) -> list[ToolUse]:
        return tool_uses.latest(
            self.transaction, self.view, kinds=self.kinds, limit=limit, session_ids=self.session_ids
        )

    def paired(self, uses: Sequence[ToolUse]) -> list[Pair]:
        links = {use.link_key for use in uses if use.link_key is not None and not use.status}
        return paired(uses, tool_uses.outcomes(self.transaction, self.view, links) if links else [])

    def records(self, pairs: Sequence[Pair]) -> list[Record]:
        return list(records.fetch(self.transaction, self.view, ids_of(pairs)).values()) if pairs else []


def _writer(sight: _Sight, rules: ToolRules, rule: ToolRule, given: Arguments, last: Pair) -> str:
    """Name the tool that may have changed since what a call had read, "" for none."""
    if not rule.until_written:
        return ""
    transaction, call = sight.transaction, last.call
    keys = [target_key(transaction.tenant, target) for target in (*targets_of(given.value), ANYTHING)]
    named = tool_uses.touching(transaction, sight.view, keys, since=call.called_at, but=call.record_id)
    return next((name for name in named if rules.rule_for(name).effect is not Effect.READS), "")


@functools.singledispatch
def _outcome(record: Record) -> JSON:
    return record.text


@_outcome.register
def _(record: ToolCallRecord) -> JSON:
    return record.error if record.status == "error" and record.error else record.result
