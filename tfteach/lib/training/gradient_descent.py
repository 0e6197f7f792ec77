"""Plain gradient descent.  Source: python/training/gradient_descent.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.type_aliases import Hyperparameter
from tfteach.lib.training.optimizer import Optimizer, hyper
from tfteach.ops.math.cast import cast
from tfteach.ops.state.scatter_ops import ResourceScatterAdd
from tfteach.ops.training.training_ops import (
    ApplyGradientDescent,
    ResourceApplyGradientDescent,
)


@export("train.GradientDescentOptimizer")
class GradientDescentOptimizer(Optimizer):
    """`w -= learning_rate * gradient`

    Args:
      learning_rate: a number, a scalar Tensor, or a callable that returns one.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.

    Example:
      >>> train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    Source: ApplyGradientDescent in core/ops/training_ops.cc.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        use_locking: bool = False,
        name: str = "GradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyper(self._learning_rate, "learning_rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        return ApplyGradientDescent(self._use_locking)(var, rate, grad).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        rate = cast(self._learning_rate_tensor, grad.dtype.base_dtype)
        op = ResourceApplyGradientDescent(self._use_locking)
        return op(handle.handle, rate, grad)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any
    ) -> Any:

        delta = -grad * self._learning_rate
        return ResourceScatterAdd()(handle.handle, indices, delta)
