"""Gradient descent and Adagrad with l1 and l2 regularization in the update.

Source: python/training/proximal_gradient_descent.py, proximal_adagrad.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import DTypeLike, Hyperparameter, TensorLike
from tfteach.lib.training.single_op_optimizer import RuleOptimizer, UpdateOps
from tfteach.ops.math.cast import cast
from tfteach.ops.training.proximal_ftrl import (
    ApplyProximalAdagrad,
    ApplyProximalGradientDescent,
    ResourceApplyProximalAdagrad,
    ResourceApplyProximalGradientDescent,
    ResourceSparseApplyProximalAdagrad,
    ResourceSparseApplyProximalGradientDescent,
    SparseApplyProximalAdagrad,
    SparseApplyProximalGradientDescent,
)


class _Proximal(RuleOptimizer):
    """As in TF, the numbers are cast only for rows of resource variables."""

    def __init__(
        self,
        learning_rate: Hyperparameter,
        rate: str,
        l1: Any,
        l2: Any,
        locking: bool,
        name: str,
    ) -> None:
        super().__init__(locking, name)
        self._given = {
            rate: ("learning_rate", learning_rate),
            "l1": ("l1_regularization_strength", l1),
            "l2": ("l2_regularization_strength", l2),
        }
        self._casts = False

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        self._casts = True
        try:
            return super()._resource_apply_sparse(grad, handle, indices)
        finally:
            self._casts = False

    def _number(self, name: str, var: Any, dtype: DTypeLike) -> Any:
        number = self._numbers[name]
        return cast(number, dtype) if self._casts else number


@export("train.ProximalGradientDescentOptimizer")
class ProximalGradientDescentOptimizer(_Proximal):
    """Gradient descent with regularization that makes weights exactly 0.

    `p = w - learning_rate * g`, then
    `w = sign(p) * max(|p| - learning_rate * l1, 0) / (1 + learning_rate * l2)`

    Args:
      learning_rate: a number or a scalar Tensor.
      l1_regularization_strength: l1, a non-negative number.
      l2_regularization_strength: l2, a non-negative number.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    Example:
      >>> optimizer = tf.train.ProximalGradientDescentOptimizer(
      ...     0.1, l1_regularization_strength=0.01)
      >>> train = optimizer.minimize(loss)

    Source: Duchi and Singer 2009; ApplyProximalGradientDescent in
    core/ops/training_ops.cc.
    """

    _dense = UpdateOps(
        ApplyProximalGradientDescent, ResourceApplyProximalGradientDescent
    )
    _sparse = UpdateOps(
        SparseApplyProximalGradientDescent, ResourceSparseApplyProximalGradientDescent
    )

    def __init__(
        self,
        learning_rate: TensorLike,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(
            learning_rate, "alpha", l1_regularization_strength,
            l2_regularization_strength, use_locking, name,
        )  # fmt: skip


@export("train.ProximalAdagradOptimizer")
class ProximalAdagradOptimizer(_Proximal):
    """Adagrad with regularization that makes weights exactly 0.

    `a += g ** 2`, `r = learning_rate / sqrt(a)`, `p = w - r * g`, then
    `w = sign(p) * max(|p| - r * l1, 0) / (1 + r * l2)`

    Args:
      learning_rate: a number or a scalar Tensor.
      initial_accumulator_value: the initial value of a, above 0.
      l1_regularization_strength: l1, a non-negative number.
      l2_regularization_strength: l2, a non-negative number.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    The slot "accumulator" contains a.

    Raises:
      ValueError: `initial_accumulator_value` is not positive.

    Example:
      >>> train = tf.train.ProximalAdagradOptimizer(0.1).minimize(loss)

    Source: Duchi et al. 2011; ApplyProximalAdagrad in core/ops/training_ops.cc.
    """

    _dense = UpdateOps(ApplyProximalAdagrad, ResourceApplyProximalAdagrad)
    _sparse = UpdateOps(SparseApplyProximalAdagrad, ResourceSparseApplyProximalAdagrad)
    _state = ("accumulator",)

    def __init__(
        self,
        learning_rate: TensorLike,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                "initial_accumulator_value must be positive: "
                f"{initial_accumulator_value}"
            )
        super().__init__(
            learning_rate, "lr", l1_regularization_strength,
            l2_regularization_strength, use_locking, name,
        )  # fmt: skip
        self._initial = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._constant_slot(var, self._initial, "accumulator", self._name)
