"""Lists of operations and tensors, and placeholders for the cut edges of a graph.

Source: contrib/graph_editor/util.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, TypeVar

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import DTypeLike, ShapeLike
from tfteach.ops.core.placeholder import placeholder

_T = TypeVar("_T")
_Item = TypeVar("_Item", Operation, Tensor)
Ops: TypeAlias = "Operation | Iterable[Operation] | Graph"
Tensors: TypeAlias = "Tensor | Iterable[Tensor] | Graph"
Elements: TypeAlias = "Operation | Tensor | Iterable[Operation | Tensor]"

PREFIX = "geph"


def listed(items: object) -> list[object]:
    """One item, or several, as a list."""
    if isinstance(items, Operation | Tensor | str):
        return [items]
    if isinstance(items, Iterable):
        return list(items)
    return [items]


def unique(items: Iterable[_T]) -> list[_T]:
    """The items without repetitions, in order."""
    return list(dict.fromkeys(items))


def unique_graph(items: Iterable[Operation | Tensor]) -> Graph:
    """The graph that all items are of.

    Raises:
      ValueError: they are of several graphs, or there are none.
    """
    graphs = unique(item.graph for item in items)
    if not graphs:
        raise ValueError("Can't find the unique graph of an empty list")
    if len(graphs) > 1:
        raise ValueError(
            "Operations and tensors of several graphs: edit one graph at a time"
        )
    return graphs[0]


def _checked(
    given: object, kind: type[_Item], ignored: type | None, check_graph: bool
) -> list[_Item]:
    """The items of one kind; others than the ignored are an error."""
    found = []
    for item in listed(given):
        if isinstance(item, kind):
            found.append(item)
        elif ignored is None or not isinstance(item, ignored):
            raise TypeError(f"Expected a tf.{kind.__name__}, got: {type(item)}")
    if check_graph and found:
        unique_graph(found)
    return found


def input_tensors(ops: Iterable[Operation]) -> list[Tensor]:
    """The inputs of operations, without repetitions."""
    return unique(tensor for op in ops for tensor in op.inputs)


@export("contrib.graph_editor.make_list_of_op")
def make_list_of_op(
    ops: Ops,
    check_graph: bool = True,
    allow_graph: bool = True,
    ignore_ts: bool = False,
) -> list[Operation]:
    """One or several operations as a list.

    Args:
      ops: an Operation, several, or a Graph, which means all of its.
      check_graph: whether they must be of one graph.
      allow_graph: whether `ops` may be a Graph.
      ignore_ts: leave out Tensors; otherwise they are an error.

    Raises:
      TypeError: an item is no Operation.
      ValueError: they are of several graphs.

    Source: contrib/graph_editor/util.py.
    """
    if isinstance(ops, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: expected operations, got a Graph")
        return ops.get_operations()
    return _checked(ops, Operation, Tensor if ignore_ts else None, check_graph)


@export("contrib.graph_editor.make_list_of_t")
def make_list_of_t(
    ts: Tensors,
    check_graph: bool = True,
    allow_graph: bool = True,
    ignore_ops: bool = False,
) -> list[Tensor]:
    """One or several Tensors as a list; the arguments are as in `make_list_of_op`.

    Raises:
      TypeError: an item is no Tensor.
      ValueError: they are of several graphs.

    Source: contrib/graph_editor/util.py.
    """
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: expected Tensors, got a Graph")
        return get_tensors(ts)
    return _checked(ts, Tensor, Operation if ignore_ops else None, check_graph)


@export("contrib.graph_editor.get_tensors")
def get_tensors(graph: Graph) -> list[Tensor]:
    """All Tensors of a graph.

    Raises:
      TypeError: `graph` is no Graph.

    Example:
      >>> x = tf.placeholder(tf.float32, name="x")
      >>> tf.contrib.graph_editor.get_tensors(x.graph)

    Source: contrib/graph_editor/util.py.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


@export("contrib.graph_editor.get_generating_ops")
def get_generating_ops(ts: Tensors) -> list[Operation]:
    """The operations that compute some Tensors, without repetitions.

    Source: contrib/graph_editor/util.py.
    """
    return unique(tensor.op for tensor in make_list_of_t(ts, allow_graph=False))


@export("contrib.graph_editor.get_consuming_ops")
def get_consuming_ops(ts: Tensors) -> list[Operation]:
    """The operations that use some Tensors, without repetitions.

    Source: contrib/graph_editor/util.py.
    """
    tensors = make_list_of_t(ts, allow_graph=False)
    return unique(op for tensor in tensors for op in tensor.consumers())


@export("contrib.graph_editor.ControlOutputs")
class ControlOutputs:
    """The operations that wait for each operation of a graph.

    Args:
      graph: the graph.

    Source: contrib/graph_editor/util.py.
    """

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    def update(self) -> ControlOutputs:
        """Without effect: what is returned is always up to date."""
        return self

    def get(self, op: Operation) -> list[Operation]:
        """The operations that have `op` as a control input."""
        return list(op.control_outputs)

    def get_all(self) -> dict[Operation, list[Operation]]:
        """All operations that others wait for, with those."""
        found = {op: self.get(op) for op in self._graph.get_operations()}
        return {op: waiting for op, waiting in found.items() if waiting}


# ---- placeholders


def scope_with_slash(scope: str) -> str:
    """The scope as a prefix of names."""
    return scope + "/" if scope and not scope.endswith("/") else scope


@export("contrib.graph_editor.placeholder_name")
def placeholder_name(
    t: Tensor | None = None, scope: str | None = None, prefix: str = PREFIX
) -> str:
    """The name of the placeholder that stands for a Tensor.

    Args:
      t: the Tensor; None for the prefix alone.
      scope: the placeholder's scope; that of `t` if None.
      prefix: the beginning of the name.

    Raises:
      TypeError: `t` is no Tensor.

    Example:
      >>> tf.contrib.graph_editor.placeholder_name(tf.constant(1, name="a/b"))
      'a/geph__b_0'

    Source: contrib/graph_editor/util.py.
    """
    if t is None:
        return scope_with_slash(scope or "") + prefix
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    own_scope, _, name = t.op.name.rpartition("/")
    if not name.startswith(f"{prefix}__"):
        name = f"{prefix}__{name}_{t.value_index}"
    return scope_with_slash(own_scope if scope is None else scope) + name


@export("contrib.graph_editor.make_placeholder_from_tensor")
def make_placeholder_from_tensor(
    t: Tensor, scope: str | None = None, prefix: str = PREFIX
) -> Tensor:
    """A placeholder of a Tensor's type and shape, in the default graph.

    Args:
      t: the Tensor.
      scope, prefix: as in `placeholder_name`.

    Source: contrib/graph_editor/util.py.
    """
    name = placeholder_name(t, scope, prefix)
    return placeholder(t.dtype.base_dtype, t.get_shape(), name)


@export(
    "contrib.graph_editor.make_placeholder_from_dtype_and_shape",
    "contrib.graph_editor.ph",
)
def make_placeholder_from_dtype_and_shape(
    dtype: DTypeLike,
    shape: ShapeLike | None = None,
    scope: str | None = None,
    prefix: str = PREFIX,
) -> Tensor:
    """A placeholder in the default graph.

    Args:
      dtype: its type.
      shape: its shape; unknown if None.
      scope, prefix: as in `placeholder_name`.

    Source: contrib/graph_editor/util.py.
    """
    return placeholder(dtype, shape, placeholder_name(None, scope, prefix))
