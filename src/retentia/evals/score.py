"""Precision and recall of what was found, by the rule that a finding is right when its kind and its place are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What was found of what is there. Precision and recall are 1 where there was nothing to find, or nothing found."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of findings that are right."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """The share of marked stretches that were found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    def as_json(self) -> dict[str, float | int]:
        """Return the two shares, rounded to three digits, and the counts."""
        return {
            "precision": round(self.precision, 3),
            "recall": round(self.recall, 3),
            "right": self.right,
            "wrong": self.wrong,
            "missed": self.missed,
        }
