"""Accumulators of gradients: they add what workers apply until somebody takes it.

Source: core/ops/data_flow_ops.cc, core/kernels/conditional_accumulator_base_op.h,
conditional_accumulator.h, sparse_conditional_accumulator.h (semantics and messages).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.logger import get_logger
from tfteach.framework.op import MultiOutputOp, NoOutputOp
from tfteach.framework.resource_names import ReferencedResource, resource_name
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.queues.queue_attempts import fits
from tfteach.ops.queues.queue_ops import OnHost
from tfteach.ops.state.resource_variables import NUMBERS

CANCELLED = "TakeGrad operation was cancelled"


class Accumulator(ReferencedResource):
    """The sum of dense gradients of a session.

    Attributes:
      global_step: gradients of earlier local steps are dropped.
      count: the number of gradients in the sum.
    """

    shape: tuple[int, ...] = ()

    def __init__(self, name: str, dtype: DType, sizes: Shape, is_mean: bool) -> None:
        self.name, self.dtype, self.sizes, self.is_mean = name, dtype, sizes, is_mean
        self.global_step = self.count = 0
        self.changed = threading.Condition(threading.Lock())

    def clear(self) -> None:
        with self.changed:
            self.count = 0

    def apply(self, local_step: int, gradient: Any) -> None:
        """Add a gradient, unless it is stale."""
        with self.changed:
            if local_step < self.global_step:
                return
            self.check(gradient)
            if self.count:
                self.add(gradient)
            else:
                self.start(gradient)
            self.count += 1
            self.changed.notify_all()

    def take(self, ctx: KernelContext, required: int) -> Any:
        """The average or sum, once there are so many gradients; starts anew."""
        if required <= 0:
            raise invalid_argument(
                f"Argument num_required must be positive, but was {required}"
            )
        with self.changed:
            ctx.wait_until(self.changed, lambda: self.count >= required, CANCELLED)
            found = self.result()
            self.count = 0
            self.global_step += 1
            return found

    def set_global_step(self, step: int) -> None:
        with self.changed:
            if step < self.global_step:
                get_logger().warning(
                    "Attempt to set current_global_step_ to smaller value: "
                    "current_global_step_ = %d >= %d = new_global_step.",
                    self.global_step,
                    step,
                )
            self.global_step = step

    # ---- for subclasses

    def check(self, gradient: Any) -> None:
        """Raise InvalidArgumentError for a gradient of another shape."""
        expected = self.total.shape if self.count else self.sizes
        if not fits(gradient.shape, expected):
            raise invalid_argument(
                f"Shape mismatch: expected {shapes.text(expected)}, got "
                f"{shapes.text(gradient.shape)}"
            )

    def start(self, gradient: Any) -> None:
        self.total = gradient

    def add(self, gradient: Any) -> None:
        self.total = self.total + gradient

    def result(self) -> Any:
        return (
            self.total / self.total.dtype.type(self.count)
            if self.is_mean
            else self.total
        )


class SparseAccumulator(Accumulator):
    """The sum of gradients of rows, each with the number of gradients it is in."""

    def check(self, gradient: Any) -> None:
        indices, values, shape, has_shape = gradient
        if indices.ndim != 1:
            raise invalid_argument(
                "Input indices should be vector but received shape: "
                f"{shapes.text(indices.shape)}"
            )
        if not values.ndim:
            raise invalid_argument("Values cannot be 0-dimensional.")
        if len(values) != len(indices):
            raise invalid_argument(
                f"Expected {len(indices)} non-empty input values, got {len(values)}"
            )
        sizes = self.sizes or ()
        if has_shape:
            if len(shape) < len(sizes):
                raise _mismatch(_at_least("shape", len(sizes), len(shape)))
            _check_sizes("shape", sizes, shape, 0)
        limit = sizes[0] if sizes else None
        for i, index in enumerate(indices.tolist() if limit is not None else ()):
            if index >= limit:
                raise _mismatch(
                    f"index of slice {i} exceeded limits of shape; index is {index} "
                    f"exceeded {limit}"
                )
        if self.count:
            sizes = (None, *self.inner)
            if values.ndim != len(sizes):
                raise _mismatch(f"expected values rank {len(sizes)}, got {values.ndim}")
        elif values.ndim < len(sizes):
            raise _mismatch(_at_least("values", len(sizes), values.ndim))
        _check_sizes("values", sizes, values.shape, 1)

    def start(self, gradient: Any) -> None:
        indices, values, _, _ = gradient
        self.rows = [
            [index, row, 1] for index, row in zip(indices.tolist(), values, strict=True)
        ]
        self.inner = values.shape[1:]

    def add(self, gradient: Any) -> None:
        """Merge two sequences of rows, each in the order of its indices."""
        indices, values, _, _ = gradient
        new = list(zip(indices.tolist(), values, strict=True))
        merged: list[list[Any]] = []
        i = j = 0
        while i < len(self.rows) and j < len(new):
            old = self.rows[i]
            index, row = new[j]
            if old[0] == index:
                merged.append([index, old[1] + row, old[2] + 1])
                i, j = i + 1, j + 1
            elif old[0] < index:
                merged.append(old)
                i += 1
            else:
                merged.append([index, row, 1])
                j += 1
        rest = [[index, row, 1] for index, row in new[j:]]
        self.rows = [*merged, *self.rows[i:], *rest]

    def result(self) -> Any:
        dtype = self.dtype.numpy_dtype
        indices = np.array([row[0] for row in self.rows], np.int64)
        values = np.empty((len(self.rows), *self.inner), dtype)
        for i, (_, total, count) in enumerate(self.rows):
            values[i] = total / dtype.type(count) if self.is_mean else total
        rows = self.sizes[0] if self.sizes else None
        shape = np.array([-1 if rows is None else rows, *self.inner], np.int64)
        return indices, values, shape


def _check_sizes(
    what: str, expected: Sequence[int | None], found: Sequence[int], start: int
) -> None:
    """Raise InvalidArgumentError where a known size differs, from axis `start` on."""
    pairs = zip(expected, found, strict=False)  # what is found may have more axes
    for axis, (want, got) in enumerate(pairs):
        if axis >= start and want is not None and want != got:
            raise _mismatch(f"expected {what} dim {axis} to be {want}, got {got}")


def _at_least(what: str, rank: int, found: int) -> str:
    return f"expected {what} rank at least {rank}, got {found}"


def _mismatch(text: str) -> OpError:
    return invalid_argument(f"Shape mismatch: {text}")


# ---- accumulators


class _AccumulatorHandle(OnHost, abstract=True):
    """An accumulator, shared by name."""

    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True
    dtype_allowed = NUMBERS
    choices: ClassVar[tuple[str, ...]] = ("MEAN", "SUM")
    store: ClassVar[type[Accumulator]] = Accumulator

    def infer_shape(self) -> Shape:
        return (2,) if self.outputs[0].is_ref else ()

    def compute(self, ctx: KernelContext) -> Any:
        own: Any = self
        key = own.shared_name or f"node {ctx.op.name}"

        def make() -> Accumulator:
            name = resource_name(own.shared_name, ctx.op.name)
            is_mean = own.reduction_type == "MEAN"
            return self.store(name, own.dtype, own.shape, is_mean)

        return ctx.resource("accumulator", key, make, own.container)


class ConditionalAccumulator(_AccumulatorHandle):
    """Adds dense gradients.  Source: data_flow_ops.cc, ConditionalAccumulator."""

    signature = "-> handle: ref string"
    dtype: DType
    shape: Shape
    container: str = ""
    shared_name: str = ""
    reduction_type: str = "MEAN"

    def validate(self) -> None:
        check_choice(self.op_type, "reduction_type", self.reduction_type, self.choices)


class ResourceConditionalAccumulator(_AccumulatorHandle):
    """Adds dense gradients.  Source: data_flow_ops.cc."""

    signature = "-> handle: resource"
    dtype: DType
    shape: Shape
    container: str = ""
    shared_name: str = ""
    reduction_type: str = "MEAN"

    def validate(self) -> None:
        check_choice(self.op_type, "reduction_type", self.reduction_type, self.choices)


class SparseConditionalAccumulator(_AccumulatorHandle):
    """Adds gradients of rows.  Source: data_flow_ops.cc."""

    signature = "-> handle: ref string"
    dtype: DType
    shape: Shape
    container: str = ""
    shared_name: str = ""
    reduction_type: str = "MEAN"
    store: ClassVar[type[Accumulator]] = SparseAccumulator

    def validate(self) -> None:
        check_choice(self.op_type, "reduction_type", self.reduction_type, self.choices)


# ---- ops on dense ones


class _Apply(OnHost, NoOutputOp, abstract=True):
    dtype = NUMBERS

    def infer_shape(self, handle: Shape, local_step: Shape, gradient: Shape) -> Any:
        return []

    def compute(
        self, ctx: KernelContext, handle: Accumulator, local_step: Any, gradient: Any
    ) -> None:
        handle.apply(int(local_step), gradient)


class AccumulatorApplyGradient(_Apply):
    """Add a gradient.  Source: data_flow_ops.cc, AccumulatorApplyGradient."""

    signature = "handle: ref string, local_step: int64, gradient: dtype ->"


class ResourceAccumulatorApplyGradient(_Apply):
    """Add a gradient.  Source: data_flow_ops.cc."""

    signature = "handle: resource, local_step: int64, gradient: dtype ->"


class _Take(OnHost, abstract=True):
    dtype: DType
    dtype_allowed = NUMBERS
    may_wait: ClassVar[bool] = True

    def infer_shape(self, handle: Shape, num_required: Shape) -> Any:
        return None

    def compute(
        self, ctx: KernelContext, handle: Accumulator, num_required: Any
    ) -> Any:
        return handle.take(ctx, int(num_required))


class AccumulatorTakeGradient(_Take):
    """Take the average or sum.  Source: data_flow_ops.cc."""

    signature = "handle: ref string, num_required: int32 -> average: dtype"


class ResourceAccumulatorTakeGradient(_Take):
    """Take the average or sum.  Source: data_flow_ops.cc."""

    signature = "handle: resource, num_required: int32 -> average: dtype"


class _NumAccumulated(OnHost, abstract=True):
    def infer_shape(self, handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, handle: Accumulator) -> Any:
        return np.int32(handle.count)


class AccumulatorNumAccumulated(_NumAccumulated):
    """The number of gradients.  Source: data_flow_ops.cc."""

    signature = "handle: ref string -> num_accumulated: int32"


class ResourceAccumulatorNumAccumulated(_NumAccumulated):
    """The number of gradients.  Source: data_flow_ops.cc."""

    signature = "handle: resource -> num_accumulated: int32"


class _SetGlobalStep(OnHost, NoOutputOp, abstract=True):
    def infer_shape(self, handle: Shape, new_global_step: Shape) -> Any:
        return []

    def compute(
        self, ctx: KernelContext, handle: Accumulator, new_global_step: Any
    ) -> None:
        handle.set_global_step(int(new_global_step))


class AccumulatorSetGlobalStep(_SetGlobalStep):
    """Set the step before which gradients are stale.  Source: data_flow_ops.cc."""

    signature = "handle: ref string, new_global_step: int64 ->"


class ResourceAccumulatorSetGlobalStep(_SetGlobalStep):
    """Set the step before which gradients are stale.  Source: data_flow_ops.cc."""

    signature = "handle: resource, new_global_step: int64 ->"


# ---- ops on sparse ones


class SparseAccumulatorApplyGradient(OnHost, NoOutputOp):
    """Add gradients of rows.  Source: data_flow_ops.cc."""

    signature = (
        "handle: ref string, local_step: int64, gradient_indices: int64, "
        "gradient_values: dtype, gradient_shape: int64 ->"
    )
    dtype = NUMBERS
    has_known_shape: bool

    def infer_shape(self, *_: Shape) -> Any:
        return []

    def compute(
        self,
        ctx: KernelContext,
        handle: Accumulator,
        local_step: Any,
        indices: Any,
        values: Any,
        shape: Any,
    ) -> None:
        sizes = shape.ravel().tolist() if self.has_known_shape else ()
        gradient = indices, values, sizes, self.has_known_shape
        handle.apply(int(local_step), gradient)


class SparseAccumulatorTakeGradient(OnHost, MultiOutputOp):
    """Take the average or sum of rows.  Source: data_flow_ops.cc."""

    signature = (
        "handle: ref string, num_required: int32 -> indices: int64, values: dtype, "
        "shape: int64"
    )
    dtype: DType
    dtype_allowed = NUMBERS
    may_wait: ClassVar[bool] = True

    def infer_shape(self, handle: Shape, num_required: Shape) -> Any:
        return [None, None, None]

    def compute(
        self, ctx: KernelContext, handle: Accumulator, num_required: Any
    ) -> Any:
        return handle.take(ctx, int(num_required))
