"""Resource variables: handles of the session's cells, and functions for both kinds.

A variable's value is a `framework.variable_cell.Cell`.  `VariableV2`
(ops/state/ref_variables.py) passes the cell along a reference edge, `VarHandleOp` along
a resource edge.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, dtypes_of, int32
from tfteach.framework.errors import (
    FailedPreconditionError,
    NotFoundError,
    OutOfRangeError,
    invalid_argument,
)
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule, Gradient, KernelContext
from tfteach.framework.variable_cell import IN_PLACE_FROM, Cell, update_in_place

NUMBERS = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 "
    "bfloat16 uint16 complex128 half uint32 uint64"
)
COUNTERS = dtypes_of("int32 int64")


def cell_of(ctx: KernelContext, kind: StatefulOp) -> Cell:
    """The session's cell of a variable op."""
    name = kind.shared_name or ctx.op.name  # type: ignore[attr-defined]
    dtype = kind.dtype  # type: ignore[attr-defined]
    container = kind.container  # type: ignore[attr-defined]
    cell = ctx.resource("variable", name, lambda: Cell(name, dtype), container)
    return cell


def add_to(ctx: KernelContext, cell: Cell, value: Any, sign: int) -> None:
    """Add or subtract `value`; large arrays are updated in place."""
    if cell.value.size < IN_PLACE_FROM:
        with cell.lock:
            old = cell.value
            cell.put(old + value if sign > 0 else old - value)
        return
    combine = ctx.xp.add if sign > 0 else ctx.xp.subtract

    def update(arrays: list[Any]) -> None:
        combine(arrays[0], value, out=arrays[0])

    update_in_place((cell,), update, ctx.may_defer)


def check_same_shape(cell: Cell, value: Any, message: str) -> None:
    """Raise for a different shape; `message` may contain `{ours}` and `{given}`."""
    if cell.value.shape != value.shape:
        ours, given = shapes.text(cell.value.shape), shapes.text(value.shape)
        raise invalid_argument(message.format(ours=ours, given=given))


def count_from(xp: ArrayModule, cell: Cell, limit: int) -> Any:
    with cell.lock:
        old = cell.value
        if old.ndim:
            raise invalid_argument(f"input is not a scalar: {shapes.text(old.shape)}")
        if old >= limit:
            raise OutOfRangeError(None, None, f"Reached limit of {limit}")
        cell.assign(xp.asarray(old + 1, old.dtype))
    return old


# ---- the ops


class VarHandleOp(StatefulOp):
    """A handle of a variable.  Source: core/ops/resource_variable_ops.cc."""

    signature = "-> resource: resource"
    container: str = ""
    shared_name: str = ""
    dtype: DType  # type: ignore[misc]  # the order is TensorFlow's
    shape: Shape  # type: ignore[misc]

    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return ()

    def shape_behind(self) -> Shape:
        return self.shape

    def compute(self, ctx: KernelContext) -> Any:
        return cell_of(ctx, self)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return []


def require_value(cell: Cell) -> None:
    """Raise TF's error for updating a resource variable that has no value."""
    if not cell.is_initialized:
        raise NotFoundError(
            None,
            None,
            f"Resource localhost/{cell.name}/N10tensorflow3VarE does not exist. Run "
            "the variable's initializer in this session first.",
        )


def require_value_to_read(cell: Cell) -> None:
    """Raise TF's error for reading a resource variable that has no value."""
    if not cell.is_initialized:
        raise FailedPreconditionError(
            None,
            None,
            f"Error while reading resource variable {cell.name} from Container: "
            "localhost. This could mean that the variable was uninitialized. Not "
            f"found: Resource localhost/{cell.name}/N10tensorflow3VarE does not exist. "
            "Run the variable's initializer in this session first.",
        )


