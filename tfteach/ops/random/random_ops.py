"""Random ops: the same numbers as TensorFlow's for the same seeds.

Each op has its own stream in each session, which continues from run to run.
Source: core/kernels/random_op.cc, random_shuffle_op.cc, multinomial_op.cc;
python/ops/random_ops.py, python/framework/random_seed.py (names, seeds).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, float32, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op import StatefulOp
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    KernelContext,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.math.binary import add
from tfteach.ops.random import philox
from tfteach.ops.random.philox_on_card import draw, state_of

FLOATS = dtypes_of("half bfloat16 float32 float64")
INDICES = dtypes_of("int32 int64")
DEFAULT_GRAPH_SEED = 87654321
_LARGEST_SEED = 2**31 - 1


# ---- seeds


@export("get_seed", "random.get_seed")
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds of an op, from the graph's seed and the op's.

    Args:
      op_seed: the op's seed, or None.

    Returns:
      (seed, seed2): the graph's seed (87654321 if only the op has one) and the op's
      seed (if only the graph has one, the number of the last op, or the next seed of
      eager execution); (None, None) if neither is set: each session then draws
      different numbers.

    Source: python/framework/random_seed.py.
    """
    if isinstance(op_seed, np.integer):
        op_seed = int(op_seed)  # its type may be too small for the values below
    graph = get_default_graph()
    if graph.seed is not None:
        if op_seed is None:
            graph.seed_used = True
        own = graph.next_op_seed() if op_seed is None else op_seed
        seeds = graph.seed % _LARGEST_SEED, own % _LARGEST_SEED
        return (0, _LARGEST_SEED) if seeds == (0, 0) else seeds
    if op_seed is None:
        return None, None
    return DEFAULT_GRAPH_SEED, op_seed % _LARGEST_SEED


def seeds_of(op_seed: int | None) -> tuple[int, int]:
    """`get_seed` as attributes of an op: None becomes 0."""
    seed, seed2 = get_seed(op_seed)
    return 0 if seed is None else seed, 0 if seed2 is None else seed2


def stream(ctx: KernelContext, kind: Any) -> philox.Stream:
    """The random stream of an op in its session."""
    return ctx.once(lambda: philox.Stream(kind.seed, kind.seed2))


def _sizes(shape: Any) -> tuple[int, ...]:
    if np.ndim(shape) != 1:
        text = ",".join(map(str, np.shape(shape)))
        raise invalid_argument(
            f"shape must be a vector of {{int32,int64}}, got shape [{text}]"
        )
    return tuple(int(n) for n in shape)


# ---- ops


class _RandomOp(StatefulOp, abstract=True):
    """Independent numbers of one distribution, of a given shape."""

    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape",)
    has_host_part: ClassVar[bool] = True
    draw: ClassVar[Any]
    distribution: ClassVar[str]

    def infer_shape(self, shape: Shape) -> Shape:
        return shape

    def _reserved(self, ctx: KernelContext, count: int) -> philox.Philox:
        return stream(ctx, self).reserve(count * philox.RESERVED_BLOCKS)

    def compute(self, ctx: KernelContext, shape: Any) -> Any:
        sizes = _sizes(shape)
        count = philox.count_of(sizes)
        dtype = self.dtype.numpy_dtype  # type: ignore[attr-defined]
        numbers = type(self).draw(self._reserved(ctx, count), count, dtype)
        return numbers.astype(dtype, copy=False).reshape(sizes)

    def compute_on_card(self, ctx: KernelContext, shape: Any) -> Any:
        dtype = self.dtype.numpy_dtype  # type: ignore[attr-defined]
        return self.card_part(ctx.xp, _sizes(shape), dtype, self.host_part(ctx, shape))

    def host_part(self, ctx: KernelContext, shape: Any) -> Any:
        return state_of(self._reserved(ctx, philox.count_of(_sizes(shape))))

    def card_part(
        self, xp: ArrayModule, sizes: Sequence[int], dtype: np.dtype[Any], taken: Any
    ) -> Any:
        return draw(xp, self.distribution, sizes, dtype, taken)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class RandomUniform(_RandomOp):
    """Numbers in [0, 1).  Source: core/ops/random_ops.cc, RandomUniform."""

    signature = "shape: T -> output: dtype"
    T = INDICES
    seed: int = 0
    seed2: int = 0
    dtype: DType  # type: ignore[misc]  # the order is TensorFlow's
    dtype_allowed = FLOATS

    draw: ClassVar[Any] = staticmethod(philox.uniform)
    distribution: ClassVar[str] = "uniform"


class RandomStandardNormal(_RandomOp):
    """Standard normal numbers.  Source: random_ops.cc, RandomStandardNormal."""

    signature = "shape: T -> output: dtype"
    T = INDICES
    seed: int = 0
    seed2: int = 0
    dtype: DType  # type: ignore[misc]  # the order is TensorFlow's
    dtype_allowed = FLOATS

    draw: ClassVar[Any] = staticmethod(philox.normal)
    distribution: ClassVar[str] = "normal"


