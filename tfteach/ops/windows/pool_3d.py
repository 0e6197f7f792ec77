"""Maxima and means over windows of a volume, and their gradients.

Source: core/ops/nn_ops.cc, core/kernels/pooling_ops_3d.cc, python/ops/nn_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.identity_reshape import stop_gradient
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows import pool_kernels as kernels
from tfteach.ops.windows.pool import (
    FLOATS,
    GRAD_TYPES,
    Pooling,
    check_alike,
    largest,
    mean_windows,
    spread_means,
)

SHORT_FLOATS = dtypes_of("half bfloat16 float32")
REFUSED = "Pooling is not yet supported on the depth dimension."


class _Pool3D(Pooling, abstract=True):
    minimum: ClassVar[dict[str, int]] = {"ksize": 5, "strides": 5}

    ksize: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    data_format: str = "NDHWC"
    formats = geometry.FORMATS_3D


class MaxPool3D(_Pool3D):
    """The maximum of each window.  Source: core/ops/nn_ops.cc, MaxPool3D."""

    signature = "input: T -> output: T"
    T = SHORT_FLOATS

    def infer_shape(self, input: Shape) -> Shape:
        return self.pooled(input)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        windows = self.lay(input.shape)
        self.refuse_depth(REFUSED)
        (x,) = self.last(xp, input)
        return self.native(xp, kernels.reduce_windows(xp, largest(xp, x), x, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [self.same(MaxPool3DGrad)(op.inputs[0], op.outputs[0], grad)]


def _zeros_as(tensor: Any) -> Tensor:
    return fill.zeros(shape_ops.shape(tensor), tensor.dtype)


class MaxPool3DGrad(_Pool3D):
    """The gradient, added to all maxima of each window.

    Source: core/ops/nn_ops.cc, MaxPool3DGrad.
    """

    signature = "orig_input: TInput, orig_output: TInput, grad: T -> output: T"
    T = SHORT_FLOATS
    T_default = float32
    TInput = SHORT_FLOATS
    TInput_default = float32

    def infer_shape(self, orig_input: Shape, orig_output: Shape, grad: Shape) -> Shape:
        return shapes.with_rank(orig_input, 5)

    def compute(
        self, xp: ArrayModule, orig_input: Array, orig_output: Array, grad: Array
    ) -> Any:
        windows = self.lay(orig_input.shape)
        self.refuse_depth(REFUSED)
        x, y, grad = self.last(xp, orig_input, orig_output, grad)
        right = (x.shape[0], *windows.out, x.shape[-1])
        check_alike("orig_output", y.shape, right)
        check_alike("grad", grad.shape, right)
        # TensorFlow's kernel for volumes does not stop at the first maximum.
        found = kernels.max_gradient(xp, x, y, grad, windows, to_all=True)
        return self.native(xp, found)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y, _ = op.inputs
        return [_zeros_as(x), _zeros_as(y), self.same(MaxPool3DGradGrad)(x, y, grad)]


class MaxPool3DGradGrad(_Pool3D):
    """The elements of `grad` at the first maximum of each window.

    Source: core/ops/nn_ops.cc, MaxPool3DGradGrad.
    """

    signature = "orig_input: T, orig_output: T, grad: T -> output: T"
    T = GRAD_TYPES

    def infer_shape(self, orig_input: Shape, orig_output: Shape, grad: Shape) -> Shape:
        pooled = self.pooled(orig_input)
        shapes.merge(pooled, orig_output)
        return pooled

    def compute(
        self, xp: ArrayModule, orig_input: Array, orig_output: Array, grad: Array
    ) -> Any:
        windows = self.lay(orig_input.shape)
        self.refuse_depth(REFUSED)
        x, y, grad = self.last(xp, orig_input, orig_output, grad)
        check_alike("orig_output", y.shape, (x.shape[0], *windows.out, x.shape[-1]))
        check_alike("grad", grad.shape, x.shape)
        return self.native(xp, kernels.max_gradient_gradient(xp, x, y, grad, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y, _ = op.inputs
        return [_zeros_as(x), _zeros_as(y), self.same(MaxPool3DGrad)(x, y, grad)]


class AvgPool3D(_Pool3D):
    """The mean of each window, excluding padding.

    Source: core/ops/nn_ops.cc, AvgPool3D.
    """

    signature = "input: T -> output: T"
    T = FLOATS

    def infer_shape(self, input: Shape) -> Shape:
        return self.pooled(input)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        windows = self.lay(input.shape)
        self.refuse_depth(REFUSED)
        (x,) = self.last(xp, input)
        return self.native(xp, mean_windows(xp, x, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [self.same(AvgPool3DGrad)(shape_ops.shape(op.inputs[0]), grad)]


class AvgPool3DGrad(_Pool3D):
    """The gradient, divided equally among the elements of each window.

    Source: core/ops/nn_ops.cc, AvgPool3DGrad.
    """

    signature = "orig_input_shape: int32, grad: T -> output: T"
    T = FLOATS
    by_shape: ClassVar[tuple[str, ...]] = ("orig_input_shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("orig_input_shape",)

    def infer_shape(self, orig_input_shape: Shape, grad: Shape) -> Shape:
        return shapes.with_rank(orig_input_shape, 5)

    def check_shapes(self, orig_input_shape: tuple[int, ...]) -> None:
        message = "tensor_in must be 1-dimensional and 5 elements"
        require(orig_input_shape == (5,), message)

    def compute(self, xp: ArrayModule, orig_input_shape: Array, grad: Array) -> Any:
        shape = tuple(map(int, orig_input_shape))
        windows = self.lay(shape)
        self.refuse_depth(REFUSED)
        (last,) = self.last(xp, grad)
        channels = geometry.channel(shape, self.data_format)
        check_alike("grad", last.shape, (shape[0], *windows.out, channels))
        sizes = tuple(self.inner(shape))
        return self.native(xp, spread_means(xp, sizes, last, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [stop_gradient(op.inputs[0]), self.same(AvgPool3D)(grad)]
