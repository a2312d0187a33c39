"""Long results in a few lines: the shape of JSON, its keys and counts; numbers, names, errors; head and tail. Pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from retentia.model.message import JSON

CONDENSED_CHARACTERS = 500
MAX_RESULT_BYTES = 256 * 1024
"""How much of a result is kept unless a rule says otherwise: in UTF-8, as JSON."""

_LEVELS = ((12, 120), (8, 60), (5, 40), (3, 24), (2, 16), (1, 8))  # entries shown of each list or object, characters
_FIRST = ("error", "errors", "exception", "message", "code", "status", "reason")
_TELLING_LINE = re.compile(r"error|exception|fail|fatal|denied|not found|timed? ?out|warning|traceback", re.IGNORECASE)
_TELLING_WORD = re.compile(r"[$€£]?\d[\d.,:%/-]*\d%?|[$€£]?\d%?|\b[A-ZÄÖÜА-ЯЄІЇҐ]\w+(?:[ ][A-ZÄÖÜА-ЯЄІЇҐ]\w+)*")
_LONGEST_LINE = 160


def condense(outcome: JSON, limit: int = CONDENSED_CHARACTERS) -> str:
    """Write a result in at most so many characters; the whole stays in the record. A short one stays as it is."""
    text = outcome if isinstance(outcome, str) else written(outcome)
    if len(text) <= limit:
        return text
    value = _structure(outcome)
    return _text(text, limit) if value is None else _outline(value, text, limit)


def truncated(outcome: JSON, limit: int) -> tuple[JSON, int | None]:
    """Return what is kept of a result, and how many bytes it had where it was cut, None where it is whole."""
    text = outcome if isinstance(outcome, str) else written(outcome)
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return outcome, None
    mark = f" […cut: {len(raw):,} bytes, {limit:,} are kept…] "
    room = max(limit - len(mark.encode()), 0)
    head, tail = room * 3 // 4, room // 4
    kept = raw[:head].decode("utf-8", "ignore") + mark + (raw[-tail:].decode("utf-8", "ignore") if tail else "")
    return kept, len(raw)


def written(value: JSON) -> str:
    """Write a value as compact JSON; nothing is ""."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _structure(outcome: JSON) -> Any:
    """Return an object or array, also one that is written in a text; None for plain text."""
    if not isinstance(outcome, str):
        return outcome
    trimmed = outcome.strip()
    if trimmed[:1] + trimmed[-1:] not in ("{}", "[]"):
        return None
    try:
        return json.loads(trimmed)
    except (ValueError, RecursionError):
        return None


def _outline(value: Any, text: str, limit: int) -> str:
    for entries, characters in _LEVELS:
        try:
            drawn = _drawn(value, entries, characters)
        except RecursionError:
            break
        if len(drawn) <= limit:
            return drawn
    return _text(text, limit)


def _drawn(value: Any, entries: int, characters: int) -> str:
    match value:
        case str():
            return _short(value, characters)
        case Mapping():
            chosen = sorted(value, key=lambda name: (str(name).lower() not in _FIRST, not _is_flat(value[name])))
            shown = [
                f"{_short(str(name), 40)}: {_drawn(value[name], entries, characters)}" for name in chosen[:entries]
            ]
            rest = [_short(str(name), 40) for name in chosen[entries : entries + 2 * entries]]
            left = len(value) - entries
            more = [f"…{left} more keys: {', '.join(rest)}{' …' if left > len(rest) else ''}"] if left > 0 else []
            return "{" + ", ".join((*shown, *more)) + "}"
        case Sequence():
            return _drawn_list(value, entries, characters)
    return json.dumps(value, ensure_ascii=False, default=str)


def _drawn_list(value: Sequence[Any], entries: int, characters: int) -> str:
    if len(value) <= entries:
        return "[" + ", ".join(_drawn(one, entries, characters) for one in value) + "]"
    head = [_drawn(one, entries, characters) for one in value[: max(entries - 1, 1)]]
    tail = [_drawn(value[-1], entries, characters)] if entries > 1 else []
    return f"[{len(value)} entries: " + ", ".join((*head, "…", *tail)) + "]"


def _is_flat(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _short(text: str, characters: int) -> str:
    shown = text if len(text) <= characters else f"{text[: characters * 2 // 3]}…{text[-(characters // 3) :]}"
    return json.dumps(shown, ensure_ascii=False) if shown.strip() != shown or not shown else shown


def _text(text: str, limit: int) -> str:
    """Keep the beginning, the end, and what tells most between them."""
    mark = f" […{len(text)} characters…] "
    room = max(limit - len(mark), 0)
    head, tail = room * 4 // 10, room // 4
    between = text[head : len(text) - tail]
    told = _fitting(dict.fromkeys(_telling(between)), room - head - tail)
    ending = text[len(text) - tail :] if tail else ""
    return f"{text[:head]}{mark}{told}{ending}"[:limit]


def _telling(between: str) -> Iterator[str]:
    """Yield the lines that speak of errors, then the numbers and names, in order."""
    lines = between.splitlines()
    yield from (line.strip()[:_LONGEST_LINE] for line in lines if _TELLING_LINE.search(line))
    yield from (found.group() for found in _TELLING_WORD.finditer(between))


def _fitting(pieces: Iterable[str], room: int) -> str:
    chosen: list[str] = []
    for piece in pieces:
        room -= len(piece) + 2
        if room < 2:
            break
        chosen.append(piece)
    return f"{'; '.join(chosen)} … " if chosen else ""
