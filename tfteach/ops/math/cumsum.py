"""Cumulative sums and products.

Source: core/ops/math_ops.cc, core/kernels/scan_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_scalar
from tfteach.framework.type_aliases import ArrayModule, DTypeLike, Gradient, TensorLike
from tfteach.ops.math.compare import NUMBER_TYPES

INDICES = dtypes_of("int32 int64")


class Scan(Op, abstract=True):
    """Each element combined with all those before it along an axis.

    Attributes:
      exclusive: exclude the element itself.
      reverse: start from the end.
    """

    signature = "x: T, axis: Tidx -> out: T"
    exclusive: bool = False
    reverse: bool = False
    T = NUMBER_TYPES
    Tidx = INDICES
    Tidx_default = int32

    neutral: ClassVar[int] = 0
    host_inputs: ClassVar[tuple[str, ...]] = ("axis",)

    def infer_shape(self, x: Shape, axis: Shape) -> Shape:
        return x

    def check_shapes(self, axis: tuple[int, ...]) -> None:
        require_scalar(axis, "ScanOp: axis must be a scalar, not %s")

    def compute(self, xp: ArrayModule, x: Any, axis: Any) -> Any:
        where, rank = int(axis), x.ndim
        if not -rank <= where < rank:
            raise invalid_argument(
                f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got "
                f"{where}"
            )
        source = xp.flip(x, where) if self.reverse else x
        out = self.scan(xp, source, where)
        if self.exclusive and out.shape[where]:
            head, tail = [slice(None)] * rank, [slice(None)] * rank
            head[where], tail[where] = slice(0, 1), slice(None, -1)
            first = xp.full_like(out[tuple(head)], self.first(x.dtype))
            out = xp.concatenate([first, out[tuple(tail)]], where)
        return xp.flip(out, where) if self.reverse else out

    def first(self, dtype: DTypeLike) -> Any:
        """The identity element."""
        return self.neutral

    def scan(self, xp: ArrayModule, x: Any, axis: int) -> Any:
        """The inclusive scan from the front."""
        raise NotImplementedError


class Cumsum(Scan):
    """Cumulative sums.  Source: math_ops.cc, Cumsum."""

    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def scan(self, xp: ArrayModule, x: Any, axis: int) -> Any:
        return xp.cumsum(x, axis=axis, dtype=x.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        axis, back = op.inputs[1], not self.reverse
        return [cumsum(grad, axis, exclusive=self.exclusive, reverse=back), None]


class Cumprod(Scan):
    """Cumulative products.  Source: math_ops.cc, Cumprod."""

    neutral: ClassVar[int] = 1
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def scan(self, xp: ArrayModule, x: Any, axis: int) -> Any:
        return xp.cumprod(x, axis=axis, dtype=x.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        # As in TF, nan where x is 0.
        x, axis = op.inputs
        product = cumprod(x, axis, exclusive=self.exclusive, reverse=self.reverse)
        back = not self.reverse
        out = cumsum(product * grad, axis, exclusive=self.exclusive, reverse=back)
        return [out / x, None]


@export("math.cumsum", "cumsum")
def cumsum(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Cumulative sums along an axis.

    out[i] = x[0] + ... + x[i]

    Args:
      x: number Tensor of any shape except a scalar.
      axis: the axis, an int or an int Tensor [].
      exclusive: exclude x[i] itself.
      reverse: sum from the end.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      InvalidArgumentError: (in a run) the axis is out of range.

    Example:
      >>> tf.Session().run(tf.cumsum([1.0, 2.0, 3.0]))
      array([1., 3., 6.], dtype=float32)

    Source: Cumsum in core/ops/math_ops.cc.
    """
    with name_scope(name, "Cumsum", [x]) as scope:
        x = convert(x, name="x")
        return Cumsum(exclusive, reverse)(x, axis, name=scope)


@export("math.cumprod", "cumprod")
def cumprod(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Cumulative products along an axis.

    out[i] = x[0] * ... * x[i]

    Args:
      x: number Tensor of any shape except a scalar.
      axis: the axis, an int or an int Tensor [].
      exclusive: exclude x[i] itself.
      reverse: multiply from the end.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      InvalidArgumentError: (in a run) the axis is out of range.

    Example:
      >>> tf.Session().run(tf.cumprod([1.0, 2.0, 3.0]))
      array([1., 2., 6.], dtype=float32)

    Source: Cumprod in core/ops/math_ops.cc.
    """
    with name_scope(name, "Cumprod", [x]) as scope:
        x = convert(x, name="x")
        return Cumprod(exclusive, reverse)(x, axis, name=scope)
