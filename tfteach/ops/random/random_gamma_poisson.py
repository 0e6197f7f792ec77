"""Gamma and Poisson numbers: the same as TensorFlow's for the same seeds.

Source: core/ops/random_ops.cc; python/ops/random_ops.py (node names),
python/ops/random_grad.py.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import (
    DType,
    as_dtype,
    dtypes_of,
    float32,
    float64,
    int32,
    int64,
)
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    DTypeLike,
    Gradient,
    KernelContext,
    TensorLike,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.broadcast_gradients import after
from tfteach.ops.core.fill import ones, zeros_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.math.binary import Maximum
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.random import philox
from tfteach.ops.random.gamma_poisson_sampling import gammas, poissons
from tfteach.ops.random.random_ops import seeds_of, stream
from tfteach.ops.special.incomplete_gamma_beta import RandomGammaGrad


class _PerParameter(StatefulOp, abstract=True):
    """Numbers of a given shape per parameter: result [*shape, *parameters' shape]."""

    by_shape: ClassVar[tuple[str, ...]] = ("shape",)

    def _shape(self, shape: Any, parameters: Shape) -> Shape:
        return None if shape is None or parameters is None else shape + parameters

    def _draw(
        self, ctx: KernelContext, make: Any, shape: TensorLike, parameters: Any
    ) -> Any:
        sizes = tuple(int(n) for n in np.asarray(shape).reshape(-1))
        samples = math.prod(sizes)
        count = philox.count_of((*sizes, *parameters.shape))
        generator = stream(ctx, self).reserve(count * philox.RESERVED_BLOCKS)
        if not count:
            return np.empty(sizes + parameters.shape)
        return make(generator, parameters, samples).reshape(sizes + parameters.shape)


class RandomGamma(_PerParameter):
    """Gamma numbers of shape `alpha`, scale 1.  Source: random_ops.cc, RandomGamma."""

    signature = "shape: S, alpha: T -> output: T"
    S = dtypes_of("int32 int64")
    T = dtypes_of("half float32 float64")
    seed: int = 0
    seed2: int = 0

    host_inputs: ClassVar[tuple[str, ...]] = ("shape", "alpha")

    def infer_shape(self, shape: Shape, alpha: Shape) -> Shape:
        return self._shape(shape, alpha)

    def compute(self, ctx: KernelContext, shape: Any, alpha: Array) -> Any:
        if bool((np.asarray(alpha) <= 0).any()):
            raise invalid_argument("alpha must be > 0")
        found = self._draw(ctx, gammas, shape, np.asarray(alpha))
        return ctx.xp.asarray(found, np.asarray(alpha).dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        # The derivative of the samples by `alpha`.
        sizes, alpha = op.inputs
        with after(grad):
            axes = shape_of(sizes)[0]
            leading = concat([ones([axes], int32), shape_of(alpha)], axis=0)
            by_alpha = RandomGammaGrad()(reshape(alpha, leading), op.outputs[0])
            return [None, reduce_sum(grad * by_alpha, axis=range_of(0, axes))]


class RandomPoissonV2(_PerParameter):
    """Poisson numbers of mean `rate`.  Source: random_ops.cc, RandomPoissonV2."""

    signature = "shape: S, rate: R -> output: dtype"
    S = dtypes_of("int32 int64")
    R = dtypes_of("half float32 float64 int32 int64")
    R_default = float64
    seed: int = 0
    seed2: int = 0
    dtype: DType = int64
    dtype_allowed = R

    host_inputs: ClassVar[tuple[str, ...]] = ("shape", "rate")

    def infer_shape(self, shape: Shape, rate: Shape) -> Shape:
        return self._shape(shape, rate)

    def compute(self, ctx: KernelContext, shape: Any, rate: Array) -> Any:
        if bool((np.asarray(rate) < 0).any()):
            raise invalid_argument("rate must be >= 0")
        found = self._draw(ctx, poissons, shape, np.asarray(rate))
        return ctx.xp.asarray(found, self.dtype.numpy_dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


@export("random_gamma", "random.gamma")
def random_gamma(
    shape: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers from gamma distributions.

    Args:
      shape: int32, the shape of the numbers for each parameter.
      alpha: positive Tensor: the distributions' shapes.
      beta: positive Tensor that broadcasts with `alpha`: their rates (default 1).
      dtype: float16, float32 or float64.
      seed: makes the numbers the same in every session (see `tf.get_seed`).
      name: the name scope of its ops.

    Returns:
      A Tensor [*shape, *shape of alpha + beta]; gradients flow to `alpha` and `beta`.
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert(shape, "int32", "shape")
        alpha = convert(alpha, dtype, "alpha")
        beta = convert(1 if beta is None else beta, dtype, "beta")
        spread = alpha + zeros_like(beta)
        numbers = RandomGamma(*seeds_of(seed))(shape, spread) / beta
        least = np.finfo(dtype.numpy_dtype).tiny
        return Maximum()(least, numbers)


@export("random_poisson", "random.poisson")
def random_poisson(
    lam: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers from Poisson distributions.

    Args:
      lam: non-negative Tensor: the means.
      shape: int32, the shape of the numbers for each mean.
      dtype: the result's type.
      seed: makes the numbers the same in every session (see `tf.get_seed`).
      name: the name scope of its ops.

    Returns:
      A Tensor [*shape, *lam's shape].
    """
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert(shape, "int32", "shape")
        kind = RandomPoissonV2(*seeds_of(seed), as_dtype(dtype))
        return kind(shape, lam)
