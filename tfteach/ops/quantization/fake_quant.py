"""Floats rounded as if they were quantized to a few bits.

Source: core/ops/array_ops.cc, core/kernels/fake_quant_ops_functor.h.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, T


class _FakeQuant(Op, abstract=True):
    on_gpu: ClassVar[bool] = False
    num_bits: ClassVar[Any]
    narrow_range: ClassVar[Any]

    def _nudged(self, low: Any, high: Any) -> tuple[Any, Any, Any]:
        """The range shifted so that 0 is one of its steps, and the step size."""
        if not 2 <= self.num_bits <= 16:
            raise invalid_argument("num_bits must be between 2 and 16, inclusive")
        first = np.float32(1 if self.narrow_range else 0)
        last = np.float32(2**self.num_bits - 1)
        with np.errstate(all="ignore"):
            step = (high - low) / (last - first)
            zero = first - low / step
            zero = np.trunc(zero + np.copysign(np.float32(0.5), zero))
            zero = np.clip(zero, first, last)
            return (first - zero) * step, (last - zero) * step, step

    def _rounded(self, inputs: Any, low: Any, high: Any) -> Any:
        least, most, step = self._nudged(low, high)
        with np.errstate(all="ignore"):
            steps = (np.clip(inputs, least, most) - least) * (np.float32(1) / step)
            found = np.floor(steps + np.float32(0.5)) * step + least
        is_empty = (low == 0) & (high == 0)
        return np.where(is_empty, np.float32(0), found).astype(np.float32)

    def _slopes(self, grads: Any, inputs: Any, low: Any, high: Any) -> Any:
        """The gradients for inputs inside the range, below it and above it."""
        least, most, _ = self._nudged(low, high)
        is_empty = (low == 0) & (high == 0)
        with np.errstate(invalid="ignore"):
            inside = ((inputs >= least) & (inputs <= most)) | is_empty
            below = (inputs < least) & ~is_empty
            above = (inputs > most) & ~is_empty
        zero = np.float32(0)
        return tuple(np.where(m, grads, zero) for m in (inside, below, above))


class _ByArgs(_FakeQuant, abstract=True):
    min: float = -6.0
    max: float = 6.0
    num_bits: int = 8  # type: ignore[misc]
    narrow_range: bool = False  # type: ignore[misc]

    @property
    def _range(self) -> tuple[Any, Any]:
        if self.min >= self.max:
            raise invalid_argument(
                f"min has to be smaller than max, was: {self.min:g} >= {self.max:g}"
            )
        return np.float32(self.min), np.float32(self.max)


class FakeQuantWithMinMaxArgs(_ByArgs):
    """Rounding to the steps of a fixed range.  Source: array_ops.cc."""

    signature = "inputs: float32 -> outputs: float32"

    def infer_shape(self, inputs: Shape) -> Shape:
        return inputs

    def compute(self, xp: ArrayModule, inputs: Array) -> Any:
        return self._rounded(inputs, *self._range)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [FakeQuantWithMinMaxArgsGradient(*self.attributes)(grad, op.inputs[0])]


class FakeQuantWithMinMaxArgsGradient(_ByArgs):
    """The gradient of a clip, as if nothing were rounded.  Source: array_ops.cc."""

    signature = "gradients: float32, inputs: float32 -> backprops: float32"

    def infer_shape(self, gradients: Shape, inputs: Shape) -> Shape:
        shapes.merge(gradients, inputs)
        return gradients

    def compute(self, xp: ArrayModule, gradients: Array, inputs: Array) -> Any:
        if gradients.shape != inputs.shape:
            raise invalid_argument(
                "Inputs to operation {name} of type FakeQuantWithMinMaxArgsGradient "
                "must have the same size and shape.  Input 0: "
                f"{shapes.text(gradients.shape)} != input 1: "
                f"{shapes.text(inputs.shape)}"
            )
        return self._slopes(gradients, inputs, *self._range)[0]


class _ByVars(_FakeQuant, abstract=True):
    num_bits: int = 8  # type: ignore[misc]
    narrow_range: bool = False  # type: ignore[misc]


class FakeQuantWithMinMaxVars(_ByVars):
    """Rounding to the steps of a range.  Source: array_ops.cc."""

    signature = "inputs: float32, min: float32, max: float32 -> outputs: float32"

    def infer_shape(self, inputs: Shape, low: Shape, high: Shape) -> Shape:
        shapes.with_rank(low, 0)
        shapes.with_rank(high, 0)
        return inputs

    def compute(self, xp: ArrayModule, inputs: Array, low: Array, high: Array) -> Any:
        return self._rounded(inputs, low, high)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        slopes = FakeQuantWithMinMaxVarsGradient(*self.attributes)
        return list(slopes(grad, *op.inputs))


class FakeQuantWithMinMaxVarsGradient(_ByVars, MultiOutputOp):
    """The gradients of a clip, as if nothing were rounded.  Source: array_ops.cc."""

    signature = (
        "gradients: float32, inputs: float32, min: float32, max: float32 -> "
        "backprops_wrt_input: float32, backprop_wrt_min: float32, "
        "backprop_wrt_max: float32"
    )

    def infer_shape(
        self, gradients: Shape, inputs: Shape, low: Shape, high: Shape
    ) -> list[Shape]:
        shapes.with_rank(low, 0)
        shapes.with_rank(high, 0)
        return [shapes.merge(gradients, inputs), (), ()]

    def compute(
        self, xp: ArrayModule, gradients: Array, inputs: Array, low: Array, high: Array
    ) -> tuple[Any, ...]:
        _check_same(gradients, inputs)
        inside, below, above = self._slopes(gradients, inputs, low, high)
        return inside, below.sum(dtype=np.float32), above.sum(dtype=np.float32)


class FakeQuantWithMinMaxVarsPerChannel(_ByVars):
    """Rounding to the steps of each channel's range.  Source: array_ops.cc."""

    signature = "inputs: float32, min: float32, max: float32 -> outputs: float32"

    def infer_shape(self, inputs: Shape, low: Shape, high: Shape) -> Shape:
        return _with_channels(inputs, low, high)

    def compute(self, xp: ArrayModule, inputs: Array, low: Array, high: Array) -> Any:
        _check_channels(inputs, low, high)
        return self._rounded(inputs, low, high)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        slopes = FakeQuantWithMinMaxVarsPerChannelGradient(*self.attributes)
        return list(slopes(grad, *op.inputs))


