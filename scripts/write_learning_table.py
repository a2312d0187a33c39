"""Write the table of docs/reference/evaluation.md from `retentia eval learning`; `--check` compares them."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from retentia.evals.learning import BIN_COLUMNS, COLUMNS, bin_rows, report, table_rows
from retentia.evals.learning_dialogues import HALVES, load_dialogues

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "evaluation.md"
_PLACE = re.compile(r"(<!-- learning -->\n).*?(<!-- /learning -->)", re.DOTALL)


def tables() -> str:
    """Return two tables in Markdown for each half of the labelled dialogues: scores, and how far confidence holds."""
    blocks = []
    for half in HALVES:
        made = report(load_dialogues(half))
        blocks.append(f"`{half}`, {made.dialogues} dialogues; {made.must_not} facts stored that must not be:")
        blocks.append(_table(COLUMNS, table_rows(made.scores)))
        blocks.append(_table(BIN_COLUMNS, bin_rows(made.bins)))
    return "\n\n".join(blocks)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(_line(cells) for cells in (columns, ["---"] * len(columns), *rows))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    page = TARGET.read_text("utf-8")
    written = _PLACE.sub(lambda marks: f"{marks[1]}\n{tables()}\n\n{marks[2]}", page)
    if "--check" in sys.argv:
        sys.exit(0 if page == written else f"{TARGET} is out of date; run this without --check")
    TARGET.write_text(written, "utf-8")