class ReadVariableOp(StatefulOp):
    """A variable's current value.  Source: resource_variable_ops.cc, ReadVariableOp."""

    signature = "resource: resource -> value: dtype"
    dtype: DType

    aliases: ClassVar[bool] = True
    by_handle: ClassVar[tuple[str, ...]] = ("resource",)
    reads_variable: ClassVar[bool] = True

    def infer_shape(self, resource: Shape) -> Shape:
        return resource

    def compute(self, ctx: KernelContext, resource: Cell) -> Any:
        require_value_to_read(resource)
        return resource.value

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad]


class AssignVariableOp(StatefulOp, NoOutputOp):
    """Assign to a variable.  Source: resource_variable_ops.cc, AssignVariableOp."""

    signature = "resource: resource, value: dtype ->"
    by_handle: ClassVar[tuple[str, ...]] = ("resource",)

    def infer_shape(self, resource: Shape, value: Shape) -> Any:
        shapes.merge(resource, value)
        return []

    def compute(self, ctx: KernelContext, resource: Cell, value: Any) -> Any:
        with resource.lock:
            resource.assign(value)
        return ()


class _AssignUpdateVariable(StatefulOp, NoOutputOp, abstract=True):
    by_handle: ClassVar[tuple[str, ...]] = ("resource",)
    sign: ClassVar[int] = 1

    def infer_shape(self, resource: Shape, value: Shape) -> Any:
        shapes.merge(resource, value)
        return []

    def compute(self, ctx: KernelContext, resource: Cell, value: Any) -> Any:
        require_value(resource)
        check_same_shape(
            resource,
            value,
            "Cannot update variable with shape {ours} using a Tensor with shape "
            "{given}, shapes must be equal.",
        )
        add_to(ctx, resource, value, self.sign)
        return ()


class AssignAddVariableOp(_AssignUpdateVariable):
    """Add to a variable.  Source: resource_variable_ops.cc."""

    signature = "resource: resource, value: dtype ->"


class AssignSubVariableOp(_AssignUpdateVariable):
    """Subtract from a variable.  Source: resource_variable_ops.cc."""

    signature = "resource: resource, value: dtype ->"
    sign: ClassVar[int] = -1


class VarIsInitializedOp(StatefulOp):
    """Whether the variable has a value.  Source: resource_variable_ops.cc."""

    signature = "resource: resource -> is_initialized: bool"

    def infer_shape(self, resource: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, resource: Cell) -> Any:
        return ctx.xp.asarray(resource.is_initialized)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class VariableShape(StatefulOp):
    """The shape of the variable's value.  Source: resource_variable_ops.cc."""

    signature = "input: resource -> output: out_type"
    out_type: DType = int32
    out_type_allowed = COUNTERS

    by_handle: ClassVar[tuple[str, ...]] = ("input",)

    def infer_shape(self, input: Shape) -> Shape:
        return (None,) if input is None else (len(input),)

    def compute(self, ctx: KernelContext, input: Cell) -> Any:
        require_value(input)
        return ctx.xp.asarray(input.value.shape, self.out_type.numpy_dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class DestroyResourceOp(StatefulOp, NoOutputOp):
    """Release a resource's value.  Source: resource_variable_ops.cc."""

    signature = "resource: resource ->"
    ignore_lookup_error: bool = True

    def infer_shape(self, resource: Shape) -> Any:
        return []

    def compute(self, ctx: KernelContext, resource: Cell) -> Any:
        if not resource.is_initialized and not self.ignore_lookup_error:
            raise NotFoundError(
                None,
                None,
                f"Resource localhost/{resource.name}/<unknown> does not exist.",
            )
        resource.clear()
        return ()


class ResourceCountUpTo(StatefulOp):
    """CountUpTo for a resource variable.  Source: core/ops/state_ops.cc."""

    signature = "resource: resource -> output: T"
    limit: int
    T: DType
    T_allowed = COUNTERS

    by_handle: ClassVar[tuple[str, ...]] = ("resource",)

    def infer_shape(self, resource: Shape) -> Shape:
        return shapes.with_rank(resource, 0)

    def compute(self, ctx: KernelContext, resource: Cell) -> Any:
        require_value(resource)
        return count_from(ctx.xp, resource, self.limit)
