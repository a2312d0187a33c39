"""Retentia: memory for AI agents.

It keeps what was said, recalls it in milliseconds with sources, and forgets for real. Names load on first use, so that
importing costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retentia.errors import RetentiaError
    from retentia.learn.inline import LearningSettings
    from retentia.memory import Memory
    from retentia.model.attributes import Attributes
    from retentia.model.belief import Belief, Profile, Proposal
    from retentia.model.learned import Learned
    from retentia.model.message import Document, Message, ToolCall
    from retentia.model.provenance import Source, Trust
    from retentia.model.record import Importance, Kind, Status
    from retentia.model.scope import Scope
    from retentia.model.time import Moment, Precision
    from retentia.providers.chat.models import Models
    from retentia.read.query import Hit, Recall
    from retentia.security.access import Principal
    from retentia.session import Session
    from retentia.working.context import Context
    from retentia.working.opening import OpeningPolicy
    from retentia.working.settings import WorkingSettings
    from retentia.working.summary import SummaryPolicy
    from retentia.write.receipt import Receipt

__version__ = "0.1.0"

_HOMES = {
    "Attributes": "retentia.model.attributes",
    "Belief": "retentia.model.belief",
    "Context": "retentia.working.context",
    "Document": "retentia.model.message",
    "Hit": "retentia.read.query",
    "Importance": "retentia.model.record",
    "Kind": "retentia.model.record",
    "Learned": "retentia.model.learned",
    "LearningSettings": "retentia.learn.inline",
    "Memory": "retentia.memory",
    "Message": "retentia.model.message",
    "Models": "retentia.providers.chat.models",
    "Moment": "retentia.model.time",
    "OpeningPolicy": "retentia.working.opening",
    "Precision": "retentia.model.time",
    "Principal": "retentia.security.access",
    "Profile": "retentia.model.belief",
    "Proposal": "retentia.model.belief",
    "Recall": "retentia.read.query",
    "Receipt": "retentia.write.receipt",
    "RetentiaError": "retentia.errors",
    "Scope": "retentia.model.scope",
    "Session": "retentia.session",
    "Source": "retentia.model.provenance",
    "Status": "retentia.model.record",
    "SummaryPolicy": "retentia.working.summary",
    "ToolCall": "retentia.model.message",
    "Trust": "retentia.model.provenance",
    "WorkingSettings": "retentia.working.settings",
}

__all__ = [
    "Attributes",
    "Belief",
    "Context",
    "Document",
    "Hit",
    "Importance",
    "Kind",
    "Learned",
    "LearningSettings",
    "Memory",
    "Message",
    "Models",
    "Moment",
    "OpeningPolicy",
    "Precision",
    "Principal",
    "Profile",
    "Proposal",
    "Recall",
    "Receipt",
    "RetentiaError",
    "Scope",
    "Session",
    "Source",
    "Status",
    "SummaryPolicy",
    "ToolCall",
    "Trust",
    "WorkingSettings",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'retentia' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
