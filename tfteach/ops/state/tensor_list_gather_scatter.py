"""Several elements of tensor lists at once: gather, scatter, concatenate, split.

Source: core/ops/list_ops.cc, python/ops/list_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.list_elements import (
    ListElements,
    list_elements,
    merged_elements,
)
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient
from tfteach.ops.array.concat_split import ConcatV2
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.state.tensor_list import TensorList, dtype_text, shape_text
from tfteach.ops.state.tensor_list_ops import (
    INDICES,
    Known,
    ListOp,
    TensorListLength,
    TensorListReserve,
    after_first,
    element_shape_of,
    elements_of_rows,
    given_shape,
    read_shape,
    rows_of,
)


class TensorListGather(Op):
    """Some elements as one tensor.  Source: list_ops.cc, TensorListGather."""

    signature = (
        "input_handle: variant, indices: int32, element_shape: int32 -> "
        "values: element_dtype"
    )
    element_dtype: DType

    host_inputs: ClassVar[tuple[str, ...]] = ("indices", "element_shape")
    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)
    by_shape: ClassVar[tuple[str, ...]] = ("element_shape",)
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"element_shape": (0, 1)}
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def infer_shape(self, handle: Known, indices: Shape, element_shape: Shape) -> Shape:
        shape = read_shape(handle, element_shape, self.element_dtype, is_item=True)
        return None if shape is None or indices is None else (*indices, *shape)

    def compute(
        self, xp: ArrayModule, handle: TensorList, indices: Any, element_shape: Any
    ) -> Any:
        handle.check_type(self.element_dtype)
        shape = given_shape(element_shape)
        for i in indices:
            if not 0 <= i < len(handle):
                raise invalid_argument(
                    f"Index {int(i)} out o range; list only has {len(handle)} elements."
                )
        return handle.gathered(xp, [int(i) for i in indices], shape)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        handle, indices, _ = op.inputs
        shape = element_shape_of(handle)
        reserve = TensorListReserve(op.outputs[0].dtype.base_dtype)
        empty = reserve(shape, TensorListLength()(handle))
        made = TensorListScatterIntoExistingList()(empty, grad, indices)
        return [made, None, None]


def _check_rows(tensor: Array, indices: Any) -> None:
    """Refuse another number of rows than of indices."""
    if not tensor.ndim:
        raise invalid_argument("Tensor must be at least a vector, but saw shape: []")
    if len(tensor) != len(indices):
        raise invalid_argument(
            f"Invalid number of rows in input tensor. Expected: {len(indices)} Actual: "
            f"{len(tensor)}"
        )


def _check_elements(tensor: Array, shape: Shape) -> None:
    """Refuse rows of another shape than that of the list's elements."""
    if not shapes.compatible(shape, tensor.shape[1:]):
        raise invalid_argument(
            f"Specified a list with shape {shape_text(shape)} from a tensor with shape "
            f"{shape_text(tensor.shape[1:])}"
        )


class _Scatter(ListOp, abstract=True):
    """A list of a tensor's rows, in the places that the indices name."""

    def list_elements(self, op: Operation) -> ListElements:
        return elements_of_rows(op.inputs[0], op.inputs[2])

    def scattered(
        self, tensor: Array, indices: Any, shape: Shape, count: int = -1
    ) -> TensorList:
        _check_rows(tensor, indices)
        _check_elements(tensor, shape)
        if len(indices) and min(indices) < 0:
            raise invalid_argument(
                "Indices in TensorListScatter must all be non-negative."
            )
        most = max((int(i) + 1 for i in indices), default=0)
        if count not in (-1, most) and count < most:
            raise invalid_argument(
                "TensorListScatter: Trying to scatter at index "
                f"{most - 1} in list with size {count}"
            )
        kind = (
            dtypes.string if tensor.dtype.hasobject else dtypes.as_dtype(tensor.dtype)
        )
        items: list[Any] = [None] * max(most, count)
        for i, row in zip(indices, rows_of(tensor), strict=True):
            items[int(i)] = row
        return TensorList(kind, shape, items)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        tensor, indices = op.inputs[:2]
        gather = TensorListGather(tensor.dtype.base_dtype)
        rest: list[Gradient] = [None] * (len(op.inputs) - 1)
        return [gather(grad, indices, after_first(tensor)), *rest]


class TensorListScatter(_Scatter):
    """A list of a tensor's rows at given places.  Source: list_ops.cc."""

    signature = (
        "tensor: element_dtype, indices: int32, element_shape: shape_type -> "
        "output_handle: variant"
    )
    shape_type = INDICES
    host_inputs: ClassVar[tuple[str, ...]] = ("indices", "element_shape")

    def compute(
        self, xp: ArrayModule, tensor: Array, indices: Any, element_shape: Any
    ) -> Any:
        return self.scattered(tensor, indices, given_shape(element_shape))


