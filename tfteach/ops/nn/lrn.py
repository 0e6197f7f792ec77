"""Local response normalization: each channel divided by the power of its neighbours.

Source: core/ops/nn_ops.cc, core/kernels/lrn_op.cc; Krizhevsky et al. 2012, 3.3.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike

SHORT_FLOATS = dtypes_of("half bfloat16 float32")


class _LRN(Op, abstract=True):
    depth_radius: int = 5
    bias: float = 1.0
    alpha: float = 1.0
    beta: float = 0.5

    def neighbours(self, xp: ArrayModule, values: Any) -> Any:
        """The sum over the channels at most `depth_radius` away."""
        total = values.copy()
        for shift in range(1, min(self.depth_radius, values.shape[-1] - 1) + 1):
            total[..., shift:] += values[..., :-shift]
            total[..., :-shift] += values[..., shift:]
        return total

    def norm(self, xp: ArrayModule, image: Any) -> Any:
        """The base of the power that the image is divided by."""
        if image.ndim != 4:
            raise invalid_argument("in must be 4-dimensional")
        if self.depth_radius < 0:
            raise invalid_argument(
                f"depth_radius = {self.depth_radius} larger than int max"
            )
        total = self.neighbours(xp, image * image)
        total *= image.dtype.type(self.alpha)
        total += image.dtype.type(self.bias)
        return total


def _wide(array: Any) -> Any:
    return array.astype("float32", copy=False)


class LRN(_LRN):
    """x / (bias + alpha * sum of the neighbours' squares) ** beta.

    Source: core/ops/nn_ops.cc, LRN.
    """

    signature = "input: T -> output: T"
    T = SHORT_FLOATS
    T_default = float32

    def infer_shape(self, input: Shape) -> Shape:
        return shapes.with_rank(input, 4)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        wide = _wide(input)
        scale = xp.power(self.norm(xp, wide), wide.dtype.type(-self.beta))
        return (wide * scale).astype(input.dtype, copy=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [LRNGrad(*self.attributes)(grad, op.inputs[0], op.outputs[0])]


class LRNGrad(_LRN):
    """LRN's gradient.  Source: core/ops/nn_ops.cc, LRNGrad."""

    signature = "input_grads: T, input_image: T, output_image: T -> output: T"
    T = SHORT_FLOATS
    T_default = float32

    def infer_shape(
        self, input_grads: Shape, input_image: Shape, output_image: Shape
    ) -> Shape:
        return shapes.merge(
            shapes.merge(shapes.with_rank(input_grads, 4), input_image), output_image
        )

    def compute(
        self,
        xp: ArrayModule,
        input_grads: Array,
        input_image: Array,
        output_image: Array,
    ) -> Any:
        if not input_grads.shape == input_image.shape == output_image.shape:
            raise invalid_argument(
                "input_grads, input_image, and out_image should have the same shape"
            )
        grads, image, out = map(_wide, (input_grads, input_image, output_image))
        norm = self.norm(xp, image)
        kind = image.dtype.type
        found = self.neighbours(xp, grads * out / norm)
        found *= kind(-2 * self.alpha * self.beta) * image
        found += grads * xp.power(norm, kind(-self.beta))
        return found.astype(input_grads.dtype, copy=False)


@export("nn.lrn", "nn.local_response_normalization")
def lrn(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Each channel divided by a power of its neighbours' squares.

    `out[..., c] = in[..., c] / (bias + alpha * sum(in[..., c - r : c + r + 1] ** 2)) **
    beta`, with r the `depth_radius`

    Args:
      input: float32 (half, bfloat16) Tensor [batch, height, width, channels].
      depth_radius: the number of neighbours on each side.
      bias, alpha, beta: floats.
      name: the op's name.

    Returns:
      A Tensor like `input`.

    Raises:
      ValueError: the rank is not 4.

    Example:
      >>> tf.nn.lrn(tf.ones([1, 1, 1, 3]))  # 0.5, 0.5, 0.5

    Source: LRN in core/ops/nn_ops.cc.
    """
    op = LRN(depth_radius, bias, alpha, beta)
    return op(input, name=name)
