"""Adam.  Source: python/training/adam.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.scope import colocate_with
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.training.optimizer import Optimizer, cast_all, hyper
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.math.cast import cast
from tfteach.ops.math.unary import sqrt
from tfteach.ops.state.ref_variables import assign, assign_sub
from tfteach.ops.state.scatter_functions import scatter_add
from tfteach.ops.state.scatter_ops import ResourceScatterAdd
from tfteach.ops.training.training_ops import ApplyAdam, ResourceApplyAdam


@export("train.AdamOptimizer")
class AdamOptimizer(Optimizer):
    """Adam: the gradients' moving average divided by their root mean square.

    `m = beta1 * m + (1 - beta1) * g`, `v = beta2 * v + (1 - beta2) * g ** 2`, then
    `w -= learning_rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m /
    (sqrt(v) + epsilon)` at step t

    Args:
      learning_rate: a number, a scalar Tensor, or a callable that returns one.
      beta1: the decay of the average.
      beta2: the decay of the mean square.
      epsilon: a small number that prevents division by zero.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    The slots are "m" and "v"; `beta1_power` and `beta2_power` are separate variables.
    Rows of an embedding that a step does not use still move, by their momentum.

    Example:
      >>> train = tf.train.AdamOptimizer(0.001).minimize(loss)

    Source: Kingma and Ba 2014 (arXiv:1412.6980); ApplyAdam in core/ops/training_ops.cc.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: TensorLike = 0.9,
        beta2: TensorLike = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2 = learning_rate, beta1, beta2
        self._epsilon = epsilon
        self._hyper: list[Any] = []

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return (
            self._get_non_slot_variable("beta1_power"),
            self._get_non_slot_variable("beta2_power"),
        )

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        for name, value in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            self._create_non_slot_variable(value, name, first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        self._hyper = [
            hyper(self._lr, "learning_rate"),
            hyper(self._beta1, "beta1"),
            hyper(self._beta2, "beta2"),
            hyper(self._epsilon, "epsilon"),
        ]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        values = cast_all([*self._get_beta_accumulators(), *self._hyper], var)
        return ApplyAdam(self._use_locking)(var, m, v, *values, grad).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        m, v = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        values = cast_all([*self._get_beta_accumulators(), *self._hyper], grad)
        op = ResourceApplyAdam(self._use_locking)
        return op(handle.handle, m.handle, v.handle, *values, grad)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        def add(slot: Any, indices: Any, values: Any) -> Any:
            return scatter_add(slot, indices, values, use_locking=self._use_locking)

        return self._apply_rows(grad.values, var, grad.indices, add)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        def add(slot: Any, indices: Any, values: Any) -> Any:
            added = ResourceScatterAdd()(slot.handle, indices, values)
            with get_default_graph().control_dependencies([added]):
                return slot.value()

        return self._apply_rows(grad, handle, indices, add)

    def _apply_rows(
        self, grad: Any, var: Any, indices: Any, add: Callable[..., Any]
    ) -> Any:
        """Decay all of m and v, then add the rows' gradients."""
        power1, power2 = self._get_beta_accumulators()
        dtype = var.dtype.base_dtype
        power1, power2 = cast(power1, dtype), cast(power2, dtype)
        rate, beta1, beta2, epsilon = cast_all(self._hyper, var)
        rate = rate * sqrt(1 - power2) / (1 - power1)
        m = self.get_slot(var, "m")
        m_rows = grad * (1 - beta1)
        m_now = self._decayed(m, beta1, indices, m_rows, add)
        v = self.get_slot(var, "v")
        v_rows = (grad * grad) * (1 - beta2)
        v_now = self._decayed(v, beta2, indices, v_rows, add)
        root = sqrt(v_now)
        update = assign_sub(
            var, rate * m_now / (root + epsilon), use_locking=self._use_locking
        )
        return group(update, m_now, v_now)

    def _decayed(
        self, slot: Any, beta: Any, indices: Any, rows: Any, add: Callable[..., Any]
    ) -> Any:
        decayed = assign(slot, slot * beta, use_locking=self._use_locking)
        with get_default_graph().control_dependencies([decayed]):
            return add(slot, indices, rows)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        power1, power2 = self._get_beta_accumulators()
        _, beta1, beta2, _ = self._hyper
        with (
            get_default_graph().control_dependencies(update_ops),
            colocate_with(power1),
        ):
            updates = [
                power.assign(power * beta, use_locking=self._use_locking)
                for power, beta in ((power1, beta1), (power2, beta2))
            ]
        return group(*update_ops, *updates, name=name_scope)
