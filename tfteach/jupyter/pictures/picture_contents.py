"""The contents of a static picture of a graph, and the same as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from tfteach.explain.graphs.graph_rows import Row, Shape, needed_rows
from tfteach.explain.graphs.scope_tree import (
    Box,
    Lane,
    is_variable,
    join_variables,
    lane_of,
    make_tree,
    opened,
    own_constants,
    own_row,
    visible,
)
from tfteach.framework.op import op_class
from tfteach.framework.op_traits import Flow

MOST_LINES = 60


class Still:
    """The contents of one static picture.

    Args:
      rows: the graph, from `tfteach.explain.graphs.graph_rows`.
      depth, expanded: the open scopes, as for `scope_tree.opened`.
      fetches, feeds: names; ops that such a run skips are dimmed.
      aside, inline: names of boxes to set aside, or to keep in the main flow.

    Attributes:
      joined: the names of boxes that are no scopes of the graph: many variables as one.
      caption: lines below the picture: runs that failed or were refused.
      notes: lines below them, in muted letters.
      failed_at: the name of the op that failed; "" for none.
      paint: a function of a box that returns (fill, line, second line of text), or None
        for the default of its kind.
      edge_words: a function of the (op, output, consumer) triples of an edge that
        returns its label, or "".
      values: the same, for labels in place of shapes, on edges of the usual colour.
    """

    caption: Sequence[str] = ()
    notes: Sequence[str] = ()
    failed_at = ""
    paint: Callable[[Box], tuple[str, str, str] | None] | None = None
    edge_words: Callable[[list[tuple[int, int, int]]], str] | None = None
    values: Callable[[list[tuple[int, int, int]]], str] | None = None
    verb = "run"

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
        self.joined = join_variables(self.root, rows, aside)
        aside = [*aside, *self.joined]
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
    """The op of "a:0" or "^a": "a"."""
    return name.removeprefix("^").partition(":")[0]


def shape_text(shape: Shape) -> str:
    """A shape as "32×?"; "[10]" for rank 1, "scalar", "?" for an unknown rank."""
    if shape is None:
        return "?"
    if not shape:
        return "scalar"
    sizes = "×".join("?" if size < 0 else str(size) for size in shape)
    return f"[{sizes}]" if len(shape) == 1 else sizes


def kind_of(still: Still, box: Box) -> str:
    """The kind of a box: "op", "const", "variable", "scope", ..."""
    row = own_row(box, still.rows)
    if is_variable(box, still.rows):
        return "variable"
    if row is None or (box.is_scope and not own_constants(box, still.rows)):
        return "scope"
    if op_class(row.type).holds_value:
        return "const"
    if row.type.startswith("Placeholder"):
        return "placeholder"
    flow = op_class(row.type).flow
    return "op" if flow in (None, Flow.CONTROL_TRIGGER) else "flow"


def second_line(still: Still, box: Box, kind: str) -> str:
    """The text below a box's name: its size, value, type or shape."""
    row = own_row(box, still.rows)
    if box.is_scope and still.needed is not None and kind != "op":
        return f"{still.count_needed(box)} of {len(box.members)} {still.verb}"
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
    """A long text without its middle: names have no maximum length."""
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[-longest // 2 + 1 :]}"


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def path_of(box: Box) -> list[Box]:
    path = [box]
    while path[-1].parent is not None and path[-1].parent.id:
        path.append(path[-1].parent)
    return path[::-1]


def text_of(still: Still) -> str:
    """The picture as text: a line for each box, indented by scope.

    Example:
      3 ops
        a    Const 2        -> float32 scalar
        b    Const 3        -> float32 scalar
        add  AddV2(a, b)    -> float32 scalar
    """
    scopes = sum(1 for box in _all_boxes(still.root) if box.is_scope)
    scopes -= len(still.joined)
    head = plural(len(still.rows), "op")
    head += f" in {plural(scopes, 'scope')}" if scopes else ""
    if still.needed is not None:
        head += f"; {len(still.needed)} of {len(still.rows)} {still.verb}"
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
    indent = "  " * len(path_of(box))
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
    if op_class(row.type).holds_value:
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
