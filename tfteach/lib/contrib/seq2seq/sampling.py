"""Sampling from probabilities and logits, as used by helpers.

Source: contrib/seq2seq/python/ops/helper.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, int32, int64
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.padding import pad
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, less
from tfteach.ops.math.reduce_functions import reduce_prod
from tfteach.ops.random.random_ops import multinomial, random_uniform


def sampled(draw: Callable[[Tensor], Tensor], sample_shape: Any) -> Tensor:
    """`draw(n)`, n samples drawn at once, reshaped (a scalar stands for a vector)."""
    with name_scope(None, "call_sampler", values=[sample_shape]):
        sample_shape = convert(sample_shape, int32, name="sample_shape")
        missing = cast(equal(rank(sample_shape), 0), int32)
        sample_shape = reshape(
            sample_shape,
            pad(shape(sample_shape), paddings=[[missing, 0]], constant_values=1),
        )
        samples = draw(reduce_prod(sample_shape))
        each = shape(samples)[1:]
        return reshape(samples, concat([sample_shape, each], 0))


def bernoulli_sample(
    probabilities: Tensor,
    dtype: DType = int32,
    sample_shape: Any = (),
    seed: int | None = None,
) -> Tensor:
    """1 with these probabilities, otherwise 0."""
    probabilities = convert(probabilities, name="probs")
    each = shape(probabilities)

    def draw(count: Tensor) -> Tensor:
        uniform = random_uniform(
            concat([[count], each], 0), seed=seed, dtype=probabilities.dtype
        )
        return cast(less(uniform, probabilities), dtype)

    return sampled(draw, sample_shape)


def categorical_sample(logits: Any, seed: int | None = None) -> Tensor:
    """int32 classes sampled from logits [..., classes]."""
    logits = convert(logits, name="logits")
    classes = shape(logits)[-1]
    each = shape(logits)[:-1]

    def draw(count: Tensor) -> Tensor:
        rows = logits
        if logits.shape.ndims != 2:
            rows = reshape(logits, [-1, classes])
        kind = int64 if logits.dtype.size > 4 else int32
        draws = multinomial(rows, count, seed=seed, output_dtype=kind)
        draws = reshape(transpose(draws), concat([[count], each], 0))
        return cast(draws, int32)

    return sampled(draw, ())
