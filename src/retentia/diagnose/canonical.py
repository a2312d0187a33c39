"""The canonical form of a tool call: what makes two calls the same, as `retentia.tools.normalise` has it."""

from retentia.errors import InvalidInput
from retentia.model.message import JSON
from retentia.tools.normalise import read_arguments


def canonical(name: str, arguments: JSON) -> str | None:
    """Return the same text for calls that are the same; None for arguments that are no JSON, or nested too deeply."""
    written = canonical_json(arguments)
    return None if written is None else f"{name.strip()} {written}"


def canonical_json(value: JSON) -> str | None:
    """Write JSON in its canonical form, None where that cannot be done."""
    try:
        return read_arguments(value).canonical
    except InvalidInput:
        return None
