"""How well personal data is found: precision and recall by kind, on a labelled set of our own in three languages.

A finding is right when it has the kind of a marked stretch and overlaps it: masking a little more or less of the same
address is no miss. The set ships with the package. It was made by those who wrote the patterns: read it as a check of
what is covered, not as a forecast for other texts.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from retentia.evals.score import Score
from retentia.security.personal import PersonalKind, find_personal

_MARKED = re.compile(r"<(?P<kind>[a-z_]+)>(?P<text>.*?)</(?P=kind)>")


@dataclass(frozen=True, slots=True)
class Marked:
    """One sentence, and the stretches (kind, start, end) that are personal data."""

    language: str
    text: str
    stretches: tuple[tuple[PersonalKind, int, int], ...]


def load_personal() -> list[Marked]:
    """Read the shipped set."""
    raw = tomllib.loads((files("retentia.evals") / "data" / "personal.toml").read_text("utf-8"))
    return [_parse(language, sentence) for language, sentences in raw.items() for sentence in sentences]


def score_personal(sentences: list[Marked]) -> dict[str, Score]:
    """Score the detectors by kind, by language ("en", "de", "uk"), and over "all"."""
    counted: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for kind, outcome in _outcomes(sentence):
            for name in (kind.value, sentence.language, "all"):
                counted.setdefault(name, Counter())[outcome] += 1
    order = [*(kind.value for kind in PersonalKind), *dict.fromkeys(one.language for one in sentences), "all"]
    return {
        name: Score(right=counted[name]["right"], wrong=counted[name]["wrong"], missed=counted[name]["missed"])
        for name in order
        if name in counted
    }


def _parse(language: str, sentence: str) -> Marked:
    text: list[str] = []
    stretches: list[tuple[PersonalKind, int, int]] = []
    at = length = 0
    for match in _MARKED.finditer(sentence):
        before = sentence[at : match.start()]
        start = length + len(before)
        length = start + len(match["text"])
        text += before, match["text"]
        stretches.append((PersonalKind(match["kind"]), start, length))
        at = match.end()
    return Marked(language, "".join((*text, sentence[at:])), tuple(stretches))


def _outcomes(sentence: Marked) -> Iterator[tuple[PersonalKind, str]]:
    left = list(sentence.stretches)
    for finding in find_personal(sentence.text):
        hit = next((one for one in left if one[0] is finding.kind and _overlap(one, finding.start, finding.end)), None)
        if hit is not None:
            left.remove(hit)
        yield finding.kind, "wrong" if hit is None else "right"
    yield from ((kind, "missed") for kind, _, _ in left)


def _overlap(stretch: tuple[PersonalKind, int, int], start: int, end: int) -> bool:
    return stretch[1] < end and start < stretch[2]
