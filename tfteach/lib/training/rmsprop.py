"""RMSProp.  Source: python/training/rmsprop.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.training.optimizer import Optimizer, cast_all, hyper
from tfteach.ops.core.fill import ones_like
from tfteach.ops.training.rms_prop import (
    ApplyCenteredRMSProp,
    ApplyRMSProp,
    ResourceApplyCenteredRMSProp,
    ResourceApplyRMSProp,
    ResourceSparseApplyCenteredRMSProp,
    ResourceSparseApplyRMSProp,
    SparseApplyCenteredRMSProp,
    SparseApplyRMSProp,
)
from tfteach.variables.initializers import Ones


@export("train.RMSPropOptimizer")
class RMSPropOptimizer(Optimizer):
    """RMSProp: steps divided by a moving root mean square of the gradients.

    `s = decay * s + (1 - decay) * g ** 2`,
    `m = momentum * m + learning_rate * g / sqrt(s + epsilon)`, then `w -= m`

    Args:
      learning_rate: a number, a scalar Tensor, or a callable that returns one, like
        `decay`, `momentum` and `epsilon`.
      decay: the decay of the mean square.
      momentum: the weight of the previous step.
      epsilon: a small number that prevents division by zero.
      use_locking: whether concurrent updates of a variable are excluded.
      centered: divide by the standard deviation instead.
      name: the name scope of the updates.

    The slots are "rms" (s, which starts at 1), "momentum" (m) and, if centered, "mg".

    Example:
      >>> train = tf.train.RMSPropOptimizer(0.001).minimize(loss)

    Source: Tieleman and Hinton 2012; ApplyRMSProp in core/ops/training_ops.cc.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        decay: TensorLike = 0.9,
        momentum: TensorLike = 0.0,
        epsilon: TensorLike = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._given = {
            "learning_rate": learning_rate,
            "decay": decay,
            "momentum": momentum,
            "epsilon": epsilon,
        }
        self._centered = centered
        self._hyper: list[Any] = []

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            known = shape.is_fully_defined()
            init = Ones(dtype=dtype) if known else ones_like(var)
            self._get_or_make_slot_with_initializer(
                var, init, shape, dtype, "rms", self._name
            )
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._hyper = [hyper(value, name) for name, value in self._given.items()]

    def _state(self, var: Any) -> list[Any]:
        """The slots, in the order of the ops' inputs."""
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        return [self.get_slot(var, name) for name in names]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        op = ApplyCenteredRMSProp if self._centered else ApplyRMSProp
        values = cast_all(self._hyper, var)
        return op(self._use_locking)(var, *self._state(var), *values, grad).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        op = ResourceApplyCenteredRMSProp if self._centered else ResourceApplyRMSProp
        slots = [slot.handle for slot in self._state(handle)]
        values = cast_all(self._hyper, grad)
        return op(self._use_locking)(handle.handle, *slots, *values, grad)

    def _apply_sparse(self, grad: Any, var: Any) -> Tensor:
        op = SparseApplyCenteredRMSProp if self._centered else SparseApplyRMSProp
        values = cast_all(self._hyper, var)
        return op(self._use_locking)(
            var, *self._state(var), *values, grad.values, grad.indices
        )

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        op = (
            ResourceSparseApplyCenteredRMSProp
            if self._centered
            else ResourceSparseApplyRMSProp
        )
        slots = [slot.handle for slot in self._state(handle)]
        values = cast_all(self._hyper, grad)
        return op(self._use_locking)(handle.handle, *slots, *values, grad, indices)
