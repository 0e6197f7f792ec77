"""Tensor lists: immutable lists of tensors as variant scalars.

TensorFlow 2's control flow accumulates values in them.
Source: core/ops/list_ops.cc, python/ops/list_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_shape
from tfteach.framework.dtypes import DType, dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.list_elements import ListElements
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient
from tfteach.ops.array.slicing import Slice
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros, zeros_like
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.state.tensor_list import TensorList, dtype_text, shape_text

INDICES = dtypes_of("int32 int64")


def given_shape(value: Any) -> Shape:
    """The element shape in an input: -1 is unknown, as a number the rank is, too."""
    array = np.asarray(value)
    if array.ndim == 0:
        if int(array) != -1:
            raise invalid_argument(
                "The only valid scalar shape tensor is the fully unknown shape "
                "specified as -1."
            )
        return None
    return tuple(None if n < 0 else int(n) for n in array.tolist())


def element_shape_input(shape: Shape) -> Any:
    """The input that states the shape of elements, as TensorFlow's Python names it."""
    if shape is None:
        return -1
    sizes = [-1 if n is None else n for n in shape]
    return sizes or constant([], dtypes.int32)


# A list as `infer_shape` receives it: its own static shape, and that of its elements.
Known = tuple[Shape, ListElements | None]


def read_shape(
    handle: Known, shape: Shape, dtype: DType, is_item: bool = False
) -> Shape:
    """The static shape of elements that an op reads.

    Args:
      handle: what is known of the list.
      shape: the static shape that the op states.
      dtype: the type that the op states.
      is_item: whether the message is that of ops that read by index.

    Raises:
      ValueError: the list has elements of another type or shape.
    """
    elements = handle[1]
    if elements is None:
        return shape
    if elements.dtype is not dtype:
        has, wants = dtype_text(elements.dtype), dtype_text(dtype)
        raise ValueError(
            f"Expected list with element dtype {wants} but got list with element dtype "
            f"{has}"
            if is_item
            else "Trying to read from list with wrong element dtype. List has type "
            f"{has} but expected type {wants}"
        )
    return shapes.merge(elements.shape, shape)


def check_pushed_type(handle: Known, dtype: DType, verb: str) -> None:
    """Raise ValueError if a list has elements of another type than a pushed one."""
    elements = handle[1]
    if elements is not None and elements.dtype is not dtype:
        raise ValueError(
            f"Trying to {verb} list with wrong element dtype. List has type "
            f"{dtype_text(elements.dtype)} but trying to push element with type "
            f"{dtype_text(dtype)}"
        )


def after_first(tensor: Tensor) -> Tensor:
    """The shape of the rows of a tensor."""
    return Slice()(shape_of(tensor), [1], [-1])


def element_shape_of(handle: Tensor) -> Tensor:
    return TensorListElementShape(dtypes.int32)(handle)


class ListOp(Op, abstract=True):
    """An op whose only output is a list."""

    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    by_shape: ClassVar[tuple[str, ...]] = ("element_shape",)
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"element_shape": (0, 1)}

    def infer_shape(self, *_: Any) -> Shape:
        return ()


class EmptyTensorList(ListOp):
    """A list without elements.  Source: list_ops.cc, EmptyTensorList."""

    signature = "element_shape: shape_type, max_num_elements: int32 -> handle: variant"
    shape_type = INDICES
    element_dtype: DType

    host_inputs: ClassVar[tuple[str, ...]] = ("element_shape", "max_num_elements")
    stops_gradients: ClassVar[bool] = True

    def list_elements(self, op: Operation) -> ListElements:
        return ListElements(self.element_dtype, constant_shape(op.inputs[0]))

    def compute(self, xp: ArrayModule, element_shape: Any, most: Any) -> TensorList:
        shape = given_shape(element_shape)
        return TensorList(self.element_dtype, shape, [], most=int(most))


