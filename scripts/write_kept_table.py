"""Write the table of docs/explain/literals.md from `retentia eval kept`; `--check` tells whether it is up to date."""

import re
import sys
from pathlib import Path

from retentia.evals.kept import COLUMNS, HALVES, load_dialogues, score_kept, table_rows

TARGET = Path(__file__).parents[1] / "docs" / "explain" / "literals.md"
_PLACE = re.compile(r"(<!-- kept -->\n).*?(<!-- /kept -->)", re.DOTALL)


def tables() -> str:
    """Return a table in Markdown for each half of the labelled dialogues."""
    blocks = []
    for half in HALVES:
        dialogues = load_dialogues(half)
        head = [f"`{half}`, {len(dialogues)} dialogues:", "", _line(COLUMNS), _line(["---"] * len(COLUMNS))]
        blocks.append("\n".join((*head, *map(_line, table_rows(score_kept(dialogues))))))
    return "\n\n".join(blocks)


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    page = TARGET.read_text("utf-8")
    written = _PLACE.sub(lambda marks: f"{marks[1]}\n{tables()}\n\n{marks[2]}", page)
    if "--check" in sys.argv:
        sys.exit(0 if page == written else f"{TARGET} is out of date; run this without --check")
    TARGET.write_text(written, "utf-8")
