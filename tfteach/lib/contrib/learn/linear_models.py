"""`tf.contrib.learn.models`: linear and logistic regression as graphs.

Source: contrib/learn/python/learn/models.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.learn.model_ops import (
    mean_squared_error_regressor,
    softmax_classifier,
)
from tfteach.ops.debug.summary_functions import histogram
from tfteach.variables.initializers import RandomNormal
from tfteach.variables.scope import get_variable, variable_scope


def _linear(
    name: str,
    x: Any,
    y: Any,
    initializers: tuple[Any, Any],
    loss: Callable[[Tensor, Tensor, Any, Any], tuple[Tensor, Tensor]],
) -> tuple[Tensor, Tensor]:
    """Weights and a bias for the last sizes of `x` and `y`, and the loss of them."""
    x, y = convert(x), convert(y)
    with variable_scope(name):
        histogram(f"{name}.x", x)
        histogram(f"{name}.y", y)
        labels = y.get_shape()
        outputs = 1 if labels.ndims == 1 else labels[1]
        sizes = [x.get_shape()[1], outputs]
        dtype = x.dtype.base_dtype
        weights = get_variable("weights", sizes, dtype, initializers[0])
        bias = get_variable("bias", [outputs], dtype, initializers[1])
        histogram(f"{name}.weights", weights)
        histogram(f"{name}.bias", bias)
        return loss(x, y, weights, bias)


def _initializers(mean: float | None, stddev: float | None) -> tuple[Any, Any]:
    """Normal numbers; the variable scope's own if there is no mean."""
    if mean is None:
        return None, None
    return (
        RandomNormal(mean, stddev),
        RandomNormal(mean, stddev),
    )


@export("contrib.learn.models.linear_regression")
def linear_regression(
    x: TensorLike,
    y: TensorLike,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """A linear regression, trained on the mean squared error.

    Args:
      x: float Tensor [batch, features].
      y: the labels, float Tensor [batch] or [batch, outputs].
      init_mean: the mean of the variables' initial numbers; None for the initializer
        of the variable scope.
      init_stddev: their standard deviation.

    Returns:
      (predictions, loss).

    Example:
      >>> prediction, loss = tf.contrib.learn.models.linear_regression(x, y)

    Source: contrib/learn/python/learn/models.py.
    """
    initializers = _initializers(init_mean, init_stddev)
    return _linear(
        "linear_regression", x, y, initializers, mean_squared_error_regressor
    )


@export("contrib.learn.models.linear_regression_zero_init")
def linear_regression_zero_init(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """`linear_regression` whose variables are 0 at first.

    Args:
      x: float Tensor [batch, features].
      y: the labels, float Tensor [batch] or [batch, outputs].

    Source: contrib/learn/python/learn/models.py.
    """
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


@export("contrib.learn.models.logistic_regression")
def logistic_regression(
    x: TensorLike,
    y: TensorLike,
    class_weight: TensorLike | None = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """A logistic regression of several classes, trained on the cross entropy.

    Args:
      x: float Tensor [batch, features].
      y: one-hot labels, float Tensor [batch, classes].
      class_weight: float Tensor [classes] by which the logits are multiplied.
      init_mean: the mean of the variables' initial numbers; None for the initializer
        of the variable scope.
      init_stddev: their standard deviation.

    Returns:
      (probabilities [batch, classes], loss).

    Source: contrib/learn/python/learn/models.py.
    """

    def loss(x: Any, y: Any, weights: Any, bias: Any) -> tuple[Tensor, Tensor]:
        return softmax_classifier(x, y, weights, bias, class_weight)

    initializers = _initializers(init_mean, init_stddev)
    return _linear("logistic_regression", x, y, initializers, loss)


@export("contrib.learn.models.logistic_regression_zero_init")
def logistic_regression_zero_init(
    x: TensorLike, y: TensorLike
) -> tuple[Tensor, Tensor]:
    """`logistic_regression` whose variables are 0 at first.

    Args:
      x: float Tensor [batch, features].
      y: one-hot labels, float Tensor [batch, classes].

    Source: contrib/learn/python/learn/models.py.
    """
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)
