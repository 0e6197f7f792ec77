"""The categorical distribution.

Source: python/ops/distributions/categorical.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.distributions.base import NOT_REPARAMETERIZED
from tfteach.lib.distributions.class_probabilities import ClassProbabilities
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.lib.distributions.probabilities import (
    check_castable,
    check_classes,
    logits_and_probs,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import sequence_mask
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones, ones_like, zeros_like
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import argmax, reduce_sum
from tfteach.ops.nn.softmax import log_softmax, softmax
from tfteach.ops.random.random_ops import multinomial


@export("distributions.Categorical", "contrib.distributions.Categorical")
class Categorical(ClassProbabilities):
    """One of several classes 0, 1, ...

    Args:
      logits: float Tensor [..., classes], unnormalized log-probabilities; or
      probs: float Tensor [..., classes], probabilities.
      dtype: the type of samples.
      validate_args: check probabilities and values in every run.
      allow_nan_stats: return nan for undefined moments instead of an error.
      name: the prefix of all ops.

    Raises:
      ValueError: both `logits` and `probs` are given, or neither.

    Example:
      >>> die = tf.distributions.Categorical(probs=[0.5, 0.25, 0.25])
      >>> tf.Session().run(die.prob([0, 2]))
      array([0.5 , 0.25], dtype=float32)

    Source: python/ops/distributions/categorical.py.
    """

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(
                logits, probs, True, validate_args, scope
            )
            if validate_args:
                self._logits = check_classes(self._logits)
            self._record_sizes()
        super().__init__(
            as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self._logits, self._probs], scope,
        )  # fmt: skip

    def _record_sizes(self) -> None:
        """Record tensors of the batch's rank and shape and of the number of classes."""
        known = self._logits.shape.with_rank_at_least(1)
        sizes_known = [None] if known.ndims is None else known.as_list()
        if known.ndims is not None:
            self._batch_rank = convert(known.ndims - 1, int32, "batch_rank")
        else:
            with name_scope("batch_rank"):
                self._batch_rank = rank(self._logits) - 1
        sizes = shape(self._logits, name="logits_shape")
        if sizes_known[-1] is not None:
            self._event_size = convert(sizes_known[-1], int32, "event_size")
        else:
            with name_scope("event_size"):
                self._event_size = sizes[self._batch_rank]
        if known.ndims is not None and known[:-1].is_fully_defined():
            batch = sizes_known[:-1]
            self._batch_shape_val = constant(batch, dtype=int32, name="batch_shape")
        else:
            with name_scope("batch_shape"):
                self._batch_shape_val = sizes[:-1]

    @property
    def event_size(self) -> Tensor:
        """The number of classes."""
        return self._event_size

    def _batch_shape_tensor(self) -> Tensor:
        return identity(self._batch_shape_val)

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return constant([], dtype=int32)

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        rows = self.logits
        if rows.shape.ndims != 2:
            rows = reshape(rows, [-1, self.event_size])
        kind = int64 if self.dtype.size > 4 else int32
        draws = multinomial(rows, n, seed=seed, output_dtype=kind)
        turned = transpose(draws)
        draws = reshape(turned, concat([[n], self.batch_shape_tensor()], 0))
        return cast(draws, self.dtype)

    def _matched(self, k: Any, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """The classes and the parameters, broadcast to one batch shape."""
        k = convert(k, name="k")
        if self.validate_args:
            k = check_castable(k, int32)
        return _broadcast(k, parameters, self.dtype.base_dtype)

    def _cdf(self, k: Any) -> Tensor:
        k, probs = self._matched(k, self.probs)
        flat = reshape(probs, (-1, self._event_size))
        places = reshape(k, [-1])
        below = sequence_mask(places, self._event_size)
        total = reduce_sum(where(below, flat, zeros_like(flat)), axis=-1)
        return reshape(total, shape(k))

    def _log_prob(self, k: Any) -> Tensor:
        k, logits = self._matched(k, self.logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _entropy(self) -> Tensor:
        return -reduce_sum(log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        found = cast(argmax(self.logits, axis=self._batch_rank), self.dtype)
        found.set_shape(self.batch_shape)
        return found


def _broadcast(k: Tensor, parameters: Any, dtype: DTypeLike) -> tuple[Tensor, Tensor]:
    if k.dtype.is_floating:
        k = cast(k, int32)
    elif not k.dtype.is_integer:
        raise TypeError(
            f"`value` should have integer `dtype` or `self.dtype` ({dtype})"
        )
    batch = parameters.shape[:-1]
    known = batch.is_fully_defined() and k.shape.is_fully_defined()
    if not known or batch != k.shape:
        parameters *= ones_like(k[..., None], dtype=parameters.dtype)
        k *= ones(shape(parameters)[:-1], dtype=k.dtype)
        if parameters.shape.ndims is not None:
            k.set_shape(parameters.shape[:-1])
    return k, parameters


@RegisterKL(Categorical, Categorical)
def _kl_categorical(a: Categorical, b: Categorical, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        apart = log_softmax(a.logits) - log_softmax(b.logits)
        return reduce_sum(softmax(a.logits) * apart, axis=-1)
