"""The static picture of a graph's growth: ops plotted against runs, as SVG.

Building moves up, running moves right. A program that builds first and then runs draws
one corner; lazy loading draws a staircase.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from tfteach.explain.growth import Growth
from tfteach.jupyter.graph_svg import EDGE, FETCH, FONT, INK, MUTED, RULE

WIDTH, HEIGHT = 420, 232
LEFT, RIGHT, TOP, BOTTOM = 56, 80, 40, 40
LINE = "#0b63ce"
WORDS = {"clean": "built, then run", "late": "built late", "lazy": "lazy loading"}
MOST_CORNERS = 400
LEAST_SPAN = 10  # ops; so that one more op does not look like a cliff


def corners(growth: Growth) -> list[tuple[int, int]]:
    """The corners of the line as (runs, ops), from the start of the recording."""
    runs = 0
    found = [(0, growth.ops_before)]
    rounds = growth.rounds
    stride = max(1, len(rounds) // MOST_CORNERS)
    for number, round_ in enumerate(rounds):
        if number % stride == 0 or number == len(rounds) - 1:
            found.append((runs, round_.stop))
        runs += round_.runs
        if number % stride == 0 or number == len(rounds) - 1:
            found.append((runs, round_.stop))
    return found


def foot_of(before: int, most: int) -> int:
    """The number of ops at the foot of the axis; `footOf` in the page does the same.

    That is 0, unless a large graph grows by little: then the axis begins shortly below
    its first size.
    """
    if most <= before or before < most / 2:
        return 0
    return max(0, int(most - 1.2 * max(LEAST_SPAN, most - before)))


def svg_of(parts: Sequence[tuple[str, Growth]]) -> str:
    """One plot for each growth, side by side with equal scales."""
    most_runs = max(1, *(growth.runs for _, growth in parts), 1)
    most_ops = max(1, *(growth.ops_after for _, growth in parts), 1)
    foot = foot_of(min(growth.ops_before for _, growth in parts), most_ops)
    width = WIDTH * len(parts)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
        f'height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" font-family="{FONT}" '
        'font-size="11">',
        f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for number, (title, growth) in enumerate(parts):
        pieces.append(f'<g transform="translate({number * WIDTH},0)">')
        pieces += _meter(title, growth, most_runs, (foot, most_ops))
        pieces.append("</g>")
    return "\n".join([*pieces, "</svg>"])


def _meter(
    title: str, growth: Growth, most_runs: int, axis: tuple[int, int]
) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    foot, most_ops = axis

    def at(runs: float, ops: float) -> tuple[float, float]:
        x = LEFT + runs / most_runs * (right - LEFT)
        share = (ops - foot) / max(1, most_ops - foot)
        return round(x, 1), round(bottom - share * (bottom - TOP), 1)

    way = [at(*corner) for corner in corners(growth)]
    kind = growth.verdict.kind
    colour = FETCH if kind == "lazy" else LINE
    ops = f"{growth.ops_after:,} ops"
    last_x, last_y = way[-1]
    base = at(0, growth.at_first_run)[1]
    pieces = [
        _text(LEFT, 20, title, INK, size=13, weight="bold"),
        _text(right, 20, WORDS[kind], colour, anchor="end", weight="bold"),
        f'<path d="M{LEFT},{TOP}V{bottom}H{right}" fill="none" stroke="{EDGE}"/>',
        _text(LEFT - 6, TOP + 4, f"{most_ops:,}", MUTED, anchor="end"),
        _text(LEFT - 6, bottom + 4, f"{foot:,}", MUTED, anchor="end"),
        _text(right, bottom + 15, f"{most_runs:,}", MUTED, anchor="middle"),
        _text((LEFT + right) / 2, bottom + 30, "runs →", MUTED, anchor="middle"),
        f'<text transform="translate(14,{(TOP + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle" fill="{MUTED}">ops built →</text>',
    ]
    if growth.added_while_running:
        start = next(x for x, y in way if y == base)
        inside = [(x, y) for x, y in way if y <= base and x >= start]
        area = " ".join(f"{x},{y}" for x, y in inside)
        pieces += [
            f'<polygon points="{area} {last_x},{base}" fill="{colour}" '
            'fill-opacity="0.14"/>',
            f'<path d="M{LEFT},{base}H{right}" stroke="{RULE}" '
            'stroke-dasharray="3 3"/>',
        ]
    points = " ".join(f"{x},{y}" for x, y in way)
    pieces += [
        f'<polyline points="{points}" fill="none" stroke="{colour}" '
        'stroke-width="2.2" stroke-linejoin="round"/>',
        f'<circle cx="{last_x}" cy="{last_y}" r="3.4" fill="{colour}"/>',
        _text(last_x + 8, last_y + 4, ops, colour, weight="bold"),
    ]
    return pieces


def _text(
    x: float, y: float, words: str, fill: str, *,
    anchor: str = "start", size: int = 11, weight: str = "normal",
) -> str:  # fmt: skip
    return (
        f'<text x="{x}" y="{y}" fill="{fill}" text-anchor="{anchor}" '
        f'font-size="{size}" font-weight="{weight}">{html.escape(words)}</text>'
    )