class FakeQuantWithMinMaxVarsPerChannelGradient(_ByVars, MultiOutputOp):
    """The gradients of a clip, as if nothing were rounded.  Source: array_ops.cc."""

    signature = FakeQuantWithMinMaxVarsGradient.signature

    def infer_shape(
        self, gradients: Shape, inputs: Shape, low: Shape, high: Shape
    ) -> list[Shape]:
        whole = _with_channels(shapes.merge(gradients, inputs), low, high)
        channels = shapes.merge(shapes.merge(low, high), whole and whole[-1:])
        channels = shapes.with_rank(channels, 1)
        return [whole, channels, channels]

    def compute(
        self, xp: ArrayModule, gradients: Array, inputs: Array, low: Array, high: Array
    ) -> tuple[Any, ...]:
        _check_same(gradients, inputs)
        _check_channels(inputs, low, high)
        inside, below, above = self._slopes(gradients, inputs, low, high)
        others = tuple(range(inputs.ndim - 1))
        return inside, below.sum(others), above.sum(others)


def _with_channels(inputs: Shape, low: Shape, high: Shape) -> Shape:
    shapes.with_rank_at_least(inputs, 1)
    shapes.with_rank(low, 1)
    shapes.with_rank(high, 1)
    channels = shapes.merge(low, high)
    if inputs is None:
        return None
    last = shapes.same_size(inputs[-1], None if channels is None else channels[0])
    return (*inputs[:-1], last)


def _check_same(gradients: Any, inputs: Any) -> None:
    if gradients.shape != inputs.shape:
        raise invalid_argument("gradient and input must be the same size")


def _check_channels(inputs: Any, low: Any, high: Any) -> None:
    for what, bound in (("min", low), ("max", high)):
        if bound.shape != inputs.shape[-1:]:
            raise invalid_argument(
                f"{what} has incorrect size, expected {inputs.shape[-1]} was "
                f"{bound.size}"
            )


def _public(name: str) -> Callable[[T], T]:
    return export(f"quantization.{name}", name)


@_public("fake_quant_with_min_max_args")
def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Floats rounded to the `2 ** num_bits` steps of a range.

    The range is shifted so that 0 is one of the steps.  The gradient is that of
    clipping to the range.

    Args:
      inputs: float32 Tensor.
      min, max: the range, numbers.
      num_bits: between 2 and 16.
      narrow_range: whether to use one step fewer.
      name: the op's name.

    Returns:
      A float32 Tensor like `inputs`.

    Raises:
      tf.errors.InvalidArgumentError: in a run, `min` is not less than `max`, or
        `num_bits` is out of range.

    Example:
      >>> x = tf.fake_quant_with_min_max_args([0.1, 0.26, 9.0], 0.0, 1.0, num_bits=2)
      >>> tf.Session().run(x).round(4).tolist()
      [0.0, 0.3333, 1.0]

    Source: FakeQuantWithMinMaxArgs in core/ops/array_ops.cc.
    """
    op = FakeQuantWithMinMaxArgs(float(min), float(max), num_bits, narrow_range)
    return op(inputs, name=name)


@_public("fake_quant_with_min_max_args_gradient")
def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `tf.fake_quant_with_min_max_args`: 0 outside the range."""
    op = FakeQuantWithMinMaxArgsGradient(float(min), float(max), num_bits, narrow_range)
    return op(gradients, inputs, name=name)


@_public("fake_quant_with_min_max_vars")
def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.fake_quant_with_min_max_args` with a trainable range.

    Args:
      inputs: float32 Tensor.
      min, max: float32 scalars.
      num_bits, narrow_range, name: as in `tf.fake_quant_with_min_max_args`.

    Source: FakeQuantWithMinMaxVars in core/ops/array_ops.cc.
    """
    return FakeQuantWithMinMaxVars(num_bits, narrow_range)(inputs, min, max, name=name)


@_public("fake_quant_with_min_max_vars_gradient")
def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradients of `tf.fake_quant_with_min_max_vars` by inputs, min and max."""
    op = FakeQuantWithMinMaxVarsGradient(num_bits, narrow_range)
    return op(gradients, inputs, min, max, name=name)


@_public("fake_quant_with_min_max_vars_per_channel")
def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.fake_quant_with_min_max_vars` with a range for each channel.

    Args:
      inputs: float32 Tensor [..., channels].
      min, max: float32 Tensors [channels].
      num_bits, narrow_range, name: as in `tf.fake_quant_with_min_max_args`.

    Source: FakeQuantWithMinMaxVarsPerChannel in core/ops/array_ops.cc.
    """
    op = FakeQuantWithMinMaxVarsPerChannel(num_bits, narrow_range)
    return op(inputs, min, max, name=name)


@_public("fake_quant_with_min_max_vars_per_channel_gradient")
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradients of `tf.fake_quant_with_min_max_vars_per_channel`."""
    op = FakeQuantWithMinMaxVarsPerChannelGradient(num_bits, narrow_range)
    return op(gradients, inputs, min, max, name=name)
