"""A part of a graph, with its inputs and outputs.

Source: contrib/graph_editor/subgraph.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.graph_editor.select import (
    Pattern,
    get_name_scope_ops,
    select_ops_and_ts,
)
from tfteach.lib.contrib.graph_editor.util import (
    Ops,
    Tensors,
    make_list_of_op,
    make_list_of_t,
    unique,
    unique_graph,
)
from tfteach.lib.contrib.graph_editor.walks import (
    compute_boundary_ts,
    get_walks_union_ops,
)


@export("contrib.graph_editor.SubGraphView")
class SubGraphView:
    """Operations of a graph, and the Tensors at their boundary, in an order.

    Args:
      inside_ops: the operations.
      passthrough_ts: Tensors that are inputs and outputs at once, unless operations of
        the part have them.

    Raises:
      ValueError: they are of several graphs.

    Example:
      >>> x = tf.placeholder(tf.float32, name="x")
      >>> y = tf.square(x, name="y")
      >>> view = tf.contrib.graph_editor.sgv(y.op)
      >>> [t.name for t in view.inputs], [t.name for t in view.outputs]
      (['x:0'], ['y:0'])

    Source: contrib/graph_editor/subgraph.py.
    """

    def __init__(self, inside_ops: Ops = (), passthrough_ts: Tensors = ()) -> None:
        self._ops = make_list_of_op(inside_ops)
        through = make_list_of_t(passthrough_ts)
        everything: list[Operation | Tensor] = [*self._ops, *through]
        self._graph = unique_graph(everything) if everything else None
        inputs, outputs, inside = compute_boundary_ts(self._ops)
        known = {*inputs, *outputs, *inside}
        self._passthrough_ts = [tensor for tensor in through if tensor not in known]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    def copy(self) -> SubGraphView:
        """Another view of the same part."""
        found = SubGraphView()
        found._graph = self._graph
        found.assign_from(self)
        return found

    __copy__ = copy

    def assign_from(self, other: SubGraphView) -> None:
        """Make this a view of what `other` shows."""
        self._graph, self._ops = other._graph, list(other._ops)
        self._passthrough_ts = list(other._passthrough_ts)
        self._input_ts = list(other._input_ts)
        self._output_ts = list(other._output_ts)

    # ---- contents

    @property
    def graph(self) -> Graph:
        """The graph.

        Raises:
          ValueError: the view is empty.
        """
        if self._graph is None:
            raise ValueError("An empty SubGraphView has no graph")
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        """The operations."""
        return list(self._ops)

    @property
    def inputs(self) -> list[Tensor]:
        """The inputs, in the view's order."""
        return list(self._input_ts)

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs, in the view's order."""
        return list(self._output_ts)

    @property
    def passthroughs(self) -> list[Tensor]:
        """The Tensors that are input and output at once."""
        return list(self._passthrough_ts)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs that operations of the part use."""
        return [t for t in self._input_ts if t not in self._passthrough_ts]

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs that operations of the part compute."""
        return [t for t in self._output_ts if t not in self._passthrough_ts]

    def __bool__(self) -> bool:
        return self._graph is not None

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"
        lines = [f"SubGraphView (graphid={id(self._graph)}):"]
        for name, items in (
            ("ops", [op.name for op in self._ops]),
            ("inputs", self._names(self._input_ts)),
            ("outputs", self._names(self._output_ts)),
        ):
            lines.append(f"** {name}[{len(items)}]:" if items else f"** {name}: empty")
            lines += [f"  {item}" for item in items]
        return "\n".join(lines) + "\n"

    def _names(self, tensors: list[Tensor]) -> list[str]:
        return [f"{t.name} *" if self.is_passthrough(t) else t.name for t in tensors]

    def op(self, op_id: int) -> Operation:
        """An operation by its index in `ops`."""
        return self._ops[op_id]

    def find_op_by_name(self, op_name: str) -> Operation:
        """An operation by name.

        Raises:
          ValueError: it is not in the part.
        """
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def is_passthrough(self, t: Tensor) -> bool:
        """Whether a Tensor is input and output at once."""
        return t in self._passthrough_ts

    def input_index(self, t: Tensor) -> int:
        """The index of an input.

        Raises:
          ValueError: it is none.
        """
        if t not in self._input_ts:
            raise ValueError(f"Can't find {t.name} in inputs of the subgraph.")
        return self._input_ts.index(t)

    def output_index(self, t: Tensor) -> int:
        """The index of an output.

        Raises:
          ValueError: it is none.
        """
        if t not in self._output_ts:
            raise ValueError(f"Can't find {t.name} in outputs of the subgraph.")
        return self._output_ts.index(t)

    def consumers(self) -> list[Operation]:
        """The operations outside that use the outputs."""
        found = [user for tensor in self._output_ts for user in tensor.consumers()]
        return [op for op in unique(found) if op not in self._ops]

    # ---- other orders

    def remap(
        self,
        new_input_indices: Sequence[int | Tensor] | None = None,
        new_output_indices: Sequence[int | Tensor] | None = None,
    ) -> SubGraphView:
        """A view with some of the inputs and outputs, in another order.

        Args:
          new_input_indices: indices of inputs, or inputs, each at most once.
          new_output_indices: likewise, also repeatedly.

        Raises:
          ValueError: an index is out of range, or an input occurs twice.
        """
        found = self.copy()
        if new_input_indices is not None:
            places = _indices(new_input_indices, self._input_ts)
            if len(set(places)) != len(places):
                raise ValueError(f"Found repetition in mapping: {places}")
            found._input_ts = [self._input_ts[i] for i in places]
        if new_output_indices is not None:
            places = _indices(new_output_indices, self._output_ts)
            found._output_ts = [self._output_ts[i] for i in places]
        return found

    def remap_inputs(self, new_input_indices: Sequence[int | Tensor]) -> SubGraphView:
        """See `remap`."""
        return self.remap(new_input_indices=new_input_indices)

    def remap_outputs(self, new_output_indices: Sequence[int | Tensor]) -> SubGraphView:
        """See `remap`."""
        return self.remap(new_output_indices=new_output_indices)

    def remap_outputs_make_unique(self) -> SubGraphView:
        """A view that has each output once."""
        found = self.copy()
        found._output_ts = unique(self._output_ts)
        return found

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """A view that has each output as often as it is used."""
        found = self.copy()
        outputs = unique(self._output_ts)
        found._output_ts = [t for t in outputs for _ in t.consumers()]
        return found

    def remap_default(
        self, remove_input_map: bool = True, remove_output_map: bool = True
    ) -> SubGraphView:
        """A view with the inputs, the outputs or both as they were at first."""
        found = self.copy()
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        if remove_input_map:
            found._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            found._output_ts = outputs + self._passthrough_ts
        return found

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """A view without operations that neither inputs nor outputs lead to.

        Args:
          control_inputs: whether control inputs lead, too.
        """
        found = self.copy()
        used = get_walks_union_ops(
            self.connected_inputs,
            self.connected_outputs,
            within_ops=self._ops,
            control_inputs=control_inputs,
        )
        found._ops = [op for op in self._ops if op in used]
        return found


