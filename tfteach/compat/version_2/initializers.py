"""`tf.compat.v2.initializers`: the type is an argument of the call alone.

With a seed each call returns the same numbers.
Source: python/ops/init_ops_v2.py (API, ops).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tfteach.compat.version_2.control_flow import constant_v2
from tfteach.framework.dtypes import DType, as_dtype, float32, string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.core import fill
from tfteach.ops.random.random_ops import (
    random_normal,
    random_uniform,
    truncated_normal,
)
from tfteach.ops.random.stateless_random import (
    stateless_random_normal,
    stateless_random_uniform,
    stateless_truncated_normal,
)
from tfteach.variables import initializers as v1
from tfteach.variables.initializers import Draw, float_type

if TYPE_CHECKING:
    from tfteach.variables.scope.store import PartitionInfo

# Of each function the one that draws the same numbers for the same seeds.
_STATELESS: dict[Draw, Draw] = {
    random_uniform: stateless_random_uniform,
    random_normal: stateless_random_normal,
    truncated_normal: stateless_truncated_normal,
}


@export(v2="initializers.Initializer")
class InitializerV2(v1.Initializer):
    """Base of the initializers: creates the initial value of a given shape.

    Args of a call:
      shape: the variable's shape, a list of ints.
      dtype: its element type; float32 by default.
    """

    dtype = float32

    def _draw(
        self, draw: Draw, shape: Any, first: Any, second: Any, dtype: DType
    ) -> Tensor:
        if not self.seed:
            return draw(shape, first, second, dtype)
        return _STATELESS[draw](shape, [self.seed, 0], first, second, dtype)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The initializer of a `get_config` result, of either version."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


class _OfFloats(InitializerV2):
    def _type(self, dtype: DTypeLike | None) -> DType:
        return float_type(self.dtype if dtype is None else dtype)


@export(v2="zeros_initializer initializers.zeros initializers.Zeros")
class ZerosV2(InitializerV2):
    """All zeros."""

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        return fill.zeros(shape, self._type(dtype))


@export(v2="ones_initializer initializers.ones initializers.Ones")
class OnesV2(InitializerV2):
    """All ones."""

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        kind = self._type(dtype)
        if not kind.is_numpy_compatible or kind == string:
            raise ValueError(f"Expected numeric or boolean dtype, got {kind}.")
        return fill.ones(shape, kind)


@export(v2="constant_initializer initializers.constant initializers.Constant")
class ConstantV2(InitializerV2, v1.Constant):
    """A constant value, or the values of an array in order; of its type by default.

    Args:
      value: a number, list or array.

    Raises:
      TypeError: `value` is not a number, list, tuple or array.
    """

    _config: ClassVar[tuple[str, ...]] = ("value",)

    def __init__(self, value: TensorLike = 0) -> None:
        super().__init__(value)

    def __call__(
        self,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
        verify_shape: bool | None = True,
    ) -> Tensor:
        kind = None if dtype is None else as_dtype(dtype)
        return constant_v2(self.value, kind, shape)


@export(v2="random_uniform_initializer initializers.RandomUniform")
class RandomUniformV2(InitializerV2, v1.RandomUniform):
    """Numbers from [minval, maxval), of a float or integer type."""

    _config: ClassVar[tuple[str, ...]] = ("minval", "maxval", "seed")

    def __init__(
        self,
        minval: TensorLike = -0.05,
        maxval: TensorLike | None = 0.05,
        seed: int | None = None,
    ) -> None:
        super().__init__(minval, maxval, seed)

    def _type(self, dtype: DTypeLike | None) -> DType:
        kind = super()._type(dtype)
        if not kind.is_floating and not kind.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {kind}.")
        return kind


@export(v2="random_normal_initializer initializers.RandomNormal")
class RandomNormalV2(_OfFloats, v1.RandomNormal):
    """Normal numbers."""

    _config: ClassVar[tuple[str, ...]] = ("mean", "stddev", "seed")

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 0.05,
        seed: int | None = None,
    ) -> None:
        super().__init__(mean, stddev, seed)


@export(v2="initializers.TruncatedNormal")
class TruncatedNormalV2(_OfFloats, v1.TruncatedNormal):
    """Normal numbers within two `stddev` of `mean`."""

    _config: ClassVar[tuple[str, ...]] = ("mean", "stddev", "seed")

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 0.05,
        seed: int | None = None,
    ) -> None:
        super().__init__(mean, stddev, seed)


@export(v2="initializers.VarianceScaling")
class VarianceScalingV2(_OfFloats, v1.VarianceScaling):
    """Numbers with variance scale / n; see `tf.variance_scaling_initializer`."""

    _config: ClassVar[tuple[str, ...]] = ("scale", "mode", "distribution", "seed")

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
    ) -> None:
        super().__init__(scale, mode, distribution, seed)
        if self.distribution == "normal":
            self.distribution = "truncated_normal"


@export(v2="initializers.glorot_uniform initializers.GlorotUniform")
class GlorotUniformV2(VarianceScalingV2):
    """Uniform in +-sqrt(6 / (fan_in + fan_out))."""

    _config: ClassVar[tuple[str, ...]] = ("seed",)

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


@export(v2="initializers.glorot_normal initializers.GlorotNormal")
class GlorotNormalV2(VarianceScalingV2):
    """Truncated normal of variance 2 / (fan_in + fan_out)."""

    _config: ClassVar[tuple[str, ...]] = ("seed",)

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


@export(v2="initializers.orthogonal initializers.Orthogonal")
class OrthogonalV2(_OfFloats, v1.Orthogonal):
    """A matrix with orthonormal rows or columns, multiplied by `gain`."""

    _config: ClassVar[tuple[str, ...]] = ("gain", "seed")

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        super().__init__(gain, seed)


@export(v2="initializers.identity initializers.Identity")
class IdentityV2(_OfFloats, v1.Identity):
    """The identity matrix multiplied by `gain`; for matrices only."""

    _config: ClassVar[tuple[str, ...]] = ("gain",)

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain)


@export(v2="initializers.lecun_normal")
def lecun_normal_v2(seed: int | None = None) -> VarianceScalingV2:
    """Truncated normal of variance 1 / fan_in."""
    return VarianceScalingV2(1.0, "fan_in", "truncated_normal", seed)


@export(v2="initializers.lecun_uniform")
def lecun_uniform_v2(seed: int | None = None) -> VarianceScalingV2:
    """Uniform of variance 1 / fan_in."""
    return VarianceScalingV2(1.0, "fan_in", "uniform", seed)


@export(v2="initializers.he_normal")
def he_normal_v2(seed: int | None = None) -> VarianceScalingV2:
    """Truncated normal of variance 2 / fan_in, designed for ReLU."""
    return VarianceScalingV2(2.0, "fan_in", "truncated_normal", seed)


@export(v2="initializers.he_uniform")
def he_uniform_v2(seed: int | None = None) -> VarianceScalingV2:
    """Uniform of variance 2 / fan_in, designed for ReLU."""
    return VarianceScalingV2(2.0, "fan_in", "uniform", seed)
