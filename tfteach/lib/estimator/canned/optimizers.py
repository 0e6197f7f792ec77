"""Optimizers of canned estimators: by name, as objects, or as functions.

Source: tensorflow_estimator/python/estimator/canned/optimizers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.lib.training.adagrad import AdagradOptimizer
from tfteach.lib.training.adam import AdamOptimizer
from tfteach.lib.training.ftrl import FtrlOptimizer
from tfteach.lib.training.gradient_descent import GradientDescentOptimizer
from tfteach.lib.training.optimizer import Optimizer
from tfteach.lib.training.rmsprop import RMSPropOptimizer

# An optimizer's name, an optimizer, or a function that makes one.
OptimizerLike = str | Optimizer | Callable[[], Optimizer]

_BY_NAME: dict[str, Callable[..., Optimizer]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}


def optimizer_of(given: Any, learning_rate: float | None = None) -> Optimizer:
    """The optimizer that a caller meant.

    Args:
      given: a name, an optimizer, or a function without arguments.
      learning_rate: the learning rate of an optimizer by name.

    Raises:
      ValueError: there is no such name, or no learning rate for it, or `given` is no
        optimizer.
    """
    if isinstance(given, str):
        if learning_rate is None:
            raise ValueError("learning_rate must be specified when opt is string.")
        if given not in _BY_NAME:
            raise ValueError(
                f"Unsupported optimizer name: {given}. Supported names are: "
                f"{tuple(sorted(_BY_NAME))}"
            )
        return _BY_NAME[given](learning_rate=learning_rate)
    if callable(given):
        given = given()
    if not isinstance(given, Optimizer):
        raise ValueError(
            f"The given object is not an Optimizer instance. Given: {given}"
        )
    return given
