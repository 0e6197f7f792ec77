"""Adagrad by dual averaging.  Source: python/training/adagrad_da.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.scope import colocate_with, device
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.training.single_op_optimizer import RuleOptimizer, UpdateOps
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.training.proximal_ftrl import (
    ApplyAdagradDA,
    ResourceApplyAdagradDA,
    ResourceSparseApplyAdagradDA,
    SparseApplyAdagradDA,
)


@export("train.AdagradDAOptimizer")
class AdagradDAOptimizer(RuleOptimizer):
    """Dual averaging: weights from the sums of all gradients, made sparse by l1.

    `G += g`, `S += g ** 2`, then at step T
    `w = -learning_rate * sign(G) * max(|G| - l1 * T, 0) /
    (l2 * T * learning_rate + sqrt(S))`

    Args:
      learning_rate: a number or a scalar Tensor.
      global_step: an int64 variable or Tensor, the index of the step from 0.
      initial_gradient_squared_accumulator_value: the initial value of S, above 0.
      l1_regularization_strength: l1, a non-negative number.
      l2_regularization_strength: l2, a non-negative number.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    The slots are "gradient_accumulator" (G) and "gradient_squared_accumulator" (S).
    The first step discards the weights' initial values.

    Raises:
      ValueError: the initial value is not positive.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> optimizer = tf.train.AdagradDAOptimizer(0.1, step)
      >>> train = optimizer.minimize(loss, global_step=step)

    Source: Duchi et al. 2011; ApplyAdagradDA in core/ops/training_ops.cc.
    """

    _dense = UpdateOps(ApplyAdagradDA, ResourceApplyAdagradDA)
    _sparse = UpdateOps(SparseApplyAdagradDA, ResourceSparseApplyAdagradDA)
    _state = ("gradient_accumulator", "gradient_squared_accumulator")

    def __init__(
        self,
        learning_rate: TensorLike,
        global_step: TensorLike,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        initial = initial_gradient_squared_accumulator_value
        if initial <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial}"
            )
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial = initial
        self._strengths = {
            "l1": l1_regularization_strength,
            "l2": l2_regularization_strength,
        }
        self._step: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            with colocate_with(var):
                total, squares = self._start(0.0, var), self._start(self._initial, var)
            self._get_or_make_slot(var, total, self._state[0], self._name)
            self._get_or_make_slot(var, squares, self._state[1], self._name)

    def _prepare(self) -> None:
        rate = convert(self._learning_rate, name="learning_rate")
        self._numbers = {"lr": rate, **self._strengths}
        with colocate_with(rate):
            self._step = identity(self._global_step) + 1

    def _apply(self, kind: type[Op], var: Any, is_handle: bool, **known: Any) -> Any:
        with device(var.device):
            step = identity(self._step)
        return super()._apply(kind, var, is_handle, global_step=step, **known)
