"""Walks through a graph: what leads to operations, or depends on them.

Source: contrib/graph_editor/select.py, python/ops/op_selector.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.graph_editor.util import (
    ControlOutputs,
    Elements,
    Ops,
    Tensors,
    get_consuming_ops,
    input_tensors,
    listed,
    make_list_of_op,
    make_list_of_t,
    unique,
)

OpFilter: TypeAlias = "Callable[[Operation], bool]"


@export("contrib.graph_editor.check_cios")
def check_cios(
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[bool, ControlOutputs | None]:
    """Whether to follow control inputs, and the control outputs to follow.

    Args:
      control_inputs: whether to follow control inputs.
      control_outputs: the control outputs to follow, or None.
      control_ios: both: true, and these control outputs.

    Raises:
      TypeError: an argument is no ControlOutputs.
      ValueError: `control_outputs` and `control_ios` are both given.

    Source: contrib/graph_editor/select.py.
    """
    for given in (control_outputs, control_ios):
        if given is not None and not isinstance(given, ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    if control_ios is None:
        return control_inputs, control_outputs
    if control_outputs is not None:
        raise ValueError("control_outputs should be None when using control_ios.")
    return True, control_ios


@export("contrib.graph_editor.get_ops_ios")
def get_ops_ios(
    ops: Ops,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations that are connected with some, before and after them.

    Args:
      ops: the operations.
      control_inputs, control_outputs, control_ios: as in `check_cios`.

    Source: contrib/graph_editor/select.py.
    """
    inward, outward = check_cios(control_inputs, control_outputs, control_ios)
    found: list[Operation] = []
    for op in make_list_of_op(ops):
        found += [tensor.op for tensor in op.inputs]
        found += [user for tensor in op.outputs for user in tensor.consumers()]
        found += [] if outward is None else outward.get(op)
        found += op.control_inputs if inward else []
    return unique(found)


