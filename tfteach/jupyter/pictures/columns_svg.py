"""The static picture of rows in columns, joined by curves, as SVG."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

from tfteach.jupyter.pictures.graph_svg import EDGE, FETCH, FONT, INK, MUTED
from tfteach.jupyter.pictures.picture_contents import clip

ROW, HEAD, GAP, PAD, INDENT = 26, 30, 70, 10, 14
MOST_ROWS = 40

# kind of row -> fill, line
LOOKS = {
    "variable": ("#ffefd2", "#bd7f14"),
    "twin": ("#fbeadf", FETCH),
    "variable_scope": ("#eef1f6", "#8592a6"),
    "name_scope": ("#ffffff", "#8592a6"),
    "call": ("#ffffff", "#c5ccd6"),
    "collection": ("#e3f1ff", "#3f86c9"),
    "lost": ("#fbeadf", FETCH),
}


class Column(NamedTuple):
    """A column of the picture.

    Attributes:
      head: its heading.
      width: in pixels.
      rows: (id, kind, depth, text) of each.
    """

    head: str
    width: int
    rows: Sequence[tuple[str, str, int, str]]


def columns_svg(
    columns: Sequence[Column], links: Sequence[tuple[str, str, bool]]
) -> str:
    """The columns, and links (from, to, dashed) between rows of neighbours."""
    places: dict[str, tuple[float, float, float]] = {}
    pieces = []
    x = PAD
    for head, width, rows in columns:
        pieces.append(_text(x, 19, head, MUTED))
        for number, (key, kind, depth, text) in enumerate(rows[:MOST_ROWS]):
            y = HEAD + number * ROW
            left = x + depth * INDENT
            places[key] = (left, x + width, y + ROW / 2 - 2)
            fill, line = LOOKS[kind]
            dash = ' stroke-dasharray="4 3"' if kind == "name_scope" else ""
            pieces.append(
                f'<rect x="{left}" y="{y}" width="{x + width - left}" '
                f'height="{ROW - 5}" rx="5" fill="{fill}" stroke="{line}"{dash}/>'
            )
            shown = clip(text, max(6, (x + width - left) // 7))
            pieces.append(_text(left + 8, y + 15, shown, INK))
        if len(rows) > MOST_ROWS:
            y = HEAD + MOST_ROWS * ROW + 14
            pieces.append(_text(x, y, f"and {len(rows) - MOST_ROWS} more", MUTED))
        x += width + GAP
    curves = [
        _curve(places[start], places[end], dashed)
        for start, end, dashed in links
        if start in places and end in places
    ]
    most = max(min(len(rows), MOST_ROWS + 1) for _, _, rows in columns)
    width, height = x - GAP + PAD, HEAD + most * ROW + PAD
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="{FONT}" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *curves,
            *pieces,
            "</svg>",
        ]
    )


def _curve(
    start: tuple[float, float, float], end: tuple[float, float, float], dashed: bool
) -> str:
    (_, x1, y1), (x2, _, y2) = start, end
    bend = (x2 - x1) / 2
    dash = ' stroke-dasharray="5 3"' if dashed else ""
    return (
        f'<path d="M{x1},{y1}C{x1 + bend},{y1} {x2 - bend},{y2} {x2},{y2}" '
        f'fill="none" stroke="{EDGE}" stroke-width="1.4"{dash}/>'
    )


def _text(x: float, y: float, words: str, fill: str) -> str:
    return f'<text x="{x}" y="{y}" fill="{fill}">{html.escape(words)}</text>'
