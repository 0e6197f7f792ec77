"""Larger steps where the gradient agrees in sign with its moving average.

Source: contrib/opt/python/training/addsign.py, powersign.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import DTypeLike, Hyperparameter
from tfteach.lib.training.single_op_optimizer import RuleOptimizer, UpdateOps
from tfteach.ops.array.gather import gather
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.math.binary import pow
from tfteach.ops.math.cast import cast
from tfteach.ops.math.unary import sign
from tfteach.ops.state.ref_variables import assign
from tfteach.ops.state.scatter_functions import scatter_sub
from tfteach.ops.training.adagrad_adadelta_sign import (
    ApplyAddSign,
    ApplyPowerSign,
    ResourceApplyAddSign,
    ResourceApplyPowerSign,
)


class _Signs(RuleOptimizer):
    """Base of both rules: the mean m, and the decay of the sign's influence."""

    _state = ("m",)

    def __init__(
        self, sign_decay_fn: Callable[[Any], Any] | None, use_locking: bool, name: str
    ) -> None:
        super().__init__(use_locking, name)
        self._sign_decay_fn = sign_decay_fn
        self._sign_decay: Any = None

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Operation:
        """`tf.train.Optimizer.apply_gradients`."""
        if self._sign_decay_fn is not None:
            decay = self._sign_decay_fn(global_step)
            self._sign_decay = convert(decay, name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        if self._sign_decay_fn is None:
            self._sign_decay = convert(1.0, name="sign_decay")
        self._numbers["sign_decay"] = self._sign_decay

    def _factor(self, numbers: dict[str, Any], agree: Any) -> Any:
        """The factor of the gradient's rows; `agree` is 1 or -1."""
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        names = [name for name in self._given if name != "sign_decay"]
        numbers = {name: self._number(name, var, dtype) for name in names}
        numbers |= self._more(dtype)
        m, beta = self.get_slot(var, "m"), numbers["beta"]
        # All of m decays, which requires the gradient as a dense tensor.
        mean = (m * beta) + (grad * (1 - beta))
        m_now = assign(m, mean, use_locking=self._use_locking)
        signs = sign(grad.values)
        agree = gather(sign(m_now), grad.indices) * signs
        numbers["sign_decay"] = cast(self._sign_decay, dtype)
        change = numbers["lr"] * self._factor(numbers, agree) * grad.values
        update = scatter_sub(var, grad.indices, change, use_locking=self._use_locking)
        return group(update, m_now)

    def _more(self, dtype: DTypeLike) -> dict[str, Any]:
        """Further numbers for `_factor`."""
        return {}

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no sparse updates of resource variables, as "
            "in TF: use a reference variable (use_resource=False)."
        )


@export("contrib.opt.AddSignOptimizer")
class AddSignOptimizer(_Signs):
    """`m = beta * m + (1 - beta) * g`, then
    `w -= learning_rate * (alpha + f(t) * sign(g) * sign(m)) * g`

    Args:
      learning_rate: a number, a scalar Tensor, or a callable that returns one.
      alpha: the factor of the gradient that does not depend on the sign.
      beta: the decay of the average.
      sign_decay_fn: f, a function of the global step; 1 if None.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    The slot "m" contains m.

    Example:
      >>> train = tf.contrib.opt.AddSignOptimizer(0.1).minimize(loss)

    Source: Bello et al. 2017 (arXiv:1709.07417); ApplyAddSign in
    core/ops/training_ops.cc.
    """

    _dense = UpdateOps(ApplyAddSign, ResourceApplyAddSign)

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(sign_decay_fn, use_locking, name)
        self._given = {
            "lr": ("learning_rate", learning_rate),
            "beta": ("beta", beta),
            "alpha": ("alpha", alpha),
        }

    def _factor(self, numbers: dict[str, Any], agree: Any) -> Any:
        return numbers["alpha"] + numbers["sign_decay"] * agree


@export("contrib.opt.PowerSignOptimizer")
class PowerSignOptimizer(_Signs):
    """`m = beta * m + (1 - beta) * g`, then
    `w -= learning_rate * base ** (f(t) * sign(g) * sign(m)) * g`

    Args:
      learning_rate: a number, a scalar Tensor, or a callable that returns one.
      base: above 1: the influence of agreement.
      beta: the decay of the average.
      sign_decay_fn: f, a function of the global step; 1 if None.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    The slot "m" contains m.

    Example:
      >>> train = tf.contrib.opt.PowerSignOptimizer(0.1).minimize(loss)

    Source: Bello et al. 2017 (arXiv:1709.07417); ApplyPowerSign in
    core/ops/training_ops.cc.
    """

    _dense = UpdateOps(ApplyPowerSign, ResourceApplyPowerSign)

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(sign_decay_fn, use_locking, name)
        self._given = {
            "lr": ("learning_rate", learning_rate),
            "beta": ("beta", beta),
            "logbase": ("logbase", math.log(base)),
        }

    def _more(self, dtype: DTypeLike) -> dict[str, Any]:
        return {"e": cast(math.e, dtype)}

    def _factor(self, numbers: dict[str, Any], agree: Any) -> Tensor:
        exponent = numbers["logbase"] * numbers["sign_decay"] * agree
        return pow(numbers["e"], exponent)
