"""Copies parts of a graph, with other inputs or to another graph.

Source: contrib/graph_editor/transform.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from tfteach.framework import nest
from tfteach.framework.build import create
from tfteach.framework.defaults import default_graph
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.graph_editor.reroute import View
from tfteach.lib.contrib.graph_editor.select import get_walks_intersection_ops
from tfteach.lib.contrib.graph_editor.subgraph import SubGraphView, make_view
from tfteach.lib.contrib.graph_editor.util import (
    ControlOutputs,
    make_placeholder_from_tensor,
    scope_with_slash,
    unique_graph,
)

_T = TypeVar("_T")
# Given an input of the part, its counterpart in the copy.
_InputOf = Callable[["_Copy", Tensor], Tensor]


class TransformerInfo:
    """The counterparts of a copied part's operations and Tensors.

    Attributes:
      graph: the original's graph.
      graph_: the copy's.
    """

    def __init__(self, copy: _Copy) -> None:
        self.graph, self.graph_ = copy.graph, copy.graph_
        self._copies: dict[Operation | Tensor, Operation | Tensor] = {}
        for op, made in copy.ops.items():
            self._copies[op] = made
        for tensor, copied in copy.tensors.items():
            self._copies[tensor] = copied
        self._originals = {made: item for item, made in self._copies.items()}

    def transformed(
        self, original: _T, missing_fn: Callable[[object], object] | None = None
    ) -> _T:
        """The copies of operations and Tensors.

        Args:
          original: an Operation or Tensor, or a nested structure of them.
          missing_fn: a function of an item that has no copy; None means None.
        """
        return _mapped(original, self._copies, missing_fn)

    def original(
        self, transformed: _T, missing_fn: Callable[[object], object] | None = None
    ) -> _T:
        """The originals of operations and Tensors; see `transformed`."""
        return _mapped(transformed, self._originals, missing_fn)

    def __str__(self) -> str:
        lines = ["Transform result info:", "Operations mapping:"]
        for item, made in self._copies.items():
            if isinstance(item, Operation):
                lines.append(f"  {item.name} => {made.name}")
        return "\n".join(lines) + "\n"


def _mapped(
    structure: _T,
    found: Mapping[Operation | Tensor, Operation | Tensor],
    missing_fn: Callable[[object], object] | None,
) -> _T:
    def counterpart(item: object) -> object:
        if not isinstance(item, Operation | Tensor):
            raise TypeError(
                f"Expected a tf.Tensor or a tf.Operation, got a {type(item)}"
            )
        if item in found:
            return found[item]
        return None if missing_fn is None else missing_fn(item)

    made: _T = nest.map_structure(counterpart, structure)
    return made


class _Copy:
    """A copy in progress."""

    def __init__(
        self,
        view: SubGraphView,
        graph: Graph,
        scope: str,
        source_scope: str,
        input_of: _InputOf,
    ) -> None:
        self.view, self.graph, self.graph_ = view, view.graph, graph
        self.scope_, self.scope = scope, source_scope
        self.input_of = input_of
        self.ops: dict[Operation, Operation] = {}
        self.tensors: dict[Tensor, Tensor] = {}
        self.given: dict[Tensor, Tensor] = {}  # the copies' inputs from outside
        self.members = set(view.ops)
        self.back_edges: list[tuple[Operation, int]] = []
        self.collections = {
            key: self.graph.get_collection(key)
            for key in self.graph.get_all_collection_keys()
        }

    def run(self) -> None:
        for op in sorted(self.members, key=lambda op: op._id):
            self._copy(op)
        for op, place in self.back_edges:
            self.ops[op]._update_input(place, self.tensors[op.inputs[place]])
        for op, made in self.ops.items():
            controls = [self.ops.get(c, c) for c in op.control_inputs]
            made._add_control_inputs([c for c in controls if c.graph is self.graph_])

    def new_name(self, name: str) -> str:
        """A name in the copy's scope.

        Raises:
          ValueError: it is not in the source scope.
        """
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name.removeprefix(self.scope)

    def _copy(self, op: Operation) -> None:
        inputs: list[Tensor | None] = [self._input(tensor) for tensor in op.inputs]
        known = [tensor for tensor in inputs if tensor is not None]
        for place, tensor in enumerate(inputs):
            if tensor is None:
                self.back_edges.append((op, place))
                if not known:
                    raise ValueError(
                        f"{op.name} is in a cycle that no loop's Merge begins"
                    )
        name = self.graph_.unique_name(self.new_name(op.name))
        spec = op.spec
        if "frame_name" in type(spec).fields:
            # TensorFlow keeps the name: both loops then share a frame.
            frame = self.scope_ + "copy_of/" + spec.frame_name  # type: ignore[attr-defined]
            spec = spec.replace(frame_name=frame)
        made = create(
            self.graph_,
            spec,
            tuple([known[0] if tensor is None else tensor for tensor in inputs]),
            name,
            op.device,
            [],
        )
        if op.extra_attrs:
            made.extra_attrs = dict(op.extra_attrs)
        if len(known) < len(inputs):
            for tensor in made.outputs:
                tensor._shape = None  # known only once the loop is closed
        self.ops[op] = made
        self._collect(op, made)
        for tensor, copied in zip(op.outputs, made.outputs, strict=True):
            self.tensors[tensor] = copied
            self._collect(tensor, copied)

    def _input(self, tensor: Tensor) -> Tensor | None:
        """The copy's input; None if it is a back edge, to be closed later."""
        if tensor in self.tensors:
            return self.tensors[tensor]
        if tensor.op in self.members:
            return None
        if tensor not in self.given:
            self.given[tensor] = (
                self.input_of(self, tensor)
                if tensor in self.view.inputs
                else _kept(self, tensor)
            )
        return self.given[tensor]

    def _collect(self, item: Operation | Tensor, made: Operation | Tensor) -> None:
        """Add a copy to the collections of its original, those of programs renamed."""
        from tfteach.framework.graph_keys import GraphKeys

        known = {v for k, v in vars(GraphKeys).items() if not k.startswith("_")}
        for key, items in self.collections.items():
            if any(other is item for other in items):
                if key not in known:  # TensorFlow refuses keys outside of the scope
                    key = self.scope_ + str(key).removeprefix(self.scope)
                self.graph_.add_to_collection(key, made)