class TensorListReserve(ListOp):
    """A list of elements that are not set yet.  Source: list_ops.cc."""

    signature = "element_shape: shape_type, num_elements: int32 -> handle: variant"
    shape_type = INDICES
    element_dtype: DType

    host_inputs: ClassVar[tuple[str, ...]] = ("element_shape", "num_elements")
    stops_gradients: ClassVar[bool] = True

    def list_elements(self, op: Operation) -> ListElements:
        return ListElements(self.element_dtype, constant_shape(op.inputs[0]))

    def compute(self, xp: ArrayModule, element_shape: Any, count: Any) -> TensorList:
        if int(count) < 0:
            raise invalid_argument(
                "The num_elements to reserve must be a non negative number, but got "
                f"{int(count)}"
            )
        items = [None] * int(count)
        return TensorList(
            self.element_dtype, given_shape(element_shape), items, only=-1
        )


class TensorListPushBack(ListOp):
    """The list with another element.  Source: list_ops.cc, TensorListPushBack."""

    signature = "input_handle: variant, tensor: element_dtype -> output_handle: variant"
    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)
    by_type: ClassVar[tuple[str, ...]] = ("tensor",)
    passes_list: ClassVar[bool] = True

    def infer_shape(self, handle: Known, tensor: tuple[Shape, DType]) -> Shape:
        check_pushed_type(handle, tensor[1], "push to")
        return ()

    def list_elements(self, op: Operation) -> ListElements:
        return ListElements(op.inputs[1].dtype.base_dtype, None)

    def compute(self, xp: ArrayModule, input_handle: TensorList, tensor: Any) -> Any:
        return input_handle.pushed(tensor)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        element = op.inputs[1]
        pop = TensorListPopBack(element.dtype.base_dtype)
        return list(pop(grad, shape_of(element)))


class TensorListPushBackBatch(Op):
    """Each list of a vector with another element.  Source: list_ops.cc."""

    signature = (
        "input_handles: variant, tensor: element_dtype -> output_handles: variant"
    )
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    by_list: ClassVar[tuple[str, ...]] = ("input_handles",)
    by_type: ClassVar[tuple[str, ...]] = ("tensor",)
    passes_list: ClassVar[bool] = True

    def infer_shape(self, lists: Known, tensor: tuple[Shape, DType]) -> Shape:
        handles = shapes.with_rank(lists[0], 1)
        rows = shapes.with_rank_at_least(tensor[0], 1)
        size = None if rows is None else rows[0]
        if size is not None and handles[0] not in (None, size):
            raise ValueError(
                f"Dimensions must be equal, but are {size} and {handles[0]}"
            )
        check_pushed_type(lists, tensor[1], "push to")
        return (handles[0] if size is None else size,)

    def list_elements(self, op: Operation) -> ListElements:
        return ListElements(op.inputs[1].dtype.base_dtype, None)

    def compute(self, xp: ArrayModule, input_handles: Any, tensor: Any) -> Any:
        lists = np.asarray(input_handles, object)
        if not tensor.ndim:
            raise invalid_argument(
                "Expected tensor to be at least a vector, but saw shape: []"
            )
        if len(tensor) != len(lists):
            raise invalid_argument(
                "Expected tensor.shape[0] == input_handles.size, but saw "
                f"{len(tensor)} vs. {len(lists)}"
            )
        found = np.empty(lists.shape, object)
        for i, (one, element) in enumerate(zip(lists, rows_of(tensor), strict=True)):
            found[i] = one.pushed(element, f" at index {i}")
        return found


class TensorListPopBack(MultiOutputOp):
    """The list without its last element, and the element.  Source: list_ops.cc."""

    signature = (
        "input_handle: variant, element_shape: int32 -> "
        "output_handle: variant, tensor: element_dtype"
    )
    element_dtype: DType

    host_inputs: ClassVar[tuple[str, ...]] = ("element_shape",)
    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)
    passes_list: ClassVar[bool] = True
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    aliases: ClassVar[bool] = True

    def infer_shape(self, handle: Known, element_shape: Shape) -> list[Shape]:
        check_pushed_type(handle, self.element_dtype, "read from")
        # TensorFlow does not read `element_shape` here.
        return [(), None if handle[1] is None else handle[1].shape]

    def list_elements(self, op: Operation) -> ListElements:
        return ListElements(self.element_dtype, None)

    def compute(self, xp: ArrayModule, handle: TensorList, element_shape: Any) -> Any:
        handle.check_type(self.element_dtype)
        return handle.popped(xp, given_shape(element_shape))

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Any:
        if values[1] is None:
            return None
        shape = given_shape(values[1])

        def kernel(handle: TensorList, _: Any) -> Any:
            handle.check_type(self.element_dtype)
            return handle.popped(xp, shape)

        return kernel

    def gradient(self, op: Operation, dlist: Any, delement: Any) -> list[Gradient]:
        dtype = op.outputs[1].dtype.base_dtype
        if dlist is None:
            dlist = EmptyTensorList(dtype)(element_shape_of(op.outputs[0]), -1)
        if delement is None:
            delement = zeros(element_shape_of(op.outputs[0]), dtype)
        return [TensorListPushBack()(dlist, delement), None]


