"""Random numbers that depend only on their seeds.

Source: core/ops/stateless_random_ops.cc, core/kernels/stateless_random_ops.cc,
python/ops/stateless_random_ops.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, float32, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_matrix,
    require_scalar,
    require_vector,
)
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.math.binary import add
from tfteach.ops.random import philox
from tfteach.ops.random.philox_on_card import draw, state_of
from tfteach.ops.random.random_ops import FLOATS, INDICES, Multinomial, shape_tensor

_SCRAMBLING_KEY = 0x3EC8F720, 0x02461E29
_MASK64 = (1 << 64) - 1


def generator_of(seed: TensorLike) -> philox.Philox:
    """The generator for a pair of seeds; like TF it first mixes them by one block."""
    first, second = (int(n) & _MASK64 for n in np.asarray(seed))
    scrambler = philox.Philox(first | second << 64, _SCRAMBLING_KEY)
    mixed = [int(word) for word in scrambler.blocks(1)[0]]
    return philox.Philox(mixed[2] << 64 | mixed[3] << 96, (mixed[0], mixed[1]))


def _seed_shape(seed: Shape) -> None:
    sizes = shapes.with_rank(seed, 1)
    if sizes[0] not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {sizes[0]}")


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in np.asarray(shape).reshape(-1))


def _check_bounds(sizes: Sequence[int], low: int, high: int) -> None:
    philox.count_of(sizes)
    if low >= high:
        raise invalid_argument(f"Need minval < maxval, got {low} >= {high}")


class _Stateless(Op, abstract=True):
    """Numbers of one distribution, of a given shape."""

    signature = "shape: T, seed: Tseed -> output: dtype"
    dtype: DType = float32
    dtype_allowed = FLOATS
    T = INDICES
    T_default = int32
    Tseed = INDICES
    Tseed_default = int64
    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape", "seed")
    has_host_part: ClassVar[bool] = True
    draw: ClassVar[Any]
    distribution: ClassVar[str]

    def infer_shape(self, shape: Shape, seed: Shape) -> Shape:
        _seed_shape(seed)
        return shape

    def check_shapes(self, shape: tuple[int, ...], seed: tuple[int, ...]) -> None:
        require_vector(shape, "shape must be a vector of {int32,int64}, got shape %s")
        require(seed == (2,), "seed must have shape [2], not %s", seed)

    def compute(self, xp: ArrayModule, shape: Any, seed: Any) -> Any:
        sizes = _sizes(shape)
        count = philox.count_of(sizes)
        dtype = self.dtype.numpy_dtype
        numbers = type(self).draw(generator_of(seed), count, dtype)
        return numbers.astype(dtype, copy=False).reshape(sizes)

    def compute_on_card(self, xp: ArrayModule, shape: Any, seed: Any) -> Any:
        taken = self.host_part(xp, shape, seed)
        return self.card_part(xp, _sizes(shape), self.dtype.numpy_dtype, taken)

    def host_part(self, first: Any, shape: Any, seed: Any) -> Any:
        philox.count_of(_sizes(shape))
        return state_of(generator_of(seed))

    def card_part(
        self, xp: ArrayModule, sizes: Sequence[int], dtype: np.dtype[Any], taken: Any
    ) -> Any:
        return draw(xp, self.distribution, sizes, dtype, taken)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class StatelessRandomUniform(_Stateless):
    """Numbers in [0, 1).  Source: stateless_random_ops.cc, StatelessRandomUniform."""

    draw: ClassVar[Any] = staticmethod(philox.uniform)
    distribution: ClassVar[str] = "uniform"


class StatelessRandomNormal(_Stateless):
    """Standard normal numbers.  Source: StatelessRandomNormal."""

    draw: ClassVar[Any] = staticmethod(philox.normal)
    distribution: ClassVar[str] = "normal"


class StatelessTruncatedNormal(_Stateless):
    """Normal numbers within two standard deviations.

    Source: core/ops/stateless_random_ops.cc, StatelessTruncatedNormal.
    """

    draw: ClassVar[Any] = staticmethod(philox.truncated_normal)
    distribution: ClassVar[str] = "truncated_normal"


class StatelessRandomUniformInt(Op):
    """Integers in [minval, maxval).  Source: StatelessRandomUniformInt."""

    signature = "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype"
    dtype = INDICES
    T = INDICES
    Tseed = INDICES
    Tseed_default = int64
    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape", "seed", "minval", "maxval")
    has_host_part: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(
        self, shape: Shape, seed: Shape, minval: Shape, maxval: Shape
    ) -> Shape:
        _seed_shape(seed)
        shapes.with_rank(minval, 0)
        shapes.with_rank(maxval, 0)
        return shape

    def check_shapes(
        self,
        shape: tuple[int, ...],
        seed: tuple[int, ...],
        minval: tuple[int, ...],
        maxval: tuple[int, ...],
    ) -> None:
        require_vector(shape, "shape must be a vector of {int32,int64}, got shape %s")
        require(seed == (2,), "seed must have shape [2], not %s", seed)
        require_scalar(minval, "minval must be 0-D, got shape %s")
        require_scalar(maxval, "maxval must be 0-D, got shape %s")

    def compute(
        self, xp: ArrayModule, shape: Any, seed: Any, minval: Array, maxval: Array
    ) -> Any:
        sizes, low, high = _sizes(shape), int(minval), int(maxval)
        _check_bounds(sizes, low, high)
        dtype, generator = np.asarray(minval).dtype, generator_of(seed)
        numbers = philox.uniform_int(generator, math.prod(sizes), low, high, dtype)
        return numbers.reshape(sizes)

    def compute_on_card(
        self, xp: ArrayModule, shape: Any, seed: Any, minval: Array, maxval: Array
    ) -> Any:
        taken = self.host_part(xp, shape, seed, minval, maxval)
        return self.card_part(xp, _sizes(shape), np.asarray(minval).dtype, taken)

    def host_part(
        self, first: Any, shape: Any, seed: Any, minval: Array, maxval: Array
    ) -> Any:
        low, high = int(minval), int(maxval)
        _check_bounds(_sizes(shape), low, high)
        return state_of(generator_of(seed), low, high)

    def card_part(
        self, xp: ArrayModule, sizes: Sequence[int], dtype: np.dtype[Any], taken: Any
    ) -> Any:
        return draw(xp, "integers", sizes, dtype, taken)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None, None]


class StatelessMultinomial(Op):
    """Classes drawn from unnormalized log-probabilities.

    Source: core/ops/stateless_random_ops.cc, StatelessMultinomial.
    """

    signature = "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype"
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"num_samples": 0}
    T = Multinomial.T
    Tseed = INDICES
    Tseed_default = int64
    output_dtype: DType = int64
    output_dtype_allowed = dtypes_of("int32 int64")
    by_value: ClassVar[tuple[str, ...]] = ("num_samples",)
    host_inputs: ClassVar[tuple[str, ...]] = ("logits", "num_samples", "seed")

    def infer_shape(self, logits: Shape, num_samples: Any, seed: Shape) -> Shape:
        _seed_shape(seed)
        batch, _ = shapes.with_rank(logits, 2)
        return batch, None if num_samples is None else int(num_samples)

    def check_shapes(
        self,
        logits: tuple[int, ...],
        num_samples: tuple[int, ...],
        seed: tuple[int, ...],
    ) -> None:
        require_matrix(logits, "logits should be a matrix, got shape %s")
        require_scalar(num_samples, "num_samples should be a scalar, got shape %s")
        require(seed == (2,), "seed must have shape [2], not %s", seed)

    def compute(
        self, xp: ArrayModule, logits: Any, num_samples: Array, seed: Any
    ) -> Any:
        count = Multinomial.checked_count(logits, num_samples)
        kind = self.output_dtype.numpy_dtype
        if not len(logits) * count:
            return xp.empty((len(logits), count), kind)
        drawn = philox.choices(generator_of(seed), np.asarray(logits), count)
        return xp.asarray(drawn.astype(kind))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None]


# ---- public functions


@export("random.stateless_uniform")
def stateless_random_uniform(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """Numbers from a uniform distribution, the same for the same seed.

    Args:
      shape: the result's shape.
      seed: int Tensor [2].
      minval, maxval: the bounds; `maxval` defaults to 1 for float types and is required
        for integers.
      dtype: float16, bfloat16, float32, float64, int32 or int64.
      name: the name of the scope.

    Returns:
      A Tensor of that shape and type.

    Raises:
      ValueError: `dtype` is not one of these, or an integer type has no `maxval`.

    Example:
      >>> tf.Session().run(tf.random.stateless_uniform([2], seed=[1, 2]))
      array([0.9874259 , 0.03909564], dtype=float32)

    Source: python/ops/stateless_random_ops.py.
    """
    dtype = as_dtype(dtype)
    if dtype not in FLOATS + INDICES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    values = [shape, seed, minval, maxval]
    with name_scope(name, "stateless_random_uniform", values) as scope:
        sizes = shape_tensor(shape)
        low, high = convert(minval, dtype, "min"), convert(maxval, dtype, "max")
        if dtype.is_integer:
            return StatelessRandomUniformInt()(sizes, seed, low, high, name=scope)
        numbers = StatelessRandomUniform(dtype)(sizes, seed)
        return add(numbers * (high - low), low, name=scope)


def _scaled(
    kind: Any, default: str, shape: Any, seed: TensorLike, mean: Any, stddev: Any,
    dtype: DTypeLike,
    name: str | None,
) -> Tensor:  # fmt: skip
    dtype = as_dtype(dtype)
    with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
        sizes = shape_tensor(shape)
        mean, stddev = convert(mean, dtype, "mean"), convert(stddev, dtype, "stddev")
        numbers = kind(dtype)(sizes, seed)
        return add(numbers * stddev, mean, name=scope)


@export("random.stateless_normal")
def stateless_random_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """Numbers from a normal distribution, the same for the same seed.

    Args:
      shape: the result's shape.
      seed: int Tensor [2].
      mean, stddev: scalars, or tensors that broadcast against the shape.
      dtype: a float type.
      name: the name of the scope.

    Returns:
      A Tensor of that shape and type.

    Source: python/ops/stateless_random_ops.py.
    """
    return _scaled(StatelessRandomNormal, "stateless_random_normal", shape, seed, mean,
                   stddev, dtype, name)  # fmt: skip


@export("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """Truncated normal numbers; see `tf.random.stateless_normal`."""
    return _scaled(StatelessTruncatedNormal, "stateless_truncated_normal", shape, seed,
                   mean, stddev, dtype, name)  # fmt: skip


def _drawn(
    default: str,
    logits: Any,
    count: Any,
    seed: TensorLike,
    dtype: DTypeLike,
    name: str | None,
) -> Tensor:
    with name_scope(name, default, [logits, seed]):
        logits = convert(logits, name="logits")
        return StatelessMultinomial(as_dtype(dtype))(logits, count, seed)


@export("random.stateless_multinomial")
def stateless_multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """Classes drawn with probabilities softmax(logits), the same for the same seed.

    Args:
      logits: Tensor [batch, classes], unnormalized log-probabilities.
      num_samples: int32 scalar, the number of draws per row.
      seed: int Tensor [2].
      output_dtype: int32 or int64.
      name: the name of the scope.

    Returns:
      A Tensor [batch, num_samples] of class indices.
    """
    default = "stateless_multinomial"
    return _drawn(default, logits, num_samples, seed, output_dtype, name)


@export("random.stateless_categorical")
def stateless_categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """Classes drawn by their logits; see `tf.random.stateless_multinomial`."""
    return _drawn("stateless_categorical", logits, num_samples, seed, dtype, name)
