"""`tf.ConditionalAccumulator` and `tf.SparseConditionalAccumulator`.

Source: python/ops/data_flow_ops.py (API, names of nodes, messages).
"""

from __future__ import annotations

from typing import NamedTuple

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, int64
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import TensorShape, as_shape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.ops.math.cast import cast
from tfteach.ops.queues import accumulators as ops


@export("ConditionalAccumulatorBase")
class ConditionalAccumulatorBase:
    """An accumulator of gradients.

    Gradients whose `local_step` is behind the accumulator's step are dropped; each take
    increments that step.

    Args:
      dtype: the type of the gradients.
      shape: their shape, or None.
      accumulator_ref: the handle.

    Source: python/ops/data_flow_ops.py.
    """

    def __init__(
        self, dtype: DTypeLike, shape: ShapeLike | None, accumulator_ref: Tensor
    ) -> None:
        self._dtype = as_dtype(dtype)
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator's op, without its scope."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """An int32 scalar: the number of gradients since the last take."""
        name = f"{self._name}_NumAccumulated" if name is None else name
        op = ops.ResourceAccumulatorNumAccumulated()
        return op(self._accumulator_ref, name=name)

    def set_global_step(
        self, new_global_step: TensorLike, name: str | None = None
    ) -> Operation:
        """An op that sets the step before which gradients are stale."""
        step = cast(convert(new_global_step), int64)
        op = ops.ResourceAccumulatorSetGlobalStep()
        return op(self._accumulator_ref, step, name=name)


@export("ConditionalAccumulator")
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds gradients, until somebody takes their mean or sum.

    Args:
      dtype: the type of the gradients.
      shape: their shape; None if it may vary between takes.
      shared_name: a name by which several ops refer to one accumulator.
      name: the op's name.
      reduction_type: "MEAN" or "SUM".

    Raises:
      ValueError: `reduction_type` is neither.

    Example:
      >>> total = tf.ConditionalAccumulator(tf.float32, shape=[])
      >>> session = tf.Session()
      >>> session.run([total.apply_grad(1.0), total.apply_grad(4.0)])
      [None, None]
      >>> session.run(total.take_grad(2))
      2.5

    Source: ResourceConditionalAccumulator in core/ops/data_flow_ops.cc.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        op = ops.ResourceConditionalAccumulator(
            as_dtype(dtype),
            as_shape(shape),
            shared_name=shared_name or "",
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, op(name=name))

    def apply_grad(
        self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """An op that adds a gradient, unless it is stale.

        Args:
          grad: the gradient.
          local_step: the step at which it was computed, an int64 scalar.
          name: the op's name.

        Raises:
          ValueError: its shape is not the accumulator's.
          tf.errors.InvalidArgumentError: in a run, likewise.
        """
        tensor = convert(grad, self._dtype)
        tensor.get_shape().assert_is_compatible_with(self._shape)
        step = cast(convert(local_step), int64)
        op = ops.ResourceAccumulatorApplyGradient()
        return op(self._accumulator_ref, step, tensor, name=name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Tensor:
        """The mean or sum, once there are `num_required` gradients; starts anew.

        Raises:
          tf.errors.InvalidArgumentError: in a run, `num_required` is not positive.
          tf.errors.CancelledError: in a run, the session was closed while it waited.
        """
        op = ops.ResourceAccumulatorTakeGradient(self._dtype)
        found = op(self._accumulator_ref, num_required, name=name)
        found.set_shape(self._shape)
        return found


class SparseGradient(NamedTuple):
    """What `SparseConditionalAccumulator.take_grad` returns."""

    indices: Tensor
    values: Tensor
    shape: Tensor


@export("SparseConditionalAccumulator", "sparse.SparseConditionalAccumulator")
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds gradients of rows, until somebody takes their mean or sum.

    The mean of a row is over the gradients that have it.

    Args:
      dtype: the type of the gradients.
      shape: of the dense gradient, or None.
      shared_name: a name by which several ops refer to one accumulator.
      name: the op's name.
      reduction_type: "MEAN" or "SUM".

    Source: SparseConditionalAccumulator in core/ops/data_flow_ops.cc.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        op = ops.SparseConditionalAccumulator(
            as_dtype(dtype),
            as_shape(shape),
            shared_name=shared_name or "",
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, op(name=name))

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """`apply_grad` of IndexedSlices."""
        return self.apply_grad(
            grad.indices, grad.values, grad.dense_shape, local_step, name
        )

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """An op that adds rows of a gradient, unless they are stale.

        Args:
          grad_indices: the numbers of the rows, in increasing order.
          grad_values: the rows.
          grad_shape: the shape of the dense gradient, or None.
          local_step: the step at which it was computed, an int64 scalar.
          name: the op's name.

        Raises:
          tf.errors.InvalidArgumentError: in a run, the shapes do not fit.
        """
        step = cast(convert(local_step), int64)
        op = ops.SparseAccumulatorApplyGradient(grad_shape is not None)
        indices = cast(grad_indices, int64)
        shape = cast([] if grad_shape is None else grad_shape, int64)
        return op(self._accumulator_ref, step, indices, grad_values, shape, name=name)

    def take_grad(
        self, num_required: TensorLike, name: str | None = None
    ) -> SparseGradient:
        """The mean or sum, once there are `num_required` gradients; starts anew.

        Returns:
          `indices`, `values` and `shape` of the dense gradient.
        """
        op = ops.SparseAccumulatorTakeGradient(self._dtype)
        return SparseGradient(*op(self._accumulator_ref, num_required, name=name))

    def take_indexed_slices_grad(
        self, num_required: TensorLike, name: str | None = None
    ) -> IndexedSlices:
        """`take_grad` as IndexedSlices."""
        found = self.take_grad(num_required, name)
        return IndexedSlices(found.values, found.indices, found.shape)

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """An int32 scalar: the number of gradients since the last take."""
        name = f"{self._name}_NumAccumulated" if name is None else name
        return ops.AccumulatorNumAccumulated()(self._accumulator_ref, name=name)

    def set_global_step(
        self, new_global_step: TensorLike, name: str | None = None
    ) -> Operation:
        """An op that sets the step before which gradients are stale."""
        step = cast(convert(new_global_step), int64)
        op = ops.AccumulatorSetGlobalStep()
        return op(self._accumulator_ref, step, name=name)
