"""Gradient descent with momentum.  Source: python/training/momentum.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.training.optimizer import Optimizer, cast_all, hyper
from tfteach.ops.training.training_ops import (
    ApplyMomentum,
    ResourceApplyMomentum,
    ResourceSparseApplyMomentum,
    SparseApplyMomentum,
)


@export("train.MomentumOptimizer")
class MomentumOptimizer(Optimizer):
    """`a = momentum * a + gradient`, then `w -= learning_rate * a`

    Args:
      learning_rate: a number, a scalar Tensor, or a callable that returns one.
      momentum: of the same kind; the weight of past steps.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.
      use_nesterov: step by `learning_rate * (gradient + momentum * a)` instead.

    The slot "momentum" contains a.

    Example:
      >>> train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

    Source: Sutskever et al. 2013; ApplyMomentum in core/ops/training_ops.cc.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        momentum: TensorLike,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = bool(use_nesterov)
        self._hyper: list[Any] = []

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._hyper = [
            hyper(self._learning_rate, "learning_rate"),
            hyper(self._momentum, "momentum"),
        ]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        slot = self.get_slot(var, "momentum")
        rate, momentum = cast_all(self._hyper, var)
        op = ApplyMomentum(self._use_locking, self._use_nesterov)
        return op(var, slot, rate, grad, momentum).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        slot = self.get_slot(handle, "momentum")
        rate, momentum = cast_all(self._hyper, grad)
        op = ResourceApplyMomentum(self._use_locking, self._use_nesterov)
        return op(handle.handle, slot.handle, rate, grad, momentum)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        slot = self.get_slot(var, "momentum")
        rate, momentum = cast_all(self._hyper, var)
        op = SparseApplyMomentum(self._use_locking, self._use_nesterov)
        return op(var, slot, rate, grad.values, grad.indices, momentum).op

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        slot = self.get_slot(handle, "momentum")
        rate, momentum = cast_all(self._hyper, grad)
        op = ResourceSparseApplyMomentum(self._use_locking, self._use_nesterov)
        return op(handle.handle, slot.handle, rate, grad, indices, momentum)
