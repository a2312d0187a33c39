"""Removals: records out of sight that can be restored until they are purged."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from retentia.model.ids import RecordId
from retentia.model.record import Record
from retentia.model.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What was removed at once and is not purged yet, as asked for in `scope`; times are UTC microseconds.

    `cause` says why it went: "forget" by someone, "retention" by the schedule, "ledger" where a restored store was
    told. `counts` is by kind. From `purge_at` on it cannot be restored. `records` are what it says, each as it was but
    for the sources of items; empty unless asked for.
    """

    id: RecordId
    scope: Scope
    cause: str
    removed_at: int
    purge_at: int
    counts: Mapping[str, int] = field(default_factory=dict)
    reaches: tuple[Scope, ...] = ()
    records: tuple[Record, ...] = ()
