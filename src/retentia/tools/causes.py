"""Why calls failed: the class of an error, and its message without what differs from one time to the next. Pure."""

import re

from retentia.tools.condense import condense

_MESSAGE = 160
_CLASS = re.compile(r"\b(?:[A-Za-z_][\w]*\.)*([A-Z]\w*(?:Error|Exception|Timeout|Warning|Failure|Refused|Denied))\b")
_HTTP = re.compile(r"\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?: code)?|error)[\s:=]*([45]\d\d)\b", re.IGNORECASE)
_KINDS = (
    ("timeout", re.compile(r"tim(?:ed|e)[ -]?out|deadline exceeded", re.IGNORECASE)),
    ("rate limit", re.compile(r"rate.?limit|too many requests|quota", re.IGNORECASE)),
    ("permission denied", re.compile(r"permission denied|forbidden|unauthori[sz]ed|access denied", re.IGNORECASE)),
    ("not found", re.compile(r"not found|no such|does not exist|unknown (?:host|symbol)", re.IGNORECASE)),
    ("connection", re.compile(r"connection|network|unreachable|name resolution|\bdns\b", re.IGNORECASE)),
    (
        "invalid input",
        re.compile(r"invalid|malformed|missing (?:required )?(?:argument|parameter|field)", re.IGNORECASE),
    ),
)
_VARIES = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b", re.IGNORECASE), "…"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "N"),
    (re.compile(r"\s+"), " "),
)
_LOOKS_FAILED = re.compile(r"\s*(?:Error|ERROR|error|Traceback|Exception)\b\s*(?:[:(]|\bmost recent)")


def cause_of(error: str) -> str:
    """Return the class of an error: its exception, its HTTP status, or what kind of trouble its message tells."""
    if named := _CLASS.findall(error):
        return str(named[-1])  # the last one of a traceback is what was raised
    if status := _HTTP.search(error):
        return f"HTTP {status.group(1)}"
    return next((kind for kind, pattern in _KINDS if pattern.search(error)), "error")


def message_of(error: str) -> str:
    """Return the message of an error in one line: the last line of a traceback."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    is_trace = bool(lines) and lines[0].startswith("Traceback")
    return condense(lines[-1] if is_trace else " ".join(lines), _MESSAGE)


def pattern_of(error: str) -> str:
    """Return what the messages of one failure that came again have in common: numbers and ids left out."""
    text = message_of(error)
    for pattern, mark in _VARIES:
        text = pattern.sub(mark, text)
    return text


def looks_failed(result: str) -> bool:
    """Tell whether the text of a tool message reports an error; chat messages have no field for it."""
    return _LOOKS_FAILED.match(result) is not None
