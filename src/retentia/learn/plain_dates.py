"""Plain dates: the ones that need no present to be understood, such as 2026-03-01, 3. März 2026 or March 2026."""

import re
from collections.abc import Iterator
from functools import cache

from retentia.errors import InvalidMoment
from retentia.languages import load_languages
from retentia.model.time import Moment

_NUMERIC = re.compile(r"(?<![\w.-])(?:(\d{4})-(\d{2})(?:-(\d{2}))?|(\d{1,2})\.(\d{1,2})\.(\d{4}))(?![\w-])")
_YEAR = re.compile(r"(?<![\w.,-])((?:19|20)\d{2})(?![\w-]|[.,]\d)")


def plain_date(text: str, zone: str = "UTC") -> Moment | None:
    """Return the first date of a text that has a year, as exactly as it was given; None without one."""
    return next((moment for iso in _dates(text) if (moment := _moment(iso, zone)) is not None), None)


def _dates(text: str) -> Iterator[str]:
    for found in _NUMERIC.finditer(text):
        year, month, day, german_day, german_month, german_year = found.groups()
        if german_year:
            yield f"{german_year}-{int(german_month):02}-{int(german_day):02}"
        else:
            yield "-".join(part for part in (year, month, day) if part)
    for found in _named().finditer(text):
        day, name, year = found["day"] or found["day_behind"], found["month"], found["year"]
        month = _months()[name.casefold()]
        yield f"{year}-{month:02}-{int(day):02}" if day else f"{year}-{month:02}"
    yield from (found[1] for found in _YEAR.finditer(text))


def _moment(iso: str, zone: str) -> Moment | None:
    try:
        return Moment.parse(iso, zone=zone)
    except InvalidMoment:
        return None


@cache
def _months() -> dict[str, int]:
    return {
        form.casefold(): number
        for language in load_languages()
        for number, forms in enumerate(language.months, 1)
        for form in forms
    }


@cache
def _named() -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
    return re.compile(
        rf"(?<!\w)(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? )?(?P<month>{names})"
        r"(?: (?P<day_behind>\d{1,2})(?:st|nd|rd|th)?)?,? (?P<year>\d{4})(?!\w)",
        re.IGNORECASE,
    )
