"""How well claims about the past are found: precision and recall, on a labelled set of our own in three languages.

A claim is right when it names who is said to have said it, and when what is claimed overlaps what was marked by half of
either at least; a bare claim when none was marked. The set ships with the package. It was made by those who wrote the
patterns: read it as a check of what is covered, not as a forecast for other texts.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from retentia.diagnose.claims import Author, Claim, find_claims
from retentia.evals.personal import Score

_MARKED = re.compile(r"<(?P<by>agent|user|tool|both)>(?P<content>.*?)</(?P=by)>")
_ENOUGH = 0.5


@dataclass(frozen=True, slots=True)
class Marked:
    """One sentence, and its claims: who is said to have said what stands in characters [start, end)."""

    language: str
    text: str
    claims: tuple[tuple[Author, int, int], ...]


def load_claims() -> list[Marked]:
    """Read the shipped set."""
    raw = tomllib.loads((files("retentia.evals") / "data" / "claims.toml").read_text("utf-8"))
    return [_parse(language, sentence) for language, sentences in raw.items() for sentence in sentences]


def score_claims(sentences: Sequence[Marked]) -> Mapping[str, Score]:
    """Score the finder by who is named, by language, and over "all"."""
    counted: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for by, outcome in outcomes(sentence):
            for name in (by.value, sentence.language, "all"):
                counted.setdefault(name, Counter())[outcome] += 1
    order = [*(by.value for by in Author), *dict.fromkeys(one.language for one in sentences), "all"]
    return {
        name: Score(right=counted[name]["right"], wrong=counted[name]["wrong"], missed=counted[name]["missed"])
        for name in order
        if name in counted
    }


def outcomes(sentence: Marked) -> Iterator[tuple[Author, str]]:
    """Yield "right" or "wrong" for each claim that is found, and "missed" for each that is not."""
    left = list(sentence.claims)
    for claim in find_claims(sentence.text):
        hit = next((one for one in left if one[0] is claim.by and _agree(one, claim)), None)
        if hit is not None:
            left.remove(hit)
        yield claim.by, "wrong" if hit is None else "right"
    yield from ((by, "missed") for by, _, _ in left)


def _agree(marked: tuple[Author, int, int], claim: Claim) -> bool:
    _, start, end = marked
    if claim.is_bare or start == end:
        return claim.is_bare and start == end
    shared = min(end, claim.content_end) - max(start, claim.content_start)
    return shared >= _ENOUGH * (end - start) and shared >= _ENOUGH * (claim.content_end - claim.content_start)


def _parse(language: str, sentence: str) -> Marked:
    text, claims, at = "", [], 0
    for match in _MARKED.finditer(sentence):
        text += sentence[at : match.start()]
        claims.append((Author(match["by"]), len(text), len(text) + len(match["content"])))
        text += match["content"]
        at = match.end()
    return Marked(language, text + sentence[at:], tuple(claims))
