"""Repeated calls: the same tool asked the same thing again, with nothing in between that could change the answer."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta

from retentia.diagnose.canonical import canonical, canonical_json
from retentia.diagnose.log import Called, Said, Step
from retentia.diagnose.symptom import Symptom, SymptomKind, quote
from retentia.diagnose.wording import wording
from retentia.model.message import JSON

FRESH_FOR = timedelta(hours=1)
"""How long an answer counts as known, where nothing else is said."""
CountTokens = Callable[[str], int]
_TEXT = 20_000
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def repeated_calls(
    session: str, steps: Sequence[Step], *, count_tokens: CountTokens, fresh_for: timedelta = FRESH_FOR
) -> Iterator[Symptom]:
    """Yield each call that repeats an earlier one without a reason.

    Reasons are: the earlier one failed, or is older than `fresh_for`; a call in between may have changed something, or
    the answer is another one; the user asked to look again.
    """
    last: dict[str, tuple[int, Called]] = {}
    for place, step in enumerate(steps):
        if not isinstance(step, Called):
            continue
        if (key := canonical(step.name, step.arguments)) is None:
            continue
        if (earlier := last.get(key)) is not None and _is_idle(
            steps[earlier[0] + 1 : place], earlier[1], step, fresh_for
        ):
            yield _symptom(session, earlier[1], step, count_tokens)
        if has_answer(step):
            last[key] = (place, step)


def has_answer(call: Called) -> bool:
    """Whether a call came back with something that could have been kept."""
    return not call.failed and call.result not in (None, "", [], {}) and not wording().failed.search(_said(call)[:300])


def may_change(call: Called) -> bool:
    """Whether a call looks as if it changed something, by the name of its tool or the method it names."""
    method = call.arguments.get("method") if isinstance(call.arguments, Mapping) else None
    if str(method).upper() in ("POST", "PUT", "PATCH", "DELETE"):
        return True
    first, *others = _CAMEL.sub("_", call.name).replace("-", "_").replace(".", "_").casefold().split("_")
    return not wording().reads.match(first) and any(map(wording().writes.match, (first, *others)))


def written(call: Called) -> str:
    """Write a call as one line."""
    return quote(f"{call.name}({_text(call.arguments)})")


def _is_idle(between: Sequence[Step], earlier: Called, later: Called, fresh_for: timedelta) -> bool:
    """Whether nothing speaks for asking again."""
    if None not in (earlier.at, later.at) and _age(earlier, later) > fresh_for:
        return False
    if later.failed or (later.result is not None and _said(later) != _said(earlier)):
        return False
    if any(isinstance(step, Called) and may_change(step) for step in between):
        return False
    return not any(isinstance(step, Said) and step.role == "user" and _asks_again(step.text) for step in between)


def _asks_again(text: str) -> bool:
    return wording().again.search(text[:_TEXT]) is not None


def _age(earlier: Called, later: Called) -> timedelta:
    return timedelta(microseconds=(later.at or 0) - (earlier.at or 0))


def _symptom(session: str, earlier: Called, later: Called, count_tokens: CountTokens) -> Symptom:
    cost = later.tokens
    if cost is None:
        cost = count_tokens(f"{later.name} {_text(later.arguments)}") + count_tokens(_said(earlier))
    age = "" if None in (earlier.at, later.at) else f", {_age(earlier, later).total_seconds():,.0f} s after it"
    return Symptom(
        kind=SymptomKind.REPEATED_CALL,
        session=session,
        ids=(earlier.id, later.id),
        quotes=(written(earlier), quote(_said(earlier))),
        reason=f"asked again with the same arguments{age}; nothing had changed",
        tokens=cost,
    )


def _said(call: Called) -> str:
    return _text(call.result)


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else canonical_json(value) or ""
