"""Initial values of variables: `tf.zeros_initializer`, `tf.initializers.he_normal` ...

An initializer is called with a shape (and an element type) and returns the tensor that
the variable's initializer assigns.
Source: python/ops/init_ops.py (API, node names, formulas).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.array.slicing import Slice
from tfteach.ops.array.transpose_reverse import matrix_transpose
from tfteach.ops.core import fill
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import Reshape
from tfteach.ops.linalg.matrix_diag import DiagPart, eye
from tfteach.ops.linalg.qr import Qr
from tfteach.ops.math.unary import Sign
from tfteach.ops.random.random_ops import (
    random_normal,
    random_uniform,
    truncated_normal,
)

if TYPE_CHECKING:
    from tfteach.variables.scope.store import PartitionInfo

Draw = Callable[..., Tensor]


class Initializer:
    """Base of the initializers: creates the initial value of a given shape.

    Args of a call:
      shape: the variable's shape, a list of ints.
      dtype: its element type; the initializer's if None.
      partition_info: for a partition: `full_shape`, `var_offset`.
    """

    dtype: DType
    seed: int | None = None
    _config: ClassVar[tuple[str, ...]] = ()  # the names of the arguments

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: Any = None,
    ) -> Tensor:
        raise NotImplementedError

    def _type(self, dtype: DTypeLike | None) -> DType:
        return self.dtype if dtype is None else as_dtype(dtype)

    def _draw(
        self, draw: Draw, shape: Any, first: Any, second: Any, dtype: DType
    ) -> Tensor:
        """Random numbers, by a function that takes two parameters of a distribution."""
        return draw(shape, first, second, dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        """The arguments that create an equal initializer."""
        found = {name: getattr(self, name) for name in self._config}
        if "dtype" in found:
            found["dtype"] = self.dtype.name
        return found

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The initializer of a `get_config` result."""
        return cls(**config)


def float_type(dtype: DTypeLike) -> DType:
    """The type.  Raises: ValueError: it isn't floating."""
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


@export("zeros_initializer", "initializers.zeros")
class Zeros(Initializer):
    """All zeros."""

    _config: ClassVar[tuple[str, ...]] = ("dtype",)

    def __init__(self, dtype: DTypeLike = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        return fill.zeros(shape, self._type(dtype))


@export("ones_initializer", "initializers.ones")
class Ones(Initializer):
    """All ones."""

    _config: ClassVar[tuple[str, ...]] = ("dtype",)

    def __init__(self, dtype: DTypeLike = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        return fill.ones(shape, self._type(dtype))


@export("constant_initializer", "initializers.constant")
class Constant(Initializer):
    """A constant value, or the values of an array in order.

    Args:
      value: a number, list or array; if it has fewer elements than the variable, the
        last one is repeated.
      dtype: the element type if the variable does not specify it.
      verify_shape: raise unless `value` has exactly the variable's shape.

    Raises:
      TypeError: `value` is not a number, list, tuple or array.

    Example:
      >>> b = tf.get_variable("b", [3], initializer=tf.constant_initializer(0.1))
    """

    _config: ClassVar[tuple[str, ...]] = ("value", "dtype")

    def __init__(
        self,
        value: TensorLike = 0,
        dtype: DTypeLike = float32,
        verify_shape: bool = False,
    ) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python "
                "scalar, list or tuple of values, or numpy.ndarray)."
            )
        self.value = value
        self.dtype = as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, self._type(dtype), shape, verify_shape=verify)


@export("random_uniform_initializer", "initializers.random_uniform")
class RandomUniform(Initializer):
    """Numbers from [minval, maxval); see `tf.random_uniform`."""

    _config: ClassVar[tuple[str, ...]] = ("minval", "maxval", "seed", "dtype")

    def __init__(
        self,
        minval: TensorLike = 0,
        maxval: TensorLike | None = None,
        seed: int | None = None,
        dtype: DTypeLike = float32,
    ) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed
        self.dtype = as_dtype(dtype)

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        kind = self._type(dtype)
        return self._draw(random_uniform, shape, self.minval, self.maxval, kind)


class _Normal(Initializer):
    _config: ClassVar[tuple[str, ...]] = ("mean", "stddev", "seed", "dtype")

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        seed: int | None = None,
        dtype: DTypeLike = float32,
    ) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = float_type(dtype)


@export("random_normal_initializer", "initializers.random_normal")
class RandomNormal(_Normal):
    """Normal numbers; see `tf.random_normal`."""

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        kind = self._type(dtype)
        return self._draw(random_normal, shape, self.mean, self.stddev, kind)


@export("truncated_normal_initializer", "initializers.truncated_normal")
class TruncatedNormal(_Normal):
    """Normal numbers within two `stddev` of `mean`; see `tf.truncated_normal`."""

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        kind = self._type(dtype)
        return self._draw(truncated_normal, shape, self.mean, self.stddev, kind)


