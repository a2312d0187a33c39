"""How working memory works, in one value."""

from dataclasses import dataclass, field

from retentia.working.context import ContextSettings
from retentia.working.summary import SummaryPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSettings:
    """How contexts are made, and when sessions are summarised.

    A session to which nothing is written for `idle_minutes` is closed by the sweep; None closes none.
    """

    context: ContextSettings = field(default_factory=ContextSettings)
    summary: SummaryPolicy = field(default_factory=SummaryPolicy)
    idle_minutes: float | None = 30.0
