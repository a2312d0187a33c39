"""Whether a result still holds, or the call is to be made again. Pure; the lengths of time are data, in freshness.toml.

What no rule knows is called again: an unknown tool may change something, and then its answer of before is no answer.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from fnmatch import translate
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from retentia.errors import InvalidInput
from retentia.model.message import JSON
from retentia.tools.ages import ago, in_words
from retentia.tools.condense import MAX_RESULT_BYTES
from retentia.tools.normalise import parameters_of

FOR_EVER = timedelta.max
NEVER = timedelta(0)
CLOCK_SKEW = timedelta(minutes=1)
"""How far in the future an earlier call may lie: clocks of several machines differ."""

_LENGTH = re.compile(r"(\d{1,6}) (second|minute|hour|day|week)s?")
_FIELDS = ("name", "tools", "holds", "effect", "until_written", "kept_days", "max_result_kilobytes")
_MOST_DAYS = 36_500
_MOST_KILOBYTES = 4_000
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SERVER = re.compile(r"^.*(?:__|[./:])(?=.)")
_SAFE_METHODS = frozenset({"", "get", "head", "options"})


class Effect(StrEnum):
    """What a call changes: nothing, what its parameters name, or who knows what."""

    READS = "reads"
    WRITES = "writes"
    ANYTHING = "writes anything"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule:
    """How long results of some tools hold, what their calls change, and how much of a result is kept how long."""

    name: str
    tools: tuple[str, ...] = ()
    holds: timedelta = NEVER
    effect: Effect = Effect.READS
    until_written: bool = False
    kept_days: int | None = None
    max_result_bytes: int = MAX_RESULT_BYTES

    @property
    def told_length(self) -> str:
        """How long its results hold, in words."""
        return {FOR_EVER: "for ever", NEVER: "never"}.get(self.holds) or in_words(self.holds)

    def fits(self, names: Sequence[str]) -> bool:
        """Tell whether one of the forms of a tool's name fits one of the patterns."""
        pattern = _pattern(self.tools)
        return any(pattern.match(name) for name in names)


UNKNOWN = ToolRule(name="unknown tools")
_OVER_HTTP = ToolRule(name="writes over HTTP", effect=Effect.WRITES)


