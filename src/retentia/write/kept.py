"""What a record gets at birth beside its passages: how long it is kept, where personal data stands in it; and whether
there is room for it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta

from sqlalchemy import Table

from retentia.errors import QuotaExceeded
from retentia.index.passages import Indexable
from retentia.model.retention import Schedule
from retentia.security.personal import find_personal
from retentia.store import growth
from retentia.store.database import Params, Transaction
from retentia.store.personal import PersonalSpan
from retentia.store.schema import item
from retentia.store.tenant_settings import Quota
from retentia.write.rows import Row


def dated(table: Table, key: Params, rows: Sequence[Row], schedule: Schedule) -> list[Params]:
    """Return the rows to insert: the columns that all share, the dates by the schedule, then what a row brings itself.

    An import may bring dates; without them it is kept like what is written now, however old it is, so that nothing goes
    right after it came. Only items have traits of their own that decide; what was said and done has one term.
    """
    recorded_at = int(str(key["recorded_at"]))
    if table is not item:
        shared = {**key, **asdict(schedule.term(table.name, recorded_at=recorded_at))}
        return [{**shared, **row.values} for row in rows]
    return [
        {
            **key,
            **asdict(
                schedule.term(
                    str(row.values["kind"]),
                    str(row.values["importance"]),
                    str(row.values["status"]),
                    recorded_at=recorded_at,
                )
            ),
            **row.values,
        }
        for row in rows
    ]


def earlier_end(expires_at: int | None, days: int | None, *, recorded_at: int) -> int | None:
    """Return when a record goes, in UTC microseconds, by the schedule or so many days after it came; None is never."""
    if days is None:
        return expires_at
    own = recorded_at + timedelta(days=days) // timedelta(microseconds=1)
    return own if expires_at is None else min(own, expires_at)


def personal_spans(described: Iterable[Indexable]) -> Iterator[PersonalSpan]:
    """Find the personal data in the texts of records."""
    for one in described:
        for found in find_personal(one.text):
            yield PersonalSpan(one.record_id, found.start, found.end, found.kind.value)


def check_quota(transaction: Transaction, user: str, quota: Quota, rows: Sequence[Row]) -> None:
    """Raise QuotaExceeded when these rows are more than a user may have. Without a quota nothing is counted."""
    if not quota.is_set:
        return
    records, size = growth.usage(transaction, user)
    records += len(rows)
    size += sum(len(row.indexed.text.encode()) for row in rows)
    for what, wanted, allowed in (
        ("records", records, quota.max_records),
        ("bytes", size, quota.max_bytes),
    ):
        if allowed is not None and wanted > allowed:
            raise QuotaExceeded(
                f"with this the user {user!r} would have {wanted:,} {what}, the quota allows {allowed:,}; forget "
                "something with `retentia forget`, or raise the quota with `retentia quota`"
            )
