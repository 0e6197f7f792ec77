"""`TensorList`: the value of a tensor list, an immutable sequence of tensors.

Source: core/kernels/list_kernels.h, list_kernels.cc (checks and messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import Shape, is_full
from tfteach.framework.type_aliases import ArrayModule


class TensorList:
    """A list of tensors of one type; None stands for an element that was never set.

    Lists that are made from one another by appending share their storage.

    Args:
      dtype: the type of the elements.
      element_shape: the shape that all elements have, possibly partial.
      items: the storage; it belongs to the list.
      size: the number of elements, at most `len(items)`.
      most: the largest number of elements, or -1.
      only: the index of the only element that was set, -1 if none was; None if several
        may have been.
    """

    __slots__ = ("dtype", "element_shape", "items", "most", "only", "size")

    shape = ()  # of the scalar variant tensor that holds it

    def __init__(
        self,
        dtype: DType,
        element_shape: Shape,
        items: list[Any],
        size: int | None = None,
        most: int = -1,
        only: int | None = None,
    ) -> None:
        self.dtype, self.element_shape = dtype, element_shape
        self.items = items
        self.size = len(items) if size is None else size
        self.most = most
        self.only = only

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        shape = shapes.text(self.element_shape)
        return f"<TensorList of {self.size} {self.dtype.name} tensors of shape {shape}>"

    def elements(self) -> list[Any]:
        """The elements, in a new list."""
        return self.items[: self.size]

    def replaced(self, items: list[Any]) -> TensorList:
        """A list of other elements, of the same type and shape."""
        return TensorList(self.dtype, self.element_shape, items, None, self.most)

    # ---- checks

    def check_type(self, dtype: DType) -> None:
        """Raise InvalidArgumentError unless the elements have this type."""
        if dtype is not self.dtype:
            raise invalid_argument(
                f"Invalid data types; op elements {dtype_text(dtype)} but list "
                f"elements {dtype_text(self.dtype)}"
            )

    def _check_shape(self, value: Any, refusal: str) -> None:
        if value.shape == self.element_shape:
            return
        if not shapes.compatible(self.element_shape, value.shape):
            raise invalid_argument(
                f"{refusal} element shape: {shape_text(value.shape)} list shape: "
                f"{shape_text(self.element_shape)}"
            )

    def merged_shape(self, given: Shape) -> Shape:
        """The shape that an op states, merged with the list's."""
        return merged(given, self.element_shape)

    # ---- operations

    def pushed(self, value: Any, where: str = "") -> TensorList:
        """The list with another element; `where` is added to the message if refused."""
        self._check_shape(
            value,
            f"Tried to append a tensor with incompatible shape to a list{where}. Op",
        )
        if 0 <= self.most <= self.size:
            raise invalid_argument(
                f"Tried to push item into a full list list size: {self.size} "
                f"max_num_elements: {self.most}"
            )
        items = self.items
        if len(items) != self.size:  # another list has appended to the storage
            items = items[: self.size]
        items.append(value)
        return TensorList(
            self.dtype, self.element_shape, items, self.size + 1, self.most
        )

    def popped(self, xp: ArrayModule, given: Shape) -> tuple[TensorList, Any]:
        """The list without its last element, and that element."""
        if not self.size:
            raise invalid_argument("Trying to pop from an empty list.")
        last = self._value(xp, self.size - 1, given)
        # The storage is shared: a later push to the shorter list copies it.
        rest = self.items[: self.size - 1] if self.size < 16 else self.items
        return (
            TensorList(self.dtype, self.element_shape, rest, self.size - 1, self.most),
            last,
        )

    def item(self, xp: ArrayModule, index: int, given: Shape) -> Any:
        """One element; zeros if it was never set."""
        if not 0 <= index < self.size:
            raise invalid_argument(
                f"Trying to access element {index} in a list with {self.size} elements."
            )
        return self._value(xp, index, given)

    def _value(self, xp: ArrayModule, index: int, given: Shape) -> Any:
        value = self.items[index]
        if value is not None:
            return value
        shape = self.merged_shape(given)
        for other in self.elements():
            if not is_full(shape) and other is not None:
                shape = merged(shape, other.shape)
        if not is_full(shape):
            raise invalid_argument(
                "Trying to read an uninitialized tensor but element_shape is not "
                f"fully defined: {shape_text(shape)} and no list element is set."
            )
        return zeros_of(xp, shape, self.dtype)

    def set(self, index: int, value: Any) -> TensorList:
        """The list with another value for one element."""
        if not 0 <= index < self.size:
            raise invalid_argument(
                f"Trying to modify element {index} in a list with {self.size} elements."
            )
        self._check_shape(
            value,
            "Tried to set a tensor with incompatible shape at a list index. Item",
        )
        items = self.elements()
        items[index] = value
        only = index if self.only in (-1, index) else None
        return TensorList(self.dtype, self.element_shape, items, None, self.most, only)

    def gathered(self, xp: ArrayModule, indices: Sequence[int], given: Shape) -> Any:
        """Some elements as one array."""
        shape = self.merged_shape(given)
        found = [self.items[i] for i in indices]
        for value in found:
            if value is not None:
                shape = merged(shape, value.shape)
        if not is_full(shape):
            what = (
                "uninitialized tensors from a list with non-fully-defined element_shape"
                if found
                else "0-elements from a list with non-fully-defined shape"
            )
            raise invalid_argument(f"Tried to gather {what}: {shape_text(shape)}")
        return self.replaced(found).stacked(xp, shape)

    def concatenated(
        self, xp: ArrayModule, given: Shape, lengths: Sequence[int] | None
    ) -> Any:
        """The elements joined along their first dimension, and their lengths.

        Args:
          xp: numpy or cupy.
          given: the shape that an op states.
          lengths: of elements that were never set; empty if they are those of the
            others; None for the older op, which has no such input.
        """
        shape, found = self.merged_shape(given), self.elements()
        inner = None if shape is None else shape[1:]
        for i, value in enumerate(found):
            if value is not None and not value.ndim:
                raise invalid_argument(
                    f"Concat saw a scalar shape at index {i} but requires at least "
                    "vectors."
                )
            if value is not None:
                inner = merged(inner, value.shape[1:])
        if not is_full(inner):
            what = (
                "Trying to concat list with only uninitialized tensors but "
                "element_shape_except_first_dim_ is not fully defined"
                if found
                else "All except the first dimension must be fully defined when "
                "concating an empty tensor list. element_shape"
            )
            shown = shape_text(inner if found else given)
            raise invalid_argument(f"{what}: {shown}")
        first = None if shape is None else shape[0]
        known = {len(value) for value in found if value is not None}
        if first is None and len(known) == 1 and (lengths is None or not len(lengths)):
            (first,) = known
        rows = []
        for i, value in enumerate(found):
            if value is None:
                size = _length(lengths, i) if first is None else first
                value = zeros_of(xp, (size, *(inner or ())), self.dtype)
            rows.append(value)
        sizes = np.array([len(row) for row in rows], np.int64)
        if not rows:
            return zeros_of(xp, (0, *(inner or ())), self.dtype), sizes
        return xp.concatenate(rows), sizes

    def stacked(self, xp: ArrayModule, given: Shape) -> Any:
        """The elements as one array."""
        shape = self.merged_shape(given)
        found = self.elements()
        if not is_full(shape):
            for value in found:
                if value is not None:
                    shape = merged(shape, value.shape)
        if not is_full(shape):
            what = (
                "list which only contains uninitialized tensors and has a "
                if found
                else "elements of an empty list with "
            )
            raise invalid_argument(
                f"Tried to stack {what}non-fully-defined element_shape: "
                f"{shape_text(shape)}"
            )
        for value in found:
            if value is not None:
                merged(shape, value.shape)
        if not found:
            return zeros_of(xp, (0, *(shape or ())), self.dtype)
        rows = [zeros_of(xp, shape, self.dtype) if v is None else v for v in found]
        return xp.stack(rows)

    def zeros(self, xp: ArrayModule) -> TensorList:
        """A list of zeros of the elements' shapes."""
        found = [
            v.zeros(xp)
            if isinstance(v, TensorList)
            else None
            if v is None
            else zeros_of(xp, v.shape, self.dtype)
            for v in self.elements()
        ]
        return self.replaced(found)

    def __add__(self, other: TensorList) -> TensorList:
        if len(self) != len(other):
            raise invalid_argument(
                "Trying to add two lists of tensors with different lengths. One is "
                f"{len(self)} and the other is {len(other)}"
            )
        if other.dtype is not self.dtype:
            raise invalid_argument(
                "Trying to add two lists of tensors of different dtypes. One is "
                f"{dtype_text(other.dtype)} and the other is {dtype_text(self.dtype)}"
            )
        shape = self._sum_shape(other)
        if shape != self.element_shape:
            return (
                TensorList(
                    self.dtype, shape, self.items, self.size, self.most, self.only
                )
                + other
            )
        index = other.only
        if index is not None:  # of a loop that sets one element in each iteration
            if index < 0:
                return self
            value, added = self.items[index], other.items[index]
            return self.set(index, added if value is None else value + added)
        pairs = zip(self.elements(), other.elements(), strict=True)
        return self.replaced(
            [b if a is None else a if b is None else a + b for a, b in pairs]
        )

    def _sum_shape(self, other: TensorList) -> Shape:
        """The element shape of the sum of two lists."""
        try:
            return shapes.merge(self.element_shape, other.element_shape)
        except ValueError:
            raise invalid_argument(
                "Trying to add two lists of tensors with incompatible element shapes. "
                f"One is {shape_text(self.element_shape)} and the other is "
                f"{shape_text(other.element_shape)}"
            ) from None


