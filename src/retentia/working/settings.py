"""How working memory works, in one value."""

from dataclasses import dataclass, field

from retentia.working.context import ContextSettings
from retentia.working.opening import OpeningPolicy
from retentia.working.strategy import FACTS, STANDARD, Strategy
from retentia.working.summary import SummaryPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSettings:
    """How contexts are made, and when sessions are summarised.

    `strategy` says which layers a context is made of where a call does not say it; where it has the layer of facts,
    `opening` says how much of what is known it begins with. A session to which nothing is written for `idle_minutes` is
    closed by the sweep; None closes none.
    """

    context: ContextSettings = field(default_factory=ContextSettings)
    summary: SummaryPolicy = field(default_factory=SummaryPolicy)
    strategy: Strategy = STANDARD
    opening: OpeningPolicy = FACTS
    idle_minutes: float | None = 30.0
