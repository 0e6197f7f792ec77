"""Cuts parts out of a graph, and connects parts.

Source: contrib/graph_editor/edit.py.
"""

from __future__ import annotations

from tfteach.framework.defaults import default_graph
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.contrib.graph_editor.reroute import (
    View,
    remove_control_inputs,
    reroute_inputs,
    reroute_ts,
    swap_inputs,
    swap_outputs,
)
from tfteach.lib.contrib.graph_editor.subgraph import (
    SubGraphView,
    check_graphs,
    make_view,
)
from tfteach.lib.contrib.graph_editor.util import (
    ControlOutputs,
    make_placeholder_from_tensor,
    placeholder_name,
)
from tfteach.lib.contrib.graph_editor.walks import check_cios
from tfteach.ops.core.placeholder import placeholder


@export("contrib.graph_editor.detach_control_inputs")
def detach_control_inputs(sgv: View) -> None:
    """Let a part no longer wait for operations outside.

    Source: contrib/graph_editor/edit.py.
    """
    ops = make_view(sgv).ops
    for op in ops:
        remove_control_inputs(op, [c for c in op.control_inputs if c not in ops])


@export("contrib.graph_editor.detach_control_outputs")
def detach_control_outputs(sgv: View, control_outputs: ControlOutputs) -> None:
    """Let operations outside no longer wait for a part.

    Raises:
      TypeError: `control_outputs` is no ControlOutputs.

    Source: contrib/graph_editor/edit.py.
    """
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    ops = make_view(sgv).ops
    for op in ops:
        for user in control_outputs.get(op):
            if user not in ops:
                remove_control_inputs(user, op)


@export("contrib.graph_editor.detach_inputs")
def detach_inputs(
    sgv: View, control_inputs: bool = False
) -> tuple[SubGraphView, list[Tensor]]:
    """Give a part placeholders as inputs.

    Args:
      sgv: the part.
      control_inputs: whether to remove its control inputs from outside, too.

    Returns:
      The view, and the placeholders.

    Source: contrib/graph_editor/edit.py.
    """
    view = make_view(sgv)
    with default_graph(view.graph):
        made = [
            placeholder(t.dtype.base_dtype, name=placeholder_name(t))
            for t in view.inputs
        ]
    swap_inputs(view, made)
    if control_inputs:
        detach_control_inputs(view)
    return view, made


@export("contrib.graph_editor.detach_outputs")
def detach_outputs(
    sgv: View, control_outputs: ControlOutputs | None = None
) -> tuple[SubGraphView, list[Tensor]]:
    """Let the users of a part's outputs use placeholders.

    Args:
      sgv: the part.
      control_outputs: the control outputs to remove, too, or None.

    Returns:
      A view with those outputs that had users, and the placeholders.

    Source: contrib/graph_editor/edit.py.
    """
    view = make_view(sgv)
    view = view.remap_outputs(
        [i for i, tensor in enumerate(view.outputs) if tensor.consumers()]
    )
    users = SubGraphView(view.consumers())
    users = users.remap_inputs(
        [i for i, tensor in enumerate(users.inputs) if tensor in view.outputs]
    )
    used = view.remap_outputs(users.inputs)
    with default_graph(view.graph):
        made = [make_placeholder_from_tensor(tensor) for tensor in users.inputs]
    swap_outputs(used, made)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, made


@export("contrib.graph_editor.detach")
def detach(
    sgv: View,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[SubGraphView, list[Tensor], list[Tensor]]:
    """`detach_inputs` and `detach_outputs`.

    Args:
      sgv: the part.
      control_inputs, control_outputs, control_ios: as in `check_cios`.

    Returns:
      The view, and the placeholders of inputs and outputs.

    Source: contrib/graph_editor/edit.py.
    """
    inward, outward = check_cios(control_inputs, control_outputs, control_ios)
    view, inputs = detach_inputs(sgv, inward)
    _, outputs = detach_outputs(view, outward)
    return view, inputs, outputs


@export("contrib.graph_editor.connect")
def connect(
    sgv0: View, sgv1: View, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """Give a part the outputs of another one as inputs.

    Args:
      sgv0: the part with the outputs.
      sgv1: the part that gets them as inputs, as many, of the same types and shapes.
      disconnect_first: whether earlier users of the outputs get placeholders.

    Returns:
      Both views.

    Raises:
      ValueError: numbers, types or shapes differ.

    Example:
      >>> a, b = tf.constant(1.0), tf.placeholder(tf.float32)
      >>> y = tf.square(b)
      >>> views = tf.contrib.graph_editor.connect(a.op, y.op)
      >>> y.op.inputs[0] is a
      True

    Source: contrib/graph_editor/edit.py.
    """
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    if disconnect_first:
        detach_outputs(first)
    reroute_inputs(SubGraphView(passthrough_ts=first.outputs), second)
    return first, second


@export("contrib.graph_editor.bypass")
def bypass(sgv: View) -> tuple[SubGraphView, list[Tensor]]:
    """Let the users of a part's outputs use its inputs.

    Args:
      sgv: the part, with as many inputs as outputs.

    Returns:
      The view, and the placeholders that are its inputs now.

    Raises:
      ValueError: numbers, types or shapes of inputs and outputs differ.

    Source: contrib/graph_editor/edit.py.
    """
    view = make_view(sgv)
    inputs = view.inputs
    view, made = detach_inputs(view)
    reroute_ts(inputs, view.outputs)
    return view, made