def _indices(chosen: Sequence[int | Tensor], tensors: list[Tensor]) -> list[int]:
    found = [tensors.index(c) if isinstance(c, Tensor) else int(c) for c in chosen]
    for index in found:
        if not 0 <= index < len(tensors):
            raise ValueError(f"Out of [0, {len(tensors)}[ range: {index}")
    return found


@export("contrib.graph_editor.make_view", "contrib.graph_editor.sgv")
def make_view(
    *args: SubGraphView | Ops | Tensors | Pattern, graph: Graph | None = None
) -> SubGraphView:
    """A SubGraphView.

    Args:
      *args: a SubGraphView, which is returned, or operations, Tensors and regular
        expressions as in `select_ops_and_ts`.
      graph: the graph.

    Raises:
      ValueError: the view is of another graph.

    Example:
      >>> view = tf.contrib.graph_editor.sgv("^hidden/", graph=tf.get_default_graph())

    Source: contrib/graph_editor/subgraph.py.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        view = args[0]
    else:
        view = SubGraphView(*select_ops_and_ts(*args, graph=graph))  # type: ignore[arg-type]
    if graph is not None and view and view.graph is not graph:
        raise ValueError("Graph mismatch.")
    return view


@export("contrib.graph_editor.make_view_from_scope", "contrib.graph_editor.sgv_scope")
def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """A view of a name scope.

    Args:
      scope: its name.
      graph: the graph.

    Source: contrib/graph_editor/subgraph.py.
    """
    return SubGraphView(get_name_scope_ops(graph, scope))


def check_graphs(*views: SubGraphView) -> None:
    """Raise ValueError if views are of different graphs."""
    graphs: Iterable[Graph] = [view.graph for view in views if view]
    if len(set(graphs)) > 1:
        raise ValueError("The views are of different graphs")
