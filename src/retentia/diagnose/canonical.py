"""The canonical form of a tool call: what makes two calls the same."""

import json
from collections.abc import Mapping

from retentia.model.message import JSON


def canonical(name: str, arguments: JSON) -> str | None:
    """Return the same text for calls that differ only in the order of keys, in white space, or in 1 and 1.0.

    None for arguments that are no JSON, or are nested too deeply to be compared.
    """
    written = canonical_json(arguments)
    return None if written is None else f"{name.strip()} {written}"


def canonical_json(value: JSON) -> str | None:
    """Write JSON in its canonical form, None where that cannot be done."""
    try:
        return json.dumps(_form(_parsed(value)), ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None


def _parsed(arguments: JSON) -> JSON:
    """Read arguments that are JSON in a text, as chat APIs give them."""
    if not isinstance(arguments, str):
        return arguments
    try:
        read: JSON = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return read if isinstance(read, (dict, list)) else arguments


def _form(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return {str(key): _form(one) for key, one in value.items() if one is not None}
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (list, tuple)):
        return [_form(one) for one in value]
    return value