class TruncatedNormal(_RandomOp):
    """Normal numbers within two standard deviations.

    Source: core/ops/random_ops.cc, TruncatedNormal.
    """

    signature = "shape: T -> output: dtype"
    T = INDICES
    seed: int = 0
    seed2: int = 0
    dtype: DType  # type: ignore[misc]  # the order is TensorFlow's
    dtype_allowed = FLOATS

    draw: ClassVar[Any] = staticmethod(philox.truncated_normal)
    distribution: ClassVar[str] = "truncated_normal"


class RandomUniformInt(StatefulOp):
    """Integers in [minval, maxval).  Source: random_ops.cc, RandomUniformInt."""

    signature = "shape: T, minval: Tout, maxval: Tout -> output: Tout"
    T = INDICES
    Tout = INDICES
    seed: int = 0
    seed2: int = 0

    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape", "minval", "maxval")
    has_host_part: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, shape: Shape, minval: Shape, maxval: Shape) -> Shape:
        shapes.with_rank(minval, 0)
        shapes.with_rank(maxval, 0)
        return shape

    def compute(
        self, ctx: KernelContext, shape: Any, minval: Array, maxval: Array
    ) -> Any:
        sizes, low, high = _sizes(shape), int(minval), int(maxval)
        generator = self._reserved(ctx, sizes, low, high)
        dtype = np.asarray(minval).dtype
        numbers = philox.uniform_int(generator, math.prod(sizes), low, high, dtype)
        return numbers.reshape(sizes)

    def _reserved(
        self, ctx: KernelContext, sizes: Sequence[int], low: int, high: int
    ) -> philox.Philox:
        count = philox.count_of(sizes)
        if count and low >= high:
            raise invalid_argument(f"Need minval < maxval, got {low} >= {high}")
        return stream(ctx, self).reserve(count * philox.RESERVED_BLOCKS)

    def compute_on_card(
        self, ctx: KernelContext, shape: Any, minval: Array, maxval: Array
    ) -> Any:
        taken = self.host_part(ctx, shape, minval, maxval)
        return self.card_part(ctx.xp, _sizes(shape), np.asarray(minval).dtype, taken)

    def host_part(
        self, ctx: KernelContext, shape: Any, minval: Array, maxval: Array
    ) -> Any:
        low, high = int(minval), int(maxval)
        return state_of(self._reserved(ctx, _sizes(shape), low, high), low, high)

    def card_part(
        self, xp: ArrayModule, sizes: Sequence[int], dtype: np.dtype[Any], taken: Any
    ) -> Any:
        return draw(xp, "integers", sizes, dtype, taken)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None]


