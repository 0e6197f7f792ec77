"""Pooling over random windows of unequal sizes, for fractional size ratios.

Source: core/ops/nn_ops.cc, core/kernels/fractional_max_pool_op.cc,
fractional_avg_pool_op.cc, fractional_pool_common.cc; Graham, "Fractional max-pooling"
(2015).
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.random import philox

_NUMBERS = dtypes_of("float32 float64 int32 int64")


def _pooled(size: int, ratio: float) -> int:
    """The number of windows over `size` elements, in float32 as in TensorFlow."""
    found = np.floor(np.float32(size) / np.float32(ratio))
    return int(found) if np.isfinite(found) else 0


def boundaries(size: int, count: int, stream: philox.Stream, pseudo: bool) -> Any:
    """The starts of `count` windows over `size` elements, and the end.

    Windows have floor(size / count) elements or one more.  With `pseudo`, window i ends
    at ceil(size / count * (i + u)) for one random u; otherwise the sizes are shuffled.
    """
    small = size // count
    if pseudo:
        alpha = size / count
        most = min((small + 2) / alpha - 1, (size + 1 - small) / alpha - (count - 1))
        u = philox.uniform_float64(stream.reserve(1).blocks(1))[0, 0] * most
        inside = np.ceil(alpha * (np.arange(1, count) + u)) - 1
        found = np.concatenate([[0], inside, [size]])
    else:
        sizes = np.full(count, small)
        sizes[: size % count] += 1
        order = philox.permutation(stream.reserve(-(-count // 4)), count)
        found = np.concatenate([[0], np.cumsum(sizes[order])])
    return found.astype(np.int64)


def _windows(starts: Any, size: int, overlapping: bool) -> list[slice]:
    """The slice of each window; overlapping ones include the next one's start."""
    ends = starts[1:] + (1 if overlapping else 0)
    return [
        slice(int(start), min(int(end), size))
        for start, end in zip(starts[:-1], ends, strict=True)
    ]


def _cells(
    rows: Any, columns: Any, sizes: Any, overlapping: bool
) -> Iterator[tuple[int, int, slice, slice]]:
    """The row and column of each window, and the slices of its elements."""
    across = _windows(columns, sizes[2], overlapping)
    for i, down in enumerate(_windows(rows, sizes[1], overlapping)):
        for j, right in enumerate(across):
            yield i, j, down, right


class _Fractional(MultiOutputOp, abstract=True):
    """Base of both fractional pooling ops: the windows."""

    signature = (
        "value: T -> output: T, row_pooling_sequence: int64, "
        "col_pooling_sequence: int64"
    )
    T = _NUMBERS
    pooling_ratio: tuple[float, ...]
    pseudo_random: bool = False
    overlapping: bool = False
    deterministic: bool = False
    seed: int = 0
    seed2: int = 0
    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False

    minimum: ClassVar[dict[str, int]] = {"pooling_ratio": 4}

    def infer_shape(self, value: Shape) -> list[Shape]:
        sizes = shapes.with_rank(value, 4)
        if len(self.pooling_ratio) != 4:
            raise ValueError("pooling_ratio field must specify 4 dimensions")
        out = []
        for i, (size, ratio) in enumerate(zip(sizes, self.pooling_ratio, strict=True)):
            pooled = None if size is None or not ratio else _pooled(size, ratio)
            if pooled is not None and pooled < 0:
                raise ValueError(f"Size computed for dim {i} is negative: {pooled}")
            out.append(pooled)
        # TensorFlow's rule states the number of windows, one less than the true length.
        ends = [None if size is None else size + 1 for size in out[1:3]]
        return [tuple(out), (ends[0],), (ends[1],)]

    def compute(self, xp: ArrayModule, value: Array) -> Any:
        out = self._sizes(value)
        stream = philox.Stream(self.seed, self.seed2)
        rows = boundaries(value.shape[1], out[1], stream, self.pseudo_random)
        columns = boundaries(value.shape[2], out[2], stream, self.pseudo_random)
        pooled = np.empty(out, value.dtype)
        for i, j, down, right in _cells(rows, columns, value.shape, self.overlapping):
            pooled[:, i, j] = self.pool(value[:, down, right])
        return pooled, rows, columns

    def _sizes(self, value: Any) -> tuple[int, ...]:
        if not self.deterministic and (self.seed or self.seed2):
            raise invalid_argument(
                "Both seed and seed2 should be 0 if deterministic is false."
            )
        if value.ndim != 4:
            raise invalid_argument(
                f"tensor_in must be 4-dimensional, got {shapes.text(value.shape)}"
            )
        ratio = self.pooling_ratio
        if ratio[0] != 1 or ratio[3] != 1:
            raise invalid_argument(
                "Fractional pooling is not yet supported on the batch nor channel "
                f"dimension: pooling_ratio is {list(ratio)}, "
                "expected [1, rows, columns, 1]"
            )
        out = tuple(map(_pooled, value.shape, ratio))
        if any(not 0 < n <= m for n, m in zip(out[1:3], value.shape[1:3], strict=True)):
            raise invalid_argument(
                f"pooling_ratio {list(ratio)} makes {out[1]} rows and {out[2]} columns "
                f"of {value.shape[1]} and {value.shape[2]}: "
                "expected at least one of each, and no more than the input has"
            )
        return out

    def pool(self, window: Any) -> Any:
        """[batch, rows, columns, channels] -> [batch, channels]."""
        raise NotImplementedError


