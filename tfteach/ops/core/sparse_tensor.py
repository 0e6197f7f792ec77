"""Sparse tensors: three dense tensors used as one.

Only the classes and their use by element-wise functions are defined here, so that every
higher family can import them.
Source: python/framework/sparse_tensor.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, overload

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_shape
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_session
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import DType, as_dtype, int64
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor, consumers_of_all
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import (
    DTypeLike,
    FeedDict,
    SessionLike,
    TensorLike,
)
from tfteach.ops.core.placeholder import placeholder


@export("SparseTensorValue")
class SparseTensorValue(NamedTuple):
    """A sparse tensor's value: returned by a session, and accepted as a feed."""

    indices: Any
    values: Any
    dense_shape: Any


class IndexedSlicesValue(NamedTuple):
    """The value of an `IndexedSlices`, as returned by a session."""

    values: Any
    indices: Any
    dense_shape: Any


@export("SparseTensor", "sparse.SparseTensor")
class SparseTensor:
    """A tensor that stores only its nonzero elements.

    `dense[tuple(indices[i])] = values[i]`, zero elsewhere; most ops require the indices
    in row-major order.

    Args:
      indices: int64 Tensor [n, rank].
      values: Tensor [n].
      dense_shape: int64 Tensor [rank].

    Raises:
      ValueError: the three shapes are inconsistent.

    Example:
      >>> tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [3, 4]).shape
      TensorShape([Dimension(3), Dimension(4)])

    Source: python/framework/sparse_tensor.py.
    """

    def __init__(
        self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike
    ) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert(indices, int64, "indices")
            self._values = convert(values, None, "values")
            self._dense_shape = convert(dense_shape, int64, "dense_shape")
        rows, columns = shapes.with_rank(self._indices.static_shape, 2)
        (count,) = shapes.with_rank(self._values.static_shape, 1)
        (rank,) = shapes.with_rank(self._dense_shape.static_shape, 1)
        Dimension(rows).merge_with(count)
        Dimension(columns).merge_with(rank)

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """The SparseTensor of a SparseTensorValue or of a SparseTensor.

        Raises:
          TypeError: it is neither.
        """
        value = sparse_tensor_value
        if not isinstance(value, SparseTensor | SparseTensorValue):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {value}.")
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def indices(self) -> Tensor:
        """Positions of the elements, int64 [n, rank]."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The stored elements, [n]."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The dense shape, int64 [rank]."""
        return self._dense_shape

    def consumers(self) -> list[Operation]:
        """The operations that have one of the components as an input."""
        return consumers_of_all([self._indices, self._values, self._dense_shape])

    @property
    def op(self) -> Operation:
        """The operation that produces the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        return self._indices.graph

    @property
    def shape(self) -> TensorShape:
        """The static shape, as far as it is known."""
        return TensorShape(constant_shape(self._dense_shape, fold=False))

    def get_shape(self) -> TensorShape:
        """The static shape, as far as it is known."""
        return self.shape

    def eval(
        self, feed_dict: FeedDict | None = None, session: SessionLike | None = None
    ) -> SparseTensorValue:
        """The value in `session`, or in the default session.

        Raises:
          ValueError: there is no default session.
        """
        session = get_default_session() if session is None else session
        if session is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is "
                "registered. Use `with sess.as_default()` or pass an explicit session "
                "to `eval(session=sess)`"
            )
        parts = [self._indices, self._values, self._dense_shape]
        return SparseTensorValue(*session.run(parts, feed_dict))

    @classmethod
    def overload(cls, operator: str, function: Callable[..., Any]) -> None:
        """Define a Python operator of sparse tensors, such as `"__mul__"`."""
        setattr(cls, operator, function)

    if TYPE_CHECKING:  # defined with the sparse ops

        def __mul__(self, other: TensorLike) -> SparseTensor: ...
        def __truediv__(self, other: TensorLike) -> SparseTensor: ...
        def __div__(self, other: TensorLike) -> SparseTensor: ...

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )

    def __repr__(self) -> str:
        return str(self)


def is_sparse(tensor: Any) -> bool:
    """Whether it is a SparseTensor or a SparseTensorValue."""
    return isinstance(tensor, SparseTensor | SparseTensorValue)


@export("convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(
    value: TensorLike | SparseTensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """`value` as a SparseTensor if it is sparse, else as a Tensor.

    Args:
      value: a SparseTensor, a SparseTensorValue, or a value convertible to a Tensor.
      dtype: the required element type, or None.
      name: the name of the constant, if one is created.

    Returns:
      A SparseTensor or Tensor.

    Raises:
      RuntimeError: a sparse `value` does not have the required type.
    """
    dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        return convert(value, dtype, name)
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise RuntimeError(
            f"Sparse dtype: requested = {dtype.name}, actual = {value.dtype.name}"
        )
    return value


@export("sparse_placeholder", "sparse.placeholder")
def sparse_placeholder(
    dtype: DTypeLike, shape: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """A sparse tensor whose value every run must feed.

    Args:
      dtype: the element type.
      shape: the dense shape if it is known (a list or an int64 Tensor); if it contains
        None, only the rank is used.
      name: the prefix of the three parts' names.

    Returns:
      A SparseTensor to use as a key of `feed_dict`, with a SparseTensorValue or a
      triple (indices, values, dense_shape).

    Example:
      >>> x = tf.sparse_placeholder(tf.float32, name="x")
      >>> x.indices.name
      'x/indices:0'

    Source: python/ops/array_ops.py.
    """
    prefix = "" if name is None else name + "/"

    def part(end: str) -> str | None:
        return prefix + end if prefix else None

    rank: Any = None
    dense_shape: Any = None
    if isinstance(shape, Tensor):
        (rank,) = shapes.with_rank(shape.static_shape, 1)
        dense_shape = convert(shape, int64, part("shape"))
    elif shape is not None:
        sizes = list(shape)  # type: ignore[arg-type]  # no sequence: TypeError
        rank = len(sizes)
        if None not in sizes:
            dense_shape = convert(sizes, int64, part("shape"))
    if dense_shape is None:
        dense_shape = placeholder(int64, [rank], part("shape"))
    values = placeholder(dtype, [None], part("values"))
    indices = placeholder(int64, [None, rank], part("indices"))
    return SparseTensor(indices, values, dense_shape)


# Types that convert to a SparseTensor.
SparseTensorLike: TypeAlias = SparseTensor | SparseTensorValue

# ---- element-wise functions


if TYPE_CHECKING:

    class _ElementWise(Protocol):
        @overload
        def __call__(self, x: SparseTensor, name: str | None = ...) -> SparseTensor: ...
        @overload
        def __call__(self, x: TensorLike, name: str | None = ...) -> Tensor: ...


def also_sparse(function: Callable[..., Tensor]) -> _ElementWise:
    """An element-wise function that maps the values of a SparseTensor too."""

    @functools.wraps(function)
    def mapped(x: Any, name: str | None = None) -> Any:
        try:
            return function(x, name)
        except (TypeError, ValueError):  # as in TF, the attempt uses up a node name
            if not isinstance(x, SparseTensor):
                raise
        return SparseTensor(x.indices, function(x.values, name), x.dense_shape)

    return mapped
