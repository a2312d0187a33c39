"""Strategy: which layers of memory a context is made of: the conversation, its summaries, what is known, what is found.

Pure. Each layer is on or off, in any combination, and none of them loosens a rule: the budget holds, and what is not
shown is named.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Self

from retentia.errors import InvalidInput
from retentia.working.context import Context, ContextSettings, Material, assemble
from retentia.working.opening import OpeningPolicy
from retentia.working.tokens import TokenCounter

FACTS = OpeningPolicy(sessions_loaded=0)
"""What the layer of facts takes: the profile and what is open, nothing of what other sessions were about."""

_NO_SUMMARY = "left out"


@dataclass(frozen=True, slots=True)
class Strategy:
    """Which layers are on.

    `buffer`: the whole conversation word for word, from its newest end as far as the budget goes. `summary`: summaries
    of what is older than the window; beside `buffer` only where the conversation does not fit. `facts`: what is known
    of the person, and open items. `semantic`: what a recall finds. The window of the last messages is always on:
    without `buffer` and `summary` it is all there is of the conversation.
    """

    buffer: bool = False
    summary: bool = True
    facts: bool = True
    semantic: bool = True

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Return the strategy with these layers and no other; raise InvalidInput for a name that is none."""
        wanted = {name.strip().lower() for name in names}
        if unknown := wanted.difference(LAYERS):
            raise InvalidInput(f"unknown layer {min(unknown)!r}; a strategy combines {', '.join(LAYERS)}")
        return cls(**{name: name in wanted for name in LAYERS})

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers that are on."""
        return tuple(name for name in LAYERS if getattr(self, name))

    @property
    def reads_whole(self) -> bool:
        """Whether every message of the session has to be read, and not only what no summary covers."""
        return self.buffer or not self.summary


LAYERS = tuple(field.name for field in fields(Strategy))
STANDARD = Strategy(facts=False)
"""What a context is made of where nothing else is said: what is known comes in where the caller hands it in."""


def assemble_by(
    strategy: Strategy,
    material: Material,
    *,
    budget: int,
    counter: TokenCounter,
    settings: ContextSettings | None = None,
) -> Context:
    """Make a context of the layers that are on, from material that has all of them; for the rest like `assemble`.

    What there is of the profile stays: whether it is loaded at all is decided before.
    """
    settings = settings or ContextSettings()
    if not strategy.semantic:
        material = replace(material, recalled=())
    if not strategy.buffer:
        chosen = material if strategy.summary else _of_the_window(material)
        return assemble(chosen, budget=budget, counter=counter, settings=settings)
    longest = replace(settings.window, history_size=len(material.messages))
    settings = replace(settings, window=longest)
    made = assemble(_without_summaries(material), budget=budget, counter=counter, settings=settings)
    if made.gap is None or not strategy.summary or not material.summary:
        return made
    return assemble(material, budget=budget, counter=counter, settings=settings)


def _without_summaries(material: Material) -> Material:
    """Leave summaries out, so that what they cover has to be shown or named."""
    return replace(material, summary=(), messages=[replace(message, summarised_by="") for message in material.messages])


def _of_the_window(material: Material) -> Material:
    """Let what the window has no place for count as covered by a summary that nobody is shown: so it is named."""
    messages = [replace(message, summarised_by=_NO_SUMMARY) for message in material.messages]
    return replace(material, summary=(), messages=messages)
