"""Monotonic attention, which only moves forward.

Source: contrib/seq2seq/python/ops/attention_wrapper.py;
https://arxiv.org/abs/1704.00784.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tfteach.control.functional import scan
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.contrib.seq2seq.attention import (
    Bahdanau,
    Luong,
    MemoryAttention,
    memory_layer,
    size_of,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.fill import ones, zeros
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.clip_by_value import clip_by_value
from tfteach.ops.math.cumsum import cumprod, cumsum
from tfteach.ops.math.exponential import exp, log, sigmoid
from tfteach.ops.random.random_ops import random_normal
from tfteach.variables.scope import get_variable


@export("contrib.seq2seq.safe_cumprod")
def safe_cumprod(x: TensorLike, *args: Any, **kwargs: Any) -> Tensor:
    """`tf.cumprod` of numbers in (0, 1], as exp(cumsum(log(x))).

    Args:
      x: a float Tensor; smaller numbers are raised to the smallest normal one, larger
        ones lowered to 1.
      *args, **kwargs: for `tf.cumsum`.

    Returns:
      A Tensor like `x`.

    Example:
      >>> tf.contrib.seq2seq.safe_cumprod([0.5, 0.5, 1.0])  # [0.5, 0.25, 0.25]

    Source: contrib/seq2seq/python/ops/attention_wrapper.py.
    """
    with name_scope(None, "SafeCumprod", [x]):
        x = convert(x, name="x")
        kind: Any = x.dtype.as_numpy_dtype
        tiny = np.finfo(kind).tiny
        return exp(cumsum(log(clip_by_value(x, tiny, 1)), *args, **kwargs))


@export("contrib.seq2seq.monotonic_attention")
def monotonic_attention(
    p_choose_i: TensorLike, previous_attention: TensorLike, mode: str
) -> Tensor:
    """The probability that each position is chosen, given the previous attention.

    attention[i] = p[i] * q[i], q[i] = (1 - p[i-1]) * q[i-1] + previous[i].

    Args:
      p_choose_i: a Tensor [batch, time], the probability of choosing each position.
      previous_attention: a Tensor [batch, time], the previous step's attention.
      mode: "recursive" computes that step by step; "parallel" by cumulative products,
        which are inaccurate for p near 0 and 1; "hard" requires p of 0 or 1.

    Returns:
      A Tensor [batch, time].

    Raises:
      ValueError: the mode is unknown.

    Example:
      >>> tf.contrib.seq2seq.monotonic_attention(
      ...     [[0.0, 1.0, 1.0]], [[1.0, 0.0, 0.0]], "hard")  # [[0., 1., 0.]]

    Source: contrib/seq2seq/python/ops/attention_wrapper.py;
    https://arxiv.org/abs/1704.00784.
    """
    chosen = convert(p_choose_i, name="p_choose_i")
    previous = convert(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch = size_of(chosen, 0)
        passed = concat([ones((batch, 1)), 1 - chosen[:, :-1]], 1)
        # The reshape restores the static shape in each iteration.
        reached = scan(
            lambda q, row: reshape(row[0] * q + row[1], (batch,)),
            [transpose(passed), transpose(previous)],
            zeros((batch,)),
        )
        return chosen * transpose(reached)
    if mode == "parallel":
        passed = safe_cumprod(1 - chosen, axis=1, exclusive=True)
        reached = chosen * passed
        share = previous / clip_by_value(passed, 1e-10, 1.0)
        return reached * cumsum(share, axis=1)
    if mode == "hard":
        chosen = chosen * cumsum(previous, axis=1)
        return chosen * cumprod(1 - chosen, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def monotonic_alignments(
    score: Any,
    previous_alignments: Any,
    sigmoid_noise: float,
    mode: str,
    seed: int | None = None,
) -> Tensor:
    """The alignments of scores, with noise added if requested."""
    if sigmoid_noise > 0:
        noise = random_normal(shape(score), dtype=score.dtype, seed=seed)
        score = score + sigmoid_noise * noise
    chosen = cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
    return monotonic_attention(chosen, previous_alignments, mode)


def _probability(
    noise: float, mode: str, seed: int | None
) -> Callable[[Any, Any], Any]:
    return partial(monotonic_alignments, sigmoid_noise=noise, mode=mode, seed=seed)


class Monotonic(MemoryAttention):
    """A mechanism that starts at the first position, with a bias of its scores."""

    _score_bias_init: Any

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> Tensor:
        """The alignments before the first step: 1 at the first position."""
        first = zeros((batch_size,), dtype=int32)
        return one_hot(first, self._alignments_size, dtype=dtype)

    def _score(self, query: Tensor) -> Tensor:
        score = super()._score(query)
        bias = get_variable(
            "attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init
        )
        result: Tensor = score + bias
        return result


@export("contrib.seq2seq.LuongMonotonicAttention")
class LuongMonotonicAttention(Monotonic, Luong):
    """Multiplicative attention that only moves forward.

    Args:
      num_units, memory, memory_sequence_length, scale, score_mask_value, dtype, name:
        as in `LuongAttention`.
      sigmoid_noise: the standard deviation of noise added to scores, which during
        training drives them away from 0; 0 for none.
      sigmoid_noise_seed: the seed of the noise.
      score_bias_init: the initial bias of the scores; negative for long memories.
      mode: as in `monotonic_attention`.

    Source: contrib/seq2seq/python/ops/attention_wrapper.py;
    https://arxiv.org/abs/1704.00784.
    """

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        score_mask_value: float | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DType | None = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=memory_layer(num_units, dtype),
            memory=memory,
            probability_fn=_probability(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name
        self._score_bias_init = score_bias_init


@export("contrib.seq2seq.BahdanauMonotonicAttention")
class BahdanauMonotonicAttention(Monotonic, Bahdanau):
    """Additive attention that only moves forward.

    Args:
      normalize: as in `BahdanauAttention`.
      num_units, memory, memory_sequence_length, score_mask_value, sigmoid_noise,
        sigmoid_noise_seed, score_bias_init, mode, dtype, name: as in
        `LuongMonotonicAttention`.

    Source: contrib/seq2seq/python/ops/attention_wrapper.py;
    https://arxiv.org/abs/1704.00784.
    """

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        score_mask_value: float | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DType | None = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=memory_layer(num_units, dtype, "query_layer"),
            memory_layer=memory_layer(num_units, dtype),
            memory=memory,
            probability_fn=_probability(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name
        self._score_bias_init = score_bias_init
