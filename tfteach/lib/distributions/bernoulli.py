"""The Bernoulli distribution.

Source: python/ops/distributions/bernoulli.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.distributions.base import NOT_REPARAMETERIZED, Scalar
from tfteach.lib.distributions.class_probabilities import ClassProbabilities
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.lib.distributions.probabilities import (
    check_castable,
    logits_and_probs,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import less
from tfteach.ops.math.exponential import sigmoid
from tfteach.ops.nn.activations import softplus
from tfteach.ops.nn.sigmoid_losses import sigmoid_cross_entropy_with_logits
from tfteach.ops.random.random_ops import random_uniform


@export("distributions.Bernoulli", "contrib.distributions.Bernoulli")
class Bernoulli(ClassProbabilities, Scalar):
    """1 with a given probability, otherwise 0.

    Args:
      logits: float Tensor, the log-odds of 1; or
      probs: float Tensor, the probability of 1.
      dtype: the type of samples.
      validate_args: check probabilities and values in every run.
      allow_nan_stats: return nan for undefined moments instead of an error.
      name: the prefix of all ops.

    Raises:
      ValueError: both `logits` and `probs` are given, or neither.

    Example:
      >>> coin = tf.distributions.Bernoulli(probs=0.25)
      >>> tf.Session().run(coin.variance())
      0.1875

    Source: python/ops/distributions/bernoulli.py.
    """

    _own = ("logits",)

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as scope:
            self._logits, self._probs = logits_and_probs(
                logits, probs, False, validate_args, scope
            )
        super().__init__(
            as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self._logits, self._probs], scope,
        )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return {"logits": convert(sample_shape, int32)}

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        draws = random_uniform(sizes, seed=seed, dtype=self.probs.dtype)
        return cast(less(draws, self.probs), self.dtype)

    def _log_prob(self, event: Any) -> Tensor:
        if self.validate_args:
            event = check_castable(event, dtypes.as_dtype("bool"))
        event, logits = cast(event, self.logits.dtype), self.logits
        known = event.shape.is_fully_defined() and logits.shape.is_fully_defined()
        if not (known and event.shape == logits.shape):
            wide = ones_like(event) * logits
            event, logits = ones_like(logits) * event, wide
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Tensor:
        rest = -self.logits * (sigmoid(self.logits) - 1)
        return rest + softplus(-self.logits)

    def _mean(self) -> Tensor:
        return identity(self.probs)

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        of_one = softplus(-b.logits) - softplus(-a.logits)
        of_zero = softplus(b.logits) - softplus(a.logits)
        ones_share = sigmoid(a.logits) * of_one
        return ones_share + sigmoid(-a.logits) * of_zero