class RandomShuffle(StatefulOp):
    """The rows in random order.  Source: core/ops/random_ops.cc, RandomShuffle."""

    signature = "value: T -> output: T"
    seed: int = 0
    seed2: int = 0

    def infer_shape(self, value: Shape) -> Shape:
        return value

    def compute(self, ctx: KernelContext, value: Array) -> Any:
        size = value.shape[0] if value.ndim else 1
        if value.size <= 1 or size <= 1:
            return ctx.xp.array(value)
        generator = stream(ctx, self).reserve((size + 2) // 4)
        return value[ctx.xp.asarray(philox.permutation(generator, size))]


class Multinomial(StatefulOp):
    """Classes drawn from unnormalized log-probabilities.

    Source: core/ops/random_ops.cc, Multinomial.
    """

    signature = "logits: T, num_samples: int32 -> output: output_dtype"
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"num_samples": 0}
    T = dtypes_of(
        "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 "
        "uint64"
    )
    seed: int = 0
    seed2: int = 0
    output_dtype: DType = int64
    output_dtype_allowed = INDICES

    by_value: ClassVar[tuple[str, ...]] = ("num_samples",)
    host_inputs: ClassVar[tuple[str, ...]] = ("logits", "num_samples")

    def infer_shape(self, logits: Shape, num_samples: Any) -> Shape:
        batch, _ = shapes.with_rank(logits, 2)
        return batch, None if num_samples is None else int(num_samples)

    def compute(self, ctx: KernelContext, logits: Array, num_samples: Array) -> Any:
        logits = np.asarray(logits)
        batch, count = len(logits), self.checked_count(logits, num_samples)
        kind = self.output_dtype.numpy_dtype
        if batch * count == 0:
            return ctx.xp.empty((batch, count), kind)
        reserved = batch * (-(-count // 4) * 4) * 2 * philox.RESERVED_BLOCKS
        generator = stream(ctx, self).reserve(reserved)
        return ctx.xp.asarray(philox.choices(generator, logits, count).astype(kind))

    @staticmethod
    def checked_count(logits: Any, num_samples: Any) -> int:
        """The number of samples; raises InvalidArgumentError if it is invalid."""
        count = int(num_samples)
        if logits.ndim != 2:
            raise invalid_argument(
                f"logits should be a matrix, got shape {shapes.text(logits.shape)}"
            )
        if count < 0:
            raise invalid_argument(f"num_samples should be nonnegative, got {count}")
        if logits.shape[1] <= 0:
            raise invalid_argument(
                f"num_classes should be positive, got {logits.shape[1]}"
            )
        return count

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


# ---- public functions


def shape_tensor(shape: Any) -> Tensor:
    """A shape argument as a Tensor named "shape"."""
    dtype = None
    if isinstance(shape, list | tuple):
        dtype = int32 if not shape else None
        shape = [dimension_value(n) for n in shape]
    return convert(shape, dtype, "shape")


@export("random_normal", "random.normal")
def random_normal(
    shape: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers from a normal distribution.

    Args:
      shape: the result's shape: ints, or an int Tensor [rank].
      mean, stddev: scalars, or tensors that broadcast against the shape.
      dtype: a float type.
      seed: makes the numbers the same in every session (see `tf.get_seed`).
      name: the name scope of its ops.

    Returns:
      A Tensor of that shape and type.

    Example:
      >>> with tf.Session() as sess:
      ...     sess.run(tf.random_normal([2], seed=1))
      array([-0.8113182,  1.4845988], dtype=float32)

    Source: python/ops/random_ops.py; RandomStandardNormal.
    """
    return _scaled(RandomStandardNormal, "random_normal", shape, mean, stddev, dtype,
                   seed, name)  # fmt: skip


@export("truncated_normal", "random.truncated_normal")
def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers, redrawn while more than 2 `stddev` from `mean`.

    The arguments are those of `tf.random_normal`.
    """
    return _scaled(TruncatedNormal, "truncated_normal", shape, mean, stddev, dtype,
                   seed, name)  # fmt: skip


def _scaled(
    kind: Any, default: str, shape: Any, mean: Any, stddev: Any, dtype: DTypeLike,
    seed: int | None, name: str | None,
) -> Tensor:  # fmt: skip
    dtype = as_dtype(dtype)
    with name_scope(name, default, [shape, mean, stddev]) as scope:
        sizes = shape_tensor(shape)
        mean = convert(mean, dtype, "mean")
        stddev = convert(stddev, dtype, "stddev")
        numbers = kind(*seeds_of(seed), dtype)(sizes)
        return add(numbers * stddev, mean, name=scope)


@export("random_uniform", "random.uniform")
def random_uniform(
    shape: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers from a uniform distribution on [minval, maxval).

    Args:
      shape: the result's shape: ints, or an int Tensor [rank].
      minval, maxval: the bounds; `maxval` defaults to 1 for float types and is required
        for integers.
      dtype: float16, bfloat16, float32, float64, int32 or int64.
      seed: makes the numbers the same in every session (see `tf.get_seed`).
      name: the name scope of its ops.

    Returns:
      A Tensor of that shape and type.

    Raises:
      ValueError: `dtype` is not one of these, or an integer type has no `maxval`.

    Source: python/ops/random_ops.py; RandomUniform, RandomUniformInt.
    """
    dtype = as_dtype(dtype)
    if dtype not in FLOATS + INDICES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        low = convert(minval, dtype, "min")
        high = convert(maxval, dtype, "max")
        seeds = seeds_of(seed)
        if dtype.is_integer:
            return RandomUniformInt(*seeds)(sizes, low, high, name=scope)
        numbers = RandomUniform(*seeds, dtype)(sizes)
        return add(numbers * (high - low), low, name=scope)


@export("random_shuffle", "random.shuffle")
def random_shuffle(
    value: TensorLike, seed: int | None = None, name: str | None = None
) -> Tensor:
    """`value` with its rows (entries along the first axis) in random order."""
    return RandomShuffle(*seeds_of(seed))(value, name=name)


@export("multinomial", "random.multinomial")
def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:
    """Classes drawn with probabilities softmax(logits).

    Args:
      logits: Tensor [batch, classes], unnormalized log-probabilities.
      num_samples: int32 scalar, the number of draws per row.
      seed: makes the draws the same in every session.
      name: the name scope of its ops.
      output_dtype: int32 or int64 (the default).

    Returns:
      A Tensor [batch, num_samples] of class indices.
    """
    return _drawn("multinomial", logits, num_samples, output_dtype, seed, name)


@export("random.categorical")
def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Classes drawn with probabilities softmax(logits); see `tf.multinomial`."""
    return _drawn("categorical", logits, num_samples, dtype, seed, name)


def _drawn(
    default: str,
    logits: Any,
    count: Any,
    dtype: DTypeLike | None,
    seed: int | None,
    name: str | None,
) -> Tensor:
    with name_scope(name, default, [logits]):
        logits = convert(logits, None, "logits")
        kind = int64 if dtype is None else as_dtype(dtype)
        return Multinomial(*seeds_of(seed), kind)(logits, count)