class TensorListStack(Op):
    """The elements as one tensor.  Source: list_ops.cc, TensorListStack."""

    signature = "input_handle: variant, element_shape: int32 -> tensor: element_dtype"
    element_dtype: DType
    num_elements: int = -1

    host_inputs: ClassVar[tuple[str, ...]] = ("element_shape",)
    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)
    by_shape: ClassVar[tuple[str, ...]] = ("element_shape",)
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"element_shape": (0, 1)}
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def infer_shape(self, handle: Known, element_shape: Shape) -> Shape:
        count = None if self.num_elements < 0 else self.num_elements
        shape = read_shape(handle, element_shape, self.element_dtype)
        return None if shape is None else (count, *shape)

    def compute(self, xp: ArrayModule, handle: TensorList, element_shape: Any) -> Any:
        handle.check_type(self.element_dtype)
        if self.num_elements not in (-1, len(handle)):
            raise invalid_argument(
                f"Operation expected a list with {self.num_elements} elements but got "
                f"a list with {len(handle)} elements."
            )
        return handle.stacked(xp, given_shape(element_shape))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        rows = None if grad.static_shape is None else grad.static_shape[1:]
        return [TensorListFromTensor()(grad, element_shape_input(rows)), None]


class TensorListFromTensor(ListOp):
    """A list of a tensor's rows.  Source: list_ops.cc, TensorListFromTensor."""

    signature = (
        "tensor: element_dtype, element_shape: shape_type -> output_handle: variant"
    )
    shape_type = INDICES

    host_inputs: ClassVar[tuple[str, ...]] = ("element_shape",)

    def infer_shape(self, tensor: Shape, element_shape: Shape) -> Shape:
        shapes.merge(None if tensor is None else tensor[1:], element_shape)
        return ()

    def list_elements(self, op: Operation) -> ListElements:
        return elements_of_rows(op.inputs[0], op.inputs[1])

    def compute(self, xp: ArrayModule, tensor: Array, element_shape: Any) -> Any:
        if tensor.ndim == 0:
            raise invalid_argument(
                "Tensor must be at least a vector, but saw shape: []"
            )
        shape = given_shape(element_shape)
        if not shapes.compatible(shape, tensor.shape[1:]):
            raise invalid_argument(
                "Specified a list with shape "
                f"{shape_text(shape)} from a tensor with shape "
                f"{shape_text(tensor.shape[1:])}"
            )
        kind = (
            dtypes.string if tensor.dtype.hasobject else dtypes.as_dtype(tensor.dtype)
        )
        return TensorList(kind, shape, rows_of(tensor))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        tensor = op.inputs[0]
        known = tensor.static_shape
        count = -1 if not known or known[0] is None else known[0]
        stack = TensorListStack(tensor.dtype.base_dtype, count)
        return [stack(grad, after_first(tensor)), None]


def elements_of_rows(tensor: Tensor, element_shape: Tensor) -> ListElements:
    """The `ListElements` of a list of rows, whose shape is that which the op states."""
    return ListElements(tensor.dtype.base_dtype, constant_shape(element_shape))


def rows_of(tensor: Array) -> list[Any]:
    """The rows of an array, scalars of rank 0 included."""
    if tensor.dtype.hasobject and tensor.ndim == 1:
        return [np.array(value, object) for value in tensor]
    return list(tensor)


class TensorListLength(Op):
    """The number of elements.  Source: list_ops.cc, TensorListLength."""

    signature = "input_handle: variant -> length: int32"
    host_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    stops_gradients: ClassVar[bool] = True

    def infer_shape(self, input_handle: Shape) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, input_handle: TensorList) -> Any:
        return np.int32(len(input_handle))


