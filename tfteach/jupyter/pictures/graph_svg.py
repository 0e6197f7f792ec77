"""Static pictures of a graph: DOT source and SVG.

They look like the live view and show the same boxes at the same depth, so that saved
notebooks, HTML exports and code hosts show the graph too. SVG is made by `dot` if it is
installed, else by the Graphviz inside the pygraphviz wheel.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tfteach.explain.graphs.scope_tree import Box, Lane
from tfteach.jupyter.pictures.picture_contents import (
    Still,
    clip,
    kind_of,
    path_of,
    second_line,
    shape_text,
    text_of,
)

TIMEOUT_S = 15.0
MOST_BOXES = 250
FONT = "Helvetica,Arial,sans-serif"
INK, MUTED, EDGE, RULE = "#1c2430", "#566273", "#7c899b", "#c5ccd6"
FETCH, FEED, REFERENCE = "#b83208", "#08716c", "#b35c00"
COPY = "#9c1f6b"  # an edge between devices

# kind of box -> shape, fill, line
LOOKS = {
    "op": ("box", "#ffffff", "#7a8699"),
    "const": ("ellipse", "#f1f3f6", "#a2adbb"),
    "placeholder": ("parallelogram", "#e3f1ff", "#3f86c9"),
    "variable": ("cylinder", "#ffefd2", "#c98a1e"),
    "flow": ("hexagon", "#e2f5ec", "#3c9a73"),
    "scope": ("box", "#eef1f6", "#9aa7b8"),
}


# ---- DOT


def dot_source(still: Still) -> str:
    """The picture as DOT, with open scopes as clusters.

    The `graphviz` package quotes and escapes: names in a graph are data.
    """
    import graphviz

    dot = graphviz.Digraph(
        graph_attr={
            "rankdir": "TB", "bgcolor": "white", "pad": "0.2", "nodesep": "0.3",
            "ranksep": "0.42", "fontname": FONT, "compound": "true",
        },
        node_attr={
            "fontname": FONT, "fontsize": "11", "height": "0.32", "penwidth": "1.2",
            "margin": "0.14,0.06", "fontcolor": INK,
        },
        edge_attr={
            "color": EDGE, "arrowsize": "0.6", "fontname": FONT, "fontsize": "8.5",
            "fontcolor": MUTED,
        },
    )  # fmt: skip
    below = _lines(still.caption, FETCH) + _lines(still.notes, MUTED)
    if below:
        dot.attr(label=f"<{below}>", labelloc="b", labeljust="l", fontsize="10")
    ids = {box.id: f"n{i}" for i, box in enumerate(still.boxes)}
    _draw_inside(still, dot, still.root, ids)
    _draw_edges(still, dot, ids)
    return str(dot.source)


def _lines(lines: Sequence[str], colour: str) -> str:
    words = "".join(f"{html.escape(line)}<br align='left'/>" for line in lines)
    return f"<font color='{colour}'>{words}</font>" if words else ""


def _draw_inside(still: Still, dot: Any, scope: Box, ids: dict[str, str]) -> None:
    lanes: dict[Lane, list[Box]] = {"main": [], "training": [], "aside": []}
    for box in scope.children or ():
        lanes[still.lane(box)].append(box)
    if not lanes["main"]:
        lanes = {"main": list(scope.children or ()), "training": [], "aside": []}
    for lane, boxes in lanes.items():
        if lane == "main" or not boxes:
            for box in boxes:
                _draw_box(still, dot, box, ids)
            continue
        with dot.subgraph(name=f"cluster_{lane}_{ids.get(scope.id, 'top')}") as area:
            area.attr(
                label=lane if lane == "training" else "set aside",
                style="dotted,rounded", color=RULE, fontcolor=MUTED, fontsize="9",
            )  # fmt: skip
            for box in boxes:
                _draw_box(still, area, box, ids)


def _draw_box(still: Still, dot: Any, box: Box, ids: dict[str, str]) -> None:
    if box.id in still.open:
        with dot.subgraph(name=f"cluster_{ids[box.id]}") as cluster:
            cluster.attr(
                label=_escape(clip(box.label)), labeljust="l", style="rounded,filled",
                fillcolor="#f6f7fa", color="#b4bfcd", fontcolor=MUTED, fontsize="11",
                tooltip=_escape(clip(box.name)), margin="12",
            )  # fmt: skip
            _draw_inside(still, cluster, box, ids)
        return
    kind = kind_of(still, box)
    shape, fill, line = LOOKS[kind]
    painted = None if still.paint is None else still.paint(box)
    words = ""
    if painted is not None:
        fill, line, words = painted
    style = "filled,rounded" if shape == "box" else "filled"
    attrs = {
        "shape": shape, "fillcolor": fill, "color": line, "style": style,
        "tooltip": _escape(clip(box.name)),
    }  # fmt: skip
    if kind in ("placeholder", "const"):  # these shapes are larger than their text
        attrs["margin"] = "0,0" if kind == "placeholder" else "0.02,0.02"
        attrs["height"] = "0.3"
    if still.is_dim(box):
        dashed = style.replace("filled", "dashed")
        attrs |= {"style": dashed, "color": RULE, "fontcolor": MUTED}
    elif still.needed is not None:
        attrs["penwidth"] = "1.9"
    names = {still.rows[i].name for i in box.members}
    tag = ""
    if still.failed_at in names:
        attrs |= {"color": FETCH, "penwidth": "3"}
        tag = _tag("✕ failed", FETCH)
    elif names & still.fetched:
        attrs |= {"color": FETCH, "penwidth": "2.4"}
        tag = _tag("fetch", FETCH)
    elif names & still.fed:
        attrs |= {"color": FEED, "penwidth": "2.4"}
        tag = _tag("feed", FEED)
    # Inside the box: Graphviz places labels outside of boxes on top of lines.
    attrs["label"] = _label(still, box, kind, words, tag)
    dot.node(ids[box.id], **attrs)


def _tag(word: str, colour: str) -> str:
    return f'<font color="{colour}" point-size="9"><b>{word}</b></font>'


def _escape(text: str) -> str:
    import graphviz

    return str(graphviz.escape(text))


def _label(still: Still, box: Box, kind: str, words: str, tag: str) -> str:
    second = clip(" · ".join(filter(None, [second_line(still, box, kind), words])))
    name = html.escape(clip(box.label))
    title = f"<b>{name}</b>" if kind == "scope" else name
    small = f'<font point-size="9" color="{MUTED}">{html.escape(second)}</font>'
    lines = [title, small if second else "", tag]
    return f"<{'<br/>'.join(filter(None, lines))}>"


_LOOPS_BACK = ("NextIteration", "RefNextIteration")
LARGE_FAN = 4


def _draw_edges(still: Still, dot: Any, ids: dict[str, str]) -> None:
    shown: dict[int, Box] = {}
    for box in still.boxes:
        if box.id not in still.open:
            shown.update(dict.fromkeys(box.members, box))
    bundles: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for index, row in enumerate(still.rows):
        data = zip(row.inputs[::2], row.inputs[1::2], strict=True)
        for source, port in (*data, *((c, -1) for c in row.controls)):
            ends = shown[source], shown[index]
            if ends[0] is not ends[1] and _same_lane(still, *ends):
                key = ids[ends[0].id], ids[ends[1].id]
                bundles.setdefault(key, []).append((source, port, index))
    # A tensor's shape is shown once, and not at all on large fans.
    fans = Counter(tail for tail, _ in bundles)
    said: set[tuple[int, int]] = set()
    for (tail, head), base in bundles.items():
        attrs = _edge_attrs(still, base)
        tensors = {(op, port) for op, port, _ in base if port >= 0}
        told = tensors <= said or fans[tail] > LARGE_FAN
        if len(tensors) == 1 and told and attrs.get("color") != COPY:
            attrs.pop("label", None)
        if len(tensors) == 1 and "label" in attrs:
            said |= tensors
        dot.edge(tail, head, **attrs)
    if max(fans.values(), default=0) > LARGE_FAN and not still.open:
        dot.attr(ordering="out")  # in graph order, from the left


def _same_lane(still: Still, one: Box, other: Box) -> bool:
    """False for edges between lanes, which connect nearly everything."""
    paths = [path_of(one), path_of(other)]
    for a, b in zip(*paths, strict=False):
        if a is not b:
            lanes = still.lane(a), still.lane(b)
            return lanes[0] == lanes[1] != "aside"
    return True


def _edge_attrs(still: Still, base: list[tuple[int, int, int]]) -> dict[str, str]:
    tensors = {(op, port) for op, port, _ in base if port >= 0}
    attrs: dict[str, str] = {}
    if not tensors:
        attrs |= {"style": "dashed", "arrowhead": "vee", "penwidth": "0.9"}
    else:
        outputs = [
            still.rows[op].outputs[port]
            for op, port in tensors
            if port < len(still.rows[op].outputs)
        ]
        if outputs and all(dtype.endswith("_ref") for dtype, _ in outputs):
            attrs |= {"color": REFERENCE, "penwidth": "1.8", "dir": "both"}
            attrs["arrowtail"] = "odot"
        if len(tensors) > 1:
            attrs["label"] = f" {len(tensors)} tensors"
        elif outputs and outputs[0][1] is not None:
            attrs["label"] = f" {shape_text(outputs[0][1])}"
    if any(
        source > reader and still.rows[source].type in _LOOPS_BACK
        for source, _, reader in base
    ):
        attrs["constraint"] = "false"  # a loop's back edge must not affect the ranks
    if still.needed is not None:
        rows, fed = still.rows, still.fed
        works = any(
            reader in still.needed and (op in still.needed or rows[op].name in fed)
            for op, _, reader in base
        )
        attrs |= {"penwidth": "1.8", "color": attrs.get("color", INK)} if works else {
            "color": RULE, "penwidth": "0.8"
        }  # fmt: skip
    value = "" if still.values is None else still.values(base)
    if value:
        attrs |= {"label": f" {value}", "fontcolor": INK}
    words = "" if still.edge_words is None else still.edge_words(base)
    if words:
        attrs |= {"label": f" {words}", "color": COPY, "fontcolor": COPY}
        attrs |= {"penwidth": "2.4"}
    return attrs


# ---- SVG


def svg_of(still: Still, timeout_s: float = TIMEOUT_S) -> str | None:
    """The picture as SVG; None without Graphviz, or if it is too large or slow."""
    if not still.rows or len(still.boxes) > MOST_BOXES:
        return None
    try:
        import graphviz  # noqa: F401
    except ImportError:
        return None
    svg = render_dot(dot_source(still), timeout_s)
    return None if svg is None else tidy_svg(svg, text_of(still))


@lru_cache(maxsize=32)
def render_dot(source: str, timeout_s: float = TIMEOUT_S) -> str | None:
    """Convert DOT to SVG in another process, which a timeout can end."""
    dot = shutil.which("dot")
    # AGraph(string=...), since a positional argument may be taken for a path.
    program = (
        "import sys, pygraphviz;"
        "graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode());"
        "sys.stdout.buffer.write(graph.draw(format='svg', prog='dot'))"
    )
    command = [sys.executable, "-c", program] if dot is None else [dot, "-Tsvg"]
    try:
        done = subprocess.run(
            command, input=source.encode(), capture_output=True, timeout=timeout_s
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode() if done.returncode == 0 and done.stdout else None


def tidy_svg(svg: str, description: str) -> str:
    """The same SVG without version comments, described for screen readers."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<title>[^<]*</title>\n?", "", svg)
    words = html.escape(description)
    head, end, rest = svg.partition(">")
    return f'{head} role="img"{end}<desc>{words}</desc>{rest}'.strip() + "\n"