class FractionalMaxPool(_Fractional):
    """The maximum of each window.  Source: core/ops/nn_ops.cc, FractionalMaxPool."""

    def pool(self, window: Any) -> Any:
        return window.max(axis=(1, 2))

    def gradient(self, op: Operation, grad: Tensor, *_: Any) -> list[Gradient]:
        back = FractionalMaxPoolGrad(self.overlapping)
        return [back(op.inputs[0], op.outputs[0], grad, *op.outputs[1:])]


class FractionalAvgPool(_Fractional):
    """The mean of each window.  Source: core/ops/nn_ops.cc, FractionalAvgPool."""

    def pool(self, window: Any) -> Any:
        total = window.sum(axis=(1, 2), dtype=window.dtype)
        count = window.shape[1] * window.shape[2]
        if window.dtype.kind == "f":
            return total / window.dtype.type(count)
        return np.sign(total) * (np.abs(total) // count)  # truncated as in C++

    def gradient(self, op: Operation, grad: Tensor, *_: Any) -> list[Gradient]:
        back = FractionalAvgPoolGrad(self.overlapping)
        return [back(op.inputs[0].get_shape(), grad, *op.outputs[1:])]


class FractionalMaxPoolGrad(Op):
    """The gradient, added to the first maximum of each window.

    Source: core/ops/nn_ops.cc, FractionalMaxPoolGrad.
    """

    signature = (
        "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
        "col_pooling_sequence: int64 -> output: T"
    )
    T = _NUMBERS
    overlapping: bool = False
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, orig_input: Shape, *_: Shape) -> Shape:
        return shapes.with_rank(orig_input, 4)

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        image, _, grad, rows, columns = shapes
        require(len(image) == 4, "orig_input must be 4-dimensional")
        require(len(grad) == 4, "out_backprop must be 4-dimensional")
        message = "pooling sequences must be vectors, one longer than out_backprop, got"
        fits = rows == (grad[1] + 1,) and columns == (grad[2] + 1,)
        require(fits, message + " %s and %s", rows, columns)

    def compute(
        self, xp: ArrayModule, orig_input: Array, orig_output: Array,
        out_backprop: Array,
        row_pooling_sequence: Array, col_pooling_sequence: Array,
    ) -> Any:  # fmt: skip
        found = np.zeros_like(orig_input)
        ends = row_pooling_sequence, col_pooling_sequence
        _check_backprop(out_backprop, orig_input.shape, *ends)
        images, channels = np.ogrid[: found.shape[0], : found.shape[3]]
        for i, j, down, right in _cells(*ends, found.shape, self.overlapping):
            window = orig_input[:, down, right]
            width = window.shape[2]
            flat = window.reshape(len(window), -1, window.shape[3])
            if not flat.size:
                continue
            best = flat.argmax(axis=1)
            at = images, down.start + best // width, right.start + best % width
            found[(*at, channels)] += out_backprop[:, i, j]
        return found


