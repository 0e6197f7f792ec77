"""Optimizers with weight decay that is decoupled from the gradients.

Source: contrib/opt/python/training/weight_decay_optimizers.py.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.training.adam import AdamOptimizer
from tfteach.lib.training.momentum import MomentumOptimizer
from tfteach.lib.training.optimizer import Optimizer
from tfteach.ops.array.gather import gather
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.state.scatter_functions import scatter_add
from tfteach.ops.state.scatter_ops import ResourceScatterAdd

logger = logging.getLogger("tensorflow")


@export("contrib.opt.DecoupledWeightDecayExtension")
class DecoupledWeightDecayExtension:
    """Mixin for an optimizer class: `w -= weight_decay * w` before each update.

    Args:
      weight_decay: a number, a scalar Tensor, or a callable that returns one.
      **kwargs: the optimizer's own arguments.

    For variables updated by rows only those rows decay.

    Source: Loshchilov and Hutter 2017 (arXiv:1711.05101).
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: list[Any] = []
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(
        self, *args: Any, decay_var_list: Sequence[Any] | None = None, **kwargs: Any
    ) -> Any:
        """`tf.train.Optimizer.minimize`; all updated variables decay.

        Args:
          decay_var_list: without effect, as in TF, where the subsequent
            `apply_gradients` resets the list: pass it there.
        """
        if decay_var_list:
            logger.warning(
                "minimize forgets decay_var_list, as TensorFlow 1.15 does: all "
                "variables shrink. Call compute_gradients, and apply_gradients with "
                "the list."
            )
        return super().minimize(*args, **kwargs)  # type: ignore[misc]

    def apply_gradients(
        self, *args: Any, decay_var_list: Sequence[Any] | None = None, **kwargs: Any
    ) -> Operation:
        """`tf.train.Optimizer.apply_gradients`.

        Args:
          decay_var_list: the variables to decay; all updated ones if None.
        """
        self._decay_var_list = list(decay_var_list or ())
        result: Operation = super().apply_gradients(*args, **kwargs)  # type: ignore[misc]
        return result

    def _prepare(self) -> None:
        decay = self._weight_decay
        convert(decay() if callable(decay) else decay, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _shrinks(self, var: Any) -> bool:
        chosen = self._decay_var_list
        return not chosen or any(var is v for v in chosen)

    def _shrunk(self, var: Any) -> Any:
        if not self._shrinks(var):
            return no_op()
        return var.assign_sub(self._weight_decay * var, self._use_locking)  # type: ignore[attr-defined]

    def _shrunk_rows(self, var: Any, indices: Any, add: Any) -> Any:
        if not self._shrinks(var):
            return no_op()
        rows = -self._weight_decay * gather(var, indices)
        return add(var, indices, rows, self._use_locking)  # type: ignore[attr-defined]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with get_default_graph().control_dependencies([self._shrunk(var)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        with get_default_graph().control_dependencies([self._shrunk(handle)]):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        done = self._shrunk_rows(var, grad.indices, scatter_add)
        with get_default_graph().control_dependencies([done]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        def add(variable: Any, indices: Any, rows: Any, _: Any) -> Any:
            added = ResourceScatterAdd()(variable.handle, indices, rows)
            with get_default_graph().control_dependencies([added]):
                return variable.value()

        done = self._shrunk_rows(handle, indices, add)
        with get_default_graph().control_dependencies([done]):
            return super()._resource_apply_sparse(grad, handle, indices)  # type: ignore[misc]


@export("contrib.opt.extend_with_decoupled_weight_decay")
def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> Any:
    """An optimizer class with weight decay, whose first argument is `weight_decay`.

    Args:
      base_optimizer: a subclass of `tf.train.Optimizer`.

    Example:
      >>> decaying = tf.contrib.opt.extend_with_decoupled_weight_decay(
      ...     tf.train.AdamOptimizer)
      >>> train = decaying(weight_decay=1e-4, learning_rate=0.001).minimize(loss)

    Source: contrib/opt/python/training/weight_decay_optimizers.py.
    """
    bases = DecoupledWeightDecayExtension, base_optimizer
    return type("OptimizerWithDecoupledWeightDecay", bases, {})


@export("contrib.opt.MomentumWOptimizer")
class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """`tf.train.MomentumOptimizer` with weight decay: `w -= weight_decay * w` too.

    The other arguments are those of `tf.train.MomentumOptimizer`.

    Example:
      >>> train = tf.contrib.opt.MomentumWOptimizer(1e-4, 0.01, 0.9).minimize(loss)

    Source: Loshchilov and Hutter 2017 (arXiv:1711.05101).
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Hyperparameter,
        momentum: TensorLike,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum,
            use_locking=use_locking, name=name, use_nesterov=use_nesterov,
        )  # fmt: skip


@export("contrib.opt.AdamWOptimizer")
class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """`tf.train.AdamOptimizer` with weight decay: `w -= weight_decay * w` too.

    The other arguments are those of `tf.train.AdamOptimizer`.

    Example:
      >>> train = tf.contrib.opt.AdamWOptimizer(1e-4, 0.001).minimize(loss)

    Source: Loshchilov and Hutter 2017 (arXiv:1711.05101).
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Hyperparameter = 0.001,
        beta1: TensorLike = 0.9,
        beta2: TensorLike = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2,
            epsilon=epsilon, use_locking=use_locking, name=name,
        )  # fmt: skip
