"""`tf.compat.v2.random`.

Source: python/ops/random_ops.py.
"""

from __future__ import annotations

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.random.random_gamma_poisson import random_poisson


@export(v2="random.poisson")
def random_poisson_v2(
    shape: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.random.poisson`, its arguments in TensorFlow 2's order."""
    return random_poisson(shape=shape, lam=lam, dtype=dtype, seed=seed, name=name)
