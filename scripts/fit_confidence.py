"""Write src/retentia/learn/confidence.toml: how often each family of patterns is right on the development dialogues."""

import sys
from collections import Counter
from pathlib import Path

from retentia.evals.learning import outcomes
from retentia.evals.learning_dialogues import load_dialogues

TARGET = Path(__file__).parents[1] / "src" / "retentia" / "learn" / "confidence.toml"
_HEAD = """# How often what a family of patterns reads is right on the development half of our dialogues, with one right
# and one wrong reading added, so that little evidence gives no certainty. Written by scripts/fit_confidence.py.
"""


def fitted() -> str:
    """Return the table: for what is asserted and for what is said otherwise, a share for each family."""
    counted: dict[str, Counter[tuple[str, bool]]] = {"asserted": Counter(), "otherwise": Counter()}
    for dialogue in load_dialogues("development"):
        for one in outcomes(dialogue):
            if one.outcome != "missed":
                manner = "otherwise" if one.what == "candidate" else "asserted"
                counted[manner][one.family, one.outcome == "right"] += 1
    return _HEAD + "".join(_table(manner, counts) for manner, counts in counted.items())


def _table(manner: str, counts: Counter[tuple[str, bool]]) -> str:
    lines = [f"\n[{manner}]"]
    for family in sorted({family for family, _ in counts}):
        right, wrong = counts[family, True], counts[family, False]
        lines.append(f"{family} = {(right + 1) / (right + wrong + 2):.3f}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text("utf-8") == fitted() else f"{TARGET} is out of date; run this without --check")
    TARGET.write_text(fitted(), "utf-8")
