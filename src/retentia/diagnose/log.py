"""Log: what happened in a session, step by step, as a diagnosis looks at it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from retentia.model.message import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something that was said or is known. `at` is UTC microseconds, None where no time is known.

    `role` is that of the message (user, assistant, system, tool); "item" for a record of knowledge, which tells what
    was said without telling by whom.
    """

    id: str
    role: str
    text: str
    session: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One call of a tool and what came of it. `at` is UTC microseconds; `tokens` where the caller counted them."""

    id: str
    name: str
    arguments: JSON = None
    result: JSON = None
    failed: bool = False
    at: int | None = None
    tokens: int | None = None


Step: TypeAlias = Said | Called


@dataclass(frozen=True, slots=True)
class SessionLog:
    """The steps of one session, in order."""

    session: str
    steps: Sequence[Step]