class TensorListElementShape(Op):
    """The shape of the elements; -1 for what is unknown.  Source: list_ops.cc."""

    signature = "input_handle: variant -> element_shape: shape_type"
    shape_type: DType
    shape_type_allowed = INDICES

    host_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    stops_gradients: ClassVar[bool] = True

    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)

    def infer_shape(self, handle: Known) -> Shape:
        shape = None if handle[1] is None else handle[1].shape
        return (None if shape is None else len(shape),)

    def compute(self, xp: ArrayModule, input_handle: TensorList) -> Any:
        shape = input_handle.element_shape
        kind = self.shape_type.numpy_dtype
        if shape is None:
            return np.array(-1, kind)
        return np.array([-1 if n is None else n for n in shape], kind)


class TensorListResize(ListOp):
    """The list cut, or with new elements.  Source: list_ops.cc, TensorListResize."""

    signature = "input_handle: variant, size: int32 -> output_handle: variant"
    host_inputs: ClassVar[tuple[str, ...]] = ("size",)

    is_stateful: ClassVar[bool] = True  # as TensorFlow declares it
    passes_list: ClassVar[bool] = True
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"size": 0}

    def compute(self, context: Any, input_handle: TensorList, size: Any) -> Any:
        if int(size) < 0:
            raise invalid_argument(
                f"TensorListSlice expects size to be non-negative. Got: {int(size)}"
            )
        found = input_handle.elements()[: int(size)]
        return input_handle.replaced([*found, *[None] * (int(size) - len(found))])

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [TensorListResize()(grad, TensorListLength()(op.inputs[0])), None]


class TensorListGetItem(Op):
    """One element.  Source: list_ops.cc, TensorListGetItem."""

    signature = (
        "input_handle: variant, index: int32, element_shape: int32 -> "
        "item: element_dtype"
    )
    element_dtype: DType

    host_inputs: ClassVar[tuple[str, ...]] = ("index", "element_shape")
    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)
    by_shape: ClassVar[tuple[str, ...]] = ("element_shape",)
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"element_shape": (0, 1)}
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    aliases: ClassVar[bool] = True

    def infer_shape(self, handle: Known, index: Shape, element_shape: Shape) -> Shape:
        return read_shape(handle, element_shape, self.element_dtype, is_item=True)

    def compute(
        self, xp: ArrayModule, handle: TensorList, index: Any, element_shape: Any
    ) -> Any:
        handle.check_type(self.element_dtype)
        return handle.item(xp, int(index), given_shape(element_shape))

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Any:
        if values[2] is None:
            return None
        shape = given_shape(values[2])

        def kernel(handle: TensorList, index: Any, _: Any) -> Any:
            handle.check_type(self.element_dtype)
            return handle.item(xp, int(index), shape)

        return kernel

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        handle, index = op.inputs[0], op.inputs[1]
        count = TensorListLength()(handle)
        reserve = TensorListReserve(op.outputs[0].dtype.base_dtype)
        empty = reserve(element_shape_of(handle), count)
        return [TensorListSetItem()(empty, index, grad), None, None]


class TensorListSetItem(ListOp):
    """The list with another value for an element.  Source: list_ops.cc."""

    signature = (
        "input_handle: variant, index: int32, item: element_dtype -> "
        "output_handle: variant"
    )
    host_inputs: ClassVar[tuple[str, ...]] = ("index",)
    by_list: ClassVar[tuple[str, ...]] = ("input_handle",)
    passes_list: ClassVar[bool] = True

    def infer_shape(self, handle: Known, index: Shape, item: Shape) -> Shape:
        if handle[1] is not None:
            shapes.merge(item, handle[1].shape)
        return ()

    def list_elements(self, op: Operation) -> ListElements:
        return ListElements(op.inputs[2].dtype.base_dtype, None)

    def compute(
        self, xp: ArrayModule, handle: TensorList, index: Any, item: Any
    ) -> Any:
        return handle.set(int(index), item)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        _, index, item = op.inputs
        rest = TensorListSetItem()(grad, index, zeros_like(item))
        get = TensorListGetItem(item.dtype.base_dtype)
        return [rest, None, get(grad, index, shape_of(item))]
