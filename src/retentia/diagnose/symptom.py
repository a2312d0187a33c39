"""Symptom: one sign that an agent has forgotten, or remembers what never was."""

from dataclasses import dataclass
from enum import StrEnum


class SymptomKind(StrEnum):
    """What was seen."""

    REPEATED_CALL = "repeated tool call"
    REPEATED_QUESTION = "repeated question"
    CONTRADICTION = "contradiction"
    INVENTED = "claim that is nowhere"
    NOT_SHOWN = "claim that was not shown"
    COMPLAINT = "complaint of the user"


class Severity(StrEnum):
    """How bad it is: it costs tokens; it annoys; it may mislead."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


SEVERITY = {
    SymptomKind.REPEATED_CALL: Severity.LOW,
    SymptomKind.REPEATED_QUESTION: Severity.MEDIUM,
    SymptomKind.CONTRADICTION: Severity.HIGH,
    SymptomKind.INVENTED: Severity.HIGH,
    SymptomKind.NOT_SHOWN: Severity.LOW,
    SymptomKind.COMPLAINT: Severity.MEDIUM,
}
WOULD_HELP = {
    SymptomKind.REPEATED_CALL: "the tool-call log (working memory): look for the earlier result before calling",
    SymptomKind.REPEATED_QUESTION: "session memory: show the answer again, or keep it as a fact",
    SymptomKind.CONTRADICTION: "semantic memory: one value for one thing, with the time from which it holds",
    SymptomKind.INVENTED: "recall before claiming (episodic memory), and this guard",
    SymptomKind.NOT_SHOWN: "recall (episodic memory): put the record into the next context",
    SymptomKind.COMPLAINT: "session memory and a profile: what the user has said stays in view",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One finding: what, how bad, where, in whose words, and what it costs.

    `ids` are the records it is made of, the earlier first. `quotes` say
    the same in words. `tokens` is what repeating took, `cost` the same by a price,
    `score` how sure the comparison was, 0 to 1.
    """

    kind: SymptomKind
    session: str
    ids: tuple[str, ...]
    quotes: tuple[str, ...]
    reason: str
    tokens: int = 0
    cost: float | None = None
    score: float = 1.0

    @property
    def severity(self) -> Severity:
        return SEVERITY[self.kind]

    @property
    def would_help(self) -> str:
        """Which layer of memory would have helped."""
        return WOULD_HELP[self.kind]


def quote(text: str, limit: int = 160) -> str:
    """Return a text in one line, cut where it is long."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
