"""Copies parts of a graph, with other inputs or to another graph.

Source: contrib/graph_editor/transform.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from tfteach.framework import nest
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Tensor
from tfteach.lib.contrib.graph_editor.reroute import View
from tfteach.lib.contrib.graph_editor.subgraph import SubGraphView, make_view
from tfteach.lib.contrib.graph_editor.transformer import (
    Transformation,
    Transformer,
    TransformerInfo,
    keep_t_if_possible_handler,
)
from tfteach.lib.contrib.graph_editor.util import ControlOutputs, unique_graph
from tfteach.lib.contrib.graph_editor.walks import get_walks_intersection_ops

_T = TypeVar("_T")


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
    view = make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope)


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

    def replaced(info: Transformation, tensor: Tensor) -> Tensor:
        if tensor in replacement_ts:
            return replacement_ts[tensor]
        return keep_t_if_possible_handler(info, tensor)

    view = make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    transform = Transformer()
    transform.transform_external_input_handler = replaced
    return transform(view, graph, dst_scope, src_scope, reuse_dst_scope)


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