class FractionalAvgPoolGrad(Op):
    """The gradient, distributed over each window.

    Source: core/ops/nn_ops.cc, FractionalAvgPoolGrad.
    """

    signature = (
        "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
        "col_pooling_sequence: int64 -> output: T"
    )
    T = _NUMBERS
    overlapping: bool = False
    on_gpu: ClassVar[bool] = False
    by_shape: ClassVar[tuple[str, ...]] = ("orig_input_tensor_shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("orig_input_tensor_shape",)

    def infer_shape(self, sizes: Shape, *_: Shape) -> Shape:
        return shapes.with_rank(sizes, 4)

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        size, grad, rows, columns = shapes
        message = "original input tensor shape must be1-dimensional and 4 elements"
        require(size == (4,), message)
        require(len(grad) == 4, "out_backprop must be 4-dimensional")
        message = "pooling sequences must be vectors, one longer than out_backprop, got"
        fits = rows == (grad[1] + 1,) and columns == (grad[2] + 1,)
        require(fits, message + " %s and %s", rows, columns)

    def compute(
        self, xp: ArrayModule, orig_input_tensor_shape: Array, out_backprop: Array,
        row_pooling_sequence: Array, col_pooling_sequence: Array,
    ) -> Any:  # fmt: skip
        sizes = tuple(int(n) for n in orig_input_tensor_shape.reshape(-1))
        ends = row_pooling_sequence, col_pooling_sequence
        _check_backprop(out_backprop, sizes, *ends)
        # Accumulated in float64, as in TensorFlow.
        found = np.zeros(sizes, np.float64)
        for i, j, down, right in _cells(*ends, sizes, self.overlapping):
            part = found[:, down, right]
            share = out_backprop[:, i, j] / (part.shape[1] * part.shape[2])
            part += share[:, None, None]
        return found.astype(out_backprop.dtype)


def _check_backprop(grad: Any, sizes: Any, rows: Any, columns: Any) -> None:
    right = (sizes[0], len(rows) - 1, len(columns) - 1, sizes[3])
    if grad.shape != right:
        raise invalid_argument(
            f"out_backprop must have the shape {shapes.text(right)} of the pooling's "
            f"output, got {shapes.text(grad.shape)}"
        )


_FIELDS = "output", "row_pooling_sequence", "col_pooling_sequence"
_MaxPooled: Any = namedtuple("FractionalMaxPool", _FIELDS)  # type: ignore[misc]
_AvgPooled: Any = namedtuple("FractionalAvgPool", _FIELDS)  # type: ignore[misc]


@export("nn.fractional_max_pool")
def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """The maxima of windows of unequal sizes, redrawn in each run.

    Windows along an axis have floor(r) or floor(r) + 1 elements, so that there are
    floor(size / r) windows.

    Args:
      value: Tensor [batch, height, width, channels] of numbers.
      pooling_ratio: four floats [1, r of rows, r of columns, 1], each r at least 1.
      pseudo_random: derive the sizes from one random number, instead of shuffling them.
      overlapping: a window includes the first element of the next one.
      deterministic: use the same windows in each run.
      seed, seed2: the seeds of deterministic windows; random ones if both are 0.
      name: the op's name.

    Returns:
      A named tuple: output, a Tensor [batch, floor(height / r), floor(width / r),
      channels]; row_pooling_sequence and col_pooling_sequence, int64: the starts of the
      windows, and the end.

    Raises:
      ValueError: `value` has another rank, or `pooling_ratio` is not four numbers.
      tf.errors.InvalidArgumentError: (when run) a ratio is impossible; a seed without
        `deterministic`.

    Example:
      >>> pooled, rows, columns = tf.nn.fractional_max_pool(
      ...     tf.ones([1, 10, 20, 3]), [1.0, 1.44, 1.73, 1.0])  # [1, 6, 11, 3]

    Source: FractionalMaxPool in core/ops/nn_ops.cc; Graham, "Fractional max-pooling"
    (2015).
    """
    how = pseudo_random, overlapping, deterministic, seed, seed2
    op = FractionalMaxPool(pooling_ratio, *how)
    return _MaxPooled(*op(value, name=name))


@export("nn.fractional_avg_pool")
def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """The means of windows of unequal sizes, redrawn in each run.

    For arguments, result and errors see `tf.nn.fractional_max_pool`.  The gradient
    requires a static shape.

    Source: FractionalAvgPool in core/ops/nn_ops.cc.
    """
    how = pseudo_random, overlapping, deterministic, seed, seed2
    op = FractionalAvgPool(pooling_ratio, *how)
    return _AvgPooled(*op(value, name=name))
