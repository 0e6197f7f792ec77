"""`tf.TensorArray` in eager programs: a Python list, which is modified in place.

A tape sees the tensors themselves, and needs no gradients of arrays.
Source: python/ops/tensor_array_ops.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from tfteach.control.tensor_array import TensorArray
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import (
    InvalidArgumentError,
    OutOfRangeError,
    invalid_argument,
)
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.math.reduce_functions import reduce_sum


class EagerTensorArray(TensorArray):
    """The `tf.TensorArray` of eager programs; writing returns the same object."""

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: TensorLike | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None:
            raise ValueError(
                "TensorArray handles are not supported when eager execution is enabled."
            )
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is "
                "enabled."
            )
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._infer_shape = infer_shape
        self._element_shape = [TensorShape(element_shape)]
        self._clears = clear_after_read is None or clear_after_read
        self._cleared: set[int] = set()  # the indices of elements that were read
        self._elements: list[Tensor | None] = [None] * _integer(size)
        self._flow = constant(0, dtypes.int32)

    @property
    def handle(self) -> Any:
        """None: it has elements instead."""
        return None

    def identity(self) -> TensorArray:
        """The same TensorArray."""
        return self

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> NoReturn:
        """Not available: a tape finds the gradients of the elements.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's "
            "gradient implementation does not use/need this function to compute "
            "gradients of operations that use TensorArrays."
        )

    # ---- reading

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element at `index`; zeros if it was never written.

        Raises:
          OutOfRangeError: there is no such element.
          InvalidArgumentError: it was read before, and `clear_after_read` is true.
        """
        index = _integer(index)
        if index < 0:
            raise OutOfRangeError(
                None, None,
                f"Reading from negative indices (index {index}) is not allowed.",
            )  # fmt: skip
        if index >= len(self._elements):
            raise OutOfRangeError(
                None, None,
                f"Tried to read from index {index} but array size is: "
                f"{len(self._elements)}",
            )  # fmt: skip
        if self._elements[index] is None and index in self._cleared:
            raise invalid_argument(
                f"Could not read index {index} twice because it was cleared after a "
                "previous read (perhaps try setting clear_after_read = false?)"
            )
        value = self._element(index)
        if self._clears:
            self._elements[index] = None
            self._cleared.add(index)
        return value

    def _element(self, index: int) -> Tensor:
        value = self._elements[index]
        if value is None:
            value = zeros(self.element_shape, self._dtype)
            self._elements[index] = value
        return value

    def _all_elements(self) -> list[Tensor]:
        return [self._element(i) for i in range(len(self._elements))]

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one Tensor [size, ...]."""
        elements = self._all_elements()
        if not elements:
            return convert([], self._dtype, name)
        return stack(elements, name=name or "packed")

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at `indices`, ints [n], as one Tensor [n, ...]."""
        return stack([self._element(i) for i in _integers(indices)])

    def concat(self, name: str | None = None) -> Tensor:
        """The elements concatenated; they may differ in their first size.

        Raises:
          InvalidArgumentError: an element is a scalar, or their other sizes differ.
        """
        elements = self._all_elements()
        try:
            return concat(elements, 0, name=name or "concat")
        except InvalidArgumentError:
            ranks = [element.shape.ndims for element in elements]
            if 0 not in ranks:
                raise
            raise invalid_argument(
                f"Concat saw a scalar shape at index {ranks.index(0)} but requires at "
                "least vectors."
            ) from None

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, an int32 scalar Tensor."""
        return constant(len(self._elements))

    # ---- writing

    def write(
        self, index: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """This TensorArray, after writing `value` to `index`.

        Raises:
          OutOfRangeError: there is no such element, and the size is not dynamic.
          InvalidArgumentError: the value has another type.
          ValueError: the value has another shape than the elements.
        """
        self._write(_integer(index), value)
        return self

    def _write(self, index: int, value: Any) -> None:
        if index < 0:
            raise OutOfRangeError(
                None, None,
                f"Writing to negative indices (index {index}) is not allowed.",
            )  # fmt: skip
        size = len(self._elements)
        if index >= size and not self._dynamic_size:
            raise OutOfRangeError(
                None, None,
                f"Tried to write to index {index} but array is not resizeable and size "
                f"is: {size}",
            )  # fmt: skip
        self._elements += [None] * (index + 1 - size)
        value = convert(value, name="value", preferred_dtype=self._dtype)
        self._check_dtype(value)
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Incompatible shape for value ({value.shape}), expected "
                f"({self.element_shape})"
            )
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(value.shape)
        self._elements[index] = value

    def _check_dtype(self, value: Tensor) -> None:
        if value.dtype != self._dtype:
            raise invalid_argument(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write "
                f"dtype {value.dtype.name}"
            )

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """This TensorArray, with the rows of `value` as its elements.

        Raises:
          ValueError: there are more rows than elements, and the size is not dynamic.
        """
        rows = unstack(value, name=name or "unstack")
        if len(rows) > len(self._elements) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size "
                f"{len(self._elements)}"
            )
        self._elements = list(rows)
        return self

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """This TensorArray, after writing rows of `value` to `indices`."""
        for index, row in zip(_integers(indices), unstack(value), strict=False):
            self._write(index, row)
        return self

    def split(
        self, value: TensorLike, lengths: TensorLike, name: str | None = None
    ) -> TensorArray:
        """This TensorArray, with parts of `value` as its elements.

        Args:
          value: Tensor [sum of lengths, ...].
          lengths: int Tensor [size], the first size of each element.
          name: a name for messages.

        Raises:
          InvalidArgumentError: the ranks, lengths or types do not fit.
        """
        value = convert(value, name="value", preferred_dtype=self._dtype)
        self._check_dtype(value)
        lengths = convert(lengths)
        self._check_lengths(value, lengths)
        self._elements = list(split(value, lengths, name=name or "split"))
        return self

    def _check_lengths(self, value: Tensor, lengths: Tensor) -> None:
        total = int(reduce_sum(lengths))  # type: ignore[call-overload]
        if lengths.shape.ndims != 1:
            raise invalid_argument(
                "Expected lengths to be a vector, received shape: "
                f"{lengths.shape.as_list()}"
            )
        if value.shape.ndims == 0:
            raise invalid_argument(
                "Expected value to be at least a vector, but received shape: "
                f"{value.shape.as_list()}"
            )
        if total != dimension_value(value.shape[0]):
            raise invalid_argument(
                "Expected sum of lengths to be equal to values.shape[0], but sum of "
                f"lengths is {total} and value's shape is: {value.shape.as_list()} "
            )
        count = dimension_value(lengths.shape[0])
        if count != len(self._elements) and not self._dynamic_size:
            raise invalid_argument(
                "TensorArray's size is not equal to the size of lengths "
                f"({len(self._elements)} vs. {count}), and the TensorArray is not "
                "marked as dynamically resizeable"
            )

    def close(self, name: str | None = None) -> Operation:
        """Release the elements."""
        self._elements.clear()
        return no_op()


def _integer(value: Any) -> int:
    return int(value)


def _integers(indices: Any) -> Sequence[int]:
    if isinstance(indices, EagerTensor):
        indices = indices.numpy()
    return [int(i) for i in indices]
