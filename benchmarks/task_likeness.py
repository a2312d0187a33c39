"""How like each other the descriptions of tasks are by an embedder: what the floor of a replay has to part.

`python -m benchmarks.task_likeness use` prints, in Markdown, the cosines of pairs that are one task in other words and
of pairs from different tasks, and how many of each the floor lets through.
"""

import sys

import numpy as np

from retentia.experience.replay import floor_for
from retentia.providers.resolve import resolve

PAIRS = (
    ("Fix the parser so that it reads empty lines", "The parser crashes on blank lines, repair it"),
    ("Write unit tests for the login form", "Add tests that cover signing in"),
    ("Split the billing module into smaller services", "Refactor invoicing into separate components"),
    ("Speed up the slow SQL query on orders", "The database query for purchases takes too long"),
    ("Rename the customer class everywhere", "Give the client class another name in the whole code"),
    ("Find out why the deployment to production fails", "Debug the broken release pipeline"),
    ("Convert the dates in the CSV file to ISO 8601", "Normalise date formats in a spreadsheet export"),
    ("Cancel the flight of a passenger and refund it", "A traveller wants money back for a cancelled trip"),
    ("Design a cache for the image server", "Plan how pictures are kept in memory for quick delivery"),
    ("Schreibe einen Test für die Anmeldung", "Prüfe das Einloggen mit automatischen Tests"),
    ("Behebe den Fehler beim Lesen leerer Zeilen", "Der Parser stürzt bei leeren Zeilen ab"),
    ("Напиши тести для форми входу", "Перевір вхід користувача автоматичними тестами"),
)
TRANSLATED = ((0, 10), (1, 9, 11))
"""Rows that are one task in several languages: neither one text in other words nor different tasks."""


def likeness(name: str) -> str:
    """Return a table in Markdown of the cosines by one embedder."""
    embedder = resolve(name)
    if embedder is None:
        raise SystemExit(f"{name!r} is no embedder")
    asked = np.stack([embedder.embed_query(one) for one, _ in PAIRS])
    cosines = asked @ embedder.embed([other for _, other in PAIRS]).T
    same = np.eye(len(PAIRS), dtype=bool)
    different = ~same
    for translations in TRANSLATED:
        different[np.ix_(translations, translations)] = False
    lines = ["| pairs | number | lowest | median | highest | not below the floor |", "|---|---|---|---|---|---|"]
    for kind, chosen in (("one task in other words", same), ("different tasks", different)):
        found = cosines[chosen]
        let = np.mean(found >= floor_for(embedder.identity.name))
        numbers = " | ".join(f"{value:.2f}" for value in (found.min(), np.median(found), found.max()))
        lines.append(f"| {kind} | {len(found)} | {numbers} | {let:.0%} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(likeness(sys.argv[1] if len(sys.argv) > 1 else "use"))
