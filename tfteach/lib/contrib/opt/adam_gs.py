"""Adam that reads the global step, instead of keeping powers of beta.

Source: contrib/opt/python/training/adam_gs_optimizer.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.training.adam import AdamOptimizer
from tfteach.lib.training.optimizer import Optimizer
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.binary import pow as power
from tfteach.ops.math.cast import cast


@export("contrib.opt.AdamGSOptimizer")
class AdamGSOptimizer(AdamOptimizer):
    """`tf.train.AdamOptimizer` that reads the step from a variable.

    It corrects its averages by `1 - beta ** (global_step + 1)`, so there are no
    variables `beta1_power` and `beta2_power`.

    Args:
      global_step: the variable that `minimize` increments, or a number.
      learning_rate, beta1, beta2, epsilon, use_locking, name: as in
        `tf.train.AdamOptimizer`.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> optimizer = tf.contrib.opt.AdamGSOptimizer(step, 0.001)
      >>> train = optimizer.minimize(loss, global_step=step)

    Source: contrib/opt/python/training/adam_gs_optimizer.py.
    """

    def __init__(
        self,
        global_step: TensorLike = 0,
        learning_rate: Hyperparameter = 0.001,
        beta1: TensorLike = 0.9,
        beta2: TensorLike = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step
        self._step: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        _, beta1, beta2, _ = self._hyper
        return power(beta1, self._step), power(beta2, self._step)

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._step = cast(identity(self._global_step) + 1, float32)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return Optimizer._finish(self, update_ops, name_scope)
