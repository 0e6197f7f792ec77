"""Static pictures of time and memory, as SVG."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Sequence

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.explain.profiling.critical_path import CriticalPath
from tfteach.explain.profiling.memory import MemoryCurve
from tfteach.explain.profiling.timing import OpTime, StepTimes, lane_of
from tfteach.jupyter.pictures.graph_svg import EDGE, FETCH, FONT, INK, MUTED, RULE

WIDTH = 760
LEFT, RIGHT = 84, 20
LANE = 46
CHART = 176
# (fill, line) of the op types that take most time; the last is for all others.
COLOURS = (
    ("#e6e9fd", "#6a77d6"),
    ("#fbeadf", "#c67f4e"),
    ("#e2f3f6", "#3c93a5"),
    ("#fbe6ee", "#c9648d"),
    ("#eaf4dc", "#73994a"),
    ("#f1e8fb", "#9169c4"),
    ("#eef1f6", "#8592a6"),
)
LINE = "#0b63ce"
MOST_LETTERS, MOST_BOLD = 118, 88  # of a line
# What a part of the critical path is due to, by its kind.
DUE = {
    "compute": "#0b63ce",
    "launch": "#6a77d6",
    "copy": "#08716c",
    "host": "#b35c00",
    "thread": "#9169c4",
    "gap": "#566273",
}
FAILED = "✕ out of memory"
FAR = 20  # times the peak: a higher limit is not drawn


def timeline_svg(times: StepTimes, path: CriticalPath) -> str:
    """A bar for each op, a lane for each device, the critical path, and op types."""
    lanes = sorted({lane_of(op) for op in times.ops})
    rank = {total.name: i for i, total in enumerate(times.by_type())}
    span = max((op.end_us for op in times.ops), default=0.0) or 1.0
    titles = textwrap.wrap(times.summary, MOST_BOLD)
    said = textwrap.wrap(path.sentence, MOST_LETTERS)
    lines = [(line, INK) for line in said]
    lines += [(line, MUTED) for line in textwrap.wrap(path.idle_sentence, MOST_LETTERS)]
    below = 22 + 17 * len(titles)
    top = below + 16 * len(lines) + (22 if path.bounds else 0)
    height = top + LANE * len(lanes) + 72
    parts = [
        text_at(12, 22 + 17 * i, line, INK, size=13, weight="bold")
        for i, line in enumerate(titles)
    ]
    parts += _bounds(path, below - 7)
    parts += [
        text_at(12, top - 16 * (len(lines) - i) + 6, line, colour)
        for i, (line, colour) in enumerate(lines)
    ]
    top += 6

    def at(at_us: float) -> float:
        return LEFT + at_us / span * (WIDTH - LEFT - RIGHT)

    for number, lane in enumerate(lanes):
        y = top + LANE * number
        parts.append(text_at(12, y + 21, lane, INK, weight="bold"))
        end = WIDTH - RIGHT
        parts.append(f'<path d="M{LEFT},{y + LANE - 4}H{end}" stroke="{RULE}"/>')
        mine = [op for op in times.ops if lane_of(op) == lane]
        for op, after in zip(mine, [*mine[1:], None], strict=True):
            fill, line = COLOURS[min(rank[op.op_type], 6)]
            x = at(op.start_us)
            width = max(0.8, at(op.elapsed_us) - LEFT)
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LANE - 18}" '
                f'fill="{fill}" stroke="{line}" stroke-width="0.7">'
                f"<title>{html.escape(_title(op))}</title></rect>"
            )
            room = width if after is None else min(width, at(after.start_us) - x)
            if room > 6.6 * len(op.op_type) + 8:
                parts.append(text_at(x + 5, y + 20, op.op_type, INK))
    parts += _path_line(path, lanes, top, at)
    y = top + LANE * len(lanes)
    parts.append(text_at(LEFT, y + 12, "0", MUTED))
    until = f"{span / 1000:.2f} ms"
    parts.append(text_at(WIDTH - RIGHT, y + 12, until, MUTED, anchor="end"))
    x = float(LEFT)
    for number, total in enumerate(times.by_type()[:5]):
        fill, line = COLOURS[number]
        words = f"{total.name} {total.share:.0%}"
        parts.append(
            f'<rect x="{x:.0f}" y="{y + 30}" width="12" height="12" rx="3" '
            f'fill="{fill}" stroke="{line}"/>'
        )
        parts.append(text_at(x + 18, y + 40, words, INK))
        x += 34 + 6.6 * len(words)
    return document(height, parts)


def _bounds(path: CriticalPath, y: float) -> list[str]:
    """A strip of what the critical path is due to."""
    parts: list[str] = []
    x, whole = 12.0, WIDTH - 12 - RIGHT
    for bound in path.bounds:
        width = bound.share * whole
        colour = DUE[bound.kind]
        words = f"{bound.name} {bound.share:.0%}"
        parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{max(0.5, width - 2):.1f}" height="18" '
            f'rx="3" fill="{colour}" fill-opacity="0.16" stroke="{colour}">'
            f"<title>{html.escape(words)}</title></rect>"
        )
        for said in (words, f"{bound.label} {bound.share:.0%}"):
            if width > 6.4 * len(said) + 12:
                parts.append(text_at(x + 6, y + 13, said, INK))
                break
        x += width
    return parts


def _path_line(
    path: CriticalPath, lanes: list[str], top: float, at: Callable[[float], float]
) -> list[str]:
    """The critical path below the bars: a line for what takes time, dots for waits."""
    kinds = {bound.of: bound.kind for bound in reversed(path.bounds)}
    kinds |= {bound.name: bound.kind for bound in path.bounds if bound.of == bound.name}
    drawn: list[str] = []
    before: tuple[float, float] | None = None
    for part in path.parts:
        if part.elapsed_us <= 0:
            continue
        y = top + LANE * lanes.index(lane_of(part.op)) + LANE - 11
        x, end = at(part.start_us), at(part.start_us + part.elapsed_us)
        if before is not None and before[1] != y and not path.is_shared:
            drawn.append(
                f'<path d="M{before[0]:.1f},{before[1]}L{x:.1f},{y}" stroke="{MUTED}"/>'
            )
        style = (
            'stroke-width="2" stroke-dasharray="2 3"'
            if part.is_wait
            else ('stroke-width="4"')
        )
        colour = DUE[kinds.get(part.bound, "gap")]
        width = max(0.8, end - x)
        drawn.append(f'<path d="M{x:.1f},{y}h{width:.1f}" stroke="{colour}" {style}/>')
        before = end, y
    return drawn


def _title(op: OpTime) -> str:
    return f"{op.name}, modelled: {op.model}" if op.model else op.name


def memory_svg(curves: Sequence[MemoryCurve]) -> str:
    """A chart for each device: memory in use and reserved, limit, failures."""
    parts: list[str] = []
    for number, curve in enumerate(curves):
        parts.append(f'<g transform="translate(0,{number * CHART})">')
        parts += _chart(curve)
        parts.append("</g>")
    return document(CHART * max(1, len(curves)), parts)


def _chart(curve: MemoryCurve) -> list[str]:
    top, bottom, right = 42, CHART - 22, WIDTH - RIGHT
    peak = curve.peak.taken_bytes
    most = max(curve.limit_bytes or 0, peak, 1)
    is_far = (
        0 < FAR * peak < most and not curve.exhausted
    )  # the peak would be invisible
    most = round(1.25 * peak) if is_far else most
    start = curve.points[0].at_us if curve.points else 0.0
    span = (curve.points[-1].at_us - start if curve.points else 0.0) or 1.0

    def at(at_us: float, size_bytes: float) -> tuple[float, float]:
        x = LEFT + (at_us - start) / span * (right - LEFT)
        return round(min(x, right), 1), round(
            bottom - size_bytes / most * (bottom - top), 1
        )

    def steps(sizes: list[int]) -> str:
        path, last = "", None
        for point, size in zip(curve.points, sizes, strict=True):
            x, y = at(point.at_us, size)
            path += f"M{x},{y}" if last is None else f"H{x}V{y}"
            last = y
        return f"{path}H{right}"

    parts = [text_at(12, 22, curve.summary, INK, size=12.5, weight="bold")]
    if any(point.reserved_bytes is not None for point in curve.points) and not is_far:
        way = steps([point.reserved_bytes or 0 for point in curve.points])
        parts.append(
            f'<path d="{way}" fill="none" stroke="{EDGE}" stroke-dasharray="5 3"/>'
        )
    way = steps([point.taken_bytes for point in curve.points])
    parts += [
        f'<path d="{way}V{bottom}H{LEFT}Z" fill="{LINE}" fill-opacity="0.16"/>',
        f'<path d="{way}" fill="none" stroke="{LINE}" stroke-width="1.8"/>',
        f'<path d="M{LEFT},{top}V{bottom}H{right}" fill="none" stroke="{EDGE}"/>',
        text_at(LEFT - 6, bottom + 4, "0", MUTED, anchor="end"),
        text_at(LEFT - 6, top + 4, show_bytes(most), MUTED, anchor="end"),
    ]
    for moment in curve.exhausted:
        x, y = at(moment.at_us, most)
        parts += [
            f'<path d="M{x},{y}V{bottom}" stroke="{FETCH}" stroke-width="1.6"/>',
            text_at(
                x - 5, y - 6, "✕ out of memory", FETCH, anchor="end", weight="bold"
            ),
        ]
    return parts


def document(height: int, parts: list[str]) -> str:
    """An SVG of the usual width."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="{FONT}" '
        f'font-size="11"><rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    )
    return "\n".join([head, *parts, "</svg>"])


def text_at(
    x: float, y: float, words: str, fill: str, *,
    anchor: str = "start", size: float = 11, weight: str = "normal",
) -> str:  # fmt: skip
    """A text at a place."""
    return (
        f'<text x="{round(x, 1)}" y="{round(y, 1)}" fill="{fill}" '
        f'text-anchor="{anchor}" '
        f'font-size="{size}" font-weight="{weight}">{html.escape(words)}</text>'
    )
