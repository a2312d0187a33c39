"""When two calls are the same: arguments in one canonical form, and keys that are no content. Pure.

What is the same here answers one call with the result of another, so in doubt two calls differ: that only costs a call.

The same: the order and spacing of JSON; arguments handed over as JSON text; `1` and `1.0`; an absent parameter and
`null`; no arguments, `{}` and an empty text; the case of parameter names; blanks around a text; composed and decomposed
letters (NFC); a text that holds a JSON object or array and that value; scheme, host, default port and trailing slashes
of a URL. Different: `"1"` and `1` (an id "007" is no number), `true` and `1`, the order of a list, the case of a text
and the blanks in it (both mean something in code, names and quoted text), the case of keys below the parameters.
"""

import json
import math
import posixpath
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from retentia.errors import ContentTooLarge, InvalidInput
from retentia.model.message import JSON
from retentia.security.secrets import mask_json

MAX_ARGUMENT_CHARACTERS = 4_000_000
ANYTHING = "*"
"""The target of a call that may change anything: a shell, a patch."""

_DEEPEST = 200
_LONGEST_URL = 4_000
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair; no database can hold it, so it is kept as U+FFFD
_MARK = "[secret:"
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_PATHS = ("path", "paths", "file", "files", "file_path", "filepath", "filename", "target_file", "notebook_path", "uri")
_MOVED = ("source", "src", "old_path", "destination", "dest", "dst", "new_path")
_TARGETS = frozenset((*_PATHS, *_MOVED, "url", "directory", "dir"))


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments as they are kept and compared: without secrets, of which `secrets` tells the kinds.

    `hides_secret` tells that two may differ in one, though they look the same.
    """

    value: JSON
    canonical: str
    secrets: tuple[str, ...] = ()
    hides_secret: bool = False


def read_arguments(given: JSON) -> Arguments:
    """Check arguments and bring them into canonical form.

    Raises InvalidInput for what is no JSON (NaN, cycles, objects of a program) or nested too deep, and ContentTooLarge.
    """
    try:
        written = json.dumps(given, ensure_ascii=False, allow_nan=False, default=plain)
        if len(written) > MAX_ARGUMENT_CHARACTERS:
            raise ContentTooLarge(
                f"the arguments have {len(written):,} characters, {MAX_ARGUMENT_CHARACTERS:,} are allowed; "
                "name what is large by a path or an address"
            )
        read = json.loads(_HALF.sub("\ufffd", written))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"arguments must be JSON: {error}; pass text, finite numbers, lists and objects of them"
        ) from error
    masked = mask_json(read)
    hides_secret = bool(masked.kinds) or _MARK in written
    return Arguments(masked.value, canonical(masked.value), masked.kinds, hides_secret)


def plain(value: object) -> object:
    """Return a mapping or sequence of any type as `json.dumps` knows it; raise TypeError for what is none."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    raise TypeError(f"a {type(value).__name__} is none")


def canonical(arguments: JSON) -> str:
    """Write arguments so that those that mean the same are equal and others are not."""
    value = _value(arguments, 0)
    if isinstance(value, dict):
        value = _with_folded_names(value)
    return "" if value in (None, {}, [], "") else json.dumps(value, ensure_ascii=False, sort_keys=True)


def call_key(tenant: str, name: str, canonical_arguments: str) -> bytes:
    """Return 16 bytes that are the same for the same call in a tenant, and from which nothing can be read."""
    return _keyed(tenant, b"call", _text(name), canonical_arguments)


def target_key(tenant: str, target: str) -> bytes:
    """Return 16 bytes that name a file or an address in a tenant."""
    return _keyed(tenant, b"target", target)


def link_key(tenant: str, call_id: str) -> bytes:
    """Return 16 bytes that name a call of a conversation by the id its provider gave it."""
    return _keyed(tenant, b"link", call_id)


def outcome_key(tenant: str, outcome: JSON) -> bytes:
    """Return 16 bytes that are the same for the same result, be it kept as JSON or as the text of a message."""
    return _keyed(tenant, b"outcome", canonical(outcome))


def parameters_of(arguments: JSON) -> Mapping[str, Any]:
    """Return the parameters of a call by name, also where they are written as JSON text; none for another shape."""
    value = _parsed(arguments) if isinstance(arguments, str) else arguments
    return value if isinstance(value, Mapping) else {}


def targets_of(arguments: JSON) -> tuple[str, ...]:
    """Name the files and addresses that a call is about, as its parameters tell."""
    named = {str(name).casefold(): one for name, one in parameters_of(arguments).items()}
    return tuple(dict.fromkeys(_target(one) for name in sorted(_TARGETS & named.keys()) for one in _texts(named[name])))


def _target(text: str) -> str:
    text = _text(text)
    return text if _URL.fullmatch(text) else posixpath.normpath(text.removeprefix("file://").replace("\\", "/"))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, list):
        yield from (one for one in value if isinstance(one, str) and one.strip())


def _value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _of_text(value, depth)
    if isinstance(value, Mapping):
        found = {unicodedata.normalize("NFC", str(name)): _value(one, depth + 1) for name, one in value.items()}
        return {name: one for name, one in found.items() if one is not None}
    if isinstance(value, (list, tuple)):
        return [_value(one, depth + 1) for one in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value


def _of_text(text: str, depth: int) -> Any:
    held = _parsed(text) if depth < _DEEPEST else None
    return _text(text) if held is None else _value(held, depth + 1)


def _parsed(text: str) -> Any:
    """Return the object or array that a text holds, None where it holds none."""
    trimmed = text.strip()
    if trimmed[:1] + trimmed[-1:] not in ("{}", "[]"):
        return None
    try:
        return json.loads(trimmed, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _text(text: str) -> str:
    trimmed = unicodedata.normalize("NFC", text.strip())
    return _url(trimmed) if len(trimmed) <= _LONGEST_URL and _URL.fullmatch(trimmed) else trimmed


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return text
    scheme, (user, at, _) = parts.scheme.lower(), parts.netloc.rpartition("@")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    shown_port = "" if port in (None, _DEFAULT_PORTS.get(scheme)) else f":{port}"
    return urlunsplit((scheme, f"{user}{at}{host}{shown_port}", parts.path.rstrip("/"), parts.query, parts.fragment))


def _with_folded_names(value: dict[str, Any]) -> dict[str, Any]:
    """Fold the case of parameter names, unless two would become one."""
    folded = {name.casefold(): one for name, one in value.items()}
    return folded if len(folded) == len(value) else value


def _keyed(tenant: str, use: bytes, *parts: str) -> bytes:
    hashed = blake2b(digest_size=16, person=use.ljust(16, b"\0"))
    for part in (tenant, *parts):
        raw = part.encode("utf-8", "surrogatepass")
        hashed.update(len(raw).to_bytes(8, "big") + raw)
    return hashed.digest()
