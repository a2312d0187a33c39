"""The learning curve as a picture: SVG for pages, blocks for a terminal. The PNG is drawn in curve_png.py."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from retentia.experience.curve import Curve
from retentia.experience.words import ENGLISH, words

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT = 56, 700
_MOST_POINTS = 240
_DOT = 4.0
_BLOCKS = "▁▂▃▄▅▆▇█"
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:16px}.g{stroke:#ddd}.a{stroke:#888}"
    "polyline{fill:none;stroke-width:2.5;stroke-linejoin:round}.r{stroke:#0b62c4}"
    ".s{stroke:#b45309;stroke-dasharray:7 4}.c{stroke:#0f766e}.b{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#3a3a3a}.a{stroke:#888}"
    ".r{stroke:#6cb2ff}.s{stroke:#f5b041}.c{stroke:#4fd1c5}.b{fill:#161616}}"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a picture: its class of colour, what it shows, its points in pixels."""

    name: str
    title: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """A stretch of the picture from `top` to `bottom` for values from 0 to `highest`, with its lines."""

    top: int
    bottom: int
    highest: float
    marks: tuple[float, ...]
    lines: tuple[Line, ...]

    def y(self, value: float) -> float:
        """Return how far down a value is drawn."""
        return self.bottom - (self.bottom - self.top) * value / self.highest


def panels(curve: Curve, language: str = ENGLISH) -> tuple[Panel, Panel]:
    """Lay out the rolling numbers above and the rewards added up below; raise InvalidInput for another language."""
    known = words(language)
    total = curve.cumulative_reward[-1] if curve.cumulative_reward else 0.0
    rolling = Panel(80, 250, 1.0, (0.0, 0.5, 1.0), ())
    added = Panel(306, 356, max(total, 1.0), (0.0, max(total, 1.0)), ())
    return (
        _with_lines(
            rolling,
            ("r", known["rolling_reward"].format(window=curve.window), curve.rolling_reward),
            ("s", known["rolling_success"].format(window=curve.window), curve.rolling_success),
        ),
        _with_lines(added, ("c", known["cumulative"].format(total=f"{total:.1f}"), curve.cumulative_reward)),
    )


def svg(curve: Curve, *, title: str = "", language: str = ENGLISH) -> str:
    """Return the curve as an SVG that follows light and dark, says in words what it shows and runs nothing."""
    known = words(language)
    heading, said = _xml(title or known["title"]), _xml(curve.verdict.text(language))
    body = "".join(_panel(panel) for panel in panels(curve, language))
    count = len(curve.rolling_reward)
    own = f"{zlib.crc32((heading + said + body).encode()):08x}"  # so that one page can hold several pictures
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" lang="{language}" '
        f'aria-labelledby="title-{own} desc-{own}"><title id="title-{own}">{heading}</title>'
        f'<desc id="desc-{own}">{said}</desc><style>{_STYLE}</style>'
        f'<rect class="b" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<text class="t" x="{LEFT}" y="28">{heading}</text>{body}'
        f'<text x="{LEFT}" y="{HEIGHT - 22}">1</text>'
        f'<text x="{RIGHT}" y="{HEIGHT - 22}" text-anchor="end">{count} {_xml(known["experiences"])}</text></svg>\n'
    )


def blocks(curve: Curve, *, width: int = 60, language: str = ENGLISH) -> str:
    """Return the curve as lines of at most `width` block characters with their titles, and the verdict below."""
    lines = []
    for panel in panels(curve, language):
        for line in panel.lines:
            points = line.points[: len(curve.rolling_reward)]
            values = [(panel.bottom - y) / (panel.bottom - panel.top) for _, y in points]
            lines += [line.title, _bars([value for _, value in thinned(values, max(width, 1))])]
    return "\n".join((*lines, curve.verdict.text(language)))


def thinned(values: Sequence[float], most: int) -> list[tuple[float, float]]:
    """Return (place, value) of at most `most` points: values as they are, or the means of equal stretches of them."""
    if len(values) <= most:
        return [(float(place), value) for place, value in enumerate(values)]
    column = np.asarray(values, dtype=np.float64)
    starts = np.arange(most) * len(column) // most
    counts = np.diff(np.append(starts, len(column)))
    means = np.add.reduceat(column, starts) / counts
    places = np.linspace(0, len(column) - 1, most)
    return [(float(place), float(mean)) for place, mean in zip(places, means, strict=True)]


def mark_text(mark: float) -> str:
    """Write the number beside a mark, in few digits."""
    return f"{mark:.0f}" if mark >= 10 else f"{mark:.2g}"


def _with_lines(panel: Panel, *lines: tuple[str, str, Sequence[float]]) -> Panel:
    drawn = tuple(Line(name, title, _points(panel, values)) for name, title, values in lines)
    return Panel(panel.top, panel.bottom, panel.highest, panel.marks, drawn)


def _points(panel: Panel, values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    step = (RIGHT - LEFT) / max(len(values) - 1, 1)
    points = tuple((LEFT + step * place, panel.y(value)) for place, value in thinned(values, _MOST_POINTS))
    return points if len(points) != 1 else (points[0], (LEFT + _DOT, points[0][1]))  # a line needs two


def _panel(panel: Panel) -> str:
    parts = []
    for mark in panel.marks:
        y = panel.y(mark)
        kind = "g" if mark else "a"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{mark_text(mark)}</text>')
    for number, line in enumerate(panel.lines):
        x, y = LEFT + 300 * number, panel.top - 22
        parts.append(f'<polyline class="{line.name}" points="{x},{y} {x + 24},{y}"/>')
        parts.append(f'<text x="{x + 32}" y="{y + 4}">{_xml(line.title)}</text>')
        parts.append(f'<polyline class="{line.name}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in line.points)}"/>')
    return "".join(parts)


def _bars(shares: Sequence[float]) -> str:
    top = len(_BLOCKS) - 1
    return "".join(_BLOCKS[min(top, max(0, round(share * top)))] for share in shares)


def _xml(text: str) -> str:
    """Escape a text and leave out what XML cannot carry."""
    return escape("".join(one if one.isprintable() and one not in "\ufffe\uffff" else " " for one in text))
