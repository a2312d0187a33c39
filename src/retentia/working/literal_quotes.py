"""Literals between delimiters: quoted strings in every style of quotes, code in a line, blocks of code."""

import re
from collections.abc import Iterator

from retentia.working.literal import LiteralKind, Span

LONGEST_QUOTE = 120
"""Characters: a longer quotation is a text, in which literals are looked for one by one."""

# A quote opens before a character and closes behind one. Straight ones are apostrophes and inches elsewhere: don't, 5".


def _between(opening: str, closing: str, inner: str = "") -> str:
    inner = inner or closing + opening
    return rf"{opening}(?=[^\s])[^{inner}\n]{{1,{LONGEST_QUOTE}}}+[{closing}](?<=[^\s].)"


_QUOTED = re.compile(
    "|".join(
        (
            rf"\"(?<![\w\"]\")(?=[^\s\"])[^\"\n]{{1,{LONGEST_QUOTE}}}+\"(?<=\S\")(?!\w)",
            _between("„", '“”"'),
            _between("“", "”", "“”"),
            _between("«", "»"),
            _between("»", "«"),
            _between("‹", "›"),
            _between("「", "」"),
            _between("『", "』"),
            rf"”(?<!\w”)(?=[^\s”])[^”\n]{{1,{LONGEST_QUOTE}}}+”(?!\w)",
            rf"‚(?=\S)[^‘’\n]{{1,{LONGEST_QUOTE}}}+[‘’](?!\w)",
            rf"'(?<!\w')(?=[^\s'])(?:[^'\n]|'(?=\w)(?<=\w')){{1,{LONGEST_QUOTE}}}+'(?<=\S')(?!\w)",
            rf"‘(?=[^\s‘’])(?:[^‘’\n]|’(?=\w)){{1,{LONGEST_QUOTE}}}+’(?!\w)",
        )
    )
)
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_TICKS = re.compile(r"`+")
_FENCES = re.compile(r"^[ ]{0,3}(`{3,}+|~{3,}+)", re.MULTILINE)


def quotations(text: str) -> Iterator[Span]:
    """Yield quoted strings on one line, of at most 120 characters."""
    for found in _QUOTED.finditer(text):
        is_key = found[0][0] == '"' and text[found.end() : found.end() + 1] == ":"  # of a JSON object
        if not is_key and _SAYS_SOMETHING.search(found[0]):
            yield LiteralKind.QUOTED, *found.span()


def blocks(text: str) -> list[Span]:
    """Return the blocks of code, as CommonMark has them: one without an end goes on to the end of the text."""
    return [(LiteralKind.BLOCK, start, end) for start, end in _fenced(text)] if "```" in text or "~~~" in text else []


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    opened, fence = -1, ""
    for found in _FENCES.finditer(text):
        line_end = text.find("\n", found.end())
        rest = text[found.end() : line_end if line_end >= 0 else len(text)]
        if opened < 0:
            if "`" not in rest:
                opened, fence = found.start(1), found[1]
        elif found[1].startswith(fence) and not rest.strip():
            yield opened, found.end()
            opened = -1
    if opened >= 0 and text[opened:].strip("`~ \n"):
        yield opened, len(text.rstrip())


def snippets(text: str) -> Iterator[Span]:
    """Yield code in the line: what stands between two runs of equally many backticks."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    next_equal = [-1] * len(runs)
    latest: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        length = runs[number][1] - runs[number][0]
        next_equal[number] = latest.get(length, -1)
        latest[length] = number
    number = 0
    while number < len(runs):
        start, closing = runs[number][0], next_equal[number]
        if closing < 0:
            number += 1
            continue
        end = runs[closing][1]
        if _SAYS_SOMETHING.search(text, start, end):
            yield LiteralKind.SNIPPET, start, end
        number = closing + 1
