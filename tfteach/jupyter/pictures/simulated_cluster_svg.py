"""Static pictures of a modelled cluster: how it scales, and how it learns."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tfteach.jupyter.pictures.graph_svg import INK, MUTED, RULE
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.timeline_svg import WIDTH, document, text_at
from tfteach.lib.distributed_runtime.simulated.simulated_cluster import SimulatedCluster
from tfteach.lib.distributed_runtime.simulated.stale_gradients import LossCurves

HEIGHT = 330
LEFT, RIGHT, TOP, BOTTOM = 76, 190, 74, 52
COLOURS = ("#0b63ce", "#08716c", "#b83208")
MOST_LETTERS = 92
TICKS = 4


class _Curve(NamedTuple):
    name: str
    points: Sequence[tuple[float, float]]
    note: str = ""


def scaling_svg(cluster: SimulatedCluster) -> str:
    """Gradients per second by the number of workers, for each way to train."""
    sizes = cluster.scaling()
    curves = []
    for times in cluster.times:
        kind = times.name.partition(" ")[0]
        points = [
            (float(size.workers), each.gradients_per_s)
            for size in sizes
            for each in size.times
            if each.name.partition(" ")[0] == kind
        ]
        note = f"{times.gradients_per_s:.1f}/s with {cluster.workers}"
        curves.append(_Curve(times.name, points, note))
    network = cluster.network
    most = network.ps * network.bytes_per_s / network.model_bytes
    highest = max(y for curve in curves for _, y in curve.points)
    chart = _Chart(
        (0.0, math.log2(sizes[-1].workers) or 1.0),
        min(max(highest, most), 2 * highest),
        lambda workers: math.log2(workers),
    )
    marks = [(size.workers, str(size.workers)) for size in sizes]
    parts = chart.axes(marks, "workers", "gradients/s")
    if most <= chart.highest:
        y = chart.y(most)
        parts.append(
            f'<path d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}" stroke="{MUTED}" '
            'stroke-dasharray="6 4"/>'
        )
        parts.append(_text(LEFT + 6, y - 6, "all that the links of the ps can carry"))
    return _document(cluster.summary, parts + chart.curves(curves))


def curves_svg(curves: LossCurves) -> str:
    """The loss over the modelled time, for each way to train."""
    drawn = []
    for way, points in curves.curves.items():
        last = points[-1]
        line = [
            (point.at_s, point.loss) for point in points if math.isfinite(point.loss)
        ]
        drawn.append(_Curve(way, line, f"{last.loss:.4g}, {last.updates} updates"))
    everything = [point for curve in drawn for point in curve.points]
    first = max(curve.points[0][1] for curve in drawn if curve.points)
    end_s = max(at_s for at_s, _ in everything)
    # What diverges leaves the picture at its top.
    highest = min(max(loss for _, loss in everything), 2 * first)
    chart = _Chart((0.0, end_s), highest or 1.0, lambda at_s: at_s)
    marks = [
        (end_s * i / TICKS, f"{end_s * i / TICKS:.3g} s") for i in range(TICKS + 1)
    ]
    parts = chart.axes(marks, "modelled time", "loss")
    return _document(f"{curves.summary}.", parts + chart.curves(drawn))


def model_bundle(shown: SimulatedCluster | LossCurves) -> dict[str, str]:
    """The picture and the text, by MIME type."""
    if isinstance(shown, SimulatedCluster):
        return bundle_with(str(shown), scaling_svg(shown), beside=True)
    return bundle_with(str(shown), curves_svg(shown), beside=True)


class _Chart:
    """Coordinates of a chart, and its lines."""

    def __init__(
        self,
        across: tuple[float, float],
        up: float,
        scale: Callable[[float], float],
    ) -> None:
        self._across, self._scale = across, scale
        self._tick = _round_number(up / TICKS)
        self.highest = self._tick * math.ceil(up / self._tick)

    def x(self, value: float) -> float:
        first, last = self._across
        share = (self._scale(value) - first) / (last - first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = min(value / self.highest, 1.0)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def axes(
        self, marks: Sequence[tuple[float, str]], across: str, up: str
    ) -> list[str]:
        end, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        parts = [
            f'<path d="M{LEFT},{TOP}V{bottom}H{end}" fill="none" stroke="{MUTED}"/>',
            _text(LEFT, TOP - 8, up),
            _text(end, bottom + 34, across, anchor="end"),
        ]
        for value, words in marks:
            parts.append(_text(self.x(value), bottom + 16, words, anchor="middle"))
        for i in range(1, round(self.highest / self._tick) + 1):
            value = self._tick * i
            y = self.y(value)
            parts.append(f'<path d="M{LEFT},{y:.1f}H{end}" stroke="{RULE}"/>')
            parts.append(_text(LEFT - 8, y + 4, f"{value:.3g}", anchor="end"))
        return parts

    def curves(self, curves: Sequence[_Curve]) -> list[str]:
        parts: list[str] = []
        for number, (name, points, note) in enumerate(curves):
            colour = COLOURS[number % len(COLOURS)]
            line = "L".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
            y = TOP + 8 + 40 * number
            parts += [
                f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2.2" '
                f'stroke-linejoin="round"><title>{html.escape(name)}</title></path>',
                f'<path d="M{WIDTH - RIGHT + 14},{y}h16" stroke="{colour}" '
                'stroke-width="4"/>',
                text_at(WIDTH - RIGHT + 36, y + 4, name, INK, weight="bold"),
                _text(WIDTH - RIGHT + 36, y + 19, note),
            ]
        return parts


def _round_number(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, ..."""
    power: float = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value)


def _document(title: str, parts: list[str]) -> str:
    lines = textwrap.wrap(title, MOST_LETTERS)
    heads = [
        text_at(12, 20 + 17 * i, line, INK, size=13, weight="bold")
        for i, line in enumerate(lines)
    ]
    return document(HEIGHT, [*heads, *parts])


def _text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    return text_at(x, y, words, MUTED, anchor=anchor)
