"""Lists of tensors of one type: handles, and functions of them.

`tf.while_loop` and `tf.TensorArray` of TensorFlow 2's control flow are built of them.
Source: python/ops/list_ops.py (API and names).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int32
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.state import tensor_list_gather_scatter as rows
from tfteach.ops.state import tensor_list_ops as ops


def build_element_shape(shape: Any) -> Any:
    """The static shape of elements as the ops' input.

    Args:
      shape: None or of unknown rank, for which -1 stands; a TensorShape; a sequence of
        sizes, of which None is unknown and others may be Tensors; a Tensor.
    """
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = shape.as_list() if shape.ndims is not None else None
    if shape is None:
        return -1
    if isinstance(shape, np.ndarray | np.generic) and not shape.ndim:
        return shape
    sizes = list(shape)
    if not sizes:
        return convert(sizes, dtype=int32)
    return [-1 if size is None else size for size in sizes]


def empty_tensor_list(
    element_shape: Any,
    element_dtype: DTypeLike,
    max_num_elements: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """An empty list.

    Args:
      element_shape: see `build_element_shape`.
      element_dtype: the type of the elements.
      max_num_elements: an int32 scalar; None for no limit.
      name: the op's name.

    Returns:
      The list's handle, a variant scalar.

    Example:
      >>> empty_tensor_list([2], tf.float32)

    Source: EmptyTensorList in core/ops/list_ops.cc.
    """
    limit = -1 if max_num_elements is None else max_num_elements
    made = ops.EmptyTensorList(as_dtype(element_dtype))
    return made(build_element_shape(element_shape), limit, name=name)


def tensor_list_reserve(
    element_shape: Any,
    num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A list of `num_elements` elements that are not set.

    Source: TensorListReserve in core/ops/list_ops.cc.
    """
    made = ops.TensorListReserve(as_dtype(element_dtype))
    return made(build_element_shape(element_shape), num_elements, name=name)


def tensor_list_from_tensor(
    tensor: TensorLike, element_shape: Any, name: str | None = None
) -> Tensor:
    """A list of a tensor's rows.  Source: TensorListFromTensor in list_ops.cc."""
    made = ops.TensorListFromTensor()
    return made(tensor, build_element_shape(element_shape), name=name)


def tensor_list_get_item(
    input_handle: Tensor,
    index: TensorLike,
    element_dtype: DTypeLike,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """The element at an index.

    Args:
      input_handle: the list.
      index: an int32 scalar.
      element_dtype: the type of the elements.
      element_shape: of an element that is not set, which is zeros.
      name: the op's name.

    Raises:
      InvalidArgumentError: (in a run) there is no such index; another element type.

    Source: TensorListGetItem in core/ops/list_ops.cc.
    """
    made = ops.TensorListGetItem(as_dtype(element_dtype))
    return made(input_handle, index, build_element_shape(element_shape), name=name)


def tensor_list_pop_back(
    input_handle: Tensor, element_dtype: DTypeLike, name: str | None = None
) -> list[Tensor]:
    """The list without its last element, and that element.

    Source: TensorListPopBack in core/ops/list_ops.cc.
    """
    made = ops.TensorListPopBack(as_dtype(element_dtype))
    return made(input_handle, -1, name=name)


def tensor_list_gather(
    input_handle: Tensor,
    indices: TensorLike,
    element_dtype: DTypeLike,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """The elements at some indices, stacked.

    Source: TensorListGather in core/ops/list_ops.cc.
    """
    made = rows.TensorListGather(as_dtype(element_dtype))
    return made(input_handle, indices, build_element_shape(element_shape), name=name)


def tensor_list_scatter(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: Any = None,
    input_handle: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """A list with a tensor's rows at some indices.

    Args:
      tensor: the rows.
      indices: int32 Tensor, an index for each row.
      element_shape: of the elements of a new list.
      input_handle: a list whose other elements stay; None for a new one.
      name: the op's name.

    Source: TensorListScatterV2, TensorListScatterIntoExistingList in list_ops.cc.
    """
    if input_handle is not None:
        into = rows.TensorListScatterIntoExistingList()
        return into(input_handle, tensor, indices, name=name)
    shape = build_element_shape(element_shape)
    return rows.TensorListScatterV2()(tensor, indices, shape, -1, name=name)


def tensor_list_set_item(
    input_handle: Tensor,
    index: Any,
    item: TensorLike,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """The list with another element at an index.

    Args:
      input_handle: the list.
      index: an int32 scalar.
      item: the element.
      resize_if_index_out_of_bounds: append elements that are not set, if necessary.
      name: the op's name.

    Source: TensorListSetItem in core/ops/list_ops.cc.
    """
    if resize_if_index_out_of_bounds:
        handle, length = input_handle, ops.TensorListLength()(input_handle)
        input_handle = cond(
            index >= length,
            lambda: ops.TensorListResize()(handle, index + 1),
            lambda: handle,
        )
    return ops.TensorListSetItem()(input_handle, index, item, name=name)


def tensor_list_stack(
    input_handle: Tensor,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """All elements, stacked.

    Args:
      input_handle: the list.
      element_dtype: the type of the elements.
      num_elements: how many there must be; -1 for any number.
      element_shape: see `build_element_shape`.
      name: the op's name.

    Source: TensorListStack in core/ops/list_ops.cc.
    """
    made = ops.TensorListStack(as_dtype(element_dtype), num_elements)
    return made(input_handle, build_element_shape(element_shape), name=name)


def tensor_list_concat(
    input_handle: Tensor,
    element_dtype: DTypeLike,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """All elements, joined along their first dimension.

    Source: TensorListConcatV2 in core/ops/list_ops.cc.
    """
    # TensorFlow has the first sizes for gradients; the elements have them here, too.
    sizes = constant([], dtype="int64")
    made = rows.TensorListConcatV2(as_dtype(element_dtype))
    return made(input_handle, build_element_shape(element_shape), sizes, name=name)[0]


def tensor_list_split(
    tensor: TensorLike, element_shape: Any, lengths: TensorLike, name: str | None = None
) -> Tensor:
    """A list of a tensor's slices of some lengths.

    Source: TensorListSplit in core/ops/list_ops.cc.
    """
    shape = build_element_shape(element_shape)
    return rows.TensorListSplit()(tensor, shape, lengths, name=name)
