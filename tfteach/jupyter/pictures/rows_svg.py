"""A static picture of the rows that runs read and moved, as SVG."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from tfteach.jupyter.pictures.graph_svg import FETCH, FONT, INK, MUTED, RULE
from tfteach.jupyter.pictures.timeline_svg import text_at

WIDTH, LEFT, TOP = 380, 64, 46
# From a short distance to a long one.
READ = ("#dbe8fa", "#b3cff3", "#82afe8", "#4a87d6", "#0b5bbd")
UNREAD = ("#fdf0df", "#fbdcb3", "#f6c083", "#ec9c50", "#d9731f")


def rows_svg(panels: Sequence[dict[str, Any]]) -> str:
    """The heat maps of the variables, two beside each other, with their verdicts.

    Args:
      panels: the view's panels; at least one.
    """
    parts: list[str] = []
    x, y, line_height, most_x = 0, 0, 0, WIDTH
    for panel in panels:
        drawn, height = _panel(panel["title"], panel["heat_maps"][0])
        if x >= 2 * WIDTH:
            x, y, line_height = 0, y + line_height, 0
        parts.append(f'<g transform="translate({x},{y})">{"".join(drawn)}</g>')
        x += WIDTH
        most_x = max(most_x, x)
        line_height = max(line_height, height)
    y += line_height
    legend = [
        f'<rect x="12" y="{y + 6}" width="12" height="12" fill="{READ[3]}"/>',
        f'<circle cx="18" cy="{y + 12}" r="2.2" fill="#ffffff"/>',
        text_at(30, y + 16, "read and moved", INK),
        f'<rect x="128" y="{y + 6}" width="12" height="12" fill="{UNREAD[3]}"/>',
        text_at(146, y + 16, "moved, not read", INK),
        f'<circle cx="256" cy="{y + 12}" r="2.2" fill="{INK}"/>',
        text_at(266, y + 16, "read, not moved", INK),
    ]
    height = y + 28
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{most_x}" '
        f'height="{height}" viewBox="0 0 {most_x} {height}" font-family="{FONT}" '
        f'font-size="11"><rect width="{most_x}" height="{height}" fill="#ffffff"/>'
    )
    return "\n".join([head, *parts, *legend, "</svg>"])


def _panel(title: str, heat_map: dict[str, Any]) -> tuple[list[str], int]:
    rows, columns = heat_map["rows"], len(heat_map["steps"])
    wide = min(20.0, (WIDTH - LEFT - 16) / max(columns, 1))
    tall = 16 if len(rows) <= 24 else 9
    count = len(rows) + bool(heat_map["others"])
    bottom = TOP + tall * count
    parts = [
        text_at(12, 20, title, INK, size=13, weight="bold"),
        text_at(12, 36, f"{heat_map['variable']}, {heat_map['about']}", MUTED),
        f'<rect x="{LEFT}" y="{TOP}" width="{wide * columns:.1f}" '
        f'height="{tall * count}" fill="none" stroke="{RULE}"/>',
    ]
    for i, row in enumerate(rows):
        if tall > 11 or i % 2 == 0:
            label = f"row {row:,}"
            middle = TOP + tall * i + tall / 2 + 4
            parts.append(text_at(LEFT - 6, middle, label, MUTED, anchor="end"))
    for column, row, level, is_read, _ in heat_map["cells"]:
        x, y = LEFT + wide * column, TOP + tall * row
        if level >= 0:
            fill = (READ if is_read else UNREAD)[level]
            parts.append(_cell(x, y, wide, tall, fill))
        if is_read:
            fill = INK if level < 0 else "#ffffff" if level > 2 else READ[4]
            parts.append(
                f'<circle cx="{x + wide / 2:.1f}" cy="{y + tall / 2:.1f}" '
                f'r="{min(2.2, wide / 4):.1f}" fill="{fill}"/>'
            )
    if heat_map["others"]:
        y = TOP + tall * len(rows)
        parts.append(text_at(LEFT - 6, y + tall / 2 + 4, "others", MUTED, anchor="end"))
        for column, (_, level) in enumerate(heat_map["others_moved"]):
            if level >= 0:
                parts.append(_cell(LEFT + wide * column, y, wide, tall, UNREAD[level]))
    last = heat_map["first"] + columns - 1
    parts.append(text_at(LEFT, bottom + 14, f"step {heat_map['first']}", MUTED))
    if columns > 4:
        end = LEFT + wide * columns
        parts.append(text_at(end, bottom + 14, f"{last}", MUTED, anchor="end"))
    fill = FETCH if "did not read" in heat_map["verdict"] else INK
    lines = textwrap.wrap(heat_map["verdict"], 58)
    for i, line in enumerate(lines):
        parts.append(text_at(12, bottom + 36 + 15 * i, line, fill if i == 0 else INK))
    return parts, bottom + 36 + 15 * len(lines)


def _cell(x: float, y: float, wide: float, tall: float, fill: str) -> str:
    return (
        f'<rect x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{max(1, wide - 1):.1f}" '
        f'height="{tall - 1}" fill="{fill}"/>'
    )
