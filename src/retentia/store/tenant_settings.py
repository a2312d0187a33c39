"""What a tenant has set for itself, each as JSON: retention, quota, ceiling for models, rules for tools, experiences.

Read with every write.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, delete, select

from retentia.errors import InvalidInput
from retentia.model.retention import Schedule, shipped_schedule
from retentia.model.spending import Ceiling
from retentia.store.database import Transaction
from retentia.store.schema import tenant_setting

_RETENTION = "retention"
_QUOTA = "quota"
_CEILING = "model_ceiling"
_TOOLS = "tools"
_EXPERIENCES = "experiences"
_TOOLS_NOTED = "tools noted"
_CONSOLIDATED = "consolidated"
_ALL = select(tenant_setting.c.name, tenant_setting.c.value).where(tenant_setting.c.tenant == bindparam("tenant"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much each user of a tenant may have in all their scopes; None is no limit. Raises InvalidInput.

    `max_bytes` counts the texts of records in UTF-8.
    """

    max_records: int | None = None
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        for name, limit in asdict(self).items():
            if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
                raise InvalidInput(f"{name} must be a whole number from 0 on, not {limit!r}")

    @property
    def is_set(self) -> bool:
        """Whether anything is limited."""
        return self.max_records is not None or self.max_bytes is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSettings:
    """What holds for a tenant: its own choice, or what is shipped.

    `tool_rules` and `experience_rules` are JSON, "" without any. `has_noted_tools` tells that the uses of tools of all
    its records are noted.
    `consolidated_at` is when its scopes were last consolidated (UTC microseconds, 0 for never), and `next_scope` the
    number of the first scope that the run at work has not come to, 0 when none is at work.
    """

    schedule: Schedule
    quota: Quota
    ceiling: Ceiling
    tool_rules: str = ""
    experience_rules: str = ""
    has_noted_tools: bool = False
    consolidated_at: int = 0
    next_scope: int = 0


def load(transaction: Transaction) -> TenantSettings:
    """Return what holds for the transaction's tenant."""
    rows = transaction.tuples(_ALL, {"tenant": transaction.tenant})
    return _parsed(tuple(sorted((str(name), str(value)) for name, value in rows)))


def set_schedule(transaction: Transaction, schedule: Schedule | None) -> None:
    """Let records that are written from now on be kept by this schedule; None returns to the shipped one."""
    _write(transaction, _RETENTION, None if schedule is None else schedule.as_data())


def set_quota(transaction: Transaction, quota: Quota) -> None:
    """Limit what each user may have."""
    _write(transaction, _QUOTA, asdict(quota) if quota.is_set else None)


def set_ceiling(transaction: Transaction, ceiling: Ceiling) -> None:
    """Limit what the tenant's models may take in a day."""
    _write(transaction, _CEILING, asdict(ceiling) if ceiling.is_set else None)


def set_tool_rules(transaction: Transaction, rules: Mapping[str, Any] | None) -> None:
    """Let these rules decide on tools before the shipped ones; None leaves those alone."""
    _write(transaction, _TOOLS, rules)


def set_experience_rules(transaction: Transaction, rules: Mapping[str, Any] | None) -> None:
    """Add categories of tasks and strategies to the shipped ones; None leaves those alone."""
    _write(transaction, _EXPERIENCES, rules)


def note_tools(transaction: Transaction) -> None:
    """Remember that the uses of tools are noted for all records that there are; new ones get theirs at the write."""
    _write(transaction, _TOOLS_NOTED, {})


def note_consolidated(transaction: Transaction, *, at: int, next_scope: int) -> None:
    """Remember when the scopes of the tenant were last consolidated, and how far the run at work has come."""
    _write(transaction, _CONSOLIDATED, {"consolidated_at": at, "next_scope": next_scope})


@lru_cache(maxsize=256)
def _parsed(rows: tuple[tuple[str, str], ...]) -> TenantSettings:
    texts = dict(rows)
    found = {name: json.loads(value) for name, value in rows}
    return TenantSettings(
        schedule=Schedule.parse(found[_RETENTION]) if _RETENTION in found else shipped_schedule(),
        quota=Quota(**found[_QUOTA]) if _QUOTA in found else Quota(),
        ceiling=Ceiling.parse(found[_CEILING]) if _CEILING in found else Ceiling(),
        tool_rules=texts.get(_TOOLS, ""),
        experience_rules=texts.get(_EXPERIENCES, ""),
        has_noted_tools=_TOOLS_NOTED in found,
        **found.get(_CONSOLIDATED, {}),
    )


def _write(transaction: Transaction, name: str, value: Mapping[str, Any] | None) -> None:
    transaction.run(
        delete(tenant_setting).where(tenant_setting.c.tenant == transaction.tenant, tenant_setting.c.name == name)
    )
    if value is not None:
        row = {"tenant": transaction.tenant, "name": name, "value": json.dumps(value, ensure_ascii=False)}
        transaction.insert_new(tenant_setting, row)
