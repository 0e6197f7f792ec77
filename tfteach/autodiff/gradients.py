"""`tf.gradients` and its options.  Source: python/ops/gradients_impl.py."""

from __future__ import annotations

from enum import Enum
from typing import Any

from tfteach.autodiff.backward_traversal import BackwardWalk
from tfteach.autodiff.seed_gradients import Gradient
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.indexed_slices import convert_n
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike


@export("UnconnectedGradients")
class UnconnectedGradients(Enum):
    """Result of `tf.gradients` for an x that y does not depend on.

    NONE: None.  ZERO: a tensor of zeros like x.
    """

    NONE = "none"
    ZERO = "zero"


@export("AggregationMethod")
class AggregationMethod:
    """Methods of summing the gradients that reach a tensor.

    ADD_N (DEFAULT): a single AddN.  EXPERIMENTAL_TREE and EXPERIMENTAL_ACCUMULATE_N:
    pairwise, so that each can be released early.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@export("gradients")
def gradients(
    ys: TensorLike,
    xs: TensorLike,
    grad_ys: TensorLike | None = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Gradient]:
    """The derivatives of the sum of `ys` with respect to each of `xs`.

    `d (sum of all elements of all ys, each weighted by grad_ys) / d x`

    Args:
      ys: a Tensor or a list of them.
      xs: a Tensor or variable, or a list of them.
      grad_ys: the weights, one Tensor of y's shape per y (None: ones).
      name: the name scope of the new ops.
      colocate_gradients_with_ops: put each op's gradient on the op's device.
      gate_gradients: use an op's input gradients only once all are available.
      aggregation_method: one of `tf.AggregationMethod`.
      stop_gradients: tensors to treat as constants.
      unconnected_gradients: one of `tf.UnconnectedGradients`.

    Returns:
      A list as long as `xs`: Tensors of x's shape, IndexedSlices if only some rows are
      nonzero, None if no y depends on x.

    Raises:
      LookupError: an op in between has no gradient.
      ValueError: the arguments are inconsistent.
      TypeError: a loop in between is itself the gradient of a loop.

    Example:
      >>> x = tf.constant(3.0)
      >>> dy_dx, = tf.gradients(x * x, [x])

    Source: python/ops/gradients_impl.py.
    """
    require_graph(
        "tf.gradients is not supported when eager execution is enabled. Use "
        "tf.GradientTape instead."
    )
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    ys, xs, stops = _as_list(ys), _as_list(xs), _as_list(stop_gradients)
    weights = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    with name_scope(name, "gradients", [*ys, *xs, *stops, *weights]):
        graph = get_default_graph()
        graph.unique_name("uid")  # TF uses up this name, so it must not be free
        ys = convert_n(ys, "y")
        xs = convert_n([_handle_or_self(x) for x in xs], "x", as_ref=True)
        xs = [graph.stand_in(x) for x in xs]
        traversal = BackwardWalk(
            graph, colocate_gradients_with_ops, gate_gradients, aggregation_method
        )
        traversal.seed(ys, traversal.initial_gradients(ys, weights))
        boundary = [_op_of(stop) for stop in stops]
        traversal.run([y.op for y in ys], [x.op for x in xs], boundary)
    traversal.finish()  # TF builds the last nodes of loops outside the name scope
    return [traversal.result(x, unconnected is UnconnectedGradients.ZERO) for x in xs]


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _handle_or_self(x: Any) -> Any:
    """A resource variable's handle; other variables unchanged."""
    handle = None if isinstance(x, Tensor) else getattr(x, "handle", None)
    return x if handle is None else handle


def _op_of(value: Any) -> Operation:
    result: Operation = value.op
    return result
