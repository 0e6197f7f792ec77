"""Placeholders: values that are fed.  Source: core/ops/array_ops.cc."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, c_name
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel, Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    ShapeLike,
    TensorLike,
)


class Placeholder(Op, role=Role.PLACEHOLDER):
    """A value that must be fed.  Source: core/ops/array_ops.cc, Placeholder."""

    signature = "-> output: dtype"
    dtype: DType
    shape: Shape = None

    is_foldable: ClassVar[bool] = False
    must_be_fed: ClassVar[bool] = True
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self) -> Shape:
        return self.shape

    def compute(self, xp: ArrayModule) -> Any:
        # The session feeds placeholders, so the kernel runs only if no value was fed.
        # The executor inserts the op's name into the message.
        shape = "" if self.shape is None else f" and shape {shapes.text(self.shape)}"
        raise invalid_argument(
            "You must feed a value for placeholder tensor '{name}' with dtype "
            f"{c_name(self.dtype)}{shape}"
        )

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return []


class PlaceholderWithDefault(Op):
    """A value that may be fed.  Source: array_ops.cc, PlaceholderWithDefault."""

    signature = "input: dtype -> output: dtype"
    shape: Shape

    aliases: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    is_expensive: ClassVar[bool] = False
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, input: Shape) -> Shape:
        shapes.merge(input, self.shape)
        return self.shape

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return input

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad]


@export("placeholder")
def placeholder(
    dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None
) -> Tensor:
    """A tensor whose value every run must feed.

    Args:
      dtype: the element type.
      shape: the static shape, possibly partial; None accepts any.
      name: the op's name.

    Returns:
      A Tensor to use as a key of `feed_dict`.

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 784], name="x")

    Source: Placeholder in core/ops/array_ops.cc.
    """
    require_graph("tf.placeholder() is not compatible with eager execution.")
    op = Placeholder(dtype, shape)  # type: ignore[arg-type]  # converted by the op
    return op(name=name)


@export("placeholder_with_default")
def placeholder_with_default(
    input: TensorLike, shape: ShapeLike, name: str | None = None
) -> Tensor:
    """A tensor that is `input` unless it is fed.

    Args:
      input: the default value, a Tensor or convertible to one.
      shape: the static shape, possibly partial; must be compatible with `input`'s.
      name: the op's name.

    Returns:
      A Tensor of `input`'s type.

    Source: PlaceholderWithDefault in core/ops/array_ops.cc.
    """
    op = PlaceholderWithDefault(shape)  # type: ignore[arg-type]  # converted by the op
    return op(input, name=name)
