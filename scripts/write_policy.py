"""Write docs/reference/policy.md from the policy in the package. `--check` only tells whether it is up to date."""

import sys
from pathlib import Path

from retentia.lifecycle.policy import LayerPolicy, policy
from retentia.model.retention import RetentionRule, shipped_schedule

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "policy.md"
_ROWS = ("purpose", "enters", "readers", "source", "correction", "retention", "deletion")
_INTRODUCTION = """# Policy

Generated from the package by `python scripts/write_policy.py`. What holds for a tenant, with its own schedule, is
printed by `retentia policy`. What is no layer here does not exist, and stores nothing.
"""
_SCHEDULE = """## The shipped schedule

The first rule that fits decides, once, when a record is written. Months are calendar months. A tenant sets its own with
`retentia retention --set FILE`, a person or program keeps one record with `retentia keep ID --until 2030`.

| rule | for | review after | erased after |
|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    schedule = shipped_schedule()
    layers = "\n".join(map(_layer, policy(schedule)))
    return f"{_INTRODUCTION}\n{layers}\n{_SCHEDULE}" + "".join(map(_rule, schedule.rules))


def _layer(layer: LayerPolicy) -> str:
    rows = "".join(f"- **{name}**: {getattr(layer, name)}\n" for name in _ROWS)
    return f"## {layer.name}\n\n{rows}"


def _rule(rule: RetentionRule) -> str:
    conditions = (
        *sorted(rule.kinds),
        *sorted(rule.statuses),
        *(f"{one} importance" for one in sorted(rule.importance)),
    )
    cells = (rule.name, ", ".join(conditions) or "everything else", *map(_months, _terms(rule)))
    return f"| {' | '.join(cells)} |\n"


def _terms(rule: RetentionRule) -> tuple[int | None, int | None]:
    return rule.review_after_months, rule.expires_after_months


def _months(months: int | None) -> str:
    return "never" if months is None else f"{months} months"


if __name__ == "__main__":
    written = page()
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text("utf-8") == written else f"{TARGET} is out of date; run this without --check")
    TARGET.write_text(written, "utf-8")
