"""The static picture of a watched pipeline: its stages as a river."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence

from tfteach.explain.pipelines.pipeline_stages import Stage
from tfteach.explain.pipelines.pipeline_verdict import Verdict
from tfteach.explain.pipelines.rivers import River
from tfteach.jupyter.display import place
from tfteach.jupyter.pictures.graph_svg import EDGE, FETCH, FONT, INK, MUTED, RULE
from tfteach.jupyter.pipeline_rows import RiverFigures, RowFigures, sign_of

WIDTH = 940
ROW, PAD = 56, 9
LANE, LEFT = 92, 14
BED, WATER, BASIN = "#dde5ee", "#3f86c9", "#7a8699"
NARROW = "#f5c9b4"
BUSY, WAITS, IDLE = "#c67f4e", "#9cc6ee", "#f1f3f6"
LETTERS = 118  # of a line of the verdict
MOST_LETTERS = 46  # of a title


def pipeline_svg(
    rivers: Sequence[tuple[River, RiverFigures, Verdict]],
) -> str:
    """One river below the other, with their verdicts."""
    parts: list[str] = []
    top = 0
    for river, figures, verdict in rivers:
        drawn, height = _river(river, figures, verdict)
        parts.append(f'<g transform="translate(0,{top})">{"".join(drawn)}</g>')
        top += height
    if not rivers:
        parts.append(_text(14, 26, "No pipeline moved.", INK, 13))
        top = 44
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" '
        f'height="{top}" viewBox="0 0 {WIDTH} {top}" font-family="{FONT}" '
        f'font-size="12"><rect width="{WIDTH}" height="{top}" fill="#ffffff"/>'
        f"{''.join(parts)}</svg>"
    )


def _river(
    river: River, figures: RiverFigures, verdict: Verdict
) -> tuple[list[str], int]:
    ink = FETCH if verdict.kind in ("data", "stuck") else INK
    parts = [
        _text(14, 24, f"{sign_of(verdict)} {verdict.headline}", ink, 15, "bold"),
        _text(WIDTH - 14, 24, figures.head, MUTED, 12, anchor="end"),
    ]
    top = 34
    lines = [(verdict.gain, INK)] if verdict.gain else []
    lines += [(each, INK) for each in verdict.reasons]
    lines += [(f"→ {each}", MUTED) for each in verdict.advice]
    for words, fill in lines:
        for line in textwrap.wrap(
            words.replace("`", ""), LETTERS, subsequent_indent="   "
        ):
            top += 17
            parts.append(_text(14, top, line, fill))
    top += 16
    stages = river.pipeline.stages
    lanes = river.pipeline.lanes()
    left = LEFT + LANE * (max(lanes.values(), default=0) + 1) + 10
    rows = {stage.key: i for i, stage in enumerate(stages)}
    parts.append(f'<g transform="translate(0,{top})">')
    water = max(0.02, figures.flow) if figures.flow else 0.0
    for kind in ("bed", "water"):
        for stage in stages:
            parts += _stretch(stage, river, figures, rows, lanes, kind, water)
    for stage, row in zip(stages, figures.rows, strict=True):
        is_narrow = stage.key == verdict.narrowest
        parts += _row(stage, row, ROW * rows[stage.key], left, is_narrow)
        if row.level >= 0:
            parts += _basin(row, lanes[stage.key], ROW * rows[stage.key])
    parts.append("</g>")
    return parts, top + ROW * len(stages) + 18


def _stretch(
    stage: Stage,
    river: River,
    figures: RiverFigures,
    rows: dict[str, int],
    lanes: dict[str, int],
    kind: str,
    water: float,
) -> list[str]:
    """The bed of a stage, or the water in it, and on the way to those that read it."""

    def half(key: str) -> float:
        share = figures.rows[rows[key]].width if kind == "bed" else water
        return LANE * 0.44 * share

    def middle(key: str) -> float:
        return LEFT + LANE * (lanes[key] + 0.5)

    fill = BED if kind == "bed" else WATER
    if kind == "water" and not water:
        return []
    x, b = middle(stage.key), half(stage.key)
    upper = ROW * rows[stage.key] + PAD
    lower = upper + ROW - 2 * PAD
    found = [
        f'<rect x="{x - b:.1f}" y="{upper}" width="{2 * b:.1f}" '
        f'height="{lower - upper}" fill="{fill}"/>'
    ]
    for reader in river.pipeline.readers(stage.key):
        x2, b2 = middle(reader.key), half(reader.key)
        if lanes[reader.key] != lanes[stage.key]:
            top = ROW * rows[reader.key]
            found.append(
                f'<path d="M{x:.1f},{lower}V{top - PAD}C{x:.1f},{top + 24} '
                f'{x2:.1f},{top - PAD} {x2:.1f},{top + 28}" fill="none" '
                f'stroke="{fill}" stroke-width="{2 * min(b, b2):.1f}"/>'
            )
            continue
        end = ROW * rows[reader.key] + PAD
        begin = end - 2 * PAD
        bend = (begin + end) / 2
        found.append(
            f'<path d="M{x - b:.1f},{lower}V{begin}'
            f"C{x - b:.1f},{bend} {x2 - b2:.1f},{bend} {x2 - b2:.1f},{end}"
            f"H{x2 + b2:.1f}C{x2 + b2:.1f},{bend} {x + b:.1f},{bend} "
            f"{x + b:.1f},{begin}"
            f'V{lower}Z" fill="{fill}"/>'
        )
    return found


def _basin(row: RowFigures, lane: int, top: float) -> list[str]:
    """A buffer, with the level of the water in it."""
    x, width = LEFT + LANE * lane + 5, LANE - 10
    upper, height = top + PAD, ROW - 2 * PAD
    level = height * row.level
    surface, floor = upper + height - level, upper + height
    return [
        f'<rect x="{x}" y="{upper}" width="{width}" height="{height}" rx="7" '
        f'fill="{BED}" stroke="{BASIN}" stroke-width="1.3"/>',
        f'<path d="M{x + 1},{surface:.1f}h{width - 2}V{floor - 6}q0,5 -5,5H{x + 6}'
        f'q-5,0 -5,-5Z" fill="{WATER}"/>'
        if level > 6
        else "",
    ]


def _row(
    stage: Stage, row: RowFigures, top: float, left: float, is_narrow: bool
) -> list[str]:
    parts = [f'<path d="M{left},{top}H{WIDTH - 14}" stroke="{RULE}"/>']
    if is_narrow:
        parts.append(
            f'<rect x="{left - 4}" y="{top + 2}" width="4" height="{ROW - 4}" '
            f'fill="{FETCH}"/>'
        )
    title = stage.title if len(stage.title) <= MOST_LETTERS else stage.title[:45] + "…"
    second = ", ".join(
        word for word in (stage.detail, row.note) if word and word != stage.title
    )
    if stage.source is not None:
        second = f"{place(stage.source)}{': ' if second else ''}{second}"
    second = second if len(second) <= 60 else second[:59] + "…"
    parts += [
        _text(left + 8, top + 23, title, FETCH if is_narrow else INK, 13, "bold"),
        _text(left + 8, top + 41, second, MUTED, 11),
        _text(WIDTH - 330, top + 23, row.rate, INK, 13, "bold", "end"),
        _text(WIDTH - 330, top + 41, row.number, MUTED, 11, anchor="end"),
    ]
    parts += _shares(row.shares, WIDTH - 315, top)
    if row.buffer:
        parts.append(_text(WIDTH - 160, top + 23, row.buffer, INK, 12))
        parts.append(_levels(row.levels, WIDTH - 160, top + 29))
    return parts


def _shares(shares: tuple[float, float, float], x: float, top: float) -> list[str]:
    width = 140
    if not any(shares):
        return []
    found = []
    at = x
    for share, fill in zip(shares, (BUSY, WAITS, IDLE), strict=True):
        found.append(
            f'<rect x="{at:.1f}" y="{top + 12}" width="{share * width:.1f}" '
            f'height="14" fill="{fill}"/>'
        )
        at += share * width
    found.append(
        f'<rect x="{x}" y="{top + 12}" width="{width}" height="14" fill="none" '
        f'stroke="{EDGE}" stroke-width="0.8"/>'
    )
    words = f"busy {shares[0]:.0%}"
    if shares[1] >= 0.005:
        words += f", waits {shares[1]:.0%}"
    return [*found, _text(x, top + 41, words, MUTED, 11)]


def _levels(levels: Sequence[int], x: float, top: float) -> str:
    """How full the buffer was, from left to right."""
    if len(levels) < 2:
        return ""
    step, height = 130 / (len(levels) - 1), 16
    points = " ".join(
        f"{x + step * i:.1f},{top + height * (1 - level / 100):.1f}"
        for i, level in enumerate(levels)
    )
    return (
        f'<polyline points="{points}" fill="none" stroke="{WATER}" stroke-width="1.5"/>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    fill: str,
    size: float = 12,
    weight: str = "normal",
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x}" y="{y}" fill="{fill}" font-size="{size}" '
        f'font-weight="{weight}" text-anchor="{anchor}">{html.escape(words)}</text>'
    )
