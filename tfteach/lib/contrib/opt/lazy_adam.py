"""Adam that updates only the rows used by a step.

Source: contrib/opt/python/training/lazy_adam_optimizer.py, lazy_adam_gs_optimizer.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.lib.contrib.opt.adam_gs import AdamGSOptimizer
from tfteach.lib.training.adam import AdamOptimizer
from tfteach.lib.training.optimizer import cast_all
from tfteach.ops.array.gather import gather
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.math.cast import cast
from tfteach.ops.math.unary import sqrt, square
from tfteach.ops.state.scatter_functions import scatter_sub, scatter_update
from tfteach.ops.state.scatter_ops import ResourceScatterSub, ResourceScatterUpdate


class _UsedRows(AdamOptimizer):
    """The sparse update, which reads and writes only the rows of the gradient."""

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        indices, locking = grad.indices, self._use_locking
        rate, beta1, beta2, epsilon = self._rates(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * grad.values
        m_now = scatter_update(m, indices, m_rows, use_locking=locking)
        v_rows = beta2 * gather(v, indices) + (1 - beta2) * square(grad.values)
        v_now = scatter_update(v, indices, v_rows, use_locking=locking)
        m_rows, v_rows = gather(m_now, indices), gather(v_now, indices)
        root = sqrt(v_rows) + epsilon
        change = rate * m_rows / root
        update = scatter_sub(var, indices, change, use_locking=locking)
        return group(update, m_now, v_now)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        replace = ResourceScatterUpdate()
        rate, beta1, beta2, epsilon = self._rates(handle)
        m, v = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * grad
        m_update = replace(m.handle, indices, m_rows)
        v_rows = beta2 * gather(v, indices) + (1 - beta2) * square(grad)
        v_update = replace(v.handle, indices, v_rows)
        change = rate * m_rows / (sqrt(v_rows) + epsilon)
        update = ResourceScatterSub()(handle.handle, indices, change)
        return group(update, m_update, v_update)

    def _rates(self, var: Any) -> tuple[Any, Any, Any, Any]:
        """The rate with Adam's correction, beta1, beta2 and epsilon, in var's type."""
        power1, power2 = (
            cast(p, var.dtype.base_dtype) for p in self._get_beta_accumulators()
        )
        rate, beta1, beta2, epsilon = cast_all(self._hyper, var)
        return rate * sqrt(1 - power2) / (1 - power1), beta1, beta2, epsilon


@export("contrib.opt.LazyAdamOptimizer")
class LazyAdamOptimizer(_UsedRows):
    """`tf.train.AdamOptimizer` whose sparse updates change only rows with a gradient.

    In Adam the moving averages of all rows decay in each step, and all rows move with
    them; here both happen only to rows that are used, so that the cost of a step on a
    large embedding depends on the rows it looks up.  Arguments and slots are Adam's.

    Example:
      >>> train = tf.contrib.opt.LazyAdamOptimizer(0.001).minimize(loss)

    Source: contrib/opt/python/training/lazy_adam_optimizer.py.
    """


@export("contrib.opt.LazyAdamGSOptimizer")
class LazyAdamGSOptimizer(_UsedRows, AdamGSOptimizer):
    """`tf.contrib.opt.LazyAdamOptimizer` that reads the step from a variable.

    Arguments are those of `tf.contrib.opt.AdamGSOptimizer`.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> optimizer = tf.contrib.opt.LazyAdamGSOptimizer(step, 0.001)
      >>> train = optimizer.minimize(loss, global_step=step)

    Source: contrib/opt/python/training/lazy_adam_gs_optimizer.py.
    """
