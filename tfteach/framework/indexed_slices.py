"""`IndexedSlices`: some rows of a tensor, such as the gradient of a lookup.

Source: python/framework/ops.py (IndexedSlices and its conversion).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.framework.operation import consumers_of_all
from tfteach.framework.type_aliases import TensorLike


@export("IndexedSlices")
class IndexedSlices:
    """Rows `values[i]` at positions `indices[i]` of a larger, mostly zero tensor.

    `dense[indices[i], ...] += values[i, ...]`; an index may occur several times.

    Args:
      values: Tensor [n, ...].
      indices: int32 or int64 Tensor [n].
      dense_shape: integer Tensor [rank], the dense shape; None if unknown.

    Example:
      >>> slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([4, 0]))
    """

    __slots__ = ("_dense_shape", "_indices", "_values")

    def __init__(
        self,
        values: Tensor,
        indices: Tensor,
        dense_shape: Tensor | None = None,
    ) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        """The rows, a Tensor [n, ...]."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """Indices of the rows, a Tensor [n]."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The dense shape, a Tensor [rank] or None."""
        return self._dense_shape

    @property
    def name(self) -> str:
        return str(self._values.name)

    @property
    def device(self) -> str:
        return str(self._values.device)

    def consumers(self) -> list[Operation]:
        """The operations that have one of the components as an input."""
        return consumers_of_all([self._indices, self._values, self._dense_shape])

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def _control_element(self) -> Operation:
        # Represents it in control dependencies and colocation.
        return self.op

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        return self._values.graph

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        parts = [f"indices={self._indices!s}", f"values={self._values!s}"]
        if self._dense_shape is not None:
            parts.append(f"dense_shape={self._dense_shape!s}")
        return f"IndexedSlices({', '.join(parts)})"

    def __repr__(self) -> str:
        return str(self)


@export("convert_to_tensor_or_indexed_slices")
def convert_to_tensor_or_indexed_slices(
    value: TensorLike, dtype: DType | None = None, name: str | None = None
) -> Any:
    """`value` itself if it is an IndexedSlices, otherwise as a Tensor.

    Args:
      value: an IndexedSlices, or a value convertible to a Tensor.
      dtype: the required element type, or None.
      name: the name of the constant, if one is created.

    Returns:
      A Tensor or IndexedSlices.

    Raises:
      ValueError: `value` has another type than `dtype`.
    """
    if not isinstance(value, IndexedSlices):
        return convert(value, dtype, name)
    check_dtype(value, dtype)
    return value


def convert_n(values: Sequence[Any], name: str, as_ref: bool = False) -> list[Any]:
    """Each value as a Tensor, IndexedSlices or None, named `name_0`, `name_1`, ..."""
    return [
        v
        if v is None or isinstance(v, IndexedSlices | Tensor)
        else convert(v, None, f"{name}_{i}", as_ref=as_ref)
        for i, v in enumerate(values)
    ]


def check_dtype(value: IndexedSlices, dtype: DType | None) -> None:
    """Raise ValueError if the slices cannot be converted to `dtype`."""
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with "
            f"dtype {value.dtype.name}"
        )


DENSIFYING = "Converting sparse IndexedSlices to a dense Tensor"


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress the warning about densification, for gradient functions."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=f"{DENSIFYING}.*")
        yield
