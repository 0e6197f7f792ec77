"""`tf.contrib.training.resample_at_rate` and `weighted_resample`.

Source: contrib/training/python/training/resample.py (API, names of nodes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.control.branch import cond
from tfteach.control.loop import while_loop
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.training.moving_averages import assign_moving_average
from tfteach.ops.array.gather import gather
from tfteach.ops.core.fill import fill, zeros
from tfteach.ops.core.identity_reshape import stop_gradient
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import less
from tfteach.ops.math.reduce_functions import reduce_mean
from tfteach.ops.random.random_gamma_poisson import random_poisson
from tfteach.variables.scope.get_variable import get_variable, variable_scope


def _repeat_range(counts: TensorLike, name: str | None = None) -> Tensor:
    """Each index of `counts` as often as `counts` says, an int32 vector.

    `[2, 0, 1]` becomes `[0, 0, 2]`.
    """
    with name_scope(name, "repeat_range", [counts]) as scope:
        counts = convert(counts)
        size = shape(counts, out_type=dtypes.int32)[0]

        def repeated(array: TensorArray, index: Tensor) -> tuple[TensorArray, Tensor]:
            times = counts[index : index + 1]
            return array.write(index, fill(times, index)), index + 1

        array, index = while_loop(
            lambda _, index: less(index, size),
            repeated,
            (TensorArray(dtypes.int32, size, infer_shape=False), 0),
        )
        found: Tensor = cond(
            index > 0, array.concat, lambda: zeros([0], dtypes.int32), name=scope
        )
        return found


@export("contrib.training.resample_at_rate")
def resample_at_rate(
    inputs: Sequence[TensorLike],
    rates: TensorLike,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Tensor]:
    """The rows of tensors, each as often as a Poisson distribution decides.

    Row `i` of each tensor is repeated n ~ Poisson(rates[i]) times; all tensors repeat
    the same rows.

    Args:
      inputs: tensors with an equal first dimension.
      rates: the expected number of each row, a float vector of that size.
      scope: the ops' name.
      seed: of the random numbers.
      back_prop: whether gradients flow into `rates`' ops.

    Returns:
      Tensors of the inputs' types; the first dimension varies from run to run.

    Example:
      >>> x = tf.constant(["rare", "frequent"])
      >>> (balanced,) = tf.contrib.training.resample_at_rate([x], [3.0, 0.5], seed=1)

    Source: contrib/training/python/training/resample.py.
    """
    with name_scope(scope, "resample_at_rate", list(inputs)):
        rates = convert(rates, name="rates")
        return _resampled(inputs, rates, seed, back_prop)


def _resampled(
    inputs: Sequence[TensorLike], rates: Tensor, seed: int | None, back_prop: bool
) -> list[Tensor]:
    counts = cast(random_poisson(rates, [], rates.dtype, seed=seed), dtypes.int32)
    rows = _repeat_range(counts)
    if not back_prop:
        rows = stop_gradient(rows)
    return [gather(tensor, rows) for tensor in inputs]


@export("contrib.training.weighted_resample")
def weighted_resample(
    inputs: Sequence[TensorLike],
    weights: TensorLike,
    overall_rate: float,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Tensor], Tensor]:
    """The rows of tensors, each as often as its weight asks for.

    `resample_at_rate` with rates[i] = overall_rate * weights[i] / m, where m is a
    moving average of the weights' means.

    Args:
      inputs: tensors with an equal first dimension.
      weights: a weight for each row, a float vector.
      overall_rate: the expected ratio of the numbers of rows, returned to given.
      scope: the ops' name.
      mean_decay: the decay of the moving average.
      seed: of the random numbers.

    Returns:
      Tensors of the inputs' types, and for each row that they have its rate.

    Example:
      >>> x, weights = tf.constant(["a", "b"]), tf.constant([3.0, 1.0])
      >>> (rows,), rates = tf.contrib.training.weighted_resample([x], weights, 0.5)

    Source: contrib/training/python/training/resample.py.
    """
    with name_scope(scope, "weighted_resample", list(inputs)):
        weights = convert(weights, name="weights")
        with variable_scope(scope, "estimate_mean", list(inputs)):
            start: Any = cast(0, weights.dtype)
            mean = get_variable(
                "estimated_mean",
                initializer=start,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
            )
            estimate = assign_moving_average(mean, reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / estimate
        found_rates, *found = _resampled([rates, *inputs], rates, seed, False)
        return found, found_rates
