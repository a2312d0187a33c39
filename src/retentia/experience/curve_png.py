"""The learning curve as a PNG, drawn with numpy and written with zlib: no plotting library, no font on the machine.

Its few labels are English, whatever the language of the verdict: the letters are a table of dots in font.toml.
"""

import struct
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retentia.experience.curve import Curve
from retentia.experience.curve_picture import HEIGHT, LEFT, RIGHT, WIDTH, Panel, mark_text, panels

_SCALE = 2
_DOT = 3
"""Pixels of a dot of a letter, in a picture of twice the size of the SVG."""
_ADVANCE = 6
_ROWS = 9
_STROKE = 2.2
_DASH, _GAP = 28.0, 14.0

Colour = tuple[int, int, int]
Ink = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture; those of lines by their names."""

    paper: Colour
    text: Colour
    grid: Colour
    lines: Mapping[str, Colour]


LIGHT = Theme(
    (255, 255, 255), (51, 51, 51), (221, 221, 221), {"r": (11, 98, 196), "s": (180, 83, 9), "c": (15, 118, 110)}
)
DARK = Theme(
    (22, 22, 22), (221, 221, 221), (64, 64, 64), {"r": (108, 178, 255), "s": (245, 176, 65), "c": (79, 209, 197)}
)


def png(curve: Curve, *, dark: bool = False) -> bytes:
    """Return the curve as a PNG of 1440 by 800 pixels."""
    theme = DARK if dark else LIGHT
    canvas = np.empty((HEIGHT * _SCALE, WIDTH * _SCALE, 3), dtype=np.float64)
    canvas[:] = theme.paper
    _write(canvas, "learning curve", (LEFT, 14), theme.text)
    for panel in panels(curve):
        _draw_panel(canvas, panel, theme)
    _write(canvas, "1", (LEFT, HEIGHT - 32), theme.text)
    _write(canvas, f"{len(curve.rolling_reward)} experiences", (RIGHT, HEIGHT - 32), theme.text, right=True)
    return encoded(np.rint(canvas).astype(np.uint8))


def encoded(pixels: NDArray[np.uint8]) -> bytes:
    """Write pixels, shape (height, width, 3), as a PNG (ISO/IEC 15948)."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each row opens with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _draw_panel(canvas: Ink, panel: Panel, theme: Theme) -> None:
    for mark in panel.marks:
        y = round(panel.y(mark) * _SCALE)
        canvas[y - 1 : y + 1, LEFT * _SCALE : RIGHT * _SCALE] = theme.grid if mark else theme.text
        _write(canvas, mark_text(mark), (LEFT - 8, round(panel.y(mark)) - 5), theme.text, right=True)
    for number, line in enumerate(panel.lines):
        x, y = LEFT + 320 * number, panel.top - 22
        colour = theme.lines[line.name]
        dashed = line.name == "s"
        _stroke(canvas, ((x, y), (x + 24, y)), colour, dashed=dashed)
        _write(canvas, line.title, (x + 32, y - 6), theme.text)
        _stroke(canvas, line.points, colour, dashed=dashed)


def _stroke(canvas: Ink, points: Sequence[tuple[float, float]], colour: Colour, *, dashed: bool) -> None:
    """Draw a line through points with smooth edges: each pixel takes as much colour as the line covers of it."""
    cover = np.zeros(canvas.shape[:2])
    gone = 0.0
    for start, end in pairwise(points):
        one, two = np.array(start) * _SCALE, np.array(end) * _SCALE
        _cover(cover, one, two, gone if dashed else None)
        gone += float(np.hypot(*(two - one)))
    canvas += cover[..., None] * (np.array(colour) - canvas)


def _cover(cover: Ink, start: Ink, end: Ink, gone: float | None) -> None:
    margin = 4
    (left, top), (right, bottom) = np.minimum(start, end) - margin, np.maximum(start, end) + margin
    rows, columns = slice(max(int(top), 0), int(bottom) + 1), slice(max(int(left), 0), int(right) + 1)
    view = cover[rows, columns]
    y, x = np.mgrid[rows, columns][:, : view.shape[0], : view.shape[1]]
    way = end - start
    length = float(np.hypot(*way)) or 1.0
    along = np.clip(((x - start[0]) * way[0] + (y - start[1]) * way[1]) / length, 0, length)
    distance = np.hypot(x - start[0] - along * way[0] / length, y - start[1] - along * way[1] / length)
    ink = np.clip(_STROKE + 0.5 - distance, 0, 1)
    if gone is not None:
        ink *= (gone + along) % (_DASH + _GAP) < _DASH
    np.maximum(view, ink, out=view)


def _write(canvas: Ink, text: str, place: tuple[int, int], colour: Colour, *, right: bool = False) -> None:
    """Write a text with its upper left corner at a place, or its right one; what has no letter is left blank."""
    step = _ADVANCE * _DOT
    left = max(place[0] * _SCALE - (len(text) * step - _DOT if right else 0), 0)
    for number, letter in enumerate(text.lower()):
        dots = np.kron(_font().get(letter, np.zeros((_ROWS, 5), dtype=bool)), np.ones((_DOT, _DOT), dtype=bool))
        x, y = left + number * step, place[1] * _SCALE
        view = canvas[y : y + dots.shape[0], x : x + dots.shape[1]]
        view[dots[: view.shape[0], : view.shape[1]]] = colour


@cache
def _font() -> Mapping[str, NDArray[np.bool_]]:
    table = tomllib.loads(Path(__file__).with_name("font.toml").read_text("utf-8"))
    return {letter: _dots(rows.split()) for letter, rows in table.items()}


def _dots(rows: Sequence[str]) -> NDArray[np.bool_]:
    padded = [*rows, *["....."] * (_ROWS - len(rows))]
    return np.array([[dot == "#" for dot in row] for row in padded], dtype=bool)
