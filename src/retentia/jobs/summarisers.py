"""Who summarises for a job: a chat model, metered for its tenant; or the rules, where there is none."""

from collections.abc import Callable

from retentia.metering.spend import Spend
from retentia.providers.chat.models import Models
from retentia.providers.chat.resolve import resolve
from retentia.store.jobs import Job
from retentia.working.extractive import Extractive
from retentia.working.model_summariser import ModelSummariser
from retentia.working.summariser import Summariser
from retentia.working.tokens import TokenCounter

PURPOSE = "summary"
"""What the usage of models calls it."""


def summarisers(
    models: Models, spending: Spend, counter: TokenCounter, *, own: Summariser | None
) -> Callable[[Job], Summariser]:
    """Return what finds the summariser of a job; `own` is used for every job where it is given."""
    chosen = own or Extractive(counter)
    model = None if own else resolve(models.summary or models.main)
    if model is None:
        return lambda _: chosen
    return lambda job: ModelSummariser(
        spending.meter(model, tenant=job.tenant, purpose=PURPOSE, job=models.job), counter
    )
