"""Max pooling that also returns the indices of the maxima.

Source: core/ops/nn_ops.cc, core/kernels/maxpooling_op.cc.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows import pool_kernels as kernels
from tfteach.ops.windows.pool import GRAD_TYPES, Pooling, check_alike

INDICES = dtypes_of("int32 int64")
_Outputs: Any = namedtuple("MaxPoolWithArgmax", "output argmax")  # type: ignore[name-match]  # the op's name, as TF's


class _Argmax(Pooling, abstract=True):
    minimum: ClassVar[dict[str, int]] = {"ksize": 4, "strides": 4}

    T = GRAD_TYPES
    data_format: ClassVar[str] = "NHWC"
    if TYPE_CHECKING:  # the subclasses' field, in TF's order

        @property
        def include_batch_in_index(self) -> bool: ...

    def from_places(self, xp: ArrayModule, argmax: Any, image_size: int) -> Any:
        """Indices within each image converted to indices within the batch."""
        if self.include_batch_in_index:
            return argmax
        first = xp.arange(argmax.shape[0], dtype=argmax.dtype) * image_size
        return argmax + first.reshape(-1, *(1,) * (argmax.ndim - 1))


class MaxPoolWithArgmax(_Argmax, MultiOutputOp):
    """Each window's maximum, and the index of the first one.

    Source: core/ops/nn_ops.cc, MaxPoolWithArgmax.
    """

    signature = "input: T -> output: T, argmax: Targmax"
    ksize: tuple[int, ...]
    strides: tuple[int, ...]
    Targmax: DType = int64
    padding: str  # type: ignore[misc]  # TF's order
    include_batch_in_index: bool = False
    Targmax_allowed = INDICES

    def infer_shape(self, input: Shape) -> list[Shape]:
        return [self.pooled(input)] * 2

    def compute(self, xp: ArrayModule, input: Array) -> tuple[Any, Any]:
        windows = self.lay(input.shape)
        self.refuse_depth("Pooling is not yet supported on the depth dimension.")
        best, where = kernels.max_and_where(xp, input, windows)
        if self.include_batch_in_index:
            first = xp.arange(input.shape[0], dtype="int64")
            where += (first * int(np.prod(input.shape[1:]))).reshape(-1, 1, 1, 1)
        return best, where.astype(self.Targmax.numpy_dtype, copy=False)

    def gradient(self, op: Operation, grad: Tensor, _: Any) -> list[Gradient]:
        rule = MaxPoolGradWithArgmax(
            self.ksize, self.strides, self.padding, self.include_batch_in_index
        )
        return [rule(op.inputs[0], grad, op.outputs[1])]


class _ArgmaxGrad(_Argmax, abstract=True):
    signature = "input: T, grad: T, argmax: Targmax -> output: T"
    ksize: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    include_batch_in_index: bool = False
    Targmax = INDICES

    def checked(self, input: Any, argmax: Any) -> None:
        """Raise InvalidArgumentError for indices outside the input."""
        size = int(np.prod(input.shape if self.include_batch_in_index else
                           input.shape[1:]))  # fmt: skip
        outside = (argmax < 0) | (argmax >= size)
        if bool(outside.any()):
            raise invalid_argument(
                f"MaxPoolWithArgmax: a position of argmax is outside the input, whose "
                f"size is {size}"
            )


class MaxPoolGradWithArgmax(_ArgmaxGrad):
    """The gradient, added at the maxima.

    Source: core/ops/nn_ops.cc, MaxPoolGradWithArgmax.
    """

    def infer_shape(self, input: Shape, grad: Shape, argmax: Shape) -> Shape:
        return shapes.with_rank(input, 4)

    def compute(self, xp: ArrayModule, input: Array, grad: Array, argmax: Array) -> Any:
        windows = self.lay(input.shape)
        right = (input.shape[0], *windows.out, input.shape[-1])
        check_alike("grad", grad.shape, right)
        check_alike("argmax", argmax.shape, right)
        self.checked(input, argmax)
        result = xp.zeros(input.shape, grad.dtype)
        size = int(np.prod(input.shape[1:]))
        places = self.from_places(xp, argmax.astype("int64"), size)
        xp.add.at(result.reshape(-1), places.reshape(-1), grad.reshape(-1))
        return result


class MaxPoolGradGradWithArgmax(_ArgmaxGrad):
    """The elements of `grad` at the maxima.

    Source: core/ops/nn_ops.cc, MaxPoolGradGradWithArgmax.
    """

    def infer_shape(self, input: Shape, grad: Shape, argmax: Shape) -> Shape:
        pooled = self.pooled(input)
        shapes.merge(pooled, argmax)
        return pooled

    def compute(self, xp: ArrayModule, input: Array, grad: Array, argmax: Array) -> Any:
        windows = self.lay(input.shape)
        check_alike("grad", grad.shape, input.shape)
        right = (input.shape[0], *windows.out, input.shape[-1])
        check_alike("argmax", argmax.shape, right)
        self.checked(input, argmax)
        size = int(np.prod(input.shape[1:]))
        places = self.from_places(xp, argmax.astype("int64"), size)
        return grad.reshape(-1)[places]


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    Targmax: DTypeLike | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
) -> Any:
    """The maximum of each window, and its index.

    Args:
      input: Tensor [batch, height, width, channels] of floats or integers.
      ksize, strides: lists of 4 ints.
      padding: "SAME" or "VALID".
      data_format: "NHWC".
      Targmax, output_dtype: tf.int64 (the default) or tf.int32.
      name: the op's name.
      include_batch_in_index: whether indices count from the batch's first image instead
        of from each image's start.

    Returns:
      (output, argmax): Tensors [batch, rows, columns, channels]; an element of
      `argmax` is `(row * width + column) * channels + channel`.

    Raises:
      ValueError: the rank or `data_format` is not supported.

    Source: MaxPoolWithArgmax in core/ops/nn_ops.cc.
    """
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    kind = deprecated_argument_lookup("output_dtype", output_dtype, "Targmax", Targmax)
    function = "max_pool_with_argmax"
    op = MaxPoolWithArgmax(
        geometry.ints(function, "ksize", ksize),
        geometry.ints(function, "strides", strides),
        int64 if kind is None else as_dtype(kind), padding,
        include_batch_in_index,
    )  # fmt: skip
    return _Outputs(*op(input, name=name))