@dataclass(frozen=True, slots=True)
class ToolRules:
    """Rules in order, of which the first that fits decides."""

    rules: tuple[ToolRule, ...]

    @classmethod
    def parse(cls, data: Mapping[str, object]) -> Self:
        """Read {"rule": [{…}, …]}, as freshness.toml has it; raise InvalidInput naming what is wrong."""
        given = data.get("rule")
        if set(data) != {"rule"} or not isinstance(given, list):
            raise InvalidInput("rules for tools are a list of [[rule]] and nothing else")
        return cls(tuple(_rule(number, one) for number, one in enumerate(given, start=1)))

    def rule_for(self, tool: str, arguments: JSON = None) -> ToolRule:
        """Return the rule that decides on a call."""
        if _method(arguments) not in _SAFE_METHODS:
            return _OVER_HTTP
        names = names_of(tool)
        return next((rule for rule in self.rules if rule.fits(names)), UNKNOWN)

    def followed_by(self, others: "ToolRules") -> "ToolRules":
        """Return these rules, and the others after them."""
        return ToolRules(self.rules + others.rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """The earlier result still holds."""

    result: JSON
    age: timedelta


@dataclass(frozen=True, slots=True)
class CallAgain:
    """It was called before, and the result does not hold any more, or was never there; `why` says so."""

    why: str


@dataclass(frozen=True, slots=True)
class NeverSeen:
    """No such call is known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedBefore:
    """The last such call failed, and so did as many in a row as `times` says; look at the cause before repeating it."""

    cause: str
    message: str
    times: int


Decision: TypeAlias = Reuse | CallAgain | NeverSeen | FailedBefore


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """The last call of the same kind: what came of it, how old it is, and what may have made it stale.

    `written_by` names the tool that wrote what it had read, "" for none. `is_cut` says that only a part of the result
    is kept, `hides_secret` that its arguments differ perhaps in a secret, which is kept nowhere.
    """

    status: Literal["ok", "error", "open"]
    age: timedelta
    result: JSON = None
    cause: str = ""
    message: str = ""
    failed_times: int = 0
    written_by: str = ""
    is_cut: bool = False
    hides_secret: bool = False


def decide(earlier: Earlier | None, rule: ToolRule, *, fresh_for: timedelta | None = None) -> Decision:
    """Decide what to do instead of a call, or with it; `fresh_for` replaces how long the rule says a result holds.

    A side effect is never answered from memory, whatever `fresh_for` says.
    """
    if earlier is None:
        return NeverSeen()
    if earlier.status == "error":
        return FailedBefore(cause=earlier.cause, message=earlier.message, times=earlier.failed_times)
    why = _stale(earlier, rule, rule.holds if fresh_for is None else fresh_for)
    return CallAgain(why) if why else Reuse(result=earlier.result, age=max(earlier.age, timedelta(0)))


def _stale(earlier: Earlier, rule: ToolRule, holds: timedelta) -> str:
    told = ago(earlier.age)
    doubts = (
        (earlier.status == "open", f"it was called {told}, and no result is kept"),
        (rule.effect is not Effect.READS, f"it was done {told}; it has effects, so doing it again is your decision"),
        (earlier.hides_secret, "its arguments hold a secret, which is not kept and so cannot be compared"),
        (earlier.is_cut, "only a part of the earlier result is kept"),
        (earlier.written_by != "", f"{earlier.written_by!r} may have changed it since"),
        (
            earlier.age < -CLOCK_SKEW and holds != FOR_EVER,
            "the earlier call lies in the future of this clock, so its age is not known",
        ),
        (holds == NEVER, f"nothing says how long a result of {rule.name} holds; the last one is from {told}"),
        (earlier.age > holds, f"the result is from {told}, and {rule.name} hold for {in_words(holds)}"),
    )
    return next((why for is_so, why in doubts if is_so), "")


@cache
def shipped_rules() -> ToolRules:
    """Read freshness.toml beside this file once."""
    return ToolRules.parse(tomllib.loads(Path(__file__).with_name("freshness.toml").read_text("utf-8")))


@lru_cache(maxsize=1024)
def _pattern(tools: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, tools)) or "(?!)")


def names_of(tool: str) -> tuple[str, ...]:
    """Return the forms of a tool's name that patterns are compared with: whole, and without its server."""
    whole = _HUMP.sub("_", tool.strip()).replace("-", "_").replace(" ", "_").casefold()
    return tuple(dict.fromkeys((whole, _SERVER.sub("", whole))))


def _method(arguments: JSON) -> str:
    given = parameters_of(arguments).get("method")
    return given.strip().casefold() if isinstance(given, str) and given.strip().isalpha() else ""


def _rule(number: int, given: object) -> ToolRule:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"tool rule {number} must be a table, not {type(given).__name__}")
    known: dict[str, Any] = dict(given)
    name = str(known.get("name") or f"tool rule {number}")
    if unknown := sorted(known.keys() - set(_FIELDS)):
        raise InvalidInput(
            f"tool rule {name!r} has unknown fields: {', '.join(unknown)}; known are {', '.join(_FIELDS)}"
        )
    tools = known.get("tools")
    if not isinstance(tools, list) or not tools or not all(isinstance(one, str) and one for one in tools):
        raise InvalidInput(f"tools of tool rule {name!r} must be a list of patterns, such as ['get_price', '*quote*']")
    kilobytes = _whole(name, "max_result_kilobytes", known, _MOST_KILOBYTES)
    return ToolRule(
        name=name,
        tools=tuple(pattern.casefold() for pattern in tools),
        holds=_length(name, known.get("holds", "never")),
        effect=_effect(name, known.get("effect", Effect.READS)),
        until_written=known.get("until_written") is True,
        kept_days=_whole(name, "kept_days", known, _MOST_DAYS),
        max_result_bytes=MAX_RESULT_BYTES if kilobytes is None else kilobytes * 1024,
    )


def _length(rule: str, given: object) -> timedelta:
    if given == "for ever":
        return FOR_EVER
    if given == "never":
        return NEVER
    if isinstance(given, str) and (read := _LENGTH.fullmatch(given.strip())):
        return timedelta(**{f"{read.group(2)}s": int(read.group(1))})
    raise InvalidInput(f"holds of tool rule {rule!r} must be such as '5 minutes', 'for ever' or 'never', not {given!r}")


def _effect(rule: str, given: object) -> Effect:
    try:
        return Effect(str(given))
    except ValueError:
        raise InvalidInput(f"effect of tool rule {rule!r} must be one of {', '.join(Effect)}, not {given!r}") from None


def _whole(rule: str, field: str, known: Mapping[str, Any], most: int) -> int | None:
    given = known.get(field)
    if given is not None and (not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= most):
        raise InvalidInput(f"{field} of tool rule {rule!r} must be 1 to {most}, not {given!r}")
    return given
