"""The ids of an embedding's gradient, as many in each run as there may be.

Optimizers sum the rows of a gradient whose ids are equal before they use them.  How
many ids are distinct is known when the host has found them: the shapes of all that
follows then depend on the batch, and a card has no step that it could repeat.  As
rows whose ids are outside of a variable are ignored on cards, the distinct ids may be
filled up with such, if they are used for nothing but that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.plan.step import Change, Edge, Node, Step, writes

Use = tuple[Node, int]  # a node, and the number of one of its inputs


def pad_distinct(step: Step) -> None:
    """Let ops find as many ids in each run, where that changes no result."""
    uses: dict[Edge, list[Use]] = defaultdict(list)
    for node in step.nodes:
        for i, edge in enumerate(node.inputs):
            uses[edge].append((node, i))
    for node in step.nodes:
        padded = node.spec.of_fixed_size()
        if padded is not None and _Followed(step, uses).may_pad(node):
            node.spec = padded
            reason = "finds as many ids in each run; those too many are outside"
            step.log.append(Change("pad", node.name, reason))


class _Followed:
    """The values whose first dimension is the number of ids, and where they go."""

    def __init__(self, step: Step, uses: dict[Edge, list[Use]]) -> None:
        self._uses = uses
        self._fetched = set(step.fetches)
        self._rows: set[Edge] = set()
        self._counts: set[Edge] = set()
        self._left: list[Edge] = []

    def may_pad(self, node: Node) -> bool:
        self._add(self._rows, Edge(node, 0))
        while self._left:
            edge = self._left.pop()
            if edge in self._fetched:
                return False
            for user, i in self._uses[edge]:
                is_row = edge in self._rows
                if not (self._row(user, i) if is_row else self._count(user, i)):
                    return False
        return all(map(self._is_consistent, self._rows))

    def _add(self, to: set[Edge], edge: Edge) -> None:
        if edge not in to:
            to.add(edge)
            self._left.append(edge)

    def _row(self, user: Node, i: int) -> bool:
        """Follow a use of rows; False if their number might matter."""
        spec, output = user.spec, Edge(user, 0)
        if spec.outputs_shape:
            self._add(self._counts, output)
        elif isinstance(spec, Send | Recv) or spec.is_elementwise:
            self._add(self._rows, output)
        elif spec.row_ids and writes(user):
            return True
        elif spec.row_ids and _input_name(user, i) == spec.row_ids:
            self._add(self._rows, output)
        else:
            return False
        return True

    def _count(self, user: Node, i: int) -> bool:
        """Follow a use of their number, or of the shape that it is taken from."""
        spec, output = user.spec, Edge(user, 0)
        if spec.segment_count and _input_name(user, i) == spec.segment_count:
            self._add(self._rows, output)
            return True
        others = [edge for k, edge in enumerate(user.inputs) if k != i]
        is_number = _is_number(output) and all(e.constant is not None for e in others)
        if isinstance(spec, Send | Recv) or is_number:
            self._add(self._counts, output)
            return True
        return False

    def _is_consistent(self, edge: Edge) -> bool:
        """Whether all inputs have as many rows, or are single numbers."""
        node = edge.node
        if not node.spec.is_elementwise:
            return True
        return all(source in self._rows or _is_number(source) for source in node.inputs)


def _is_number(edge: Edge) -> bool:
    return edge.node.op.outputs[edge.index].static_shape == ()


def _input_name(node: Node, position: int) -> str:
    names: list[str] = []
    groups: Sequence[object] = node.op.grouped_inputs()
    for arg, group in zip(type(node.spec).inputs, groups, strict=True):
        names += [arg.name] * (len(group) if isinstance(group, list) else 1)
    return names[position]