class TensorListScatterV2(_Scatter):
    """`TensorListScatter` with the number of elements.  Source: list_ops.cc."""

    signature = (
        "tensor: element_dtype, indices: int32, element_shape: shape_type, "
        "num_elements: int32 -> output_handle: variant"
    )
    shape_type = INDICES
    host_inputs: ClassVar[tuple[str, ...]] = (
        "indices",
        "element_shape",
        "num_elements",
    )

    def compute(
        self, xp: ArrayModule, tensor: Array, indices: Any, shape: Any, count: Any
    ) -> Any:
        if int(count) < -1:
            raise invalid_argument(
                f"TensorListScatter expects num_elements >= -1, found: {int(count)}"
            )
        return self.scattered(tensor, indices, given_shape(shape), int(count))


class TensorListScatterIntoExistingList(ListOp):
    """The list with a tensor's rows at given places.  Source: list_ops.cc."""

    signature = (
        "input_handle: variant, tensor: element_dtype, indices: int32 -> "
        "output_handle: variant"
    )
    host_inputs: ClassVar[tuple[str, ...]] = ("indices",)
    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)
    by_type: ClassVar[tuple[str, ...]] = ("tensor",)
    passes_list: ClassVar[bool] = True

    def infer_shape(
        self, handle: Known, tensor: tuple[Shape, DType], indices: Shape
    ) -> Shape:
        shapes.with_rank(indices, 1)
        read_shape(handle, None, tensor[1], is_item=True)
        return ()

    def list_elements(self, op: Operation) -> ListElements:
        return ListElements(op.inputs[1].dtype.base_dtype, None)

    def compute(
        self, xp: ArrayModule, handle: TensorList, tensor: Array, indices: Any
    ) -> Any:
        _check_rows(tensor, indices)
        items = handle.elements()
        most = max((int(i) + 1 for i in indices), default=0)
        items += [None] * (most - len(items))
        for i, row in zip(indices, rows_of(tensor), strict=True):
            items[int(i)] = row
        return handle.replaced(items)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        _, tensor, indices = op.inputs
        rest = TensorListScatterIntoExistingList()(grad, zeros_like(tensor), indices)
        gather = TensorListGather(tensor.dtype.base_dtype)
        return [rest, gather(grad, indices, after_first(tensor)), None]


class TensorListConcatLists(Op):
    """The elements of two lists in one.  Source: list_ops.cc."""

    signature = "input_a: variant, input_b: variant -> output: variant"
    element_dtype: DType

    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    stops_gradients: ClassVar[bool] = True

    by_list: ClassVar[tuple[str, ...]] = ("input_a", "input_b")

    def infer_shape(self, input_a: Known, input_b: Known) -> Shape:
        for name, (_, elements) in (("input_a", input_a), ("input_b", input_b)):
            if elements is not None and elements.dtype is not self.element_dtype:
                raise ValueError(
                    f"{name}.type != element_dtype: {dtype_text(elements.dtype)} vs. "
                    f"{dtype_text(self.element_dtype)}"
                )
        merged_elements(input_a[1], input_b[1])
        return shapes.merge(input_a[0], input_b[0])

    def list_elements(self, op: Operation) -> ListElements | None:
        return merged_elements(*map(list_elements, op.inputs))

    def compute(self, xp: ArrayModule, input_a: Any, input_b: Any) -> Any:
        if isinstance(input_a, TensorList) and isinstance(input_b, TensorList):
            return self._concatenated(input_a, input_b, 0)
        first, second = np.asarray(input_a, object), np.asarray(input_b, object)
        if first.shape != second.shape:
            raise invalid_argument(
                "Incompatible input TensorList tensor shapes: "
                f"{shape_text(first.shape)} vs. {shape_text(second.shape)}"
            )
        found = np.empty(first.shape, object)
        for i, (a, b) in enumerate(zip(first.flat, second.flat, strict=True)):
            found.flat[i] = self._concatenated(a, b, i)
        return found

    def _concatenated(self, a: TensorList, b: TensorList, index: int) -> TensorList:
        for name, one in (("input_a", a), ("input_b", b)):
            if one.dtype is not self.element_dtype:
                raise invalid_argument(
                    f"{name}[{index}].dtype != element_dtype.  Saw: "
                    f"{dtype_text(one.dtype)} vs. {dtype_text(self.element_dtype)}"
                )
        if a.element_shape != b.element_shape:
            raise invalid_argument(
                "input_a and input_b TensorList element shapes are not identical at "
                f"index {index}.  Saw {shape_text(a.element_shape)} vs. "
                f"{shape_text(b.element_shape)}"
            )
        return a.replaced([*a.elements(), *b.elements()])


class _Concat(MultiOutputOp, abstract=True):
    """The elements, joined along their first dimension, and their lengths."""

    element_dtype: DType
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def _read_shape(self, handle: Known, stated: Shape) -> Shape:
        elements = read_shape(handle, None, self.element_dtype)
        return shapes.merge(stated, elements)

    def gradient(self, op: Operation, dtensor: Tensor, dlengths: Any) -> list[Gradient]:
        handle = op.inputs[0]
        split = TensorListSplit()
        found = split(dtensor, element_shape_of(handle), op.outputs[1])
        rest: list[Gradient] = [None] * (len(op.inputs) - 1)
        return [found, *rest]


