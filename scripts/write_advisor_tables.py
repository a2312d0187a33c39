"""Write the tables of docs/explain/advisor.md from the package. `--check` only tells whether they are up to date."""

import re
import sys
from pathlib import Path

from retentia.diagnose.advisor_table import Layer, Trigger, advisor_data, shipped_table

TARGET = Path(__file__).parents[1] / "docs" / "explain" / "advisor.md"
_PLACE = re.compile(r"(<!-- (?P<name>layers|symptoms) -->\n).*?(<!-- /(?P=name) -->)", re.DOTALL)
_SHOWN = {">=": "≥"}


def layers() -> str:
    """Return the decision table in Markdown, the lowest rung first."""
    table = shipped_table()
    lines = [_line("layer", "what it is for", "needed from", "switched on by"), _line(*["---"] * 4)]
    lines += [_line(f"`{one.name}`", one.gives["en"], _needed(one), f"`{one.setting}`") for one in table.layers]
    return "\n".join(
        [*lines, "", f"What outlives a session is needed only where this holds: {_trigger(table.lasting)}."]
    )


def symptoms() -> str:
    """Return the table of symptoms in Markdown."""
    table = shipped_table()
    rows = [(one["kind"], f"`{one['layer']}`") for one in advisor_data()["symptom"]]
    assert {layer for _, layer in rows} <= {f"`{one.name}`" for one in table.layers}  # noqa: S101
    return "\n".join([_line("symptom", "cured by"), _line("---", "---"), *(_line(*row) for row in rows)])


def _needed(layer: Layer) -> str:
    joined = " and " if layer.needs_all else " or "
    return joined.join(map(_trigger, layer.triggers)) or "always"


def _trigger(trigger: Trigger) -> str:
    measure = advisor_data()["measure"][trigger.measure]
    number = f"{trigger.threshold:.0%}" if measure.get("share") else f"{trigger.threshold:,}"
    return f"{measure['en']} {_SHOWN.get(trigger.comparison, trigger.comparison)} {number} (`{trigger.measure}`)"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    page = TARGET.read_text("utf-8")
    tables = {"layers": layers, "symptoms": symptoms}
    written = _PLACE.sub(lambda marks: f"{marks[1]}\n{tables[marks['name']]()}\n\n{marks[3]}", page)
    if "--check" in sys.argv:
        sys.exit(0 if page == written else f"{TARGET} is out of date; run this without --check")
    TARGET.write_text(written, "utf-8")
