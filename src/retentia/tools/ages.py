"""How long ago something was, in words. Pure."""

from datetime import timedelta

_UNITS = (
    ("year", 365 * 86_400),
    ("month", 30 * 86_400),
    ("week", 7 * 86_400),
    ("day", 86_400),
    ("hour", 3_600),
    ("minute", 60),
    ("second", 1),
)
_DAYS_AS_DAYS = 14 * 86_400


def in_words(length: timedelta) -> str:
    """Write a length of time in its largest whole unit: "3 days", "1 hour"; less than a second is "a moment"."""
    seconds = int(abs(length).total_seconds())
    for name, size in _UNITS:
        if seconds >= size and not (name == "week" and seconds < _DAYS_AS_DAYS):
            count = seconds // size
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "a moment"


def ago(age: timedelta) -> str:
    """Say how old something is; what lies in the future by this clock is said to."""
    return f"in {in_words(age)}" if age < timedelta(0) else f"{in_words(age)} ago"
