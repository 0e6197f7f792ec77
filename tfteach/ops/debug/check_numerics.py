"""Numeric checks of every float tensor in a graph.  Source: python/ops/numerics.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import float16, float32, float64
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.scope import control_dependencies
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.debug.print_assert import check_numerics


@export("add_check_numerics_ops")
def add_check_numerics_ops() -> Any:
    """An op that fails when any float tensor of the graph contains NaN or infinity.

    It adds a check to each float output that is now in the default graph; the error
    names the first bad one, in the order in which ops were created.

    Returns:
      An `Operation` to run together with the others.

    Raises:
      ValueError: the graph has branches or loops, where this check is not possible.
      InvalidArgumentError: (in a run) a tensor contains NaN or infinity.

    Example:
      >>> check = tf.add_check_numerics_ops()
      >>> sess.run([train_op, check])

    Source: python/ops/numerics.py.
    """
    checks: list[Any] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in (float16, float32, float64):
                continue
            if op.control_flow_context is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow "
                    "control flow operations such as `tf.cond()` or `tf.while_loop()`."
                )
            with control_dependencies(checks):
                message = f"{op.name}:{output.value_index}"
                checks = [check_numerics(output, message=message)]
    return group(*checks)
