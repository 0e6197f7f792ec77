"""Gradients of broadcasting: sums over the axes that an op broadcast along.

The rules build the same nodes as TF's rules, in the same order, because GraphDefs are
compared; hence some shapes become constants and others `Shape` nodes.
Source: python/ops/math_grad.py (SmartBroadcastGradientArgs).
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient


def after(grad: Any) -> Any:
    """A context manager in which new operations wait for the gradient."""
    return get_default_graph().control_dependencies([grad])


def reduction_axes(
    x: tuple[int, ...], y: tuple[int, ...]
) -> tuple[list[int], list[int]]:
    """The axes over which the gradients of a broadcasting op must be summed.

    Args:
      x, y: the shapes of the op's inputs.

    Returns:
      The axes of the output along which `x` and `y` were repeated.

    Raises:
      InvalidArgumentError: the shapes do not broadcast.
    """
    if x == y:
        return [], []
    rank = max(len(x), len(y))
    wide_x = (1,) * (rank - len(x)) + x
    wide_y = (1,) * (rank - len(y)) + y
    over_x, over_y = [], []
    for axis, (m, n) in enumerate(zip(wide_x, wide_y, strict=True)):
        if m != n and 1 not in (m, n):
            raise invalid_argument(
                f"Incompatible shapes: {shapes.text(x)} vs. {shapes.text(y)}"
            )
        if m == 1:
            over_x.append(axis)
        if n == 1:
            over_y.append(axis)
    return over_x, over_y


# A loop's gradient needs the same shapes in each iteration.
_axes_to_sum = functools.lru_cache(1024)(reduction_axes)


class BroadcastGradientArgs(MultiOutputOp):
    """The axes along which to sum a broadcasting op's gradients.

    Source: core/ops/array_ops.cc, BroadcastGradientArgs; core/util/bcast.h.
    """

    signature = "s0: T, s1: T -> r0: T, r1: T"
    T = dtypes_of("int32 int64")
    T_default = int32
    host_inputs: ClassVar[tuple[str, ...]] = ("s0", "s1")
    is_expensive: ClassVar[bool] = False
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self, s0: Shape, s1: Shape) -> list[Shape]:
        shapes.with_rank(s0, 1)
        shapes.with_rank(s1, 1)
        return [(None,), (None,)]

    def check_shapes(self, s0: tuple[int, ...], s1: tuple[int, ...]) -> None:
        require_vector(s0, "In[0] must be a vector.%s")
        require_vector(s1, "In[1] must be a vector.%s")

    def compute(self, xp: ArrayModule, s0: Array, s1: Array) -> Any:
        first, second = _axes_to_sum(tuple(s0.tolist()), tuple(s1.tolist()))
        return np.array(first, s0.dtype), np.array(second, s0.dtype)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, None]


def all_shapes_known_and_equal(x: Tensor, y: Tensor, grad: Any) -> bool:
    """Whether the static shapes prove that nothing was broadcast.

    The gradient may be IndexedSlices, whose shape proves nothing.
    """
    if not isinstance(grad, Tensor):
        return False
    return x._shape == y._shape == grad._shape and shapes.is_full(x._shape)


# The axes already computed for pairs of shapes, per graph.  TF adds nodes only for the
# first use of a pair in a graph, so the cache is visible in GraphDefs.
_axes_of: WeakKeyDictionary[Graph, dict[Any, Any]] = WeakKeyDictionary()


def static_sums(x: Tensor, y: Tensor, grad: Any) -> tuple[Any, Any]:
    """For each input, a function that reduces a full gradient to the input's shape.

    Args:
      x, y: the inputs of the broadcasting op.
      grad: the gradient with respect to its output, a Tensor or IndexedSlices.

    Returns:
      A pair of functions (Tensor -> Tensor); the identity where shapes agree.
    """
    from tfteach.ops.core.shape_ops import Shape_

    if not isinstance(grad, Tensor):
        return dynamic_sums(x, y)
    sx, sy = x._shape, y._shape
    if not (shapes.is_full(sx) and shapes.is_full(sy)):
        shape = Shape_()
        return _sums(shape(x, name="Shape"), shape(y, name="Shape"))
    known = _axes_of.setdefault(get_default_graph(), {})
    axes = known.get((sx, sy))
    if axes is None:
        BroadcastGradientArgs()(sx, sy)
        axes = known[sx, sy] = reduction_axes(sx, sy)
    return (
        _keep if sx == grad._shape else _summing(tuple(axes[0]), sx),
        _keep if sy == grad._shape else _summing(tuple(axes[1]), sy),
    )


def dynamic_sums(x: Tensor, y: Tensor) -> tuple[Any, Any]:
    """`static_sums` for the rules without a shortcut: always Shape, Sum, Reshape."""
    from tfteach.ops.core import shape_ops

    return _sums(shape_ops.shape(x), shape_ops.shape(y))


def _sums(sx: Any, sy: Any) -> tuple[Any, Any]:
    rx, ry = BroadcastGradientArgs()(sx, sy)
    return _summing(rx, sx), _summing(ry, sy)


def _keep(full: Tensor) -> Tensor:
    return full


def _summing(axes: Any, shape: Any) -> Any:
    from tfteach.ops.core.identity_reshape import Reshape
    from tfteach.ops.math.reduce_ops import Sum

    def own(full: Tensor) -> Tensor:
        return Reshape()(Sum()(full, axes), shape)

    return own
