"""Bias addition: `tf.nn.bias_add`, `xw_plus_b` and `relu_layer`.

Source: core/ops/nn_ops.cc, python/ops/nn_ops.py, nn_impl.py, nn_grad.py.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile import tile
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.identity_reshape import (
    reshape,
)
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.nn.activations import relu

NUMBERS = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 "
    "bfloat16 uint16 complex128 half uint32 uint64"
)
# The elements of a gradient from which its rows are added in groups of so many.
_MIN_FOLDED = 1 << 16
_FOLDED_WIDTH = 1 << 10


class BiasAdd(Op):
    """value + bias along the channels.  Source: core/ops/nn_ops.cc, BiasAdd."""

    is_elementwise: ClassVar[bool] = True
    signature = "value: T, bias: T -> output: T"
    T = NUMBERS
    data_format: str = "NHWC"

    def validate(self) -> None:
        check_choice(self.op_type, "data_format", self.data_format, ("NHWC", "NCHW"))

    def infer_shape(self, value: Shape, bias: Shape) -> Shape:
        first = self.data_format == "NCHW"
        value = shapes.with_rank_at_least(value, 3 if first else 2)
        bias = shapes.with_rank(bias, 1)
        if value is None or bias is None:
            return value
        axis = 1 if first else len(value) - 1
        size = shapes.same_size(value[axis], bias[0])
        return (*value[:axis], size, *value[axis + 1 :])

    def compute(self, xp: ArrayModule, value: Array, bias: Array) -> Any:
        axis = 1 if self.data_format == "NCHW" else -1
        if value.ndim < 2 or bias.ndim != 1 or value.shape[axis] != bias.shape[0]:
            _refuse_bias(value, bias)
        if axis == 1:
            bias = bias.reshape((-1,) + (1,) * (value.ndim - 2))
        return value + bias

    def scalar_expression(self, value: str, bias: str) -> str | None:
        return f"{value} + {bias}" if self.data_format == "NHWC" else None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad, BiasAddGrad(self.data_format)(grad)]


def _refuse_bias(value: Any, bias: Any) -> None:
    if value.ndim < 2:
        raise invalid_argument(
            f"Input tensor must be at least 2D: {shapes.text(value.shape)}"
        )
    if bias.ndim != 1:
        raise invalid_argument(f"Biases must be 1D: {shapes.text(bias.shape)}")
    raise invalid_argument(
        "Must provide as many biases as the last dimension of the input tensor: "
        f"{shapes.text(bias.shape)} vs. {shapes.text(value.shape)}"
    )


class BiasAddV1(Op):
    """BiasAdd before formats were added.  Source: core/ops/nn_ops.cc, BiasAddV1."""

    signature = "value: T, bias: T -> output: T"
    T = NUMBERS

    def infer_shape(self, value: Shape, bias: Shape) -> Shape:
        return BiasAdd().infer_shape(value, bias)

    def compute(self, xp: ArrayModule, value: Array, bias: Array) -> Any:
        return BiasAdd().compute(xp, value, bias)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        axes = range_of(shape_ops.rank(grad) - 1)
        return [grad, reduce_sum(grad, axes)]


def _folded_sums(rows: Any) -> Any:
    """A few rows with the same sum: those of the k-th rows of groups of equal size.

    For each row that it adds NumPy needs as long as for 200 elements: groups, which lie
    side by side in memory, are its rows here.
    """
    count, width = rows.shape
    size = 1
    while count % (2 * size) == 0 and 2 * size * width <= _FOLDED_WIDTH:
        size *= 2
    groups = rows.reshape(count // size, size * width)
    return groups.sum(axis=0, dtype=rows.dtype).reshape(size, width)


class BiasAddGrad(Op):
    """The sum over all axes except the channels.

    Source: core/ops/nn_ops.cc, BiasAddGrad.
    """

    signature = "out_backprop: T -> output: T"
    T = NUMBERS
    data_format: str = "NHWC"

    def validate(self) -> None:
        check_choice(self.op_type, "data_format", self.data_format, ("NHWC", "NCHW"))

    def infer_shape(self, out_backprop: Shape) -> Shape:
        first = self.data_format == "NCHW"
        found = shapes.with_rank_at_least(out_backprop, 3 if first else 2)
        return (None,) if found is None else (found[1 if first else -1],)

    def compute(self, xp: ArrayModule, out_backprop: Array) -> Any:
        if out_backprop.ndim < 2:
            raise invalid_argument(
                f"Input tensor must be at least 2D: {shapes.text(out_backprop.shape)}"
            )
        dtype = out_backprop.dtype
        if self.data_format == "NCHW":
            axes = (0, *range(2, out_backprop.ndim))
            return out_backprop.sum(axis=axes, dtype=dtype)
        rows = out_backprop
        if out_backprop.ndim > 2:
            count = math.prod(out_backprop.shape[:-1])
            rows = out_backprop.reshape(count, out_backprop.shape[-1])
        if rows.size >= _MIN_FOLDED:
            rows = _folded_sums(rows)
        return rows.sum(axis=0, dtype=dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        shape, bias_shape = shape_ops.shape(op.inputs[0]), shape_ops.shape(grad)
        ones_like = fill.ones_like
        if self.data_format == "NCHW":
            expanded = concat(
                [ones_like(shape[:1]), bias_shape, ones_like(shape[2:])], 0
            )
            multiples = concat([shape[:1], [1], shape[2:]], 0)
        else:
            expanded = concat([ones_like(shape[:-1]), bias_shape], 0)
            multiples = concat([shape[:-1], [1]], 0)
        return [tile(reshape(grad, expanded), multiples)]


# ---- functions


@export("nn.bias_add")
def bias_add(
    value: TensorLike,
    bias: TensorLike,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`value + bias`, one bias per channel.

    Args:
      value: numeric Tensor [..., channels], or [batch, channels, ...] for "NC...".
      bias: Tensor [channels] of the same type.
      data_format: "N...C" (the default) or "NC...".
      name: the op's name.

    Returns:
      A Tensor like `value`.

    Raises:
      ValueError: the number of biases does not match, or `data_format` is unknown.

    Example:
      >>> tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0])  # [[11., 22.]]

    Source: BiasAdd in core/ops/nn_ops.cc.
    """
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        layout = "NHWC"
        if data_format is not None:
            if data_format.startswith("NC"):
                layout = "NCHW"
            elif not (data_format.startswith("N") and data_format.endswith("C")):
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
        value = convert(value, name="input")
        bias = convert(bias, dtype=value.dtype.base_dtype, name="bias")
        return BiasAdd(layout)(value, bias, name=scope)


@export("nn.xw_plus_b")
def xw_plus_b(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    """`matmul(x, weights) + biases`.

    Args:
      x: Tensor [batch, inputs].
      weights: Tensor [inputs, units].
      biases: Tensor [units].
      name: the last op's name; "xw_plus_b" if None.

    Returns:
      A Tensor [batch, units].

    Raises:
      ValueError: the sizes do not match.

    Source: python/ops/nn_ops.py; MatMul, BiasAdd.
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x = convert(x, name="x")
        weights = convert(weights, name="weights")
        biases = convert(biases, name="biases")
        return bias_add(matmul(x, weights), biases, name=scope)


@export("nn.relu_layer")
def relu_layer(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    """`relu(matmul(x, weights) + biases)`; arguments as for `tf.nn.xw_plus_b`."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x = convert(x, name="x")
        weights = convert(weights, name="weights")
        biases = convert(biases, name="biases")
        return relu(bias_add(matmul(x, weights), biases), name=scope)