@export("contrib.graph_editor.compute_boundary_ts")
def compute_boundary_ts(
    ops: Ops,
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """The Tensors at the boundary of a part of a graph.

    Args:
      ops: the part's operations.

    Returns:
      Its inputs; its outputs, which are those used outside or not at all; and the
      outputs that are used inside.  A Tensor may be both of the latter.

    Source: contrib/graph_editor/select.py.
    """
    items = make_list_of_op(ops)
    members = set(items)
    inputs = input_tensors(items)
    outputs = [tensor for op in items for tensor in op.outputs]
    inside = [tensor for tensor in inputs if tensor.op in members]
    hidden = {t for t in inside if members.issuperset(t.consumers())}
    return (
        [tensor for tensor in inputs if tensor.op not in members],
        [tensor for tensor in outputs if tensor not in hidden],
        inside,
    )


@export("contrib.graph_editor.get_within_boundary_ops")
def get_within_boundary_ops(
    ops: Ops,
    seed_ops: Ops,
    boundary_ops: Ops = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations connected with some without crossing others.

    Args:
      ops: the operations to choose from, or a Graph.
      seed_ops: where to begin.
      boundary_ops: where to end.
      inclusive: whether the result has those of `boundary_ops` that are reached.
      control_inputs, control_outputs, control_ios: as in `check_cios`.

    Raises:
      ValueError: one of `seed_ops` is in `boundary_ops`.

    Source: contrib/graph_editor/select.py.
    """
    inward, outward = check_cios(control_inputs, control_outputs, control_ios)
    boundary = set(make_list_of_op(boundary_ops))
    found = set(make_list_of_op(seed_ops, allow_graph=False))
    if found & boundary:
        raise ValueError("Boundary is intersecting with the seeds.")
    wave = set(found)
    while wave:
        new = set(get_ops_ios(wave, inward, outward)) - found
        wave = new - boundary
        found |= new if inclusive else wave
    return [op for op in make_list_of_op(ops) if op in found]


def _seeds(
    seed_ops: Elements, of_tensors: Callable[..., list[Operation]]
) -> list[Operation]:
    """Operations, or the operations of Tensors."""
    items = listed(seed_ops)
    if items and isinstance(items[0], Tensor):
        return of_tensors(make_list_of_t(seed_ops, allow_graph=False))  # type: ignore[arg-type]
    return make_list_of_op(seed_ops, allow_graph=False)  # type: ignore[arg-type]


def _walk(
    seeds: list[Operation],
    following: Callable[[Operation], Iterable[Operation]],
    inclusive: bool,
    within_ops: Ops | None,
    within_ops_fn: OpFilter | None,
) -> list[Operation]:
    """The operations reached from seeds, breadth first, each wave in graph order."""
    within = set(make_list_of_op(within_ops, allow_graph=False)) if within_ops else None

    def is_within(op: Operation) -> bool:
        return (within is None or op in within) and (
            within_ops_fn is None or bool(within_ops_fn(op))
        )

    first = unique(op for op in seeds if within is None or op in within)
    found = dict.fromkeys(first)
    wave = first
    while wave:
        new = {op for reached in wave for op in following(reached)} - found.keys()
        wave = sorted((op for op in new if is_within(op)), key=lambda op: op._id)
        found.update(dict.fromkeys(wave))
    return list(found) if inclusive else [op for op in found if op not in first]


@export("contrib.graph_editor.get_forward_walk_ops")
def get_forward_walk_ops(
    seed_ops: Elements,
    inclusive: bool = True,
    within_ops: Ops | None = None,
    within_ops_fn: OpFilter | None = None,
    stop_at_ts: Tensors = (),
    control_outputs: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations that depend on some.

    Args:
      seed_ops: operations, or Tensors, which stand for the operations that use them.
      inclusive: whether the result has the seeds.
      within_ops: operations that it does not leave.
      within_ops_fn: a function that says which operations these are.
      stop_at_ts: Tensors that are not followed.
      control_outputs: the control outputs to follow, too.

    Returns:
      A list of Operations.

    Example:
      >>> x = tf.placeholder(tf.float32, name="x")
      >>> y = tf.square(x + 1.0, name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_forward_walk_ops(x)]
      ['add', 'y']

    Source: contrib/graph_editor/select.py.
    """
    check_cios(False, control_outputs)
    stops = set(make_list_of_t(stop_at_ts))

    def following(op: Operation) -> list[Operation]:
        tensors = [tensor for tensor in op.outputs if tensor not in stops]
        found = [user for tensor in tensors for user in tensor.consumers()]
        return found + ([] if control_outputs is None else control_outputs.get(op))

    seeds = _seeds(seed_ops, get_consuming_ops)
    return _walk(seeds, following, inclusive, within_ops, within_ops_fn)


@export("contrib.graph_editor.get_backward_walk_ops")
def get_backward_walk_ops(
    seed_ops: Elements,
    inclusive: bool = True,
    within_ops: Ops | None = None,
    within_ops_fn: OpFilter | None = None,
    stop_at_ts: Tensors = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """The operations that some depend on.

    Args:
      seed_ops: operations, or Tensors, which stand for the operations that compute
        them.
      inclusive: whether the result has the seeds.
      within_ops: operations that it does not leave.
      within_ops_fn: a function that says which operations these are.
      stop_at_ts: Tensors that are not followed.
      control_inputs: whether to follow control inputs.

    Returns:
      A list of Operations.

    Example:
      >>> x = tf.placeholder(tf.float32, name="x")
      >>> y = tf.square(tf.abs(x), name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_backward_walk_ops(y)]
      ['y', 'Abs', 'x']

    Source: contrib/graph_editor/select.py, python/ops/op_selector.py.
    """
    stops = set(make_list_of_t(stop_at_ts))

    def following(op: Operation) -> list[Operation]:
        found = [tensor.op for tensor in op.inputs if tensor not in stops]
        return found + (op.control_inputs if control_inputs else [])

    seeds = _seeds(seed_ops, lambda ts: unique(tensor.op for tensor in ts))
    return _walk(seeds, following, inclusive, within_ops, within_ops_fn)


def _walks(
    after: tuple[Elements, bool],
    before: tuple[Elements, bool],
    within: tuple[Ops | None, OpFilter | None],
    controls: tuple[bool, ControlOutputs | None],
) -> tuple[list[Operation], list[Operation]]:
    """The operations after some, and those before others."""
    return (
        get_forward_walk_ops(*after, *within, control_outputs=controls[1]),
        get_backward_walk_ops(*before, *within, control_inputs=controls[0]),
    )


@export("contrib.graph_editor.get_walks_intersection_ops")
def get_walks_intersection_ops(
    forward_seed_ops: Elements,
    backward_seed_ops: Elements,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Ops | None = None,
    within_ops_fn: OpFilter | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations between two sets of operations.

    Args:
      forward_seed_ops: the first ones, or their inputs.
      backward_seed_ops: the last ones, or their outputs.
      forward_inclusive, backward_inclusive: whether the result has these.
      within_ops, within_ops_fn: as in `get_forward_walk_ops`.
      control_inputs, control_outputs, control_ios: as in `check_cios`.

    Returns:
      A list of Operations.

    Source: contrib/graph_editor/select.py.
    """
    forward, backward = _walks(
        (forward_seed_ops, forward_inclusive),
        (backward_seed_ops, backward_inclusive),
        (within_ops, within_ops_fn),
        check_cios(control_inputs, control_outputs, control_ios),
    )
    reached = set(backward)
    return [op for op in forward if op in reached]


@export("contrib.graph_editor.get_walks_union_ops")
def get_walks_union_ops(
    forward_seed_ops: Elements,
    backward_seed_ops: Elements,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Ops | None = None,
    within_ops_fn: OpFilter | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations after some and before others.

    For the arguments see `get_walks_intersection_ops`.

    Source: contrib/graph_editor/select.py.
    """
    forward, backward = _walks(
        (forward_seed_ops, forward_inclusive),
        (backward_seed_ops, backward_inclusive),
        (within_ops, within_ops_fn),
        check_cios(control_inputs, control_outputs, control_ios),
    )
    return unique([*forward, *backward])
