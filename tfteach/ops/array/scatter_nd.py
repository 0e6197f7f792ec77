"""Scatter by coordinates: the adjoint of `gather_nd`, and updated copies.

Source: core/ops/array_ops.cc (ScatterNd, TensorScatter...).
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.gather_nd import GatherNd, check_points
from tfteach.ops.array.segment_kernels import segment_sum as sum_rows
from tfteach.ops.array.where_select import merge_by_size
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import INDICES, identity


def _check_static(indices: Shape, updates: Shape, whole: Shape) -> None:
    if indices is None or updates is None or indices[-1:] == (None,):
        return
    outer = len(indices) - 1
    parts: list[tuple[str, str, Shape, Shape]] = [
        ("outer", "indices", indices[:-1], updates[:outer])
    ]
    if whole is not None:
        parts.append(("inner", "output", whole[indices[-1] :], updates[outer:]))
    for side, what, a, b in parts:
        try:
            merge_by_size(a, b)
        except ValueError as error:
            count = len(a or ())
            text = shapes.text(indices if what == "indices" else whole)
            raise ValueError(
                f"The {side} {count} dimensions of {what}.shape={text} must match the "
                f"{side} {count} dimensions of updates.shape={shapes.text(updates)}: "
                f"{error}"
            ) from None


def _rows(
    xp: ArrayModule, indices: Any, updates: Any, whole: tuple[int, ...]
) -> tuple[Any, Any, int]:
    """The flat row indices, the updates as rows, and the number of rows."""
    text = shapes.text
    depth, outer = indices.shape[-1], indices.ndim - 1
    if indices.size and 0 in whole:
        raise invalid_argument(
            "Indices and updates specified for empty output.  indices shape: "
            f"{text(indices.shape)}"
        )
    if updates.shape[:outer] != indices.shape[:-1]:
        raise invalid_argument(
            "Outer dimensions of indices and update must match. Indices shape: "
            f"{text(indices.shape)}, updates shape:{text(updates.shape)}"
        )
    inner = updates.shape[outer:]
    if inner != whole[depth:] and len(inner) == len(whole) - depth:
        raise invalid_argument(
            f"The inner {len(inner)} dimensions of output.shape={text(whole)} must "
            f"match the inner {len(inner)} dimensions of updates.shape="
            f"{text(updates.shape)}"
        )
    if inner != whole[depth:]:
        raise invalid_argument(
            "Inner dimensions of output shape must match inner dimensions of updates "
            f"shape. Output: {text(whole)} updates: {text(updates.shape)}"
        )
    if indices.shape[:1] != updates.shape[:1]:
        raise invalid_argument(
            "The outermost dimension of updates and indices must match. Got "
            f"indices.shape {text(indices.shape)}, updates.shape {text(updates.shape)}"
        )
    if not outer:  # row indices, whatever the shape rule says
        indices, depth = indices[:, None], 1
    check_points(xp, indices, whole, "shape")
    rows, numbers = 1, xp.zeros(indices.shape[:-1], "int64")
    for i in range(depth):
        numbers = numbers * whole[i] + indices[..., i]
        rows *= whole[i]
    width = 1
    for n in whole[depth:]:
        width *= n
    count = numbers.size
    return numbers.reshape(-1), updates.reshape((count, width)), rows


class ScatterNd(Op):
    """Updates added at coordinates of an array of zeros.  Source: ScatterNd."""

    signature = "indices: Tindices, updates: T, shape: Tindices -> output: T"
    Tindices = INDICES
    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape",)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, indices: Shape, updates: Shape, shape: Shape) -> Shape:
        _check_static(indices, updates, shape)
        return shape

    def check_shapes(
        self, indices: tuple[int, ...], updates: tuple[int, ...], shape: tuple[int, ...]
    ) -> None:
        require_vector(shape, "Shape must be a vector")
        require(indices, "Indices shape must have rank at least one. Found:%s", indices)
        require(updates, "Updates shape must have rank at least one. Found:%s", updates)

    def compute(
        self, xp: ArrayModule, indices: Array, updates: Array, shape: Any
    ) -> Any:
        whole = tuple(shape.tolist())
        numbers, rows, count = _rows(xp, indices, updates, whole)
        total = sum_rows(xp, rows, numbers, count).reshape(whole)
        if updates.dtype.hasobject:  # strings
            total[total == 0] = b""
        return total

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, GatherNd()(grad, op.inputs[0]), None]


class _TensorScatter(Op, abstract=True):
    """A copy of a tensor with updates applied at coordinates."""

    Tindices = INDICES

    def infer_shape(self, tensor: Shape, indices: Shape, updates: Shape) -> Shape:
        _check_static(indices, updates, tensor)
        return tensor

    def check_shapes(
        self,
        tensor: tuple[int, ...],
        indices: tuple[int, ...],
        updates: tuple[int, ...],
    ) -> None:
        require(tensor, "Output must be at least 1-D, got shape: %s", tensor)
        require(indices, "Indices shape must have rank at least one. Found:%s", indices)
        require(updates, "Updates shape must have rank at least one. Found:%s", updates)


class TensorScatterUpdate(_TensorScatter):
    """A copy with values replaced.  Source: TensorScatterUpdate."""

    signature = "tensor: T, indices: Tindices, updates: T -> output: T"

    def compute(
        self, xp: ArrayModule, tensor: Array, indices: Array, updates: Array
    ) -> Any:
        numbers, rows, count = _rows(xp, indices, updates, tensor.shape)
        result = xp.array(tensor, order="C")
        result.reshape((count, rows.shape[1]))[numbers] = rows
        return result

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        _, indices, updates = op.inputs
        updates_grad = GatherNd()(grad, indices)
        same = identity(grad)
        nothing = zeros_like(updates, dtype=grad.dtype)
        kept = TensorScatterUpdate()(same, indices, nothing)
        return [kept, None, updates_grad]


class TensorScatterAdd(_TensorScatter):
    """A copy with values added.  Source: TensorScatterAdd."""

    signature = "tensor: T, indices: Tindices, updates: T -> output: T"

    def compute(
        self, xp: ArrayModule, tensor: Array, indices: Array, updates: Array
    ) -> Any:
        numbers, rows, count = _rows(xp, indices, updates, tensor.shape)
        return tensor + sum_rows(xp, rows, numbers, count).reshape(tensor.shape)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        updates_grad = GatherNd()(grad, op.inputs[1])
        return [identity(grad), None, updates_grad]


class TensorScatterSub(_TensorScatter):
    """A copy with values subtracted.  Source: TensorScatterSub."""

    signature = "tensor: T, indices: Tindices, updates: T -> output: T"

    def compute(
        self, xp: ArrayModule, tensor: Array, indices: Array, updates: Array
    ) -> Any:
        numbers, rows, count = _rows(xp, indices, updates, tensor.shape)
        return tensor - sum_rows(xp, rows, numbers, count).reshape(tensor.shape)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        updates_grad = GatherNd()(grad, op.inputs[1])
        kept = identity(grad)
        return [kept, None, -updates_grad]


@export("scatter_nd", "manip.scatter_nd")
def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: TensorLike, name: str | None = None
) -> Tensor:
    """Updates added at coordinates of an array of zeros.

    `result[tuple(indices[i]), ...] += updates[i, ...]`

    Args:
      indices: int Tensor [..., depth].
      updates: Tensor of shape indices.shape[:-1] + shape[depth:].
      shape: int Tensor [rank].
      name: the op's name.

    Returns:
      A Tensor of shape `shape`.

    Raises:
      InvalidArgumentError: coordinates lie outside `shape`.

    Source: ScatterNd in core/ops/array_ops.cc.
    """
    return ScatterNd()(indices, updates, shape, name=name)


@export("tensor_scatter_update", "tensor_scatter_nd_update")
def tensor_scatter_update(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A copy of a tensor with the values at some coordinates replaced.

    Args:
      tensor: a Tensor.
      indices: int Tensor [..., depth].
      updates: Tensor of shape indices.shape[:-1] + tensor.shape[depth:].
      name: the op's name.

    Returns:
      A Tensor like `tensor`.

    Source: TensorScatterUpdate in core/ops/array_ops.cc.
    """
    return TensorScatterUpdate()(tensor, indices, updates, name=name)


@export("tensor_scatter_add", "tensor_scatter_nd_add")
def tensor_scatter_add(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A copy of a tensor with values added at some coordinates.

    Args:
      tensor: a Tensor.
      indices: int Tensor [..., depth].
      updates: Tensor of shape indices.shape[:-1] + tensor.shape[depth:].
      name: the op's name.

    Returns:
      A Tensor like `tensor`.

    Source: TensorScatterAdd in core/ops/array_ops.cc.
    """
    return TensorScatterAdd()(tensor, indices, updates, name=name)


@export("tensor_scatter_sub", "tensor_scatter_nd_sub")
def tensor_scatter_sub(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A copy of a tensor with values subtracted at some coordinates.

    Args:
      tensor: a Tensor.
      indices: int Tensor [..., depth].
      updates: Tensor of shape indices.shape[:-1] + tensor.shape[depth:].
      name: the op's name.

    Returns:
      A Tensor like `tensor`.

    Source: TensorScatterSub in core/ops/array_ops.cc.
    """
    return TensorScatterSub()(tensor, indices, updates, name=name)
