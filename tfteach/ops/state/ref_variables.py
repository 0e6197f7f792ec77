"""Reference variables: the ops that create, assign and count them; `tf.assign` etc.

An op with a `ref` input receives the variable's cell; every other reader of a reference
edge receives the array.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext, TensorLike
from tfteach.framework.variable_cell import Cell
from tfteach.ops.state.resource_variables import (
    COUNTERS,
    NUMBERS,
    ResourceCountUpTo,
    add_to,
    cell_of,
    check_same_shape,
    count_from,
)

# ---- reference variables


class VariableV2(StatefulOp):
    """A variable's buffer.  Source: core/ops/state_ops.cc, VariableV2."""

    signature = "-> ref: ref dtype"
    shape: Shape
    dtype: DType
    container: str = ""
    shared_name: str = ""

    returns_handle: ClassVar[bool] = True
    aliases: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return self.shape

    def compute(self, ctx: KernelContext) -> Any:
        return cell_of(ctx, self)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return []


class Variable(StatefulOp):
    """The older form of VariableV2, in which an empty shape means unknown.

    Source: core/ops/state_ops.cc, Variable.
    """

    signature = "-> ref: ref dtype"
    shape: Shape
    dtype: DType
    container: str = ""
    shared_name: str = ""

    returns_handle: ClassVar[bool] = True
    aliases: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return self.shape or None

    def compute(self, ctx: KernelContext) -> Any:
        return cell_of(ctx, self)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return []


class TemporaryVariable(StatefulOp):
    """A buffer for one step, alive until DestroyTemporaryVariable.

    Source: core/ops/state_ops.cc, TemporaryVariable.
    """

    signature = "-> ref: ref dtype"
    shape: Shape
    dtype: DType
    var_name: str = ""

    aliases: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return self.shape

    def compute(self, ctx: KernelContext) -> Any:
        cell = Cell(self.var_name or ctx.op.name, self.dtype)
        cell.assign(ctx.xp.zeros(self.shape, self.dtype.numpy_dtype))
        return cell


class DestroyTemporaryVariable(StatefulOp):
    """The last value of a TemporaryVariable.

    Source: core/ops/state_ops.cc, DestroyTemporaryVariable.
    """

    signature = "ref: ref T -> value: T"
    var_name: str

    aliases: ClassVar[bool] = True

    def infer_shape(self, ref: Shape) -> Shape:
        return ref

    def compute(self, ctx: KernelContext, ref: Cell) -> Any:
        value = ref.value
        ref.clear()
        return value


class Assign(StatefulOp):
    """Set a variable; returns its reference.  Source: core/ops/state_ops.cc, Assign."""

    signature = "ref: ref T, value: T -> output_ref: ref T"
    validate_shape: bool = True
    use_locking: bool = True

    aliases: ClassVar[bool] = True
    stops_gradients: ClassVar[bool] = True

    def infer_shape(self, ref: Shape, value: Shape) -> Shape:
        return shapes.merge(ref, value) if self.validate_shape else value

    def compute(self, ctx: KernelContext, ref: Cell, value: Any) -> Any:
        with ref.lock:
            if self.validate_shape:
                # A buffer has the shape of its variable before it has a value.
                declared = ctx.op.inputs[0]._shape
                ours = ref.value.shape if ref.is_initialized else declared
                if ours != value.shape and (ref.is_initialized or shapes.is_full(ours)):
                    raise invalid_argument(
                        "Assign requires shapes of both tensors to match. lhs shape= "
                        f"{shapes.text(ours)} rhs shape= {shapes.text(value.shape)}"
                    )
            ref.assign(value)
        return ref


class _AssignUpdate(StatefulOp, abstract=True):
    aliases: ClassVar[bool] = True
    sign: ClassVar[int] = 1

    def infer_shape(self, ref: Shape, value: Shape) -> Shape:
        return shapes.merge(ref, value)

    def compute(self, ctx: KernelContext, ref: Cell, value: Any) -> Any:
        check_same_shape(
            ref,
            value,
            "Parameters and update must be the same size: the variable has shape "
            "{ours}, the update {given}",
        )
        add_to(ctx, ref, value, self.sign)
        return ref


