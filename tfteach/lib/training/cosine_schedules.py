"""Learning rates with cosine decay.

Source: python/training/learning_rate_decay.py,
python/keras/optimizer_v2/learning_rate_schedule.py.
"""

from __future__ import annotations

from math import pi
from typing import Any

from tfteach.control.branch import cond
from tfteach.framework.export import export
from tfteach.framework.graph import Tensor
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.training.schedules import _need_step, _scope, schedule
from tfteach.ops.core.constant import constant
from tfteach.ops.math.binary import minimum, pow
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.exponential import log
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.rounding import floor
from tfteach.ops.math.trigonometry import cos
from tfteach.ops.math.unary import sqrt
from tfteach.ops.random.random_ops import random_normal


@export("train.cosine_decay")
@schedule
def cosine_decay(
    learning_rate: Hyperparameter,
    global_step: TensorLike,
    decay_steps: TensorLike,
    alpha: float | Tensor = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half a cosine wave, from `learning_rate` down to `alpha * learning_rate`.

    `c = (1 + cos(pi * min(step, decay_steps) / decay_steps)) / 2`,
    `learning_rate * ((1 - alpha) * c + alpha)`

    Arguments and result as for `tf.train.exponential_decay`.

    Source: Loshchilov and Hutter 2016 (arXiv:1608.03983).
    """
    _need_step(global_step, "cosine decay")
    with _scope(name, "CosineDecay", learning_rate) as (_, initial):
        dtype = initial.dtype.base_dtype
        steps = cast(decay_steps, dtype)
        step = minimum(cast(global_step, dtype), steps)
        fraction = step / steps
        wave = 0.5 * (1.0 + cos(constant(pi) * fraction))
        return multiply(initial, (1 - alpha) * wave + alpha)


@export("train.cosine_decay_restarts")
@schedule
def cosine_decay_restarts(
    learning_rate: TensorLike,
    global_step: TensorLike,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: float | Tensor = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine decay that restarts after each period.

    `learning_rate * ((1 - alpha) * m_mul ** i * (1 + cos(pi * x)) / 2 + alpha)` in the
    i-th period, where x is the completed fraction of the period

    Args:
      learning_rate: the rate at step 0, a number or scalar float Tensor.
      global_step: an integer variable, Tensor or number.
      first_decay_steps: the length of the first period.
      t_mul: the ratio of each period's length to the one before.
      m_mul: the ratio of each period's initial rate to the one before.
      alpha: the lowest rate, as a fraction of `learning_rate`.
      name: the name scope of the ops.

    Returns:
      A scalar Tensor of `learning_rate`'s type, in an eager program a function that
      returns it.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> rate = tf.train.cosine_decay_restarts(0.1, step, 1000)

    Source: Loshchilov and Hutter 2016 (arXiv:1608.03983).
    """
    _need_step(global_step, "cosine decay restarts")
    with _scope(name, "SGDRDecay", learning_rate) as (scope, initial):
        dtype = initial.dtype.base_dtype
        first = cast(first_decay_steps, dtype)
        alpha = cast(alpha, dtype)
        longer, higher = cast(t_mul, dtype), cast(m_mul, dtype)
        periods = cast(global_step, dtype) / first

        def even() -> list[Tensor]:
            period = floor(periods)
            return [period, periods - period]

        def growing() -> list[Tensor]:
            period = floor(log(1.0 - periods * (1.0 - longer)) / log(longer))
            before = (1.0 - longer**period) / (1.0 - longer)
            return [period, (periods - before) / longer**period]

        period, fraction = cond(equal(longer, 1.0), even, growing)
        wave = 0.5 * higher**period * (1.0 + cos(constant(pi) * fraction))
        return multiply(initial, (1 - alpha) * wave + alpha, name=scope)


@export("train.linear_cosine_decay")
@schedule
def linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    num_periods: Any = 0.5,
    alpha: float | Tensor = 0.0,
    beta: float | Tensor = 0.001,
    name: str | None = None,
) -> Tensor:
    """Cosine waves bounded by a line that falls to 0 in `decay_steps` steps.

    `x = min(step, decay_steps) / decay_steps`,
    `learning_rate * ((alpha + 1 - x) * (1 + cos(2 * pi * num_periods * x)) / 2 + beta)`

    Args:
      learning_rate: the rate at step 0, a number or scalar float Tensor.
      global_step: an integer variable, Tensor or number.
      decay_steps: the number of steps of the decay.
      num_periods: the number of waves.
      alpha: the value of the line at its end.
      beta: the final rate, as a fraction of `learning_rate`.
      name: the name scope of the ops.

    Returns:
      A scalar Tensor of `learning_rate`'s type, in an eager program a function that
      returns it.

    Source: Bello et al. 2017 (arXiv:1709.07417).
    """
    _need_step(global_step, "linear cosine decay")
    with _scope(name, "LinearCosineDecay", learning_rate) as (scope, initial):
        dtype = initial.dtype.base_dtype
        steps = cast(decay_steps, dtype)
        waves = cast(num_periods, dtype)
        alpha, beta = cast(alpha, dtype), cast(beta, dtype)
        step = minimum(cast(global_step, dtype), steps)
        line = (steps - step) / steps
        wave = _waves(step, steps, waves)
        return multiply(initial, (alpha + line) * wave + beta, name=scope)


@export("train.noisy_linear_cosine_decay")
@schedule
def noisy_linear_cosine_decay(
    learning_rate: Hyperparameter,
    global_step: TensorLike,
    decay_steps: TensorLike,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: float | Tensor = 0.0,
    beta: float | Tensor = 0.001,
    name: str | None = None,
) -> Tensor:
    """`tf.train.linear_cosine_decay` with normal noise added to the line.

    The noise at a step has the variance
    `initial_variance / (1 + step) ** variance_decay`.

    Args:
      initial_variance: the noise's variance at step 0.
      variance_decay: the exponent of its decay.

    The other arguments and the result are as for `tf.train.linear_cosine_decay`.

    Source: Bello et al. 2017 (arXiv:1709.07417).
    """
    _need_step(global_step, "noisy linear cosine decay")
    with _scope(name, "NoisyLinearCosineDecay", learning_rate) as (scope, initial):
        dtype = initial.dtype.base_dtype
        steps = cast(decay_steps, dtype)
        variance, falls = cast(initial_variance, dtype), cast(variance_decay, dtype)
        waves = cast(num_periods, dtype)
        alpha, beta = cast(alpha, dtype), cast(beta, dtype)
        step = minimum(cast(global_step, dtype), steps)
        line = (steps - step) / steps
        deviation = sqrt(variance / pow(1.0 + step, falls))
        line = line + random_normal(line.shape, stddev=deviation)
        wave = _waves(step, steps, waves)
        return multiply(initial, (alpha + line) * wave + beta, name=scope)


def _waves(step: Tensor, steps: Tensor, count: Tensor) -> Tensor:
    """`count` cosine waves between 1 and 0 in `steps` steps."""
    fraction = step / steps
    periods = 2.0 * count * fraction
    return 0.5 * (1.0 + cos(constant(pi) * periods))
