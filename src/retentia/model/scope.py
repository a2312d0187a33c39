"""Whose memory it is."""

import unicodedata
from dataclasses import dataclass, replace

from retentia.errors import InvalidScope

_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Scope:
    """One person's memory: the organisation, the person, the purpose, and optionally one agent.

    `tenant` is the hard wall. `user` is the person remembered. `space` is the purpose (work, personal) and never
    crossed without a grant. `agent` narrows to one agent; "" is what all agents of the user share. Names are compared
    exactly: no prefixes, no patterns. Raises InvalidScope.
    """

    tenant: str
    user: str
    space: str = "default"
    agent: str = ""

    def __post_init__(self) -> None:
        for part in ("tenant", "user", "space", "agent"):
            _check_name(part, getattr(self, part), may_be_empty=part == "agent")

    def shared(self) -> "Scope":
        """Name the part of this memory that all agents of the user share."""
        return replace(self, agent="")

    def __str__(self) -> str:
        return "/".join(name for name in (self.tenant, self.user, self.space, self.agent) if name)


def _check_name(part: str, name: object, *, may_be_empty: bool) -> None:
    if not isinstance(name, str):
        raise InvalidScope(f"the {part} of a scope must be text, not {type(name).__name__}")
    if not name and not may_be_empty:
        raise InvalidScope(f"a scope needs a {part}: Scope(tenant, user, space='default', agent='')")
    if len(name) > _MAX_NAME:
        raise InvalidScope(f"the {part} of a scope may have {_MAX_NAME} characters, this one has {len(name)}")
    if name != name.strip() or any(unicodedata.category(char) in {"Cc", "Cs"} for char in name):
        raise InvalidScope(f"the {part} {name!r} has control characters or blanks around it; remove them")
