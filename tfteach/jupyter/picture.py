"""Still pictures of a graph: DOT source, SVG, text.

They look like the live view and show the same boxes at the same depth, so that a saved
notebook, an HTML export or a code host shows the graph too.  SVG comes from `dot` where
one is installed, else from the Graphviz inside the pygraphviz wheel.
"""

from __future__ import annotations

import base64
import html
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from tfteach.explain.outline import Row, Shape, needed_rows
from tfteach.explain.tree import (
    Box,
    Lane,
    is_variable,
    lane_of,
    make_tree,
    opened,
    own_constants,
    own_row,
    visible,
)

TIMEOUT_S = 15.0
MOST_BOXES = 250
FONT = "Helvetica,Arial,sans-serif"
INK, MUTED, EDGE, RULE = "#1c2430", "#566273", "#7c899b", "#c5ccd6"
FETCH, FEED, REFERENCE = "#b83208", "#08716c", "#b35c00"
COPY = "#9c1f6b"  # a line from device to device
FLOW = {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"}

# shape, fill, line of each kind of box
LOOKS = {
    "op": ("box", "#ffffff", "#7a8699"),
    "const": ("ellipse", "#f1f3f6", "#a2adbb"),
    "placeholder": ("parallelogram", "#e3f1ff", "#3f86c9"),
    "variable": ("cylinder", "#ffefd2", "#c98a1e"),
    "flow": ("hexagon", "#e2f5ec", "#3c9a73"),
    "scope": ("box", "#eef1f6", "#9aa7b8"),
}


class Still:
    """What one still picture shows.

    Args:
      rows: the graph, from `tfteach.explain.outline`.
      depth, expanded: which scopes are open, see `tfteach.explain.tree.opened`.
      fetches, feeds: names; what a run of them leaves out is drawn faint.
      aside, inline: names of boxes to set aside, or to keep in the main flow.

    Attributes:
      paint: gives a box its fill, line and words for the second line, in place of those
        of its kind; None for these.
      edge_words: from (op, output, reader) of a line to words on it; "" for none.
      values: the same, for words in place of a shape, on a line like others.
    """

    paint: Callable[[Box], tuple[str, str, str] | None] | None = None
    edge_words: Callable[[list[tuple[int, int, int]]], str] | None = None
    values: Callable[[list[tuple[int, int, int]]], str] | None = None

    def __init__(
        self,
        rows: list[Row],
        depth: int = 1,
        expanded: Iterable[str] | None = None,
        fetches: Sequence[str] = (),
        feeds: Sequence[str] = (),
        aside: Sequence[str] = (),
        inline: Sequence[str] = (),
    ) -> None:
        self.rows = rows
        self.root = make_tree(rows)
        self.open = opened(self.root, rows, depth, expanded)
        self.boxes = list(visible(self.root, self.open))
        self.needed: set[int] | None = None
        known = {row.name for row in rows}
        self.fetched = {op_name(f) for f in fetches} & known
        self.fed = {op_name(f) for f in feeds}
        if self.fetched:
            self.needed, _ = needed_rows(rows, fetches, feeds)
        self._aside, self._inline = set(aside), set(inline)

    def lane(self, box: Box) -> Lane:
        if box.name in self._inline:
            return "main"
        return "aside" if box.name in self._aside else lane_of(box, self.rows)

    def count_needed(self, box: Box) -> int:
        return sum(index in (self.needed or ()) for index in box.members)

    def is_dim(self, box: Box) -> bool:
        if self.needed is None or self.count_needed(box):
            return False
        return not any(self.rows[i].name in self.fed for i in box.members)


def op_name(name: str) -> str:
    """ "a:0" and "^a" as "a"."""
    return name.removeprefix("^").partition(":")[0]


def shape_text(shape: Shape) -> str:
    """ "32×?"; "[10]" for rank 1, "scalar", "?" for an unknown rank."""
    if shape is None:
        return "?"
    if not shape:
        return "scalar"
    sizes = "×".join("?" if size < 0 else str(size) for size in shape)
    return f"[{sizes}]" if len(shape) == 1 else sizes


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
    ids = {box.id: f"n{i}" for i, box in enumerate(still.boxes)}
    _draw_inside(still, dot, still.root, ids)
    _draw_edges(still, dot, ids)
    return str(dot.source)


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
    kind = _kind(still, box)
    shape, fill, line = LOOKS[kind]
    painted = None if still.paint is None else still.paint(box)
    words = ""
    if painted is not None:
        fill, line, words = painted
    style = "filled,rounded" if shape == "box" else "filled"
    attrs = {
        "shape": shape, "fillcolor": fill, "color": line, "style": style,
        "label": _label(still, box, kind, words), "tooltip": _escape(clip(box.name)),
    }  # fmt: skip
    if kind in ("placeholder", "const"):  # these shapes stretch around their words
        attrs["margin"] = "0,0" if kind == "placeholder" else "0.02,0.02"
        attrs["height"] = "0.3"
    if still.is_dim(box):
        dashed = style.replace("filled", "dashed")
        attrs |= {"style": dashed, "color": RULE, "fontcolor": MUTED}
    elif still.needed is not None:
        attrs["penwidth"] = "1.9"
    names = {still.rows[i].name for i in box.members}
    if names & still.fetched:
        attrs |= {"color": FETCH, "penwidth": "2.4", "xlabel": _tag("fetch", FETCH)}
    elif names & still.fed:
        attrs |= {"color": FEED, "penwidth": "2.4", "xlabel": _tag("feed", FEED)}
    dot.node(ids[box.id], **attrs)


def _tag(word: str, colour: str) -> str:
    return f'<<font color="{colour}" point-size="9"><b>{word}</b></font>>'


def _escape(text: str) -> str:
    import graphviz

    return str(graphviz.escape(text))


def _kind(still: Still, box: Box) -> str:
    row = own_row(box, still.rows)
    if is_variable(box, still.rows):
        return "variable"
    if row is None or (box.is_scope and not own_constants(box, still.rows)):
        return "scope"
    if row.type == "Const":
        return "const"
    if row.type.startswith("Placeholder"):
        return "placeholder"
    return "flow" if row.type.removeprefix("Ref") in FLOW else "op"


def _label(still: Still, box: Box, kind: str, words: str = "") -> str:
    second = clip(" · ".join(filter(None, [second_line(still, box, kind), words])))
    name = html.escape(clip(box.label))
    title = f"<b>{name}</b>" if kind == "scope" else name
    if not second:
        return f"<{title}>"
    small = f'<font point-size="9" color="{MUTED}">{html.escape(second)}</font>'
    return f"<{title}<br/>{small}>"


def second_line(still: Still, box: Box, kind: str) -> str:
    """What stands under a box's name: its size, value, type or shape."""
    row = own_row(box, still.rows)
    if box.is_scope and still.needed is not None and kind != "op":
        return f"{still.count_needed(box)} of {len(box.members)} run"
    if kind == "variable" and row is not None:
        return _variable_text(row)
    if kind == "scope" or row is None:
        return plural(len(box.members), "op")
    if kind == "const":
        return str(row.more.get("value", ""))
    if kind == "placeholder":
        return output_text(row)
    plain = re.sub(r"_\d+$", "", box.label.strip("()")).replace("_", "").lower()
    parts = [] if plain == re.sub(r"V\d$", "", row.type).lower() else [row.type]
    for constant in own_constants(box, still.rows):
        base = constant.name.rsplit("/", 1)[-1]
        parts.append(f"{base} = {constant.more.get('value', '?')}")
    return " · ".join(parts)


def _variable_text(row: Row) -> str:
    attrs = row.more.get("attrs", {})
    if row.type == "VarHandleOp":
        return f"{attrs.get('dtype', '')} {attrs.get('shape', '')}".strip()
    return output_text(row)


def output_text(row: Row) -> str:
    """The first output's type and shape, such as "float32 32×10"."""
    if not row.outputs:
        return ""
    dtype, shape = row.outputs[0]
    return f"{dtype.removesuffix('_ref')} {shape_text(shape)}"


def clip(text: str, longest: int = 160) -> str:
    """Both ends of a text that nobody can read in full: names have no limit."""
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[-longest // 2 + 1 :]}"


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


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
    # One tensor says its shape once; the lines of one that many read stay a fan.
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
        dot.attr(ordering="out")  # the first that was made stands at the left


def _same_lane(still: Still, one: Box, other: Box) -> bool:
    """Edges between lanes tie everything to everything; the live view shows them."""
    paths = [_path(one), _path(other)]
    for a, b in zip(*paths, strict=False):
        if a is not b:
            lanes = still.lane(a), still.lane(b)
            return lanes[0] == lanes[1] != "aside"
    return True


def _path(box: Box) -> list[Box]:
    path = [box]
    while path[-1].parent is not None and path[-1].parent.id:
        path.append(path[-1].parent)
    return path[::-1]


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
    if any(source > reader for source, _, reader in base):
        attrs["constraint"] = "false"  # a loop's way back must not turn the picture
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
    """The picture as SVG; None without Graphviz, when too large, or out of time."""
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
    """DOT to SVG in another process, which a deadline can end."""
    dot = shutil.which("dot")
    # AGraph(string=...): a bare argument that looks like a path would be read as one.
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
    """The same SVG without version comments, and with words for who cannot see it."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<title>[^<]*</title>\n?", "", svg)
    words = html.escape(description)
    head, end, rest = svg.partition(">")
    return f'{head} role="img"{end}<desc>{words}</desc>{rest}'.strip() + "\n"


# ---- text

MOST_LINES = 60


def text_of(still: Still) -> str:
    """The picture in words: a line for each box, indented by scope.

    Example:
      3 ops
        a    Const 2        -> float32 scalar
        b    Const 3        -> float32 scalar
        add  AddV2(a, b)    -> float32 scalar
    """
    scopes = sum(1 for box in _all_boxes(still.root) if box.is_scope)
    head = plural(len(still.rows), "op")
    head += f" in {plural(scopes, 'scope')}" if scopes else ""
    if still.needed is not None:
        head += f"; {len(still.needed)} of {len(still.rows)} run"
        head += f" for {', '.join(map(clip, sorted(still.fetched)))}"
        if still.fed:
            head += f" when {', '.join(map(clip, sorted(still.fed)))} is fed"
    lines = [_line(still, box) for box in still.boxes[:MOST_LINES]]
    width = max((len(left) for left, _ in lines), default=0)
    body = [f"{left:<{width}}  {right}".rstrip() for left, right in lines]
    if len(still.boxes) > MOST_LINES:
        body.append(f"  ... and {len(still.boxes) - MOST_LINES} more")
    return "\n".join([head, *body])


def _all_boxes(box: Box) -> Iterable[Box]:
    for child in box.children or ():
        yield child
        yield from _all_boxes(child)


def _line(still: Still, box: Box) -> tuple[str, str]:
    indent = "  " * len(_path(box))
    mark = ""
    if still.needed is not None:
        mark = "* " if still.count_needed(box) else "  "
    if box.is_scope:
        row = own_row(box, still.rows)
        what = plural(len(box.members), "op")
        if row is not None and box.id not in still.open:
            what = ", ".join([f"{row.type} {output_text(row)}".strip(), what])
        return f"{indent}{mark}{clip(box.label)}/", what
    row = still.rows[box.members[0]]
    if row.type == "Const":
        call = f"Const {row.more.get('value', '')}".rstrip()
    else:
        call = f"{row.type}({', '.join(_inputs(still, row))})"
    result = output_text(row)
    return f"{indent}{mark}{clip(box.label)}", f"{call} -> {result}" if result else call


def _inputs(still: Still, row: Row) -> Iterable[str]:
    for op, port in zip(row.inputs[::2], row.inputs[1::2], strict=True):
        name = clip(still.rows[op].name)
        yield name if port == 0 else f"{name}:{port}"
    for op in row.controls:
        yield f"^{clip(still.rows[op].name)}"


# ---- MIME bundle

# Trusted notebooks apply this (untrusted ones drop it). While a live view is mounted in
# the same outputs its still picture hides; once no kernel knows the widget any more,
# the picture is what remains, and JupyterLab's "model not found" hides instead. The
# second name is VS Code's for a cell and its outputs.
STYLE = """\
.jp-OutputArea:has(.tfteach-graph) .jp-OutputArea-child:has(.tfteach-static),
.cell_container:has(.tfteach-graph) .output_container:has(.tfteach-static) {
  display: none;
}
.jp-OutputArea:has(.tfteach-static) .lm-Panel.jp-OutputArea-output:not(:has(*)) {
  display: none;
}
.tfteach-static img { max-width: 100%; height: auto; }"""


def bundle_of(still: Still) -> dict[str, str]:
    """What any front end can show: SVG, the same inside HTML, and text."""
    return bundle_with(text_of(still), svg_of(still))


def bundle_with(text: str, svg: str | None, beside: bool = False) -> dict[str, str]:
    """A picture (if there is one) and its words by MIME type.

    Args:
      beside: HTML shows the words below the picture, instead of only reading them out.
    """
    if svg is None:
        words = f"<pre>{html.escape(text)}</pre>"
        return {"text/plain": text, "text/html": static_html(words)}
    data = base64.b64encode(svg.encode()).decode()
    # An <img> passes the sanitizer of an untrusted notebook; inline SVG does not.
    said = text.partition("\n")[0] if beside else text
    image = (
        f'<img alt="{html.escape(said, quote=True)}" '
        f'src="data:image/svg+xml;base64,{data}">'
    )
    if beside:
        image += f"<pre>{html.escape(text)}</pre>"
    return {"text/plain": text, "image/svg+xml": svg, "text/html": static_html(image)}


def static_html(content: str) -> str:
    """HTML that hides while a live view is there."""
    return f'<style>{STYLE}</style><div class="tfteach-static">{content}</div>'
