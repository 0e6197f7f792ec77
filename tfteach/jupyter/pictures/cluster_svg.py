"""A static picture of a cluster, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.explain.clusters.cluster_step import CLIENT, Message
from tfteach.explain.clusters.clusters import ClusterFacts, TaskFacts
from tfteach.jupyter.pictures.graph_svg import EDGE, FETCH, FONT, INK, MUTED, REFERENCE
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.pictures.timeline_svg import text_at

WIDTH = 760
LEFT = 150  # of the machines, beside the client
BOX, LINE, GAP = 184, 17, 92
CLOSE = 40  # the gap if no messages pass it
MOST_VARIABLES = 3
# state -> fill, line, dashes, sign
LOOKS = {
    "alive": ("#e2f5ec", "#3c9a73", "", "●"),
    "slow": ("#fbe0bd", REFERENCE, "7 4", "◐"),
    "dead": ("#f4f5f7", FETCH, "2 4", "✕"),
    "unknown": ("#eef1f6", "#8592a6", "", "○"),
}
Place = tuple[float, float, float, float]  # left, top, width, height


def cluster_svg(facts: ClusterFacts) -> str:
    """A box for each task, and arrows for the messages of the step between them."""
    servers = [task for task in facts.tasks if task.name.startswith("ps:")]
    others = [task for task in facts.tasks if not task.name.startswith("ps:")]
    messages = () if facts.step is None else facts.step.messages
    left_of_all, gap = (LEFT, GAP) if messages else (16, CLOSE)
    top = 44.0
    places: dict[str, Place] = {}
    for row in (servers, others):
        if not row:
            continue
        height = max(_height(task) for task in row)
        room = (WIDTH - left_of_all - 16) / len(row)
        width = min(BOX, room - 14)
        for number, task in enumerate(row):
            left = left_of_all + room * number + (room - width) / 2
            places[task.name] = (left, top, width, height)
        top += height + gap
    bottom = top - gap + 20
    parts = [text_at(12, 24, facts.summary, INK, size=14, weight="bold")]
    if messages:
        places[CLIENT] = (12, bottom - 76, 92, 46)
    for task in facts.tasks:
        parts += _machine(task, places[task.name])
    if messages:
        parts += _client(places[CLIENT])
        parts += _ways(messages, places)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" '
        f'height="{bottom:.0f}" viewBox="0 0 {WIDTH} {bottom:.0f}" '
        f'font-family="{FONT}" font-size="11">'
        f'<rect width="{WIDTH}" height="{bottom:.0f}" fill="#ffffff"/>'
    )
    return "\n".join([head, *parts, "</svg>"])


def _height(task: TaskFacts) -> float:
    return 40.0 + LINE * len(_lines(task))


def _lines(task: TaskFacts) -> list[str]:
    """What stands in a machine below its name."""
    shown = [str(variable) for variable in task.variables[:MOST_VARIABLES]]
    if (more := len(task.variables) - len(shown)) > 0:
        shown.append(f"and {more} more: {task.holds} in all")
    shown.append(plural(task.ops, "op") if task.ops else "nothing of the graph")
    if task.sessions:
        shown.append(f"master of {', '.join(task.sessions)}")
    return shown


def _machine(task: TaskFacts, place: Place) -> list[str]:
    left, top, width, height = place
    fill, line, dashes, sign = LOOKS[task.state]
    parts = [
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="9" fill="{fill}" stroke="{line}" stroke-width="2" '
        f'stroke-dasharray="{dashes}"/>',
        text_at(left + 12, top + 23, sign, line, size=13),
        text_at(left + 30, top + 23, task.name, INK, size=15, weight="bold"),
    ]
    if task.state in ("slow", "dead"):
        end = left + width - 12
        parts.append(
            text_at(end, top + 23, task.state, INK, anchor="end", weight="bold")
        )
    for number, words in enumerate(_lines(task)):
        room = int((width - 20) / 5.8)
        said = words if len(words) <= room else words[: room - 1] + "…"
        parts.append(text_at(left + 12, top + 43 + LINE * number, said, INK))
    return parts


def _client(place: Place) -> list[str]:
    left, top, width, height = place
    return [
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="9" '
        f'fill="#ffffff" stroke="#8592a6" stroke-width="2"/>',
        text_at(left + 12, top + 20, CLIENT, INK, size=14, weight="bold"),
        text_at(left + 12, top + 36, "this program", MUTED),
    ]


def _ways(messages: Sequence[Message], places: dict[str, Place]) -> list[str]:
    routes: dict[tuple[str, str], list[Message]] = {}
    for message in messages:
        routes.setdefault((message.source, message.target), []).append(message)
    lines, labels = [], []
    for (source, target), here in routes.items():
        shift = 13 if (target, source) in routes else 0
        x1, y1, x2, y2, upright = _ends(places[source], places[target], shift)
        middle = (y1 + y2) / 2 if upright else (x1 + x2) / 2
        bend = (
            f"{x1:.1f},{middle:.1f} {x2:.1f},{middle:.1f}"
            if upright
            else f"{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f}"
        )
        dashes = "5 4" if CLIENT in (source, target) else ""
        lines.append(
            f'<path d="M{x1:.1f},{y1:.1f}C{bend} {x2:.1f},{y2:.1f}" fill="none" '
            f'stroke="{EDGE}" stroke-width="2" stroke-dasharray="{dashes}"/>'
        )
        way = (y2 > y1) - (y2 < y1) if upright else (x2 > x1) - (x2 < x1)
        tip = (
            f"l-4.5,{-9 * way}h9z" if upright else f"l{-9 * way},-4.5v9z"
        )  # from the point of the arrow
        lines.append(f'<path d="M{x2:.1f},{y2:.1f}{tip}" fill="{EDGE}"/>')
        # Of two ways side by side, one says it nearer to its beginning.
        at = 0.34 if shift else 0.5
        x, y = x1 + (x2 - x1) * at, y1 + (y2 - y1) * at
        room = 1000.0 if upright else abs(x2 - x1)
        words = _said(here, room)
        if not upright:  # between the machines
            half = _width(words) / 2
            x = max(min(x1, x2) + half, min(max(x1, x2) - half, x))
        labels.append(_label(x, y, words))
    return [*lines, *labels]


def _said(messages: list[Message], room: float) -> str:
    count = len(messages)
    if count > 1:
        return f"{count} tensors"
    (message,) = messages
    tensor = message.tensor
    name = f"after {tensor[1:]}" if message.is_order else tensor
    name = name if len(name) <= 30 else f"…{name[-29:]}"
    size = "" if message.is_order or not message.size else f", {message.size}"
    words = f"{name}{size}"
    return words if _width(words) < room else "1 tensor"


def _ends(a: Place, b: Place, shift: float) -> tuple[float, float, float, float, bool]:
    """Where a way begins and ends, and whether it goes up or down."""
    down, up = b[1] > a[1] + a[3], b[1] + b[3] < a[1]
    if down or up:
        side = -shift if down else shift
        x1, x2 = a[0] + a[2] / 2 + side, b[0] + b[2] / 2 + side
        y1, y2 = (a[1] + a[3], b[1]) if down else (a[1], b[1] + b[3])
        return x1, y1, x2, y2, True
    right = b[0] >= a[0] + a[2]
    side = -shift if right else shift
    y1, y2 = a[1] + a[3] / 2 + side, b[1] + b[3] / 2 + side
    x1, x2 = (a[0] + a[2], b[0]) if right else (a[0], b[0] + b[2])
    return x1, y1, x2, y2, False


def _width(words: str) -> int:
    return 6 * len(words) + 12


def _label(x: float, y: float, words: str) -> str:
    width = _width(words)
    left = max(2.0, min(WIDTH - width - 2.0, x - width / 2))
    return (
        f'<rect x="{left:.1f}" y="{y - 9:.1f}" width="{width}" height="18" rx="9" '
        f'fill="#ffffff" stroke="#d9dee6"/>'
        + text_at(left + width / 2, y + 4, words, INK, anchor="middle")
    )
