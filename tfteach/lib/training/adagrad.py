"""Adagrad.  Source: python/training/adagrad.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, Hyperparameter
from tfteach.lib.training.optimizer import Optimizer, cast_all, hyper
from tfteach.ops.core.fill import fill
from tfteach.ops.core.shape_ops import shape as sizes_of
from tfteach.ops.math.cast import cast
from tfteach.ops.training.training_ops import (
    ApplyAdagrad,
    ResourceApplyAdagrad,
    ResourceSparseApplyAdagrad,
    SparseApplyAdagrad,
)
from tfteach.variables.initializers import Constant


@export("train.AdagradOptimizer")
class AdagradOptimizer(Optimizer):
    """`a += gradient ** 2`, then `w -= learning_rate * gradient / sqrt(a)`

    Args:
      learning_rate: a number, a scalar Tensor, or a callable that returns one.
      initial_accumulator_value: the initial value of a, above 0.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    The slot "accumulator" contains a.

    Raises:
      ValueError: `initial_accumulator_value` is not positive.

    Example:
      >>> train = tf.train.AdagradOptimizer(0.1).minimize(loss)

    Source: Duchi et al. 2011; ApplyAdagrad in core/ops/training_ops.cc.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                "initial_accumulator_value must be positive: "
                f"{initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial = initial_accumulator_value
        self._hyper: list[Any] = []

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            start: Any = Constant(self._initial, dtype=dtype)
            if not shape.is_fully_defined():
                start = self._filled_like(var, dtype)
            self._get_or_make_slot_with_initializer(
                var, start, shape, dtype, "accumulator", self._name
            )

    def _filled_like(self, var: Any, dtype: DTypeLike) -> Callable[[], Tensor]:
        """A callable for the slot's initial value, of `var`'s run-time shape."""
        return lambda: cast(fill(sizes_of(var), self._initial), dtype)

    def _prepare(self) -> None:
        self._hyper = [hyper(self._learning_rate, "learning_rate")]

    def _apply_dense(self, grad: Any, var: Any) -> Tensor:
        slot = self.get_slot(var, "accumulator")
        (rate,) = cast_all(self._hyper, var)
        return ApplyAdagrad(self._use_locking)(var, slot, rate, grad)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        slot = self.get_slot(handle, "accumulator")
        (rate,) = cast_all(self._hyper, grad)
        op = ResourceApplyAdagrad(self._use_locking)
        return op(handle.handle, slot.handle, rate, grad)

    def _apply_sparse(self, grad: Any, var: Any) -> Tensor:
        slot = self.get_slot(var, "accumulator")
        (rate,) = cast_all(self._hyper, var)
        op = SparseApplyAdagrad(self._use_locking)
        return op(var, slot, rate, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        slot = self.get_slot(handle, "accumulator")
        (rate,) = cast_all(self._hyper, grad)
        op = ResourceSparseApplyAdagrad(self._use_locking)
        return op(handle.handle, slot.handle, rate, grad, indices)
