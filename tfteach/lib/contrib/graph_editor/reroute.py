"""Reconnects a graph: operations get other inputs.

Source: contrib/graph_editor/reroute.py.
"""

from __future__ import annotations

from typing import TypeAlias

from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.graph_editor.subgraph import (
    SubGraphView,
    check_graphs,
    make_view,
)
from tfteach.lib.contrib.graph_editor.util import (
    Ops,
    Tensors,
    get_consuming_ops,
    make_list_of_op,
    make_list_of_t,
)

View: TypeAlias = "SubGraphView | Ops | Tensors"


def _reroute(
    ts0: Tensors,
    ts1: Tensors,
    swap: bool,
    can_modify: Ops | None,
    cannot_modify: Ops | None,
) -> int:
    """Let the users of `ts1` use `ts0`, and with `swap` vice versa."""
    first, second = make_list_of_t(ts0), make_list_of_t(ts1)
    if len(first) != len(second):
        raise ValueError(
            f"ts0 and ts1 have different sizes: {len(first)} != {len(second)}"
        )
    for a, b in zip(first, second, strict=True):
        if not a.dtype.is_compatible_with(b.dtype):
            raise ValueError(f"Dtypes {a.dtype} and {b.dtype} are not compatible.")
        if not a.get_shape().is_compatible_with(b.get_shape()):
            raise ValueError(
                f"Shapes {a.get_shape()} and {b.get_shape()} are not compatible."
            )
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    fixed = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    pairs = list(zip(first, second, strict=True))
    users = {tensor: tensor.consumers() for tensor in [*first, *second]}
    count = 0
    for a, b in pairs:
        changes: list[tuple[Operation, int, Tensor]] = []
        for new, old in ((a, b), (b, a)) if swap else ((a, b),):
            if a is b:
                continue
            for op in users[old]:
                if op in fixed or (allowed is not None and op not in allowed):
                    continue
                places = [i for i, tensor in enumerate(op.inputs) if tensor is old]
                changes += [(op, place, new) for place in places]
        for op, place, new in changes:
            op._update_input(place, new)
        count += len(changes)
    return count


@export("contrib.graph_editor.swap_ts")
def swap_ts(
    ts0: Tensors,
    ts1: Tensors,
    can_modify: Ops | None = None,
    cannot_modify: Ops | None = None,
) -> int:
    """Let the users of each Tensor use its counterpart.

    Args:
      ts0, ts1: Tensors, as many of each, of the same types and shapes.
      can_modify: the operations that may change; all of them if None.
      cannot_modify: operations that may not change.

    Returns:
      The number of inputs that were changed.

    Raises:
      ValueError: numbers, types or shapes differ.

    Source: contrib/graph_editor/reroute.py.
    """
    return _reroute(ts0, ts1, True, can_modify, cannot_modify)


@export("contrib.graph_editor.reroute_ts")
def reroute_ts(
    ts0: Tensors,
    ts1: Tensors,
    can_modify: Ops | None = None,
    cannot_modify: Ops | None = None,
) -> int:
    """Let the users of `ts1` use `ts0` instead.

    Args:
      ts0: the new inputs.
      ts1: the old ones, as many, of the same types and shapes.
      can_modify: the operations that may change; all of them if None.
      cannot_modify: operations that may not change.

    Returns:
      The number of inputs that were changed.

    Raises:
      ValueError: numbers, types or shapes differ.

    Example:
      >>> x, z = tf.constant(1.0), tf.constant(2.0)
      >>> y = tf.square(x)
      >>> tf.contrib.graph_editor.reroute_ts(z, x)
      1

    Source: contrib/graph_editor/reroute.py.
    """
    return _reroute(ts0, ts1, False, can_modify, cannot_modify)


# ---- views


def _views(sgv0: View, sgv1: View) -> tuple[SubGraphView, SubGraphView]:
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    return first, second


def _reroute_inputs(
    sgv0: View, sgv1: View, swap: bool
) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    through = [*first.passthroughs, *second.passthroughs]
    can_modify = [*first.ops, *second.ops, *get_consuming_ops(through)]
    _reroute(first.inputs, second.inputs, swap, can_modify, None)
    old, new = first.copy(), second.copy()
    _take_inputs(second, new, old)
    if swap:
        _take_inputs(first, old, new)
    return first, second


