"""Adadelta.  Source: python/training/adadelta.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.training.single_op_optimizer import RuleOptimizer, UpdateOps
from tfteach.ops.training.adagrad_adadelta_sign import (
    ApplyAdadelta,
    ResourceApplyAdadelta,
    ResourceSparseApplyAdadelta,
    SparseApplyAdadelta,
)


@export("train.AdadeltaOptimizer")
class AdadeltaOptimizer(RuleOptimizer):
    """Adadelta: steps in the units of the weights, so that the rate needs no tuning.

    `a = rho * a + (1 - rho) * g ** 2`,
    `d = g * sqrt(u + epsilon) / sqrt(a + epsilon)`,
    `u = rho * u + (1 - rho) * d ** 2`, then `w -= learning_rate * d`

    Args:
      learning_rate: a number, a scalar Tensor, or a callable that returns one (like
        `rho` and `epsilon`); 1.0 in the paper.
      rho: the decay of the moving averages.
      epsilon: a small number that makes the first steps nonzero.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    The slots are "accum" (a) and "accum_update" (u).

    Example:
      >>> train = tf.train.AdadeltaOptimizer(1.0).minimize(loss)

    Source: Zeiler 2012 (arXiv:1212.5701); ApplyAdadelta in core/ops/training_ops.cc.
    """

    _dense = UpdateOps(ApplyAdadelta, ResourceApplyAdadelta)
    _sparse = UpdateOps(SparseApplyAdadelta, ResourceSparseApplyAdadelta)
    _state = ("accum", "accum_update")

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        rho: TensorLike = 0.95,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._given = {
            "lr": ("lr", learning_rate),
            "rho": ("rho", rho),
            "epsilon": ("epsilon", epsilon),
        }

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            for slot in self._state:
                self._zeros_slot(var, slot, self._name)
