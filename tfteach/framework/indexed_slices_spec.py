"""`tf.IndexedSlicesSpec`: the type of IndexedSlices.

Source: python/framework/indexed_slices.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.composite import register_composite
from tfteach.framework.constant_values import constant_shape
from tfteach.framework.dtypes import as_dtype, float32, int64
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import DTypeLike, ShapeLike
from tfteach.framework.type_spec import TypeSpec


@export("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """The static shapes and types of IndexedSlices.

    Args:
      shape: the static dense shape.
      dtype: the type of the values.
      indices_dtype: the type of the indices.
      dense_shape_dtype: the type of the dense shape; None if they have none.
      indices_shape: the static shape of the indices.

    Example:
      >>> tf.IndexedSlicesSpec([None, 3], tf.float32).value_type.__name__
      'IndexedSlices'

    Source: python/framework/indexed_slices.py.
    """

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = float32,
        indices_dtype: DTypeLike = int64,
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike | None = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        no_dense = dense_shape_dtype is None
        self._dense_shape_dtype = None if no_dense else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @classmethod
    def from_value(cls, value: IndexedSlices) -> IndexedSlicesSpec:
        """The spec of IndexedSlices."""
        indices_shape = value.indices.shape.merge_with(value.values.shape[:1])
        shape = TensorShape([None]).concatenate(value.values.shape[1:])
        kind = None
        if value.dense_shape is not None:
            kind = value.dense_shape.dtype
            known = TensorShape(constant_shape(value.dense_shape))
            shape = shape.merge_with(known)
        return cls(shape, value.values.dtype, value.indices.dtype, kind, indices_shape)

    @property
    def value_type(self) -> type[IndexedSlices]:
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = (
            TensorSpec(rows, self._dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        )
        if self._dense_shape_dtype is None:
            return specs
        rank = [self._shape.ndims]
        return (*specs, TensorSpec(rank, self._dense_shape_dtype))

    def _to_components(self, value: Any) -> tuple[Tensor, ...]:
        parts = value.values, value.indices
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> IndexedSlices:
        return IndexedSlices(*components)


register_composite(IndexedSlices, IndexedSlicesSpec.from_value)
