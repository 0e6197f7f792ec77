"""The static picture of a graph's growth: ops plotted against runs, as SVG.

Building moves up, running moves right. A program that builds first and then runs draws
one corner; lazy loading draws a staircase.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.explain.eager.eager_growth import EagerGrowth
from tfteach.jupyter.pictures.graph_svg import EDGE, FETCH, FONT, INK, MUTED, RULE
from tfteach.jupyter.pictures.tracks_svg import TRACKS_WIDTH, text_at, tracks_of_parts
from tfteach.jupyter.shown_growth import ShownGrowth, corners

WIDTH, HEIGHT = 420, 232
LEFT, RIGHT, TOP, BOTTOM = 56, 80, 40, 40
LINE = "#0b63ce"
WORDS = {
    "clean": "built, then run", "late": "built late", "lazy": "lazy loading",
    "eager": "eager: nothing grows", "held": "tensors are kept",
}  # fmt: skip
WASTE = ("lazy", "rebuilt", "reopened")
LEAST_SPAN = 10  # ops; so that one more op does not look like a cliff


def foot_of(before: int, most: int) -> int:
    """The number of ops at the foot of the axis; `footOf` in the page does the same.

    That is 0, unless a large graph grows by little: then the axis begins shortly below
    its first size.
    """
    if most <= before or before < most / 2:
        return 0
    return max(0, int(most - 1.2 * max(LEAST_SPAN, most - before)))


def svg_of(parts: Sequence[ShownGrowth]) -> str:
    """One plot for each growth, side by side with equal scales.

    Above them is a track for each graph and session, where there are several.
    """
    ways = [corners(part) for part in parts]
    most_runs = max(1, *(way[-1][0] for way in ways), 1)
    most_ops = max(1, *(way[-1][1] for way in ways), 1)
    foot = foot_of(min(part.growth.ops_before for part in parts), most_ops)
    tracks, top = tracks_of_parts(parts)
    width = max(WIDTH * len(parts), TRACKS_WIDTH if tracks else 0)
    height = HEIGHT + top
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT}" '
        'font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *tracks,
    ]
    for number, (part, way) in enumerate(zip(parts, ways, strict=True)):
        pieces.append(f'<g transform="translate({number * WIDTH},{top})">')
        pieces += _meter(part, way, most_runs, (foot, most_ops))
        pieces.append("</g>")
    return "\n".join([*pieces, "</svg>"])


def _meter(
    part: ShownGrowth,
    corners: list[tuple[int, int]],
    most_runs: int,
    axis: tuple[int, int],
) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    foot, most_ops = axis

    def at(runs: float, ops: float) -> tuple[float, float]:
        x = LEFT + runs / most_runs * (right - LEFT)
        share = (ops - foot) / max(1, most_ops - foot)
        return round(x, 1), round(bottom - share * (bottom - TOP), 1)

    way = [at(*corner) for corner in corners]
    kind, last = part.kind, corners[-1][1]
    colour = FETCH if kind in WASTE else LINE
    sign = WORDS.get(kind) or part.finding.sign()
    ops = f"{last:,} ops"
    last_x, last_y = way[-1]
    base = at(0, part.growth.at_first_run)[1]
    unit = "iterations →" if isinstance(part.growth, EagerGrowth) else "runs →"
    pieces = [
        text_at(LEFT, 20, part.title, INK, size=13, weight="bold"),
        text_at(right, 20, sign, colour, anchor="end", weight="bold"),
        f'<path d="M{LEFT},{TOP}V{bottom}H{right}" fill="none" stroke="{EDGE}"/>',
        text_at(LEFT - 6, TOP + 4, f"{most_ops:,}", MUTED, anchor="end"),
        text_at(LEFT - 6, bottom + 4, f"{foot:,}", MUTED, anchor="end"),
        text_at(right, bottom + 15, f"{most_runs:,}", MUTED, anchor="middle"),
        text_at((LEFT + right) / 2, bottom + 30, unit, MUTED, anchor="middle"),
        f'<text transform="translate(14,{(TOP + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle" fill="{MUTED}">ops built →</text>',
    ]
    if last > part.growth.at_first_run:
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
        text_at(last_x + 8, last_y + 4, ops, colour, weight="bold"),
    ]
    return pieces
