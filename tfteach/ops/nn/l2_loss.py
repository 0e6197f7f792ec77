"""Squared l2 norms: `tf.nn.l2_loss` and `tf.nn.l2_normalize`.

Source: core/ops/nn_ops.cc; python/ops/nn_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import rsqrt, square
from tfteach.ops.nn.activations import FLOATS


class L2Loss(Op):
    """sum(t^2) / 2.  Source: core/ops/nn_ops.cc, L2Loss."""

    signature = "t: T -> output: T"
    T = FLOATS

    def infer_shape(self, t: Shape) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, t: Array) -> Any:
        flat = t.reshape(-1)
        return t.dtype.type(0.5) * xp.dot(flat, flat)

    def compute_on_card(self, xp: ArrayModule, t: Array) -> Any:
        return t.dtype.type(0.5) * xp.square(t).sum()

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [op.inputs[0] * grad]


@export("nn.l2_loss")
def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """`sum(t ** 2) / 2`, a scalar Tensor of `t`'s float type.

    Example:
      >>> tf.nn.l2_loss([3.0, 4.0])  # 12.5

    Source: L2Loss in core/ops/nn_ops.cc.
    """
    return L2Loss()(t, name=name)


@export("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize")
def l2_normalize(
    x: TensorLike,
    axis: TensorLike | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """`x / sqrt(max(sum(x ** 2), epsilon))` along an axis.

    Args:
      x: float Tensor.
      axis: an int or a list of ints; None normalizes by the norm of all elements.
      epsilon: the minimum of the squared norm.
      name: the last op's name.
      dim: deprecated name of `axis`.

    Returns:
      A Tensor like `x`.

    Example:
      >>> tf.nn.l2_normalize([3.0, 4.0])  # [0.6, 0.8]

    Source: python/ops/nn_impl.py.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert(x, name="x")
        squares = reduce_sum(square(x), axis, keepdims=True)
        inverse_norm = rsqrt(maximum(squares, epsilon))
        return multiply(x, inverse_norm, name=scope)
