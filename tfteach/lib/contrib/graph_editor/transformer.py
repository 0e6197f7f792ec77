"""Copies a part of a graph by handlers that programs may replace.

Source: contrib/graph_editor/transform.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from tfteach.framework import nest
from tfteach.framework.build import create
from tfteach.framework.defaults import default_graph
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.import_node import NodeReader
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.graph_editor.reroute import View, add_control_inputs
from tfteach.lib.contrib.graph_editor.subgraph import SubGraphView, make_view
from tfteach.lib.contrib.graph_editor.util import (
    ControlOutputs,
    make_placeholder_from_tensor,
    scope_with_slash,
)

_T = TypeVar("_T")


class Transformation:
    """A transformation in progress: what handlers read.

    Attributes:
      sgv: the original part; ops, sgv_inputs_set: its operations and inputs, as sets.
      control_outputs: the ControlOutputs of its graph.
      graph, scope: its graph and scope.
      graph_, scope_: those of the result.
      transformed_ops, transformed_ts: dicts from originals to results, so far.
      collections: dict from the keys of the graph's collections to lists.
    """

    def __init__(
        self, view: SubGraphView, graph: Graph, scope: str, source_scope: str
    ) -> None:
        self.sgv, self.ops = view, frozenset(view.ops)
        self.sgv_inputs_set = frozenset(view.inputs)
        self.graph, self.graph_ = view.graph, graph
        self.control_outputs = ControlOutputs(self.graph)
        self.scope_, self.scope = scope, source_scope
        self.transformed_ops: dict[Operation, Operation] = {}
        self.transformed_ts: dict[Tensor, Tensor] = {}
        self.collections = {
            key: self.graph.get_collection(key)
            for key in self.graph.get_all_collection_keys()
        }
        self.given: dict[Tensor, Tensor] = {}  # the results' inputs from outside
        self.back_edges: list[tuple[Operation, int]] = []

    def new_name(self, name: str) -> str:
        """A name in the result's scope.

        Raises:
          ValueError: it is not in the source scope.
        """
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name.removeprefix(self.scope)


@export("contrib.graph_editor.TransformerInfo")
class TransformerInfo:
    """The counterparts of a transformed part's operations and Tensors.

    Args:
      info: what the handlers read, see `Transformer`.

    Example:
      >>> y = tf.square(tf.constant(2.0), name="y")
      >>> _, info = tf.contrib.graph_editor.copy(y.op, dst_scope="again")
      >>> info.original(info.transformed(y)) is y
      True

    Source: contrib/graph_editor/transform.py.
    """

    def __init__(self, info: Transformation) -> None:
        self._info = info
        self._results: dict[Any, Any] = {**info.transformed_ops, **info.transformed_ts}
        self._originals = {made: item for item, made in self._results.items()}

    def transformed(
        self, original: _T, missing_fn: Callable[[object], object] | None = None
    ) -> _T:
        """The results of operations and Tensors.

        Args:
          original: an Operation or Tensor, or a nested structure of them.
          missing_fn: a function of an item that has no result; None means None.

        Raises:
          TypeError: an item is neither an Operation nor a Tensor.
        """
        return _mapped(original, self._results, missing_fn)

    def original(
        self, transformed: _T, missing_fn: Callable[[object], object] | None = None
    ) -> _T:
        """The originals of operations and Tensors; see `transformed`."""
        return _mapped(transformed, self._originals, missing_fn)

    def __str__(self) -> str:
        info = self._info
        lines = ["Transform result info:"]
        if info.graph is info.graph_:
            in_place = "" if info.scope_ else " IN-PLACE"
            lines.append(f"  Within graph[{id(info.graph)}]{in_place}")
        else:
            lines.append(f"  graph[{id(info.graph)}] => graph[{id(info.graph_)}]")
        if info.scope:
            lines.append(f"  Relative to source scope: {info.scope}")
        if info.scope_:
            lines.append(f"  Scope destination: {info.scope_}")
        lines.append("Operations mapping:")
        made = info.transformed_ops.items()
        lines += [f"  {op.name} => {result.name}" for op, result in made]
        return "\n".join(lines) + "\n"


def _mapped(
    structure: _T,
    found: Mapping[Any, Any],
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


# ---- handlers


@export("contrib.graph_editor.replace_t_with_placeholder_handler")
def replace_t_with_placeholder_handler(info: Transformation, t: Tensor) -> Tensor:
    """A placeholder for an input, in the result's graph and scope.

    Args:
      info: what handlers read, see `Transformer`.
      t: the input.

    Source: contrib/graph_editor/transform.py.
    """
    with default_graph(info.graph_):
        return make_placeholder_from_tensor(t, info.scope_)


@export("contrib.graph_editor.keep_t_if_possible_handler")
def keep_t_if_possible_handler(info: Transformation, t: Tensor) -> Tensor:
    """The same input within a graph, a placeholder in another one.

    Args:
      info: what handlers read, see `Transformer`.
      t: the input.

    Source: contrib/graph_editor/transform.py.
    """
    if info.graph is info.graph_:
        return t
    return replace_t_with_placeholder_handler(info, t)


@export("contrib.graph_editor.assign_renamed_collections_handler")
def assign_renamed_collections_handler(
    info: Transformation, elem: Operation | Tensor, elem_: Operation | Tensor
) -> None:
    """Add a result to the collections of its original, those of programs renamed.

    Args:
      info: what handlers read, see `Transformer`.
      elem: the original.
      elem_: the result.

    Source: contrib/graph_editor/transform.py.
    """
    known = {v for k, v in vars(GraphKeys).items() if not k.startswith("_")}
    for key, items in info.collections.items():
        if any(other is elem for other in items):
            if key not in known:  # TensorFlow refuses keys outside of the scope
                key = info.scope_ + str(key).removeprefix(info.scope)
            info.graph_.add_to_collection(key, elem_)


@export("contrib.graph_editor.transform_op_if_inside_handler")
def transform_op_if_inside_handler(
    info: Transformation, op: Operation, keep_if_possible: bool = True
) -> Operation | None:
    """The result of an operation; for those outside of the part themselves, or None.

    Args:
      info: what handlers read, see `Transformer`.
      op: the operation.
      keep_if_possible: whether operations outside are returned within a graph; in
        another one they are None in any case.

    Source: contrib/graph_editor/transform.py.
    """
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


@export("contrib.graph_editor.copy_op_handler")
def copy_op_handler(
    info: Transformation,
    op: Operation,
    new_inputs: Iterable[Tensor],
    copy_shape: bool = False,
    nodedef_fn: Callable[[Any], Any] | None = None,
) -> tuple[Operation, tuple[Tensor, ...]]:
    """A copy of an operation with other inputs, and the copy's outputs.

    Args:
      info: what handlers read, see `Transformer`.
      op: the operation.
      new_inputs: the copy's inputs.
      copy_shape: whether static shapes are copied, too, beside what is inferred.
      nodedef_fn: a function of the copy's NodeDef that returns the one to use.

    Raises:
      TypeError: `new_inputs` is a bool, as in programs for older versions.
      ValueError: the name is not in the source scope.

    Example:
      >>> def renamed(node):
      ...     node.name += "_copy"
      ...     return node
      >>> transform = tf.contrib.graph_editor.Transformer()
      >>> def copied(info, op, inputs):
      ...     return tf.contrib.graph_editor.copy_op_handler(
      ...         info, op, inputs, nodedef_fn=renamed)
      >>> transform.transform_op_handler = copied
      >>> y = tf.square(tf.constant(2.0), name="y")
      >>> view, _ = transform(y.op, tf.get_default_graph(), "scope")
      >>> view.op(0).name
      'scope/y_copy'

    Source: contrib/graph_editor/transform.py.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    inputs = tuple(new_inputs)
    name = info.graph_.unique_name(info.new_name(op.name))
    spec, device, extra = op.spec, op.device, op.extra_attrs
    if nodedef_fn is not None:
        node = op.node_def
        node.name = name
        node = nodedef_fn(node)
        reader = NodeReader("")
        read = reader.read(node)
        reader.check_inputs(read, inputs, node.name)
        spec, name, device, extra = read.spec, node.name, node.device, read.extra
    if "frame_name" in type(spec).fields:
        # TensorFlow keeps the name: both loops then share a frame.
        frame = info.scope_ + "copy_of/" + spec.frame_name  # type: ignore[attr-defined]
        spec = spec.replace(frame_name=frame)
    made = create(info.graph_, spec, inputs, name, device, [])
    if extra:
        made.extra_attrs = dict(extra)
    if copy_shape:
        for tensor, copied in zip(op.outputs, made.outputs, strict=True):
            copied.set_shape(tensor.get_shape())
    return made, tuple(made.outputs)


