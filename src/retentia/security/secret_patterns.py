"""Secrets that show what they are: vendors' keys, tokens, key blocks, headers, card numbers."""

import base64
import binascii
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Span = tuple[str, int, int]
"""A kind of secret, and the characters [start, end) of a text that hold one."""

# Not inside a longer word; a line break written out as \n is no letter of one.
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_CARD = re.compile(
    r"4(?:\d{15}|\d{18})"  # Visa
    r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|6(?:011|4[4-9]\d|5\d\d)\d{12}"  # Discover
    r"|3(?:0[0-5]|[689]\d)\d{11}"  # Diners Club
    r"|35(?:2[89]|[3-8]\d)\d{12}"  # JCB
    r"|62\d{14,17}"  # UnionPay
    r"|220[0-4]\d{12}"  # Mir
    r"|(?:50|5[6-9]|6[0-9])\d{14}"  # Maestro
)


# Most messages have few digits and none of the hints; they are done after a few searches for a sign.
_FEWEST_CARD_DIGITS = 14
_SIGNS = "_-=/:."


@dataclass(frozen=True, slots=True, eq=False)
class _Pattern:
    """One row of the table: what `regex` matches is a secret where `check` agrees."""

    kind: str
    regex: str
    check: Callable[[str], bool]

    def find(self, text: str) -> Iterator[Span]:
        compiled = _compiled(self.regex)
        group = "secret" if "secret" in compiled.groupindex else 0
        for match in compiled.finditer(text):
            if self.check(match[group]):
                yield self.kind, *match.span(group)


@dataclass(frozen=True, slots=True)
class _Table:
    """The patterns by hint, and the hints by a sign that they contain ("" for none)."""

    by_sign: tuple[tuple[str, tuple[tuple[str, _Pattern], ...]], ...]
    numbers: tuple[_Pattern, ...]


def evident(text: str) -> list[Span]:
    """Return the secrets that show what they are, pattern by pattern."""
    table = _table()
    suspected: list[_Pattern] = []
    for sign, hints in table.by_sign:
        if sign in text:
            for hint, pattern in hints:
                if hint in text and pattern not in suspected:
                    suspected.append(pattern)
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) - len(raw.translate(None, b"0123456789")) >= _FEWEST_CARD_DIGITS:
        suspected += table.numbers
    return [span for pattern in suspected for span in pattern.find(text)] if suspected else []


@cache
def secrets_table() -> Mapping[str, Any]:
    """Read secrets.toml; later calls return the same value."""
    return tomllib.loads(Path(__file__).with_name("secrets.toml").read_text("utf-8"))


@cache
def _table() -> _Table:
    by_sign: dict[str, list[tuple[str, _Pattern]]] = {sign: [] for sign in (*_SIGNS, "")}
    numbers = []
    for row in secrets_table()["pattern"]:
        pattern = _Pattern(row["kind"], _anchored(row["regex"]), _CHECKS[row.get("check", "")])
        if not row["hints"]:
            numbers.append(pattern)
        for hint in row["hints"]:
            by_sign[next(sign for sign in by_sign if sign in hint)].append((hint, pattern))
    return _Table(tuple((sign, tuple(hints)) for sign, hints in by_sign.items()), tuple(numbers))


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    # On first use only: a process meets few of the kinds.
    return re.compile(regex)


def _anchored(regex: str) -> str:
    return _START + regex[1:] if regex.startswith("@") else regex


def is_card_number(text: str) -> bool:
    """Tell whether a text is a payment card's number: an issuer's prefix and length, and the right check digit."""
    digits = "".join(char for char in text if char.isdigit())
    return _CARD.fullmatch(digits) is not None and _passes_luhn(digits)


def _passes_luhn(digits: str) -> bool:
    """Tell whether a number's last digit is its check digit (ISO/IEC 7812-1)."""
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(number // 10 + number % 10 for number in doubled)
    return total % 10 == 0


def _is_basic_credentials(text: str) -> bool:
    try:
        return b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return False


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "": lambda _: True,
    "card_number": is_card_number,
    "basic_credentials": _is_basic_credentials,
}
