"""`tf.SparseTensorSpec`: the type of SparseTensors.

Source: python/framework/sparse_tensor.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.composite import register_composite
from tfteach.framework.dtypes import DType, as_dtype, float32, int64, variant
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec, without_batch
from tfteach.framework.type_aliases import DTypeLike, ShapeLike
from tfteach.framework.type_spec import (
    BatchableTypeSpec,
    register_type_spec_from_value_converter,
)
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorValue
from tfteach.ops.sparse.sparse_serialize import (
    SerializeManySparse,
    SerializeSparse,
    deserialize_sparse,
)


@export("SparseTensorSpec")
class SparseTensorSpec(BatchableTypeSpec):
    """The dense shape and element type of a SparseTensor.

    In datasets a SparseTensor is one tensor of three variants.

    Args:
      shape: the static dense shape, possibly partial.
      dtype: the element type.

    Source: python/framework/sparse_tensor.py.
    """

    def __init__(
        self, shape: ShapeLike | None = None, dtype: DTypeLike = float32
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_value(cls, value: SparseTensor | SparseTensorValue) -> SparseTensorSpec:
        """The spec of a SparseTensor or SparseTensorValue."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if not isinstance(value.values, np.ndarray):
            return cls.from_value(SparseTensor.from_value(value))
        return cls(value.dense_shape, value.values.dtype)

    @property
    def shape(self) -> TensorShape:
        """The static dense shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._dtype

    @property
    def value_type(self) -> type[SparseTensor]:
        return SparseTensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.ndims
        return [
            TensorSpec([None, rank], int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], int64),
        ]

    def _to_components(self, value: Any) -> list[Any]:
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: list[Any]) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            return SparseTensorValue(*components)
        return SparseTensor(*components)

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [TensorSpec(None, variant)]

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return [SerializeSparse(variant)(*self._to_components(value))]

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        return [SerializeManySparse(variant)(*self._to_components(value))]

    def _from_compatible_tensor_list(self, tensor_list: list[Tensor]) -> SparseTensor:
        return deserialize_sparse(tensor_list[0], self._dtype, self._shape.ndims)

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return SparseTensorSpec(shape, self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        return SparseTensorSpec(without_batch(self._shape), self._dtype)

    def _to_legacy_output_types(self) -> DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def _to_legacy_output_classes(self) -> type[SparseTensor]:
        return SparseTensor


for _kind in (SparseTensor, SparseTensorValue):
    register_type_spec_from_value_converter(_kind, SparseTensorSpec.from_value)
register_composite(SparseTensor, SparseTensorSpec.from_value)
