"""Summaries without a model: what was said, word for word, the sentences that matter."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import zip_longest

from retentia.model.message import JSON
from retentia.model.record import MessageRecord
from retentia.model.summary import Summary
from retentia.working.extract import HEAD, Extract, Line, LineKind, extract, retold
from retentia.working.literal import Literal
from retentia.working.literals import find_literals
from retentia.working.missing import append_missing
from retentia.working.original import Original
from retentia.working.phases import phase_boundaries
from retentia.working.said import originals_of
from retentia.working.summariser import Draft
from retentia.working.tokens import TokenCounter

MADE_BY = "extractive"
_TOKENS_A_WORD = 1.5
"""How much room a summary of so many words leaves for the literals that it does not quote, in tokens a word."""
_BEGINNING = 80
_MOST_LITERALS = 400
_SMALL_TALK = "Nothing but small talk, by the rules."
"""Without a number: what merges summaries would take it for a literal of what was said."""


class Extractive:
    """Quotes the goal, decisions with their reasons, rejected options, open items, environment and tool outcomes."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def segment(self, messages: Sequence[MessageRecord], *, words: int) -> Draft:
        """Quote what matters in the messages."""
        said = originals_of(messages)
        found = extract(said, max_words=words, literal_tokens=self.room(words), counter=self._counter)
        text = found.text if found.lines else _beginnings(found, said)
        return Draft(text=text, made_by=MADE_BY, body=_body(found))

    def merge(self, below: Sequence[Summary], *, words: int) -> Draft:
        """Quote what matters most of what the summaries quote."""
        lines, text = retold([line for one in below for line in _lines(one.body)], max_words=words)
        literals = list(literals_of(below))
        if not lines and not literals:
            text = f"{HEAD}\n{_SMALL_TALK}"
        draft = Draft(text=text, made_by=MADE_BY, body=_merged(below, lines, literals))
        return self.with_literals(draft, literals, words=words)

    def boundaries(self, messages: Sequence[MessageRecord]) -> Sequence[int]:
        """Return after how many of the messages a phase of the conversation ends."""
        return [boundary.place for boundary in phase_boundaries(originals_of(messages))]

    def with_literals(self, draft: Draft, literals: Sequence[Literal], *, words: int) -> Draft:
        """Append the literals that a draft has lost; those without room stay in its body, where nothing shortens it."""
        appended = append_missing(draft.text, literals, self.room(words), self._counter)
        kept = [*_listed(draft.body.get("literals")), *(literal.text for literal in appended.left_out)]
        return replace(draft, text=appended.text, body={**draft.body, "literals": list(dict.fromkeys(map(str, kept)))})

    @staticmethod
    def room(words: int) -> int:
        """Return how many tokens a summary of so many words leaves for literals."""
        return round(_TOKENS_A_WORD * words)


def shortened_to(made: Summary, words: int) -> str:
    """Return the most telling lines of what a summary quotes, in at most so many words; "" where none is that short."""
    lines = list(_lines(made.body))
    return without_head(retold(lines, max_words=words, are_distinct=True)[1])


def literals_of(below: Sequence[Summary]) -> Iterator[Literal]:
    """Yield the literals of summaries: the most important one of each, then the next ones, each once."""
    ranks = zip_longest(*(_listed(one.body.get("literals")) for one in below), fillvalue="")
    for text in dict.fromkeys(str(text) for rank in ranks for text in rank):
        yield from find_literals(text)


def without_head(text: str) -> str:
    """Return a summary without the line that says how it was made, for where that is said beside it."""
    return text.removeprefix(HEAD).lstrip("\n")


def _body(found: Extract) -> dict[str, JSON]:
    goal = next((line.quote for line in found.lines if line.kind is LineKind.GOAL), "")
    return {
        "topic": goal,
        "lines": [asdict(line) for line in found.lines],
        "kept": [asdict(one) for one in found.kept],
        "literals": [literal.text for literal in found.literals],
    }


def _merged(below: Sequence[Summary], lines: Sequence[Line], literals: Sequence[Literal]) -> dict[str, JSON]:
    """Keep what the record of a session says, and its literals; what was kept stays with the segments."""
    goals = (str(one.body.get("topic", "")) for one in below)
    return {
        "topic": next(filter(None, goals), ""),
        "lines": [asdict(line) for line in lines],
        "literals": [literal.text for literal in literals[:_MOST_LITERALS]],
    }


def _lines(body: Mapping[str, JSON]) -> Iterator[Line]:
    """Read the lines of a summary; one by a model has those that the rules found beside it."""
    for line in _listed(body.get("lines")):
        if isinstance(line, Mapping):
            known: dict[str, object] = {**line, "kind": LineKind(str(line["kind"]))}
            yield Line(**known)  # type: ignore[arg-type]  # as `_body` wrote them


def _beginnings(found: Extract, said: Sequence[Original]) -> str:
    """Say something of messages in which nothing matters by the rules: how the first and the last of them begin."""
    told = [message for message in said if message.text.strip()]
    quotes = [
        f"{one.role}: {' '.join(one.text.split())[:_BEGINNING]}" for one in dict.fromkeys((*told[:1], *told[-1:]))
    ]
    literals = found.text.removeprefix(HEAD).strip()
    return "\n".join(filter(None, (HEAD, _SMALL_TALK, *quotes, literals)))


def _listed(value: JSON) -> Sequence[JSON]:
    return value if isinstance(value, list) else ()
