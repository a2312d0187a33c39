"""The export format of retentia, as far as those who write it and those who read it must agree.

A file is JSON Lines. The first line is a header; every other line is a session, then what was said in it, then
documents and items. docs/reference/portability.md describes the fields.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from retentia.model.message import JSON
from retentia.model.record import Kind
from retentia.model.time import Moment

FORMAT: Final = "retentia-export"
VERSION: Final = 1
SESSION: Final = "session"
LINE_KINDS: Final = frozenset((SESSION, *(kind.value for kind in Kind)))

Line: TypeAlias = Mapping[str, JSON]
"""One line of an export as it is parsed: {"kind": "message", "text": …}."""


def occurred_json(moment: Moment | None) -> dict[str, JSON] | None:
    """Write event time whole; `iso` is for those who read the file, the rest is what is read back."""
    if moment is None:
        return None
    return {
        "start": moment.start,
        "end": moment.end,
        "precision": moment.precision.value,
        "zone": moment.zone,
        "iso": moment.iso(),
    }
