"""The prompt of a replay: experiences quoted as data under a budget of tokens, and what failed as something to avoid.

Where room is short the longest solutions are shortened first, then every text, and then the least useful experience is
left out and named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retentia.errors import InvalidInput
from retentia.experience.remembered import Remembered
from retentia.experience.replay import Replay, average_reward, relevant, strategies_of, success_rate
from retentia.experience.words import language_for, words
from retentia.model.experience import Experience, Outcome
from retentia.working.quote import block, label, nonce_for, quoted, short_ids
from retentia.working.shorten import cut
from retentia.working.tokens import RememberingCounter, TokenCounter

_LEAST_SOLUTION = 24
"""Tokens that are left of the longest solutions before anything else gives way."""
_LEAST_TEXT = 48
"""Tokens that are left of a task and of feedback before an experience is left out."""
_MOST_NAMES = 8


def replay_of(
    task: str,
    remembered: Sequence[Remembered],
    *,
    budget: int,
    counter: TokenCounter,
    embedder: str = "",
    language: str = "",
) -> Replay:
    """Make a replay for a task from what was remembered, the most useful first.

    Its prompt takes at most `budget` tokens by the counter; where not even its frame fits it is empty. `embedder` is
    the name of the one that made the similarities: it decides what is relevant. `language` is "en", "de" or "uk", and
    without one that of the task. Raises InvalidInput.
    """
    if budget < 0:
        raise InvalidInput(f"a budget is a number of tokens from 0 on, not {budget!r}")
    known = relevant(remembered, embedder)
    language = language or language_for(task)
    writing = _Writing(known, _labels(known), words(language), RememberingCounter(counter))
    draft = writing.within(budget)
    return Replay(
        experiences=tuple(known),
        prompt=draft.text,
        language=language,
        tokens=counter.count(draft.text),
        budget=budget,
        counted=counter.label,
        labels={name: one.experience.id for name, one in zip(writing.labels, known, strict=True) if one.experience.id},
        shortened=tuple(draft.shortened),
        left_out=writing.labels[draft.shown :],
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """A prompt that shows the first `shown` experiences, some of them `shortened`."""

    text: str
    shown: int
    shortened: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Caps:
    """The most tokens of a solution and of any other text; None for no limit."""

    solution: int | None = None
    text: int | None = None


@dataclass(frozen=True, slots=True)
class _Writing:
    """One prompt in the making: the relevant experiences with their labels, in the words of a language."""

    known: Sequence[Remembered]
    labels: tuple[str, ...]
    words: Mapping[str, str]
    counter: RememberingCounter

    def within(self, budget: int) -> _Draft:
        """Write the prompt that shows most within a budget."""
        for shown in range(len(self.known), -1, -1):
            draft = self._showing(shown, budget)
            if draft is not None:
                return draft
        return _Draft("", 0, ())

    def _showing(self, shown: int, budget: int) -> _Draft | None:
        """Write the first experiences as completely as a budget allows; None where it does not allow them all."""
        whole = self._draft(shown, _Caps())
        if self._fits(whole, budget):
            return whole
        least = self._draft(shown, _Caps(_LEAST_SOLUTION))
        if not self._fits(least, budget):
            least = self._draft(shown, _Caps(_LEAST_SOLUTION, _LEAST_TEXT))
            return least if self._fits(least, budget) else None
        low, high = _LEAST_SOLUTION, budget
        while high - low > 1:
            middle = (low + high) // 2
            draft = self._draft(shown, _Caps(middle))
            if self._fits(draft, budget):
                low, least = middle, draft
            else:
                high = middle
        return least

    def _fits(self, draft: _Draft, budget: int) -> bool:
        return self.counter.count(draft.text) <= budget

    def _draft(self, shown: int, caps: _Caps) -> _Draft:
        if not self.known:
            return _Draft(self.words["nothing"], 0, ())
        lines = self._opening()
        shortened = []
        for name, one in zip(self.labels[:shown], self.known, strict=False):
            written = self._experience(name, one, caps)
            if caps != _Caps() and written != self._experience(name, one, _Caps()):
                shortened.append(name)
            lines += written
        if shown < len(self.known):
            lines.append(self.words["left_out"].format(ids=_named(self.labels[shown:])))
        body = "\n".join(lines)
        return _Draft(block("untrusted", nonce_for([body]), body), shown, shortened)

    def _opening(self) -> list[str]:
        told = [one.experience for one in self.known]
        figures = self.words["figures"].format(
            count=len(told), reward=_number(average_reward(told)), rate=_number(success_rate(told))
        )
        names = ", ".join(map(label, strategies_of(told)))
        return [self.words["heading"], figures, *([self.words["strategies"].format(names=names)] if names else [])]

    def _experience(self, name: str, one: Remembered, caps: _Caps) -> list[str]:
        told = one.experience
        strategy = label(told.strategy)
        opening = self.words[told.outcome].format(
            id=name,
            reward=_number(told.feedback.reward),
            similarity=_number(one.similarity),
            strategy=self.words["with"].format(name=strategy) if strategy else "",
        )
        return [
            opening,
            *self._quote("task", told.task.description, caps.text),
            *self._feedback(told, caps.text),
            *self._quote("solution", told.solution, caps.solution),
        ]

    def _feedback(self, told: Experience, most: int | None) -> list[str]:
        if told.outcome is not Outcome.FAILURE:
            return self._quote("feedback", told.feedback.message, most)
        return self._quote("why", told.feedback.message, most) or [self.words["why_unknown"]]

    def _quote(self, heading: str, text: str, most: int | None) -> list[str]:
        shown = (text if most is None else cut(text, most, self.counter)).strip()
        return [self.words[heading], quoted(shown)] if shown else []


def _labels(known: Sequence[Remembered]) -> tuple[str, ...]:
    """Name each experience: by the end of its id, by its place where it is not kept yet."""
    short = short_ids(one.experience.id for one in known if one.experience.id)
    return tuple(
        label(short[one.experience.id]) if one.experience.id else f"#{place}" for place, one in enumerate(known, 1)
    )


def _named(names: Sequence[str]) -> str:
    """List names, and of very many the first and the number of the others: the list must not take all the room."""
    more = len(names) - _MOST_NAMES
    return ", ".join((*names[:_MOST_NAMES], *([f"… +{more}"] if more > 0 else [])))


def _number(value: float) -> str:
    return f"{value:.2f}"
