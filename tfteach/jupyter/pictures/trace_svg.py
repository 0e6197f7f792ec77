"""The static picture of traced functions: traces made plotted against calls, as SVG.

A call moves right, a trace up. A function that is traced once draws a flat line;
retracing draws a staircase. The graph of a trace stands below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tfteach.jupyter.pictures.graph_svg import EDGE, FETCH, FONT, INK, MUTED
from tfteach.jupyter.pictures.tracks_svg import text_at

WIDTH, HEIGHT = 420, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 100, 40, 40
MOST_DRAWN = 4  # functions
LINE = "#0b63ce"


PIXELS = 4 / 3  # of a point


def svg_of(uses: Sequence[Any], graph: str | None = None) -> str:
    """One plot for each function, side by side with equal scales.

    Args:
      uses: the functions, as `FunctionUse`s.
      graph: the picture of a trace as SVG, which stands below.
    """
    drawn = list(uses[:MOST_DRAWN]) or [None]
    most_calls = max(1, *(0 if use is None else use.count for use in drawn), 1)
    most_traces = max(2, *(0 if u is None else len(u.traces) for u in drawn), 2)
    plots = WIDTH * len(drawn)
    below, graph_width, graph_height = _placed(graph)
    width, height = max(plots, graph_width), HEIGHT + graph_height
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT}" '
        'font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, use in enumerate(drawn):
        pieces.append(f'<g transform="translate({number * WIDTH},0)">')
        pieces += [] if use is None else _plot(use, most_calls, most_traces)
        pieces.append("</g>")
    return "\n".join([*pieces, below, "</svg>"])


def _placed(graph: str | None) -> tuple[str, int, int]:
    """The picture of a graph, moved below the plots, and its size in pixels."""
    if graph is None:
        return "", 0, 0
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', graph)
    assert size is not None, "Graphviz writes a size in points"
    width, height = (round(float(points) * PIXELS) for points in size.groups())
    return graph.replace("<svg", f'<svg y="{HEIGHT}"', 1), width, height


def _plot(use: Any, most_calls: int, most_traces: int) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def at(calls: float, traces: float) -> str:
        x = LEFT + calls / most_calls * (right - LEFT)
        y = bottom - traces / most_traces * (bottom - TOP)
        return f"{x:.1f},{y:.1f}"

    verdict = use.verdict
    colour = FETCH if verdict.is_waste else LINE
    corners, traces = [at(0, 0)], 0
    for trace in use.traces:
        call = max(0, trace.call - 1)
        corners.append(at(call, traces))
        traces += 1
        corners.append(at(call, traces))
    corners.append(at(max(use.count, 1), traces))
    x, y = corners[-1].split(",")
    return [
        text_at(LEFT, 20, use.name, INK, size=13, weight="bold"),
        f'<path d="M{LEFT},{TOP}V{bottom}H{right}" fill="none" stroke="{EDGE}"/>',
        text_at(LEFT - 6, TOP + 4, f"{most_traces:,}", MUTED, anchor="end"),
        text_at(LEFT - 6, bottom + 4, "0", MUTED, anchor="end"),
        text_at(right, bottom + 15, f"{most_calls:,}", MUTED, anchor="middle"),
        text_at((LEFT + right) / 2, bottom + 30, "calls →", MUTED, anchor="middle"),
        f'<text transform="translate(14,{(TOP + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle" fill="{MUTED}">traces →</text>',
        f'<polyline points="{" ".join(corners)}" fill="none" stroke="{colour}" '
        'stroke-width="2.2" stroke-linejoin="round"/>',
        f'<circle cx="{x}" cy="{y}" r="3.4" fill="{colour}"/>',
        text_at(float(x) + 8, float(y) + 4, verdict.sign(), colour, weight="bold"),
    ]
