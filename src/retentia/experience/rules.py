"""Which categories of tasks and which strategies a tenant has beside the shipped ones."""

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from retentia.errors import InvalidInput
from retentia.model.experience import CATEGORIES
from retentia.model.message import JSON

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperienceRules:
    """A tenant's own `categories`, and its own `strategies` with what each tells an agent to do."""

    categories: tuple[str, ...] = ()
    strategies: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, given: Mapping[str, object]) -> Self:
        """Read {"categories": [name], "strategies": {name: instruction}}; raise InvalidInput."""
        if unknown := sorted(set(given) - {"categories", "strategies"}):
            raise InvalidInput(f"rules for experiences are categories and strategies, not {unknown[0]!r}")
        categories, strategies = given.get("categories", []), given.get("strategies", {})
        if not isinstance(categories, (list, tuple)) or not all(_is_text(one) for one in categories):
            raise InvalidInput(f"categories must be a list of names, not {categories!r}")
        if not isinstance(strategies, Mapping) or not all(
            _is_text(name) and _is_text(told) for name, told in strategies.items()
        ):
            raise InvalidInput(f"strategies must be names with an instruction each, not {strategies!r}")
        return cls(categories=tuple(dict.fromkeys(categories)), strategies=dict(strategies))

    def as_data(self) -> dict[str, JSON]:
        """Return what `parse` reads."""
        return {"categories": list(self.categories), "strategies": dict(self.strategies)}

    def knows(self, category: str) -> bool:
        """Tell whether a category is shipped, or the tenant's own."""
        return category in CATEGORIES or category in self.categories

    def check_category(self, name: str) -> None:
        """Raise InvalidInput for a category that is neither shipped nor the tenant's own."""
        if self.knows(name):
            return
        known = (*CATEGORIES, *self.categories)
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise InvalidInput(
            f"there is no category {name!r}; {meant}use one of {', '.join(known)}, or add it with "
            "`retentia experience rules --set FILE` or `memory.experience.set_rules`"
        )


@lru_cache(maxsize=64)
def rules_from(settings: str) -> ExperienceRules:
    """Return the rules that a tenant has set, from JSON; "" without any."""
    return ExperienceRules.parse(json.loads(settings)) if settings else ExperienceRules()


def _is_text(value: object) -> bool:
    """Tell whether it is text that says something and can be stored."""
    return isinstance(value, str) and bool(value.strip()) and not _UNSTORABLE.search(value)
