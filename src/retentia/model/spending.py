"""Spending: how many calls and tokens models took, what they cost, and the ceiling that it may not pass. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, fields
from typing import Self

from retentia.errors import InvalidInput

MICRO = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What calls took. `cost` is in millionths of the price table's currency; 0 where there is no price."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(**{name: getattr(self, name) + getattr(other, name) for name in _PARTS})

    def __sub__(self, other: "Spending") -> "Spending":
        return Spending(**{name: getattr(self, name) - getattr(other, name) for name in _PARTS})

    @property
    def tokens(self) -> int:
        """Tokens read and written together."""
        return self.tokens_in + self.tokens_out


_PARTS = tuple(field.name for field in fields(Spending))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """What may be spent at most, on calls, tokens or money; None is no limit. Raises InvalidInput.

    `cost` is in the currency of the price table.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        for name, limit in asdict(self).items():
            wanted = int | float if name == "cost" else int
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, wanted) or not limit >= 0):
                raise InvalidInput(f"a ceiling of {name} must be a number from 0 on, not {limit!r}")

    @classmethod
    def parse(cls, data: Mapping[str, object]) -> Self:
        """Return the ceiling that a mapping names; raise InvalidInput."""
        if unknown := data.keys() - {field.name for field in fields(cls)}:
            raise InvalidInput(f"a ceiling limits calls, tokens or cost, not {', '.join(sorted(unknown))}")
        return cls(**data)  # type: ignore[arg-type]  # checked when it is made

    @property
    def is_set(self) -> bool:
        """Whether anything is limited."""
        return astuple(self) != (None, None, None)

    def excess(self, spent: Spending, asked: Spending) -> str:
        """Return "" when `asked` may still be spent, or which limit it would pass and what is spent of it."""
        after = spent + asked
        if self.calls is not None and after.calls > self.calls:
            return f"{self.calls:,} calls, of which {spent.calls:,} are made"
        if self.tokens is not None and after.tokens > self.tokens:
            return f"{self.tokens:,} tokens, of which {spent.tokens:,} are spent; this call may take {asked.tokens:,}"
        if self.cost is not None and after.cost > self.cost * MICRO:
            costs = f"{spent.cost / MICRO:.6g} is spent; this call may cost {asked.cost / MICRO:.6g}"
            return f"a cost of {self.cost:g}, of which {costs}"
        return ""
