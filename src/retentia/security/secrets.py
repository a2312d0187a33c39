"""Secrets: find keys, passwords and card numbers, and mask them before anything is written.

Masking is conservative: what has a vendor's prefix, a header, a label ("password:", "Passwort ist", "пароль —") or a
card's check digit is masked; what merely looks random (hashes, UUIDs, order numbers) is not. Patterns and words are
data, in secrets.toml beside this file.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from retentia.errors import InvalidInput
from retentia.model.message import JSON
from retentia.security.announced import announced
from retentia.security.secret_patterns import Span, evident, secrets_table

_MARK_OPENS = "[secret:"
_MARK = re.compile(r"\[secret:[a-z_]+\]")
_NOT_A_LETTER = re.compile(r"[\W_]+")
_NO_SECRET = re.compile(r"\[secret:[a-z_]+\]|\$\{.*\}|\$[A-Za-z_]+|\{\{.*\}\}|<[^>]*>|\*+", re.DOTALL)
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class SecretFound:
    """One secret: what it is, and the characters [start, end) of the original text that held it."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and where they were."""

    text: str
    found: tuple[SecretFound, ...] = ()


@dataclass(frozen=True, slots=True)
class MaskedJson:
    """A JSON value without its secrets, and the kinds that were found, in the order of the value."""

    value: JSON
    kinds: tuple[str, ...] = ()


def mask_secrets(text: str) -> Masked:
    """Replace each secret in a text by its mark, such as "[secret:api_key]".

    Masking is idempotent: marks are never looked into, and what lies between them is masked until nothing is found.
    Takes time linear in the length of the text.
    """
    if not evident(text) and not announced(text):
        return Masked(text)  # an ordinary message, in microseconds
    kept: list[str] = []
    end = 0
    for kind, start, stop in (spans := _secrets_of(text)):
        kept += text[end:start], _mark(kind)
        end = stop
    return Masked("".join((*kept, text[end:])), tuple(SecretFound(*span) for span in spans))


def mask_json(value: JSON) -> MaskedJson:
    """Mask the secrets in tool arguments, results or metadata: in every string and key, and JSON written in a string.

    A string under a key that names a secret ("password", "x-api-key", "Authorization") is masked whatever it looks
    like. What holds no secret comes back equal. Raises InvalidInput when the value is nested deeper than 200 levels.
    """
    kinds: list[str] = []
    return MaskedJson(_masked(value, kinds, depth=0), tuple(kinds))


def _secrets_of(text: str) -> list[Span]:
    """Return the secrets in order, without overlap."""
    secrets: list[Span] = []
    pieces = [(0, len(text))]
    if _MARK_OPENS in text:
        pieces = list(_pieces(text, (mark.span() for mark in _MARK.finditer(text)), 0))
    while pieces:
        start, end = pieces.pop()
        piece = text[start:end]
        if spans := _merged(evident(piece) + announced(piece)):
            secrets += ((kind, start + first, start + last) for kind, first, last in spans)
            # A cut changes what stands beside a text, so what is left is looked at once more.
            pieces += _pieces(piece, ((first, last) for _, first, last in spans), start)
    return sorted(secrets, key=lambda span: span[1])


def _pieces(text: str, holes: Iterable[tuple[int, int]], offset: int) -> Iterator[tuple[int, int]]:
    end = 0
    for start, stop in holes:
        if end < start:
            yield offset + end, offset + start
        end = stop
    if end < len(text):
        yield offset + end, offset + len(text)


def _merged(spans: list[Span]) -> list[Span]:
    """Join spans that overlap; the first one's kind names them."""
    if len(spans) < 2:
        return spans
    merged: list[Span] = []
    for kind, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
        if merged and start < merged[-1][2]:
            merged[-1] = (merged[-1][0], merged[-1][1], max(end, merged[-1][2]))
        else:
            merged.append((kind, start, end))
    return merged


def _mark(kind: str) -> str:
    return f"[secret:{kind}]"


def _masked(value: JSON, kinds: list[str], depth: int) -> JSON:
    if depth > _DEEPEST:
        raise InvalidInput(f"the value is nested deeper than {_DEEPEST} levels; store it as text")
    if isinstance(value, str):
        return _masked_text(value, kinds, depth)
    if isinstance(value, Mapping):
        return _masked_object(value, kinds, depth)
    if isinstance(value, Sequence):
        return [_masked(item, kinds, depth + 1) for item in value]
    return value


def _masked_text(text: str, kinds: list[str], depth: int) -> str:
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]") and depth < _DEEPEST:
        inner: list[str] = []
        try:
            value = _masked(json.loads(text), inner, depth + 1)
        except (ValueError, RecursionError):  # no JSON after all
            inner.clear()
        if inner:
            kinds += inner
            return json.dumps(value, ensure_ascii=False)
    masked = mask_secrets(text)
    kinds += (secret.kind for secret in masked.found)
    return masked.text


def _masked_object(value: Mapping[str, JSON], kinds: list[str], depth: int) -> dict[str, JSON]:
    result: dict[str, JSON] = {}
    for key, item in value.items():
        name = mask_secrets(key).text if isinstance(key, str) else key
        kind = _kind_of_key(name) if isinstance(name, str) else None
        while name in result:  # two masked keys must not become one
            name += "'"
        if kind is None:
            result[name] = _masked(item, kinds, depth + 1)
        elif isinstance(item, Sequence) and not isinstance(item, str):
            result[name] = [_masked_value(each, kind, kinds, depth + 1) for each in item]
        else:
            result[name] = _masked_value(item, kind, kinds, depth)
    return result


def _masked_value(value: JSON, kind: str, kinds: list[str], depth: int) -> JSON:
    if isinstance(value, str):
        secret = bool(value.strip()) and not _NO_SECRET.fullmatch(value)
    else:
        secret = kind == "password" and isinstance(value, int | float) and not isinstance(value, bool)
    if not secret:
        return _masked(value, kinds, depth + 1)
    kinds.append(kind)
    return _mark(kind)


def _kind_of_key(key: str) -> str | None:
    """Return the kind of secret that a key of an object names, if it names one."""
    name = _NOT_A_LETTER.sub("", _MARK.sub("", key).lower())
    for kind, endings, names in _json_keys():
        if name in names or name.endswith(endings):
            return kind
    return None


@cache
def _json_keys() -> tuple[tuple[str, tuple[str, ...], frozenset[str]], ...]:
    return tuple(
        (kind, tuple(row["endings"]), frozenset(row["names"])) for kind, row in secrets_table()["json_keys"].items()
    )
