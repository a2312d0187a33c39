"""The page that shows the figures: each part's tables stand between two comments and are replaced by a run."""

import re
from pathlib import Path


def replace_tables(page: Path, part: str, tables: str) -> None:
    """Put a part's tables into the page between `<!-- PART -->` and `<!-- /PART -->`; other text stays."""
    found = re.compile(rf"(<!-- {part} -->\n).*?(<!-- /{part} -->)", re.DOTALL)
    text = page.read_text("utf-8")
    page.write_text(found.sub(lambda marks: f"{marks[1]}\n{tables}\n{marks[2]}", text), "utf-8")
