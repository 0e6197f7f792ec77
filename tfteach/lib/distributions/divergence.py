"""Kullback-Leibler divergences, registered for pairs of classes.

Source: python/ops/distributions/kullback_leibler.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.case import Assert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.compare import logical_not
from tfteach.ops.math.reduce_functions import reduce_any
from tfteach.ops.math.rounding import is_nan

_FUNCTIONS: dict[tuple[type, type], Callable[..., Tensor]] = {}


@export("distributions.RegisterKL", "contrib.distributions.RegisterKL")
class RegisterKL:
    """Decorator that registers a function as the divergence of two classes.

    Args:
      dist_cls_a, dist_cls_b: the classes.

    Raises:
      TypeError: the decorated object is not callable.
      ValueError: a function is already registered for the two classes.

    Example:
      >>> @tf.distributions.RegisterKL(MyNormal, MyNormal)
      ... def kl(a, b, name=None): return tf.square(a.loc - b.loc)

    Source: python/ops/distributions/kullback_leibler.py.
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = dist_cls_a, dist_cls_b

    def __call__(self, kl_fn: Callable[..., Any]) -> Any:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _FUNCTIONS:
            a, b = self._key
            raise ValueError(
                f"KL({a.__name__} || {b.__name__}) has already been registered to: "
                f"{_FUNCTIONS[self._key]}"
            )
        _FUNCTIONS[self._key] = kl_fn
        return kl_fn


def _registered(a: type, b: type) -> Callable[..., Tensor] | None:
    """The function registered for the nearest base classes."""
    pairs = [
        (i + j, i, _FUNCTIONS[one, other])
        for i, one in enumerate(a.__mro__)
        for j, other in enumerate(b.__mro__)
        if (one, other) in _FUNCTIONS
    ]
    return min(pairs, key=lambda pair: pair[:2])[2] if pairs else None


@export("distributions.kl_divergence", "contrib.distributions.kl_divergence")
def kl_divergence(
    distribution_a: Any,
    distribution_b: Any,
    allow_nan_stats: bool = True,
    name: str | None = None,
) -> Tensor:
    """Kullback-Leibler divergence of two distributions, in nats.

    KL(a || b) = E_a[ln a(X) - ln b(X)]

    Args:
      distribution_a, distribution_b: distributions of registered classes.
      allow_nan_stats: allow nan in the result, instead of failing the run.
      name: the name of the scope.

    Returns:
      A Tensor of the batch shape.

    Raises:
      NotImplementedError: no function is registered for these classes.

    Example:
      >>> normal = tf.distributions.Normal(1.0, 1.0)
      >>> kl = tf.distributions.kl_divergence(normal, tf.distributions.Normal(0.0, 1.0))
      >>> tf.Session().run(kl)
      0.5

    Source: python/ops/distributions/kullback_leibler.py.
    """
    function = _registered(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a "
            f"type {type(distribution_a).__name__} and distribution_b type "
            f"{type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        found = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        found = identity(found, name="kl")
        is_right = logical_not(reduce_any(is_nan(found)))
        message = (
            f"KL calculation between {distribution_a.name} and {distribution_b.name} "
            "returned NaN values (and was called with allow_nan_stats=False). Values:"
        )
        with control_dependencies([Assert(is_right, [message, found])]):
            return identity(found, name="checked_kl")


def cross_entropy(
    ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """-E_ref[ln other(X)] = entropy of `ref` + KL(ref || other)."""
    with name_scope(name, "cross_entropy"):
        result: Tensor = ref.entropy() + kl_divergence(ref, other, allow_nan_stats)
        return result
