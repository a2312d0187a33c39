"""Legal holds: what keeps the content of erased records from being purged, hidden from every read."""

from collections.abc import Mapping
from dataclasses import dataclass

from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.record import Kind
from retentia.model.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A legal hold on exactly one scope, what its user's agents share being a scope of its own.

    `records` counts what lies in the scope, `in_bin` what was removed there and would be kept when it is purged,
    `in_custody` what was erased there since it is held. Where all are 0 it holds nothing yet: what was erased before is
    gone. `created_at` is UTC microseconds.
    """

    id: RecordId
    scope: Scope
    reason: str
    created_at: int
    records: int = 0
    in_custody: int = 0
    in_bin: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InCustody:
    """An erased record whose content a hold keeps. `hold` is the oldest hold of its scope that does.

    `content` is its row as the table had it, bytes in hexadecimal, with the name of its session; None unless asked for.
    """

    id: RecordId
    kind: Kind
    scope: Scope
    hold: RecordId
    erased_at: int
    content: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What the release of a hold purged: so many records; `pending` as in the receipt of an erasure."""

    purged: int
    pending: str = ""