class TensorListConcat(_Concat):
    """The elements joined, and their lengths.  Source: list_ops.cc."""

    signature = "input_handle: variant -> tensor: element_dtype, lengths: int64"
    element_dtype: DType
    element_shape: Shape = None

    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)

    def infer_shape(self, handle: Known) -> list[Shape]:
        shape = self._read_shape(handle, self.element_shape)
        return [None if shape is None else (None, *shape[1:]), (None,)]

    def compute(self, xp: ArrayModule, input_handle: TensorList) -> Any:
        input_handle.check_type(self.element_dtype)
        return input_handle.concatenated(xp, self.element_shape, None)


class TensorListConcatV2(_Concat):
    """`TensorListConcat` with shapes as inputs.  Source: list_ops.cc."""

    signature = (
        "input_handle: variant, element_shape: shape_type, leading_dims: int64 -> "
        "tensor: element_dtype, lengths: int64"
    )
    shape_type = INDICES
    element_dtype: DType

    host_inputs: ClassVar[tuple[str, ...]] = ("element_shape", "leading_dims")
    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)
    by_shape: ClassVar[tuple[str, ...]] = ("element_shape",)
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"element_shape": (0, 1)}

    def infer_shape(
        self, handle: Known, element_shape: Shape, leading_dims: Shape
    ) -> list[Shape]:
        shape = self._read_shape(handle, element_shape)
        return [None if shape is None else (None, *shape[1:]), (None,)]

    def compute(
        self, xp: ArrayModule, handle: TensorList, element_shape: Any, dims: Any
    ) -> Any:
        handle.check_type(self.element_dtype)
        shape = given_shape(element_shape)
        if handle.merged_shape(shape) == ():
            raise invalid_argument(
                "Concat requires elements to be at least vectors, found scalars "
                "instead."
            )
        return handle.concatenated(xp, shape, dims)


class TensorListSplit(ListOp):
    """A list of consecutive rows of a tensor.  Source: list_ops.cc."""

    signature = (
        "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> "
        "output_handle: variant"
    )
    shape_type = INDICES
    host_inputs: ClassVar[tuple[str, ...]] = ("element_shape", "lengths")

    def infer_shape(self, tensor: Shape, element_shape: Shape, lengths: Shape) -> Shape:
        rows = shapes.with_rank_at_least(tensor, 1)
        shapes.with_rank(lengths, 1)
        known = [None if s is None else (None, *s[1:]) for s in (rows, element_shape)]
        if element_shape == () and rows is not None:
            known[1] = ()
        shapes.merge(*known)
        return ()

    def list_elements(self, op: Operation) -> ListElements:
        return elements_of_rows(op.inputs[0], op.inputs[1])

    def compute(
        self, xp: ArrayModule, tensor: Array, element_shape: Any, lengths: Any
    ) -> Any:
        if tensor.ndim == 0:
            raise invalid_argument(
                "Tensor must be at least a vector, but saw shape: []"
            )
        shape, start = given_shape(element_shape), 0
        if np.ndim(lengths) != 1:
            raise invalid_argument(
                "Expected lengths to be a vector, received shape: "
                f"{shape_text(np.shape(lengths))}"
            )
        if shape == ():
            raise invalid_argument(
                "TensorListSplit requires element_shape to be at least of rank 1, but "
                "saw: []"
            )
        if shape is not None and not shapes.compatible(shape[1:], tensor.shape[1:]):
            raise invalid_argument(
                f"tensor shape {shape_text(tensor.shape)} is not compatible with "
                f"element_shape {shape_text(shape)}"
            )
        for length in map(int, lengths):
            if length < 0:
                raise invalid_argument(f"Invalid value in lengths: {length}")
            if start + length > len(tensor):
                raise invalid_argument(
                    f"Attempting to slice [{start}, {start + length}] from tensor with "
                    f"length {len(tensor)}"
                )
            start += length
        if start != len(tensor):
            raise invalid_argument(
                "Unused values in tensor. Length of tensor: "
                f"{len(tensor)} Values used: {start}"
            )
        ends = np.cumsum(lengths)[:-1].tolist()
        parts = np.split(np.arange(len(tensor)), ends) if len(lengths) else []
        kind = (
            dtypes.string if tensor.dtype.hasobject else dtypes.as_dtype(tensor.dtype)
        )
        return TensorList(kind, shape, [tensor[p] for p in parts])

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        tensor, _, lengths = op.inputs
        shape = ConcatV2()([[-1], after_first(tensor)], 0, name="concat")
        join = TensorListConcatV2(tensor.dtype.base_dtype)
        return [join(grad, shape, lengths)[0], None, None]
