"""`tf.TensorArray` with TensorFlow 2's control flow: its state is a tensor list.

Source: python/ops/tensor_array_ops.py, python/ops/list_ops.py (names of nodes).
"""

from __future__ import annotations

from typing import Any

from tfteach.control.branch import cond
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.math.cast import cast
from tfteach.ops.state.tensor_list_gather_scatter import (
    TensorListConcatV2,
    TensorListGather,
    TensorListScatterIntoExistingList,
    TensorListSplit,
)
from tfteach.ops.state.tensor_list_ops import (
    TensorListFromTensor,
    TensorListGetItem,
    TensorListLength,
    TensorListReserve,
    TensorListResize,
    TensorListSetItem,
    TensorListStack,
    element_shape_input,
)


class TensorListArray(TensorArray):
    """The `tf.TensorArray` that programs get with TensorFlow 2's control flow.

    Its flow is the list itself, a variant scalar; it has no handle.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        assert handle is None, "A TensorArray of a list has no handle: pass its flow."
        _check_flow(flow, size, element_shape)
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size  # None, too: its spec has it
        self._infer_shape = infer_shape
        # A list, because all states of one TensorArray share this knowledge.
        self._element_shape = [TensorShape(element_shape)]
        with name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            if flow is None:
                op = TensorListReserve(element_dtype=self._dtype)
                flow = op(self._shape_input(), size, name=scope)
            self._flow = flow

    @property
    def handle(self) -> Any:
        """None: its state is its flow."""
        return None

    def _with_flow(self, flow: Tensor) -> TensorListArray:
        made = TensorListArray(self._dtype, flow=flow, infer_shape=self._infer_shape)
        made._dynamic_size = self._dynamic_size
        made._element_shape = self._element_shape
        return made

    def _shape_input(self) -> Any:
        return element_shape_input(self.element_shape.dims_or_none)

    def identity(self) -> TensorArray:
        """The same TensorArray, whose flow has the current control dependencies."""
        return self._with_flow(Identity()(self._flow))

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> Any:
        """Not available: gradients of lists are lists, built by `tf.gradients`.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(
            "A TensorArray of TensorFlow 2's control flow has no array of gradients: "
            "call tf.gradients."
        )

    # ---- reading

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element at `index`, an int32 scalar."""
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            op = TensorListGetItem(element_dtype=self._dtype)
            value: Tensor = op(self._flow, index, self._shape_input(), name=name)
            return value

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one Tensor [size, ...]."""
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            op = TensorListStack(element_dtype=self._dtype)
            value: Tensor = op(self._flow, self._shape_input())
            return value

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at `indices`, an int32 Tensor [n], as one Tensor [n, ...]."""
        op = TensorListGather(element_dtype=self._dtype)
        value: Tensor = op(self._flow, indices, self._shape_input(), name=name)
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """The elements concatenated; they may differ in their first size."""
        known = self.element_shape.dims_or_none
        shape = None if known is None else (None, *known[1:])
        lengths = constant([], dtypes.int64)
        op = TensorListConcatV2(element_dtype=self._dtype)
        value: Tensor = op(self._flow, element_shape_input(shape), lengths, name=name)[
            0
        ]
        return value

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, an int32 scalar Tensor."""
        count: Tensor = TensorListLength()(self._flow, name=name)
        return count

    # ---- writing

    def write(
        self, index: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The TensorArray after writing `value` to `index`.

        Raises:
          ValueError: the shape differs from the elements'.
        """
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = self._converted(value)
            self._check_element_shape(value.shape)
            flow = self._flow
            if self._dynamic_size:
                flow = cond(
                    index >= TensorListLength()(flow),
                    lambda: TensorListResize()(self._flow, index + 1),  # type: ignore[operator]
                    lambda: self._flow,
                )
            return self._with_flow(TensorListSetItem()(flow, index, value, name=name))

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """The TensorArray after writing the rows of `value` to its elements.

        Raises:
          ValueError: the shape differs from the elements'.
        """
        with name_scope(name, "TensorArrayUnstack", [value]):
            value = self._converted(value)
            rows = value.shape[1:]
            self._check_element_shape(rows)
            shape = element_shape_input(rows.dims_or_none)
            return self._with_flow(TensorListFromTensor()(value, shape))

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The TensorArray after writing rows of `value` to `indices`.

        Raises:
          ValueError: the shape differs from the elements'.
        """
        with name_scope(name, "TensorArrayScatter", [value, indices]):
            value = self._converted(value)
            self._check_element_shape(value.shape[1:])
            op = TensorListScatterIntoExistingList()
            return self._with_flow(op(self._flow, value, indices))

    def split(
        self, value: TensorLike, lengths: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The TensorArray after writing parts of `value` to its elements.

        Args:
          value: Tensor [sum of lengths, ...].
          lengths: int Tensor [size], the first size of each element.
          name: the name scope of the new operations.

        Raises:
          ValueError: the shape differs from the elements'.
        """
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = self._converted(value)
            lengths = cast(lengths, dtypes.int64)
            self._check_equal_parts(value, lengths)
            op = TensorListSplit()
            return self._with_flow(op(value, self._shape_input(), lengths, name=name))

    def close(self, name: str | None = None) -> Operation:
        """An operation without effect: a list is released with its last use."""
        made: Operation = no_op(name=name)
        return made

    def _converted(self, value: Any) -> Tensor:
        tensor = convert(value, name="value", preferred_dtype=self._dtype)
        if tensor.dtype.base_dtype is not self._dtype:
            get_logger().error(
                "Error: Input value %s has dtype %s, but expected dtype %s.  This "
                "leads to undefined behavior and will be an error in future versions "
                "of TensorFlow.",
                tensor,
                tensor.dtype,
                self._dtype,
            )
        return tensor


def _check_flow(flow: Any, size: Any, element_shape: Any) -> None:
    if flow is None:
        if size is None:
            raise ValueError("Size must be provided if flow is not provided")
        return
    if not isinstance(flow, Tensor) or flow.dtype.base_dtype is not dtypes.variant:
        raise TypeError("flow must be a variant tensor")
    for what, value in (("element_shape", element_shape), ("size", size)):
        if value is not None:
            raise ValueError(f"Cannot provide both a flow and {what} at the same time")
