"""Who learns for a job: a chat model, metered for its tenant; nobody where there is none, or it is switched off."""

from collections.abc import Callable

from retentia.learn.inline import LearningSettings
from retentia.learn.model_extract import ModelExtractor
from retentia.metering.spend import Spend
from retentia.providers.chat.models import Models
from retentia.providers.chat.resolve import resolve
from retentia.store.jobs import Job
from retentia.working.summariser import Summariser

PURPOSE = "learn"
"""What the usage of models calls it."""


def learners(
    models: Models, spending: Spend, settings: LearningSettings, *, own: Summariser | None
) -> Callable[[Job], ModelExtractor] | None:
    """Return what finds the extractor of a job; None where no model learns.

    It is the model that summarises unless another one is named; with `own` for a summariser none summarises.
    """
    summarising = None if own else (models.summary or models.main)
    model = resolve(models.learn or summarising) if settings.is_on else None
    if model is None:
        return None
    return lambda job: ModelExtractor(
        spending.meter(model, tenant=job.tenant, purpose=PURPOSE, job=models.job), settings.registry
    )