@export("uniform_unit_scaling_initializer", "initializers.uniform_unit_scaling")
class UniformUnitScaling(Initializer):
    """Uniform numbers that preserve the scale of the input.

    From [-m, m) with m = factor * sqrt(3 / n), n the product of all sizes except the
    last.

    Paper: Sussillo and Abbott, "Random walk initialization" (2014).
    """

    _config: ClassVar[tuple[str, ...]] = ("factor", "seed", "dtype")

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = float32
    ) -> None:
        self.factor, self.seed = factor, seed
        self.dtype = float_type(dtype)

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        whole: Any = shape if partition_info is None else partition_info.full_shape
        inputs = max(math.prod(float(n) for n in list(whole)[:-1]), 1.0)
        bound = math.sqrt(3 / inputs) * self.factor
        return self._draw(random_uniform, shape, -bound, bound, self._type(dtype))


@export("variance_scaling_initializer", "initializers.variance_scaling")
class VarianceScaling(Initializer):
    """Numbers with variance scale / n, where n is the fan-in, fan-out or their mean.

    Args:
      scale: a positive float.
      mode: "fan_in", "fan_out" or "fan_avg".
      distribution: "truncated_normal" (or "normal"), "untruncated_normal", "uniform".
      seed: see `tf.random_normal`.
      dtype: a float type.

    Raises:
      ValueError: an argument has an unsupported value.

    Paper: He et al., "Delving deep into rectifiers" (2015), equation 10.
    """

    _config: ClassVar[tuple[str, ...]] = (
        "scale",
        "mode",
        "distribution",
        "seed",
        "dtype",
    )
    # The standard deviation of a normal distribution truncated at 2.
    _TRUNCATED_STDDEV = 0.87962566103423978

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        kinds = ("normal", "uniform", "truncated_normal", "untruncated_normal")
        if distribution not in kinds:
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.seed = seed
        self.dtype = float_type(dtype)

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        kind = self._type(dtype)
        whole = shape if partition_info is None else partition_info.full_shape
        fan_in, fan_out = fans(whole)
        fan = {"fan_in": fan_in, "fan_out": fan_out}.get(
            self.mode, (fan_in + fan_out) / 2.0
        )
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            bound = math.sqrt(3.0 * variance)
            return self._draw(random_uniform, shape, -bound, bound, kind)
        stddev = math.sqrt(variance)
        if self.distribution == "untruncated_normal":
            return self._draw(random_normal, shape, 0.0, stddev, kind)
        stddev /= self._TRUNCATED_STDDEV
        return self._draw(truncated_normal, shape, 0.0, stddev, kind)


def fans(shape: Any) -> tuple[int, int]:
    """(fan-in, fan-out) of weights; for convolutions multiplied by the window size."""
    sizes = [int(n) for n in shape]
    if len(sizes) < 2:
        return (sizes[0], sizes[0]) if sizes else (1, 1)
    window = math.prod(sizes[:-2])
    return sizes[-2] * window, sizes[-1] * window


@export("glorot_uniform_initializer", "initializers.glorot_uniform")
class GlorotUniform(VarianceScaling):
    """Uniform in +-sqrt(6 / (fan_in + fan_out)): `get_variable`'s default.

    Paper: Glorot and Bengio, "Understanding the difficulty of training deep
    feedforward neural networks" (2010).
    """

    _config: ClassVar[tuple[str, ...]] = ("seed", "dtype")

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


@export("glorot_normal_initializer", "initializers.glorot_normal")
class GlorotNormal(VarianceScaling):
    """Truncated normal of variance 2 / (fan_in + fan_out); see `GlorotUniform`."""

    _config: ClassVar[tuple[str, ...]] = ("seed", "dtype")

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


@export("initializers.lecun_normal")
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 1 / fan_in."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@export("initializers.lecun_uniform")
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 1 / fan_in."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@export("initializers.he_normal")
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / fan_in, designed for ReLU."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@export("initializers.he_uniform")
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 2 / fan_in, designed for ReLU."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


@export("orthogonal_initializer", "initializers.orthogonal")
class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, multiplied by `gain`.

    The Q of a QR decomposition of normal numbers; with more than two axes, all but the
    last are merged.

    Paper: Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep
    linear neural networks" (2014).
    """

    _config: ClassVar[tuple[str, ...]] = ("gain", "seed", "dtype")

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = float32
    ) -> None:
        self.gain, self.seed = gain, seed
        self.dtype = float_type(dtype)

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        kind = self._type(dtype)
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional"
            )
        *outer, columns = (int(n) for n in shape)
        rows = math.prod(outer)
        flat = (max(rows, columns), min(rows, columns))
        normal = self._draw(random_normal, flat, 0.0, 1.0, kind)
        q, r = Qr(full_matrices=False)(normal)
        q *= Sign()(DiagPart()(r))  # makes the distribution uniform
        if rows < columns:
            q = matrix_transpose(q)
        return self.gain * Reshape()(q, shape)


@export("initializers.identity")
class Identity(Initializer):
    """The identity matrix multiplied by `gain`; for matrices only."""

    _config: ClassVar[tuple[str, ...]] = ("gain", "dtype")

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = float32) -> None:
        self.gain = gain
        self.dtype = float_type(dtype)

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        whole: Any = shape if partition_info is None else partition_info.full_shape
        if len(whole) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices."
            )
        if isinstance(whole, TensorShape):
            whole = whole.as_list()
        matrix = eye(whole[0], whole[1], dtype=self._type(dtype))
        if partition_info is not None:
            matrix = Slice()(matrix, partition_info.var_offset, shape)
        return self.gain * matrix
