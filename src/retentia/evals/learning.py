"""How well the rules learn from what users say: precision and recall on short dialogues of our own.

What counts most is what would be believed of the user: facts and preferences that are asserted with the user as
subject. To deny what must never be believed ("my name is not Alice") is neither right nor wrong where it was not asked
for. The dialogues ship with the package, in two halves: the rules were made with "development" in view, "held_out" was
written before them and is only scored. Both were written by those who wrote the rules: read it as a check, not as a
forecast for other texts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

from retentia.evals.learning_dialogues import Dialogue, Expected, plain
from retentia.evals.score import Score
from retentia.learn.extract import Found, extract, find
from retentia.learn.ground import Grounding, ground
from retentia.model.candidate import PERSON, Candidate, Manner
from retentia.model.ids import RecordId
from retentia.model.record import PROFILE_KINDS, Kind
from retentia.working.original import Original, sentences_of

LANGUAGES = ("en", "de", "uk")
COLUMNS = ("", "precision", "recall", "right", "wrong", "missed")
BIN_COLUMNS = ("confidence", "readings", "said", "were right")

_BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
_ITEMS = (Kind.EVENT, Kind.COMMITMENT, Kind.DECISION, Kind.PROCEDURE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one thing that was found or expected: "right", "wrong" or "missed"."""

    what: str
    outcome: str
    text: str
    confidence: float = 0.0
    family: str = ""


def outcomes(dialogue: Dialogue) -> Iterator[Outcome]:
    """Yield what became of everything that the rules found in a dialogue, and of everything expected of it."""
    found = find(dialogue.messages)
    facts = [one for one in found if one.candidate.kind in PROFILE_KINDS]
    allowed = (*dialogue.allowed, *(replace(one, is_not=True) for one in dialogue.never))
    yield from _scored("stored", dialogue.stated, allowed, [one for one in facts if is_stored(one.candidate)])
    unsure = [one for one in facts if one.candidate.manner is not Manner.ASSERTED]
    yield from _scored("candidate", dialogue.candidate, dialogue.allowed, unsure)
    about = [one for one in facts if one.candidate.subject != PERSON and one not in unsure]
    yield from _scored("others", dialogue.others, dialogue.allowed, about)
    for kind in _ITEMS:
        yield from _scored_items(kind, dialogue, [one for one in found if one.candidate.kind is kind])


def is_stored(found: Candidate) -> bool:
    """Tell whether a candidate would be stored as a fact of the user."""
    return found.subject == PERSON and found.manner is Manner.ASSERTED


@dataclass(frozen=True, slots=True)
class Bin:
    """How many readings had a confidence between `low` and `high`, its mean, and the share that was right."""

    low: float
    high: float
    readings: int
    said: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The scores of one half by name; `must_not` counts facts that would be believed and must never be."""

    dialogues: int
    scores: Mapping[str, Score]
    must_not: int
    bins: Sequence[Bin]

    def as_json(self) -> dict[str, object]:
        """Return the report as values of JSON."""
        return {
            "dialogues": self.dialogues,
            "must_not_stored": self.must_not,
            "scores": {name: score.as_json() for name, score in self.scores.items()},
            "reliability": [{name: round(value, 3) for name, value in asdict(one).items()} for one in self.bins],
        }


def report(dialogues: Sequence[Dialogue]) -> Report:
    """Score the rules and grounding on some dialogues."""
    return Report(
        dialogues=len(dialogues),
        scores={**score_learning(dialogues), "stopped by grounding": offered_wrongly(dialogues)},
        must_not=must_not_stored(dialogues),
        bins=reliability(dialogues),
    )


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
        never.is_met_by(found) and found.manner is Manner.ASSERTED
        for dialogue in dialogues
        for found in extract(dialogue.messages)
        for never in dialogue.never
    )


def offered_wrongly(dialogues: Sequence[Dialogue]) -> Score:
    """Offer what must not be believed as a careless model would, and count what grounding stops and what slips through.

    Each such fact is offered as asserted, quoting the sentence of any role that has its value: "right" are those that
    are rejected or flagged, "wrong" those that would be believed.
    """
    counted: Counter[str] = Counter()
    for dialogue in dialogues:
        for never in dialogue.never:
            for message in dialogue.messages:
                if offered := _offered(never, message):
                    verdict = ground(offered, message)
                    is_believed = verdict.grounding is Grounding.OK and is_stored(verdict.candidate)
                    counted["wrong" if is_believed else "right"] += 1
    return _score(counted)


def _offered(never: Expected, message: Original) -> Candidate | None:
    for start, end in sentences_of(message.text) or [(0, len(message.text))]:
        sentence = message.text[start:end].casefold()
        value = next((one for one in never.values if one in sentence), "")
        if value:
            return Candidate(
                kind=Kind.FACT,
                subject=PERSON,
                attribute=never.attribute,
                value=value,
                message_id=RecordId(message.id),
                start=start,
                end=end,
            )
    return None


def reliability(dialogues: Sequence[Dialogue]) -> list[Bin]:
    """Return the bins of confidence that readings fell in, lowest first."""
    read = [
        (one.confidence, one.outcome == "right")
        for dialogue in dialogues
        for one in outcomes(dialogue)
        if one.outcome != "missed"
    ]
    bins = []
    for low, high in pairwise(_BINS):
        inside = [(said, right) for said, right in read if low <= said < high]
        if inside:
            said, right = (sum(values) / len(inside) for values in zip(*inside, strict=True))
            bins.append(Bin(low, high, len(inside), said, right))
    return bins


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


def bin_rows(bins: Sequence[Bin]) -> list[tuple[str, ...]]:
    """Return the rows of a table with `BIN_COLUMNS`."""
    return [
        (f"{one.low:.2f} to {one.high:.2f}", str(one.readings), f"{one.said:.2f}", f"{one.right:.2f}") for one in bins
    ]


def _scored(
    what: str, expected: Sequence[Expected], allowed: Sequence[Expected], found: Sequence[Found]
) -> Iterator[Outcome]:
    left = list(expected)
    met: list[Expected] = []
    for one in found:
        hit = next((each for each in left if each.is_met_by(one.candidate)), None)
        if hit is not None:
            left.remove(hit)
            met.append(hit)
            yield _outcome(what, "right", one)
        elif not any(each.is_met_by(one.candidate) for each in (*met, *allowed)):
            yield _outcome(what, "wrong", one)
    yield from (Outcome(what, "missed", f"{each.attribute} = {' | '.join(sorted(each.values))}") for each in left)


def _scored_items(kind: Kind, dialogue: Dialogue, found: Sequence[Found]) -> Iterator[Outcome]:
    left = [words for each, words in dialogue.items if each is kind]
    for one in found:
        said = plain(" ".join((one.candidate.value, str(one.candidate.body.get("task", "")))))
        hit = next((words for words in left if all(word in said for word in words)), None)
        if hit is not None:
            left.remove(hit)
        yield _outcome(kind.value, "wrong" if hit is None else "right", one)
    yield from (Outcome(kind.value, "missed", " ".join(sorted(words))) for words in left)


def _outcome(what: str, outcome: str, found: Found) -> Outcome:
    return Outcome(what, outcome, _shown(found.candidate), found.candidate.confidence, found.family)


def _shown(found: Candidate) -> str:
    denied = "not " if found.is_not else ""
    return f"{found.subject}: {denied}{found.attribute} = {found.value} ({found.manner.value})"


def _score(counted: Mapping[str, int]) -> Score:
    return Score(right=counted.get("right", 0), wrong=counted.get("wrong", 0), missed=counted.get("missed", 0))