def _take_inputs(view: SubGraphView, own: SubGraphView, other: SubGraphView) -> None:
    """Update a view whose operations now have another's inputs."""
    view._input_ts = list(other._input_ts)
    view._passthrough_ts = list(other._passthrough_ts)
    replaced = dict(zip(own._input_ts, other._input_ts, strict=False))
    view._output_ts = [
        replaced.get(tensor, tensor) if own.is_passthrough(tensor) else tensor
        for tensor in own._output_ts
    ]


def _reroute_outputs(
    sgv0: View, sgv1: View, swap: bool
) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    fixed = [*first.ops, *second.ops]
    _reroute(first.outputs, second.outputs, swap, None, fixed)
    return first, second


@export("contrib.graph_editor.swap_inputs")
def swap_inputs(sgv0: View, sgv1: View) -> tuple[SubGraphView, SubGraphView]:
    """Exchange the inputs of two parts; both views, updated.

    Args:
      sgv0, sgv1: views, or what `make_view` accepts.

    Source: contrib/graph_editor/reroute.py.
    """
    return _reroute_inputs(sgv0, sgv1, True)


@export("contrib.graph_editor.reroute_inputs")
def reroute_inputs(sgv0: View, sgv1: View) -> tuple[SubGraphView, SubGraphView]:
    """Give the second part the inputs of the first; both views, updated.

    Args:
      sgv0, sgv1: views, or what `make_view` accepts.

    Source: contrib/graph_editor/reroute.py.
    """
    return _reroute_inputs(sgv0, sgv1, False)


@export("contrib.graph_editor.swap_outputs")
def swap_outputs(sgv0: View, sgv1: View) -> tuple[SubGraphView, SubGraphView]:
    """Exchange the users of two parts' outputs; both views.

    Args:
      sgv0, sgv1: views, or what `make_view` accepts.

    Source: contrib/graph_editor/reroute.py.
    """
    return _reroute_outputs(sgv0, sgv1, True)


@export("contrib.graph_editor.reroute_outputs")
def reroute_outputs(sgv0: View, sgv1: View) -> tuple[SubGraphView, SubGraphView]:
    """Let the users of the second part's outputs use those of the first; both views.

    Args:
      sgv0, sgv1: views, or what `make_view` accepts.

    Source: contrib/graph_editor/reroute.py.
    """
    return _reroute_outputs(sgv0, sgv1, False)


@export("contrib.graph_editor.swap_ios")
def swap_ios(sgv0: View, sgv1: View) -> tuple[SubGraphView, SubGraphView]:
    """`swap_outputs`, then `swap_inputs`.

    Source: contrib/graph_editor/reroute.py.
    """
    return _reroute_inputs(*_reroute_outputs(sgv0, sgv1, True), True)


@export("contrib.graph_editor.reroute_ios")
def reroute_ios(sgv0: View, sgv1: View) -> tuple[SubGraphView, SubGraphView]:
    """`reroute_outputs`, then `reroute_inputs`.

    Source: contrib/graph_editor/reroute.py.
    """
    return _reroute_inputs(*_reroute_outputs(sgv0, sgv1, False), False)


# ---- control inputs


@export("contrib.graph_editor.remove_control_inputs")
def remove_control_inputs(op: Operation, cops: Ops) -> None:
    """Remove some of an operation's control inputs.

    Args:
      op: the operation.
      cops: the control inputs.

    Raises:
      TypeError: `op` is no Operation.
      ValueError: one of them is not there.

    Source: contrib/graph_editor/reroute.py.
    """
    removed = _control_ops(op, cops)
    for other in removed:
        if other not in op.control_inputs:
            raise ValueError(f"{other.name} is not a control input of {op.name}")
    kept = [other for other in op.control_inputs if other not in removed]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


@export("contrib.graph_editor.add_control_inputs")
def add_control_inputs(op: Operation, cops: Ops) -> None:
    """Let an operation wait for others.

    Args:
      op: the operation.
      cops: what it waits for.

    Raises:
      TypeError: `op` is no Operation.
      ValueError: it already waits for one of them.

    Source: contrib/graph_editor/reroute.py.
    """
    added = _control_ops(op, cops)
    for other in added:
        if other in op.control_inputs:
            raise ValueError(f"{other.name} is already a control_input of {op.name}")
    op._add_control_inputs(added)


def _control_ops(op: Operation, cops: Ops) -> list[Operation]:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return make_list_of_op(cops, allow_graph=False)
