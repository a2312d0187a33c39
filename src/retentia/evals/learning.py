"""How well the rules learn from what users say: precision and recall on short dialogues of our own.

What counts most is what would be believed of the user: facts and preferences that are asserted with the user as subject.
The dialogues ship with the package, in two halves: the rules were made with "development" in view, "held_out" was written
before them and is only scored. Both were written by those who wrote the rules: read it as a check, not as a forecast.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from retentia.evals.score import Score
from retentia.index.fold import fold
from retentia.learn.extract import extract
from retentia.model.candidate import PERSON, Candidate, Manner
from retentia.model.record import Kind
from retentia.working.original import Original

Half = Literal["development", "held_out"]
HALVES: tuple[Half, ...] = ("development", "held_out")
LANGUAGES = ("en", "de", "uk")
COLUMNS = ("", "precision", "recall", "right", "wrong", "missed")
BIN_COLUMNS = ("confidence", "readings", "said", "were right")

_LINE = re.compile(r"^(?P<role>[UATS])(?:\((?P<speaker>[^)]+)\))?: ?", re.MULTILINE)
_ROLES = {"U": "user", "A": "assistant", "T": "tool", "S": "system"}
_ARTICLES = re.compile(r"^(?:the|a|an|my|der|die|das|den|dem|ein|eine|einen|mein|meine) ")
_BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
_ITEMS = (Kind.EVENT, Kind.COMMITMENT, Kind.DECISION, Kind.PROCEDURE)


@dataclass(frozen=True, slots=True)
class Expected:
    """A fact that is expected, or must not be believed; several values may be right."""

    subject: str
    attribute: str
    values: frozenset[str]
    is_not: bool = False

    def is_met_by(self, found: Candidate) -> bool:
        """Tell whether a candidate says this, however it was meant."""
        return (
            (self.subject, self.attribute, self.is_not) == (found.subject, found.attribute, found.is_not)
            and _plain(found.value) in self.values
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Some messages of one talk with what should be learned from them, and what must not be."""

    id: str
    language: str
    kinds: tuple[str, ...]
    messages: tuple[Original, ...]
    stated: tuple[Expected, ...]
    candidate: tuple[Expected, ...]
    others: tuple[Expected, ...]
    allowed: tuple[Expected, ...]
    never: tuple[Expected, ...]
    items: tuple[tuple[Kind, frozenset[str]], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one thing that was found or expected: "right", "wrong" or "missed"."""

    what: str
    outcome: str
    text: str
    confidence: float = 0.0


def load_dialogues(half: Half) -> list[Dialogue]:
    """Read one half of the shipped set."""
    raw = tomllib.loads((files("retentia.evals") / "data" / "learning" / f"{half}.toml").read_text("utf-8"))
    return [_parse(one) for one in raw["dialogue"]]


def outcomes(dialogue: Dialogue) -> Iterator[Outcome]:
    """Yield what became of everything that the rules found in a dialogue, and of everything expected of it."""
    found = extract(dialogue.messages)
    facts = [one for one in found if one.kind in (Kind.FACT, Kind.PREFERENCE)]
    yield from _scored("stored", dialogue.stated, dialogue.allowed, [one for one in facts if is_stored(one)])
    unsure = [one for one in facts if one.manner is not Manner.ASSERTED]
    yield from _scored("candidate", dialogue.candidate, dialogue.allowed, unsure)
    about = [one for one in facts if one.subject != PERSON and one.manner is Manner.ASSERTED]
    yield from _scored("others", dialogue.others, dialogue.allowed, about)
    for kind in _ITEMS:
        yield from _scored_items(kind, dialogue, [one for one in found if one.kind is kind])


def is_stored(found: Candidate) -> bool:
    """Tell whether a candidate would be stored as a fact of the user."""
    return found.subject == PERSON and found.manner is Manner.ASSERTED


def score_learning(dialogues: Sequence[Dialogue]) -> dict[str, Score]:
    """Score the rules: facts "stored" as the user's, in each language and kind of talk, then everything else."""
    counted: dict[str, Counter[str]] = {"stored": Counter(), **{f"stored {code}": Counter() for code in LANGUAGES}}
    others: dict[str, Counter[str]] = {}
    for dialogue in dialogues:
        for one in outcomes(dialogue):
            if one.what == "stored":
                for name in ("stored", f"stored {dialogue.language}", *(f"in {kind}" for kind in dialogue.kinds)):
                    counted.setdefault(name, Counter())[one.outcome] += 1
            else:
                others.setdefault(one.what, Counter())[one.outcome] += 1
    return {name: _score(counts) for name, counts in (*counted.items(), *sorted(others.items()))}


def must_not_stored(dialogues: Sequence[Dialogue]) -> int:
    """Count the facts that must never be believed and would be."""
    return sum(
        never.is_met_by(found)
        for dialogue in dialogues
        for never in dialogue.never
        for found in extract(dialogue.messages)
        if found.manner is Manner.ASSERTED and found.kind in (Kind.FACT, Kind.PREFERENCE)
    )


def reliability(dialogues: Sequence[Dialogue]) -> list[tuple[str, int, float, float]]:
    """Return for each bin of confidence how many readings fell in it, their mean confidence, and the share right."""
    read = [
        (one.confidence, one.outcome == "right")
        for dialogue in dialogues
        for one in outcomes(dialogue)
        if one.outcome != "missed"
    ]
    rows = []
    for low, high in zip(_BINS, _BINS[1:], strict=False):
        inside = [(said, right) for said, right in read if low <= said < high or (high == 1.0 == said)]
        if inside:
            said = sum(one for one, _ in inside) / len(inside)
            rows.append((f"{low:.2f} to {high:.2f}", len(inside), said, sum(one for _, one in inside) / len(inside)))
    return rows


def table_rows(scores: Mapping[str, Score]) -> list[tuple[str, ...]]:
    """Return the rows of a table with `COLUMNS`."""
    return [
        (
            name,
            f"{one.precision:.3f}",
            f"{one.recall:.3f}",
            *(str(count) for count in (one.right, one.wrong, one.missed)),
        )
        for name, one in scores.items()
    ]


def bin_rows(dialogues: Sequence[Dialogue]) -> list[tuple[str, ...]]:
    """Return the rows of a table with `BIN_COLUMNS`."""
    return [(name, str(count), f"{said:.2f}", f"{right:.2f}") for name, count, said, right in reliability(dialogues)]


def _scored(
    what: str, expected: Sequence[Expected], allowed: Sequence[Expected], found: Sequence[Candidate]
) -> Iterator[Outcome]:
    left = list(expected)
    met: list[Expected] = []
    for one in found:
        hit = next((each for each in left if each.is_met_by(one)), None)
        if hit is not None:
            left.remove(hit)
            met.append(hit)
            yield Outcome(what, "right", _shown(one), one.confidence)
        elif not any(each.is_met_by(one) for each in (*met, *allowed)):
            yield Outcome(what, "wrong", _shown(one), one.confidence)
    yield from (Outcome(what, "missed", f"{each.attribute} = {' | '.join(sorted(each.values))}") for each in left)


def _scored_items(kind: Kind, dialogue: Dialogue, found: Sequence[Candidate]) -> Iterator[Outcome]:
    left = [words for each, words in dialogue.items if each is kind]
    for one in found:
        said = _plain(" ".join((one.value, str(one.body.get("task", "")))))
        hit = next((words for words in left if all(word in said for word in words)), None)
        if hit is not None:
            left.remove(hit)
        yield Outcome(kind.value, "wrong" if hit is None else "right", _shown(one), one.confidence)
    yield from (Outcome(kind.value, "missed", " ".join(sorted(words))) for words in left)


def _shown(found: Candidate) -> str:
    denied = "not " if found.is_not else ""
    return f"{found.subject}: {denied}{found.attribute} = {found.value} ({found.manner.value})"


def _score(counted: Mapping[str, int]) -> Score:
    return Score(right=counted.get("right", 0), wrong=counted.get("wrong", 0), missed=counted.get("missed", 0))


def _plain(value: str) -> str:
    return _ARTICLES.sub("", " ".join(fold(value).split()))


def _parse(raw: Mapping[str, Any]) -> Dialogue:
    parsed = {
        name: tuple(_expected(line) for line in raw.get(name, ()))
        for name in ("stated", "candidate", "others", "allowed", "never")
    }
    return Dialogue(
        id=raw["id"],
        language=raw["language"],
        kinds=tuple(raw["kinds"]),
        messages=tuple(_messages(raw["said"].strip())),
        items=tuple(_item(line) for line in raw.get("items", ())),
        **parsed,
    )


def _messages(said: str) -> Iterator[Original]:
    starts = list(_LINE.finditer(said))
    for place, (match, after) in enumerate(zip(starts, [*starts[1:], None], strict=True)):
        text = said[match.end() : after.start() if after else len(said)].rstrip()
        yield Original(id=f"m{place}", role=_ROLES[match["role"]], text=text, speaker=match["speaker"] or "")


def _expected(line: str) -> Expected:
    slot, _, values = line.partition(" = ")
    subject, _, attribute = slot.rpartition(": ")
    is_not = attribute.startswith("not ")
    return Expected(
        subject=subject or PERSON,
        attribute=attribute.removeprefix("not "),
        values=frozenset(_plain(value) for value in values.split(" | ")),
        is_not=is_not,
    )


def _item(line: str) -> tuple[Kind, frozenset[str]]:
    kind, _, words = line.partition(" = ")
    return Kind(kind), frozenset(_plain(words).split())