def merged(first: Shape, second: Shape) -> Shape:
    """What both shapes state; raises InvalidArgumentError if they differ."""
    try:
        return shapes.merge(first, second)
    except ValueError:
        what = f"shapes during merge: {shape_text(first)} vs. {shape_text(second)}"
        if first is not None and second is not None and len(first) != len(second):
            what = f"ranks during merge: {len(first)} vs. {len(second)}"
        raise invalid_argument(f"PartialTensorShape: Incompatible {what}") from None


def _length(lengths: Sequence[int] | None, index: int) -> int:
    """The number of rows of an element that was never set."""
    if lengths is None:
        raise invalid_argument(
            "Concating lists with uninitialized tensors is not supported in this "
            "version of TensorListConcat. Consider updating your GraphDef to run the "
            "newer version."
        )
    if index >= len(lengths):
        raise invalid_argument(
            f"List contains uninitialized tensor at index {index} but leading_dims has "
            f"only {len(lengths)} elements."
        )
    return int(lengths[index])


def zeros_of(xp: ArrayModule, shape: Any, dtype: DType) -> Any:
    """Zeros, or empty strings."""
    if dtype is string:
        return xp.full(shape, b"", object)
    return xp.zeros(shape, dtype.numpy_dtype)


def dtype_text(dtype: DType) -> str:
    """An element type in the words of TensorFlow's C++ messages."""
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def shape_text(shape: Shape) -> str:
    """A shape in the words of TensorFlow's C++ messages."""
    if shape is None:
        return "<unknown>"
    return f"[{','.join('?' if n is None else str(n) for n in shape)}]"