def _placeholder_for(copy: _Copy, tensor: Tensor) -> Tensor:
    with default_graph(copy.graph_):
        return make_placeholder_from_tensor(tensor, copy.scope_)


def _kept(copy: _Copy, tensor: Tensor) -> Tensor:
    """The same input within a graph, a placeholder in another one."""
    return tensor if copy.graph is copy.graph_ else _placeholder_for(copy, tensor)


def _copied(
    sgv: View,
    dst_graph: Graph | None,
    dst_scope: str,
    src_scope: str,
    reuse_dst_scope: bool,
    input_of: _InputOf,
) -> tuple[SubGraphView, TransformerInfo]:
    view = make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    scope = scope_with_slash(dst_scope)
    if scope and not reuse_dst_scope:
        scope = scope_with_slash(graph.unique_name(scope[:-1]))
    copy = _Copy(view, graph, scope, scope_with_slash(src_scope), input_of)
    copy.run()
    made = SubGraphView([copy.ops[op] for op in view.ops])
    outputs = [copy.tensors[t] for t in view.outputs if t in copy.tensors]
    inputs = [copy.given[t] for t in view.inputs if t in copy.given]
    inputs = [t for t in dict.fromkeys(inputs) if t in made.inputs]
    outputs = [t for t in outputs if t in made.outputs]
    return made.remap(inputs, outputs), TransformerInfo(copy)


