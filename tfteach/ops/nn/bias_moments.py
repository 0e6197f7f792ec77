"""Biases, norms and moments: the small parts of network layers.

Source: core/ops/nn_ops.cc, python/ops/nn_ops.py, nn_impl.py, nn_grad.py.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, float16, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile_broadcast import tile
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.identity_reshape import (
    either,
    reshape,
    squeeze,
    stop_gradient,
)
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.binary import maximum, multiply, squared_difference
from tfteach.ops.math.cast import cast
from tfteach.ops.math.cumsum import range as range_of
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_sum
from tfteach.ops.math.unary import rsqrt, square
from tfteach.ops.nn.activations import FLOATS, relu

NUMBERS = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 "
    "bfloat16 uint16 complex128 half uint32 uint64"
)


def _check_format(data_format: str) -> None:
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(
            f"Value for attr 'data_format' of \"{data_format}\" is not in the list of "
            'allowed values: "NHWC", "NCHW"'
        )


class BiasAdd(Op):
    """value + bias along the channels.  Source: core/ops/nn_ops.cc, BiasAdd."""

    is_elementwise: ClassVar[bool] = True
    signature = "value: T, bias: T -> output: T"
    T = NUMBERS
    data_format: str = "NHWC"

    def validate(self) -> None:
        _check_format(self.data_format)

    def infer_shape(self, value: Shape, bias: Shape) -> Shape:
        first = self.data_format == "NCHW"
        value = shapes.with_rank_at_least(value, 3 if first else 2)
        bias = shapes.with_rank(bias, 1)
        if value is None or bias is None:
            return value
        axis = 1 if first else len(value) - 1
        size = shapes.same_size(value[axis], bias[0])
        return (*value[:axis], size, *value[axis + 1 :])

    def compute(self, xp: Any, value: Any, bias: Any) -> Any:
        axis = 1 if self.data_format == "NCHW" else -1
        if value.ndim < 2 or bias.ndim != 1 or value.shape[axis] != bias.shape[0]:
            _refuse_bias(value, bias)
        if axis == 1:
            bias = bias.reshape((-1,) + (1,) * (value.ndim - 2))
        return value + bias

    def scalar_expression(self, value: str, bias: str) -> str | None:
        return f"{value} + {bias}" if self.data_format == "NHWC" else None

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
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
    """BiasAdd before it knew formats.  Source: core/ops/nn_ops.cc, BiasAddV1."""

    signature = "value: T, bias: T -> output: T"
    T = NUMBERS

    def infer_shape(self, value: Shape, bias: Shape) -> Shape:
        return BiasAdd().infer_shape(value, bias)

    def compute(self, xp: Any, value: Any, bias: Any) -> Any:
        return BiasAdd().compute(xp, value, bias)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        axes = range_of(shape_ops.rank(grad) - 1)
        return [grad, reduce_sum(grad, axes)]


class BiasAddGrad(Op):
    """The sum over all but the channels.  Source: core/ops/nn_ops.cc, BiasAddGrad."""

    signature = "out_backprop: T -> output: T"
    T = NUMBERS
    data_format: str = "NHWC"

    def validate(self) -> None:
        _check_format(self.data_format)

    def infer_shape(self, out_backprop: Shape) -> Shape:
        first = self.data_format == "NCHW"
        found = shapes.with_rank_at_least(out_backprop, 3 if first else 2)
        return (None,) if found is None else (found[1 if first else -1],)

    def compute(self, xp: Any, out_backprop: Any) -> Any:
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
        return rows.sum(axis=0, dtype=dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
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


class L2Loss(Op):
    """sum(t^2) / 2.  Source: core/ops/nn_ops.cc, L2Loss."""

    signature = "t: T -> output: T"
    T = FLOATS

    def infer_shape(self, t: Shape) -> Shape:
        return ()

    def compute(self, xp: Any, t: Any) -> Any:
        flat = t.reshape(-1)
        return t.dtype.type(0.5) * xp.dot(flat, flat)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [op.inputs[0] * grad]


# ---- functions


@export("nn.bias_add")
def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
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
      ValueError: the number of biases does not fit, or `data_format` is unknown.

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


@export("nn.l2_loss")
def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """`sum(t ** 2) / 2`, a scalar Tensor of `t`'s float type.

    Example:
      >>> tf.nn.l2_loss([3.0, 4.0])  # 12.5

    Source: L2Loss in core/ops/nn_ops.cc.
    """
    return L2Loss()(t, name=name)


@export("nn.xw_plus_b")
def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """`matmul(x, weights) + biases`.

    Args:
      x: Tensor [batch, inputs].
      weights: Tensor [inputs, units].
      biases: Tensor [units].
      name: the last op's name; "xw_plus_b" if None.

    Returns:
      A Tensor [batch, units].

    Raises:
      ValueError: the sizes do not fit.

    Source: python/ops/nn_ops.py; MatMul, BiasAdd.
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x = convert(x, name="x")
        weights = convert(weights, name="weights")
        biases = convert(biases, name="biases")
        return bias_add(matmul(x, weights), biases, name=scope)


@export("nn.relu_layer")
def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """`relu(matmul(x, weights) + biases)`; arguments as for `tf.nn.xw_plus_b`."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x = convert(x, name="x")
        weights = convert(weights, name="weights")
        biases = convert(biases, name="biases")
        return relu(bias_add(matmul(x, weights), biases), name=scope)


@export("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize")
def l2_normalize(
    x: Any,
    axis: Any = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: Any = None,
) -> Tensor:
    """`x / sqrt(max(sum(x ** 2), epsilon))` along an axis.

    Args:
      x: float Tensor.
      axis: an int or a list of ints; None takes all elements together.
      epsilon: the least squared norm.
      name: the last op's name.
      dim: deprecated name of `axis`.

    Returns:
      A Tensor like `x`.

    Example:
      >>> tf.nn.l2_normalize([3.0, 4.0])  # [0.6, 0.8]

    Source: python/ops/nn_impl.py.
    """
    axis = either("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert(x, name="x")
        squares = reduce_sum(square(x), axis, keepdims=True)
        inverse_norm = rsqrt(maximum(squares, epsilon))
        return multiply(x, inverse_norm, name=scope)


@export("nn.moments")
def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: Any = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over some axes.

    `mean = sum(x) / n`, `variance = sum((x - mean) ** 2) / n`

    Args:
      x: float Tensor.
      axes: a list of ints, the axes to take together.
      shift: not used, as in TF.
      name: the name scope of the ops.
      keep_dims: deprecated name of `keepdims`.
      keepdims: whether to keep those axes, with size 1.

    Returns:
      Two Tensors of `x`'s type.

    Example:
      >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), [0])  # 2., 1.

    Source: python/ops/nn_impl.py.
    """
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        is_short = x.dtype.base_dtype == float16
        y = cast(x, float32) if is_short else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        # The variance's gradient into the mean is zero anyway.
        squares = squared_difference(y, stop_gradient(mean))
        variance = reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keep:
            mean = squeeze(mean, axes)
            variance = squeeze(variance, axes)
        if is_short:
            return cast(mean, float16), cast(variance, float16)
        return mean, variance