class AssignAdd(_AssignUpdate):
    """ref += value.  Source: core/ops/state_ops.cc, AssignAdd."""

    signature = "ref: ref T, value: T -> output_ref: ref T"
    T = NUMBERS
    use_locking: bool = False
    stops_gradients: ClassVar[bool] = True


class AssignSub(_AssignUpdate):
    """ref -= value.  Source: core/ops/state_ops.cc, AssignSub."""

    signature = "ref: ref T, value: T -> output_ref: ref T"
    T = NUMBERS
    use_locking: bool = False
    sign: ClassVar[int] = -1
    stops_gradients: ClassVar[bool] = True


class IsVariableInitialized(StatefulOp):
    """Whether the variable has a value.

    Source: core/ops/state_ops.cc, IsVariableInitialized.
    """

    signature = "ref: ref dtype -> is_initialized: bool"
    keeps_reference = True

    def infer_shape(self, ref: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, ref: Cell) -> Any:
        return ctx.xp.asarray(ref.is_initialized)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class CountUpTo(StatefulOp):
    """The counter before it is incremented; OutOfRange once it is at `limit`.

    Source: core/ops/state_ops.cc, CountUpTo.
    """

    signature = "ref: ref T -> output: T"
    T = COUNTERS
    limit: int

    def infer_shape(self, ref: Shape) -> Shape:
        return shapes.with_rank(ref, 0)

    def compute(self, ctx: KernelContext, ref: Cell) -> Any:
        return count_from(ctx.xp, ref, self.limit)


# ---- public functions


@export("assign")
def assign(
    ref: Any,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Set a variable to `value`.

    Args:
      ref: a Variable, or the reference Tensor of one.
      value: the new value, of the variable's type (and shape, if validated).
      validate_shape: whether a different shape is an error (default True); reference
        variables only.
      use_locking: whether concurrent updates are excluded (default True).
      name: the op's name.

    Returns:
      A Tensor of the variable's type that has the new value, after the assignment.

    Example:
      >>> v = tf.Variable(1.0)
      >>> step = tf.assign(v, v * 2)

    Source: python/ops/state_ops.py; Assign in core/ops/state_ops.cc.
    """
    if not ref.dtype.is_ref:
        return ref.assign(value, name=name)
    locking = True if use_locking is None else use_locking
    validate = True if validate_shape is None else validate_shape
    return Assign(validate, locking)(ref, value, name=name)


@export("assign_add")
def assign_add(
    ref: Any,
    value: TensorLike,
    use_locking: Any = None,
    name: str | None = None,
) -> Any:
    """Add `value` to a variable; returns its new value.  See `tf.assign`."""
    if not ref.dtype.is_ref:
        return ref.assign_add(value)
    return AssignAdd(use_locking)(ref, value, name=name)


@export("assign_sub")
def assign_sub(
    ref: Any,
    value: TensorLike,
    use_locking: Any = None,
    name: str | None = None,
) -> Any:
    """Subtract `value` from a variable; returns a Tensor of its new value."""
    if not ref.dtype.is_ref:
        return ref.assign_sub(value)
    return AssignSub(use_locking)(ref, value, name=name)


@export("count_up_to")
def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Increment a counter variable, up to a limit.

    Args:
      ref: a scalar Variable of int32 or int64.
      limit: the maximum value.
      name: the op's name.

    Returns:
      A Tensor of the variable's type: the value before the increment.

    Raises:
      tf.errors.OutOfRangeError: (when run) the counter is at `limit`.
    """
    if ref.dtype.is_ref:
        return CountUpTo(limit)(ref, name=name)
    return ResourceCountUpTo(limit, ref.dtype)(ref.handle, name=name)


def is_variable_initialized(ref: Any, name: str | None = None) -> Any:
    """A bool Tensor: whether the variable has a value in the session that is run."""
    if ref.dtype.is_ref:
        return IsVariableInitialized()(ref, name=name)
    return ref.is_initialized(name=name)