@export("contrib.graph_editor.copy")
def copy(
    sgv: View,
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copy a part of a graph; placeholders stand for its inputs.

    Args:
      sgv: the part, as `make_view` accepts it.
      dst_graph: the graph to copy to; the same one if None.
      dst_scope: the copy's name scope.
      src_scope: the original's, which is removed from names.
      reuse_dst_scope: whether `dst_scope` may already exist; otherwise it is made
        unique.

    Returns:
      The view of the copy, and a TransformerInfo of what became what.

    Raises:
      ValueError: an operation is not in `src_scope`.
      TypeError: `dst_graph` is no Graph.

    Example:
      >>> x = tf.placeholder(tf.float32, name="x")
      >>> y = tf.square(x, name="y")
      >>> view, info = tf.contrib.graph_editor.copy(y.op, dst_scope="again")
      >>> info.transformed(y).name
      'again/y:0'

    Source: contrib/graph_editor/transform.py.
    """
    return _copied(
        sgv, dst_graph, dst_scope, src_scope, reuse_dst_scope, _placeholder_for
    )


@export("contrib.graph_editor.copy_with_input_replacements")
def copy_with_input_replacements(
    sgv: View,
    replacement_ts: Mapping[Tensor, Tensor],
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copy a part of a graph, with other Tensors in place of some inputs.

    Args:
      sgv: the part, as `make_view` accepts it.
      replacement_ts: a dict from inputs to the copy's.  Other inputs are shared within
        a graph, and placeholders in another one.
      dst_graph, dst_scope, src_scope, reuse_dst_scope: as in `copy`.

    Returns:
      As `copy`.

    Example:
      >>> x, z = tf.constant(1.0), tf.constant(3.0)
      >>> y = tf.square(x, name="y")
      >>> _, info = tf.contrib.graph_editor.copy_with_input_replacements(y.op, {x: z})
      >>> info.transformed(y).op.inputs[0] is z
      True

    Source: contrib/graph_editor/transform.py.
    """

    def replaced(copy: _Copy, tensor: Tensor) -> Tensor:
        if tensor in replacement_ts:
            return replacement_ts[tensor]
        return _kept(copy, tensor)

    return _copied(sgv, dst_graph, dst_scope, src_scope, reuse_dst_scope, replaced)


@export("contrib.graph_editor.graph_replace")
def graph_replace(
    target_ts: _T,
    replacement_ts: Mapping[Tensor, Tensor],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> _T:
    """What Tensors would be if others were replaced, as copies.

    Args:
      target_ts: a Tensor, or a nested structure of them.
      replacement_ts: a dict from Tensors to those to use in the copy.
      dst_scope, src_scope, reuse_dst_scope: as in `copy`.

    Returns:
      Copies of the targets; those that do not depend on a replaced Tensor themselves.

    Raises:
      ValueError: no target depends on a replaced Tensor.

    Example:
      >>> x = tf.constant(2.0)
      >>> y = tf.square(x) + 1.0
      >>> z = tf.contrib.graph_editor.graph_replace(y, {x: tf.constant(3.0)})  # 10

    Source: contrib/graph_editor/transform.py.
    """
    targets = [t for t in nest.flatten(target_ts) if isinstance(t, Tensor)]
    controls = ControlOutputs(unique_graph(targets))
    replaced = list(replacement_ts)
    ops = get_walks_intersection_ops(replaced, targets, control_ios=controls)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    # A loop is copied as a whole: its counter does not depend on what is replaced.
    contexts = {op.control_flow_context for op in ops}
    loops = {c.while_context for c in contexts if c is not None} - {None}
    for loop in loops:
        enters = [tensor.op for tensor in loop.loop_enters]
        exits = [tensor.op for tensor in loop.loop_exits]
        ops += get_walks_intersection_ops(enters, exits, control_ios=controls)
    _, info = copy_with_input_replacements(
        list(dict.fromkeys(ops)),
        replacement_ts,
        None,
        dst_scope,
        src_scope,
        reuse_dst_scope,
    )
    return info.transformed(target_ts, lambda original: original)