# ---- the transformer


@export("contrib.graph_editor.Transformer")
class Transformer:
    """Makes an altered copy of a part of a graph; by default, a plain copy.

    Replace its handlers to alter the copy.  Each is called with what the handlers read
    first: an object with the attributes `sgv`, `ops` and `sgv_inputs_set` (the
    original part), `graph` and `scope`, `graph_` and `scope_` (those of the result),
    `transformed_ops` and `transformed_ts` (dicts from originals to results),
    `collections` and `control_outputs`, and the method `new_name(name)`.

    Attributes:
      transform_op_handler: (info, op, new_inputs) -> (new op, its outputs);
        `copy_op_handler`.
      transform_control_input_handler: (info, op) -> the control input, or None;
        `transform_op_if_inside_handler`.
      assign_collections_handler: (info, original, result), for operations and Tensors;
        `assign_renamed_collections_handler`.
      transform_external_input_handler: (info, input) -> the result's input;
        `replace_t_with_placeholder_handler`.
      transform_external_hidden_input_handler: the same for inputs that the view does
        not list; `keep_t_if_possible_handler`.
      transform_original_op_handler: never called: operations here have no
        `_original_op`.

    Example:
      >>> x, y = tf.constant(2.0), tf.constant(3.0)
      >>> z = tf.square(x, name="z")
      >>> transform = tf.contrib.graph_editor.Transformer()
      >>> transform.transform_external_input_handler = lambda info, t: y
      >>> view, info = transform(z.op, tf.get_default_graph(), "again")
      >>> tf.Session().run(info.transformed(z))
      9.0

    Source: contrib/graph_editor/transform.py.
    """

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = (
            transform_op_if_inside_handler
        )
        self.assign_collections_handler: Callable[..., Any] = (
            assign_renamed_collections_handler
        )
        self.transform_external_input_handler: Callable[..., Any] = (
            replace_t_with_placeholder_handler
        )
        self.transform_external_hidden_input_handler: Callable[..., Any] = (
            keep_t_if_possible_handler
        )
        self.transform_original_op_handler: Callable[..., Any] = (
            transform_op_if_inside_handler
        )

    def __call__(
        self,
        sgv: View,
        dst_graph: Graph,
        dst_scope: str,
        src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Transform a part of a graph.

        Args:
          sgv, dst_graph, dst_scope, src_scope, reuse_dst_scope: as in
            `tf.contrib.graph_editor.copy`.

        Returns:
          The view of the result, and a TransformerInfo of what became what.

        Raises:
          ValueError: an operation is not in `src_scope`, or a handler returned an
            original operation.
          TypeError: `dst_graph` is no Graph.
        """
        view = make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        scope = scope_with_slash(dst_scope)
        if scope and not reuse_dst_scope:
            scope = scope_with_slash(dst_graph.unique_name(scope[:-1]))
        info = Transformation(view, dst_graph, scope, scope_with_slash(src_scope))
        for op in sorted(info.ops, key=lambda op: op._id):
            self._transform(info, op)
        results, tensors = info.transformed_ops, info.transformed_ts
        for op, place in info.back_edges:
            results[op]._update_input(place, tensors[op.inputs[place]])
        for op, made in results.items():
            handler = self.transform_control_input_handler
            controls = [handler(info, c) for c in op.control_inputs]
            add_control_inputs(made, [c for c in controls if c is not None])
        result = SubGraphView([results[op] for op in view.ops])
        inputs = [info.given[t] for t in view.inputs if t in info.given]
        inputs = [t for t in dict.fromkeys(inputs) if t in result.inputs]
        outputs = [tensors[t] for t in view.outputs if t in tensors]
        outputs = [t for t in outputs if t in result.outputs]
        return result.remap(inputs, outputs), TransformerInfo(info)

    def _transform(self, info: Transformation, op: Operation) -> None:
        inputs = [self._input(info, tensor) for tensor in op.inputs]
        known = [tensor for tensor in inputs if tensor is not None]
        if inputs and not known:
            raise ValueError(f"{op.name} is in a cycle that no loop's Merge begins")
        # Back edges have any input until all operations are there.
        now = [known[0] if tensor is None else tensor for tensor in inputs]
        made, outputs = self.transform_op_handler(info, op, now)
        if made is op:
            raise ValueError("In-place transformation not allowed.")
        if len(known) < len(inputs):
            places = (i for i, tensor in enumerate(inputs) if tensor is None)
            info.back_edges += [(op, place) for place in places]
            for tensor in outputs:
                tensor._shape = None  # known only once the loop is closed
        info.transformed_ops[op] = made
        self.assign_collections_handler(info, op, made)
        for tensor, result in zip(op.outputs, outputs, strict=False):
            info.transformed_ts[tensor] = result
            self.assign_collections_handler(info, tensor, result)

    def _input(self, info: Transformation, tensor: Tensor) -> Tensor | None:
        """The result's input; None if it is a back edge, to be closed later."""
        if tensor in info.transformed_ts:
            return info.transformed_ts[tensor]
        if tensor.op in info.ops:
            return None
        if tensor not in info.given:
            is_listed = tensor in info.sgv_inputs_set
            info.given[tensor] = (
                self.transform_external_input_handler(info, tensor)
                if is_listed
                else self.transform_external_hidden_input_handler(info, tensor)
            )
        return info.given[tensor]
