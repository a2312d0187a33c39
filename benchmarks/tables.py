"""Tables: figures as values, shown on a terminal, in Markdown or as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rich.table import Table as RichTable

Cell: TypeAlias = str | float | int | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a title; None is what could not be measured, which a note explains."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, object]:
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def as_markdown(self) -> str:
        lines = [f"### {self.title}", "", _line(self.columns), _line(["---"] + ["---:"] * (len(self.columns) - 1))]
        lines += [_line([shown(cell) for cell in row]) for row in self.rows]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)

    def as_rich(self) -> RichTable:
        table = RichTable(title=self.title, title_justify="left", caption="\n".join(self.notes), caption_justify="left")
        for number, name in enumerate(self.columns):
            table.add_column(name, justify="right" if number else "left")
        for row in self.rows:
            table.add_row(*(shown(cell) for cell in row))
        return table


def shown(cell: Cell) -> str:
    """Write a figure with three significant digits, and thousands apart."""
    match cell:
        case None:
            return "–"
        case str():
            return cell
        case int():
            return f"{cell:,}"
        case _ if abs(cell) >= 100:
            return f"{cell:,.0f}"
        case _:
            return f"{cell:.3g}"


def ratio(ours: float | None, other: float | None) -> str | None:
    """Write how many times the other figure ours is."""
    return None if ours is None or not other else f"{ours / other:.2f}×"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
