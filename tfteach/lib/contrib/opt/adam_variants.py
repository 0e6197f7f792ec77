"""AdaMax and Nesterov's Adam.

Source: contrib/opt/python/training/adamax.py, nadam_optimizer.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op import Op
from tfteach.framework.scope import colocate_with
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.training.adam import AdamOptimizer
from tfteach.lib.training.optimizer import cast_all
from tfteach.ops.array.gather import gather
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.complex import abs as absolute
from tfteach.ops.math.unary import sqrt
from tfteach.ops.state.ref_variables import assign
from tfteach.ops.state.scatter_functions import scatter_add, scatter_update
from tfteach.ops.state.scatter_ops import ResourceScatterAdd, ResourceScatterUpdate
from tfteach.ops.training.adagrad_adadelta_sign import ApplyAdaMax, ResourceApplyAdaMax
from tfteach.ops.training.training_ops import ApplyAdam, ResourceApplyAdam


class _Rows(AdamOptimizer):
    """Forwards row updates of both kinds of variable to `_update_rows`."""

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        def change(function: Any) -> Callable[..., Any]:
            return lambda variable, indices, rows: function(
                variable, indices, rows, use_locking=self._use_locking
            )

        add, replace = change(scatter_add), change(scatter_update)
        return self._update_rows(grad.values, var, grad.indices, add, replace)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        def change(kind: type[Op]) -> Callable[..., Any]:
            def apply(variable: Any, indices: Any, rows: Any) -> Any:
                done = kind()(variable.handle, indices, rows)
                with get_default_graph().control_dependencies([done]):
                    return variable.value()

            return apply

        add, replace = change(ResourceScatterAdd), change(ResourceScatterUpdate)
        return self._update_rows(grad, handle, indices, add, replace)

    def _update_rows(
        self, grad: Any, var: Any, indices: Any, add: Any, replace: Any
    ) -> Any:
        raise NotImplementedError


@export("contrib.opt.AdaMaxOptimizer")
class AdaMaxOptimizer(_Rows):
    """Adam with the maximum of recent gradients instead of the mean square.

    `m = beta1 * m + (1 - beta1) * g`, `v = max(beta2 * v, |g|)`, then
    `w -= learning_rate / (1 - beta1 ** t) * m / (v + epsilon)` at step t

    Arguments and slots are those of `tf.train.AdamOptimizer`.

    Example:
      >>> train = tf.contrib.opt.AdaMaxOptimizer(0.001).minimize(loss)

    Source: Kingma and Ba 2014 (arXiv:1412.6980), section 7.1; ApplyAdaMax in
    core/ops/training_ops.cc.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: TensorLike = 0.9,
        beta2: TensorLike = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        values = cast_all([self._get_beta_accumulators()[0], *self._hyper], var)
        return ApplyAdaMax(self._use_locking)(var, m, v, *values, grad).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        m, v = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        values = cast_all([self._get_beta_accumulators()[0], *self._hyper], grad)
        op = ResourceApplyAdaMax(self._use_locking)
        return op(handle.handle, m.handle, v.handle, *values, grad)

    def _update_rows(
        self, grad: Any, var: Any, indices: Any, add: Any, replace: Any
    ) -> Any:
        after = get_default_graph().control_dependencies
        power = cast(self._get_beta_accumulators()[0], var.dtype.base_dtype)
        rate, beta1, beta2, epsilon = cast_all(self._hyper, var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = gather(m, indices) * beta1 + grad * (1 - beta1)
        with after([m_rows]):
            m_now = replace(m, indices, m_rows)
        v_rows = maximum(gather(v, indices) * beta2, absolute(grad))
        with after([v_rows]):
            v_now = replace(v, indices, v_rows)
        change = -rate / (1 - power) * (m_rows / (v_rows + epsilon))
        with after([change]):
            update = add(var, indices, change)
        return group(update, m_now, v_now)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        power, beta1 = self._get_beta_accumulators()[0], self._hyper[1]
        with get_default_graph().control_dependencies(update_ops), colocate_with(power):
            update = power.assign(power * beta1, use_locking=self._use_locking)
        return group(*update_ops, update, name=name_scope)


@export("contrib.opt.NadamOptimizer")
class NadamOptimizer(_Rows):
    """Adam with Nesterov's look-ahead: the step already includes the present gradient.

    `w -= rate * (beta1 * m + (1 - beta1) * g) / (sqrt(v) + epsilon)`, where m, v and
    the rate are Adam's.  Arguments and slots are those of `tf.train.AdamOptimizer`.

    Example:
      >>> train = tf.contrib.opt.NadamOptimizer(0.001).minimize(loss)

    Source: Dozat 2016; ApplyAdam (use_nesterov) in core/ops/training_ops.cc.
    """

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        values = cast_all([*self._get_beta_accumulators(), *self._hyper], var)
        return ApplyAdam(self._use_locking, True)(var, m, v, *values, grad).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        m, v = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        values = cast_all([*self._get_beta_accumulators(), *self._hyper], grad)
        op = ResourceApplyAdam(self._use_locking, True)
        return op(handle.handle, m.handle, v.handle, *values, grad)

    def _update_rows(
        self, grad: Any, var: Any, indices: Any, add: Any, replace: Any
    ) -> Any:
        after = get_default_graph().control_dependencies
        power1, power2 = (
            cast(p, var.dtype.base_dtype) for p in self._get_beta_accumulators()
        )
        rate, beta1, beta2, epsilon = cast_all(self._hyper, var)
        rate = rate * sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        locking = self._use_locking
        m_rows = grad * (1 - beta1)
        with after([assign(m, m * beta1, use_locking=locking)]):
            m_now = add(m, indices, m_rows)
            ahead = m_rows + beta1 * gather(m_now, indices)
        v_rows = (grad * grad) * (1 - beta2)
        with after([assign(v, v * beta2, use_locking=locking)]):
            v_now = add(v, indices, v_rows)
        root = sqrt(gather(v_now, indices))
        update = add(var, indices, -rate * ahead / (root + epsilon))
        return group(update, ahead, v_now)
