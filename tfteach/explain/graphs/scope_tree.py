"""A graph's scopes as nested boxes, and which of them a static picture opens.

The live view (widgets/src/layout) applies the same rules in the browser; this module
serves the SVG and the text in saved notebooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from tfteach.explain.graphs.graph_rows import Row
from tfteach.framework.op import op_class
from tfteach.ops.core.control_flow_ops import NoOp
from tfteach.ops.debug.summary_ops import MergeSummary

Lane = Literal["main", "training", "aside"]

MOST_ASIDE = 20  # boxes with variables

_TRAINERS = re.compile(
    r"(gradients|GradientDescent|Momentum|Adagrad(DA)?|Adadelta|Adam|RMSProp|Ftrl"
    r"|Proximal\w+)(_\d+)?"
)
_APPLIES = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]\w*")
_HOUSEKEEPING = re.compile(
    r"(init|save)(_\d+)?|report_uninitialized_.*|init_all_tables.*"
)
_MERGES = re.compile(r"Merge(_\d+)?")
# In the graphs of devices, whose names begin with one ("GPU:0/y"), what comes and goes
# stands at the top, not in the scope that it is named after; or in a group of many that
# go to one device. Op names have no spaces.
_TRANSFERS = ("_Send", "_Recv", "_Arg", "_Retval")
_DEVICE = re.compile(r"[^/]*:\d+/((to|from) [^/]*/)?")


class Box:
    """An op, or a scope with its contents.

    Attributes:
      id: the op's name, or the scope's with a final "/".
      label: the name inside its parent: "w", or "(w)" for the op after which the scope
        is named.
      members: the indices of the rows inside.
      children: the boxes inside; None for an op.
    """

    def __init__(self, id: str, label: str, parent: Box | None) -> None:
        self.id, self.label, self.parent = id, label, parent
        self.members: list[int] = []
        self.children: list[Box] | None = None

    @property
    def is_scope(self) -> bool:
        return self.children is not None

    @property
    def name(self) -> str:
        return self.id.removesuffix("/")

    def __repr__(self) -> str:
        return f"Box({self.id!r}, {len(self.members)} ops)"


def make_tree(rows: list[Row]) -> Box:
    """The root box of a graph: every "/" in a name makes a scope."""
    prefixes = {""}
    for row in rows:
        for match in re.finditer("/", row.name[: _home_of(row)]):
            prefixes.add(row.name[: match.end()])
    root = Box("", "", None)
    root.children = []
    scopes = {"": root}

    def scope(prefix: str) -> Box:
        if prefix not in scopes:
            cut = prefix.rfind("/", 0, -1) + 1
            parent = scope(prefix[:cut])
            box = Box(prefix, prefix[cut:-1], parent)
            box.children = []
            scopes[prefix] = box
            assert parent.children is not None
            parent.children.append(box)
        return scopes[prefix]

    for index, row in enumerate(rows):
        own = f"{row.name}/"
        cut = _home_of(row)
        base = row.name[cut:]
        parent = scope(own if own in prefixes else row.name[:cut])
        leaf = Box(row.name, f"({base})" if own in prefixes else base, parent)
        leaf.members.append(index)
        assert parent.children is not None
        parent.children.append(leaf)
        above: Box | None = parent
        while above is not None:
            above.members.append(index)
            above = above.parent
    return root


def _home_of(row: Row) -> int:
    """The length of the name of the scope that a row stands in."""
    if row.type in _TRANSFERS and (device := _DEVICE.match(row.name)):
        return device.end()
    return row.name.rfind("/") + 1


def own_row(box: Box, rows: list[Row]) -> Row | None:
    """The op of a box, or the op after which its scope is named."""
    if not box.is_scope:
        return rows[box.members[0]]
    for child in box.children or ():
        if not child.is_scope and child.id == box.name:
            return rows[child.members[0]]
    return None


def own_constants(box: Box, rows: list[Row]) -> list[Row]:
    """The constants created along with an op: `x + 1.0` builds "add" and "add/y".

    Empty unless the scope contains only that op and its constants.
    """
    row = own_row(box, rows)
    if not box.is_scope or row is None or len(box.members) > 4:
        return []
    others = [
        rows[child.members[0]]
        for child in box.children or ()
        if not child.is_scope and child.id != box.name
    ]
    inside = len(others) == len(box.members) - 1
    return (
        others if inside and all(op_class(o.type).holds_value for o in others) else []
    )


def is_variable(box: Box, rows: list[Row]) -> bool:
    """True for a variable, and for a scope named after one."""
    row = own_row(box, rows)
    return row is not None and op_class(row.type).returns_handle


def join_variables(root: Box, rows: list[Row], aside: Iterable[str]) -> list[str]:
    """Draw many variables that are set aside as one box, or they dwarf the model.

    Args:
      root: of a tree, which is changed.
      rows: the graph.
      aside: names of boxes.

    Returns:
      The name of the box that stands for them, if there are so many.
    """
    names = set(aside)

    def variables(box: Box) -> int:
        if box.name not in names:
            return 0
        return sum(op_class(rows[i].type).returns_handle for i in box.members)

    children = root.children or []
    joined = [box for box in children if variables(box)]
    if len(joined) <= MOST_ASIDE:
        return []
    count = sum(map(variables, joined))
    one = Box("variables set aside/", f"variables ×{count}", root)  # no op's name
    one.children = joined
    one.members = sorted(index for box in joined for index in box.members)
    root.children = [box for box in children if box not in joined]
    root.children.insert(children.index(joined[0]), one)
    for box in joined:
        box.parent = one
    return [one.name]


def lane_of(box: Box, rows: list[Row]) -> Lane:
    """The lane of a box: the main flow, training, or aside."""
    base = box.name.rsplit("/", 1)[-1]
    types = {rows[i].type for i in box.members}
    if _HOUSEKEEPING.fullmatch(base) and (box.is_scope or types == {NoOp.op_type}):
        return "aside"
    if MergeSummary.op_type in types and (_MERGES.fullmatch(base) or len(types) == 1):
        return "aside"
    above = box.parent
    while above is not None and above.id:
        if _is_trainer(above, rows):
            return "main"
        above = above.parent
    return "training" if _is_trainer(box, rows) else "main"


def _is_trainer(box: Box, rows: list[Row]) -> bool:
    base = box.name.rsplit("/", 1)[-1]
    if box.is_scope and _TRAINERS.fullmatch(base):
        return True
    return any(_APPLIES.fullmatch(rows[i].type) for i in box.members)


def opened(
    root: Box,
    rows: list[Row],
    depth: int = 1,
    expanded: Iterable[str] | None = None,
    most: int = 150,
) -> set[str]:
    """The ids of the scopes to draw open.

    Args:
      root: from `make_tree`.
      rows: of the same graph.
      depth: the number of levels to show; variables, optimizers and boxes set aside
        stay closed.
      expanded: the scopes to open, overriding `depth`.
      most: open no further level if the picture would have more boxes than this.
    """
    if expanded is not None:
        return set(expanded)
    chosen: set[str] = set()
    shown = list(root.children or ())
    for _ in range(depth - 1):
        more = [
            box
            for box in shown
            if box.is_scope
            and box.id not in chosen
            and not is_variable(box, rows)
            and not own_constants(box, rows)
            and lane_of(box, rows) == "main"
        ]
        inside = [child for box in more for child in box.children or ()]
        if not more or len(shown) + len(inside) > most:
            break
        chosen.update(box.id for box in more)
        shown += inside
    return chosen


def visible(box: Box, open_ids: set[str]) -> Iterator[Box]:
    """The boxes inside `box` that a picture draws, scopes before their contents."""
    for child in box.children or ():
        yield child
        if child.id in open_ids:
            yield from visible(child, open_ids)
