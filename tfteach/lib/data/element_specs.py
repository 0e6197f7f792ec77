"""`DatasetSpec`, and the specifications of what is in elements of datasets.

Source: python/data/ops/dataset_ops.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfteach.framework.composite import register_composite
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import variant
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import DTypeLike, Nested, ShapeLike
from tfteach.framework.type_spec import (
    BatchableTypeSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
    registered_spec,
    type_spec_from_value,
)
from tfteach.ops.sparse.sparse_tensor_spec import SparseTensorSpec

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset


@export("data.DatasetSpec", "data.experimental.DatasetStructure")
class DatasetSpec(BatchableTypeSpec):
    """The structure of a dataset's elements, for datasets of datasets.

    Args:
      element_spec: the structure of specs of its elements.
      dataset_shape: the shape of a tensor of datasets.

    Source: python/data/ops/dataset_ops.py.
    """

    def __init__(
        self, element_spec: Nested[TypeSpec], dataset_shape: ShapeLike = ()
    ) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @classmethod
    def from_value(cls, value: Dataset) -> DatasetSpec:
        """The spec of a dataset."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> type:
        from tfteach.lib.data.dataset import Dataset

        return Dataset

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self) -> TensorSpec:
        return TensorSpec(self._dataset_shape, variant)

    def _to_components(self, value: Any) -> Tensor:
        found = _variants(value)
        return convert(found) if isinstance(found, list) else found

    def _from_components(self, components: Tensor) -> Dataset | NestedVariant:
        from tfteach.lib.data.dataset import Dataset

        if self._dataset_shape.ndims != 0:
            return NestedVariant(components, self._element_spec, self._dataset_shape)
        found = Dataset(components, self._element_spec)
        found.preserves_count = True
        return found

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        without_batch_of_datasets(self._dataset_shape)
        return self._to_tensor_list(value)

    def _batch(self, batch_size: int | None) -> DatasetSpec:
        shape = TensorShape([batch_size]).concatenate(self._dataset_shape)
        return DatasetSpec(self._element_spec, shape)

    def _unbatch(self) -> DatasetSpec:
        shape = without_batch_of_datasets(self._dataset_shape)
        return DatasetSpec(self._element_spec, shape)


def _variants(value: Any) -> Any:
    """The variant of a dataset, or the nested list of those of datasets."""
    if isinstance(value, list):
        return [_variants(item) for item in value]
    return value._variant_tensor


class NestedVariant:
    """A tensor of datasets, as functions receive it: a batch of them.

    Args:
      variant: the Tensor.
      element_spec: the structure of specs of the datasets' elements.
      dataset_shape: the static shape of the tensor.
    """

    def __init__(
        self, variant: Tensor, element_spec: Nested[TypeSpec], dataset_shape: ShapeLike
    ) -> None:
        self._variant_tensor = variant
        self._type_spec = DatasetSpec(element_spec, dataset_shape)


register_type_spec_from_value_converter(NestedVariant, lambda value: value._type_spec)
register_composite(NestedVariant, lambda value: value._type_spec)


def _spec_of_datasets(value: Any) -> DatasetSpec | None:
    """The spec of a dataset, or of a nested list of datasets, which is a tensor."""
    if not isinstance(value, list):
        found = registered_spec(value)
        return found if isinstance(found, DatasetSpec) else None
    specs = [_spec_of_datasets(item) for item in value]
    merged = specs[0] if specs else None
    for spec in specs[1:]:
        if merged is None or spec is None:
            return None
        try:
            common = merged.most_specific_compatible_type(spec)
        except ValueError:
            return None
        assert isinstance(common, DatasetSpec)
        merged = common
    return None if merged is None else merged._batch(len(specs))


def without_batch_of_datasets(shape: TensorShape) -> TensorShape:
    """The shape of a row of a tensor of datasets.

    Raises:
      ValueError: it is a scalar's.
    """
    if shape.ndims == 0:
        raise ValueError("Unbatching a dataset is only supported for rank >= 1")
    rows: TensorShape = shape[1:]
    return rows


def converts(value: Any) -> bool:
    """Whether a value is one that elements contain as a Tensor."""
    if isinstance(value, TypeSpec | IndexedSlices):
        return False
    if isinstance(value, list):
        return _spec_of_datasets(value) is None
    return registered_spec(value) is None or isinstance(value, Tensor | np.ndarray)


def spec_of(value: Any) -> TypeSpec:
    """The spec of a value, converted to a Tensor if nothing else.

    Raises:
      TypeError: it cannot be converted.
    """
    if isinstance(value, IndexedSlices):
        raise NotImplementedError(
            f"{value!r} in a dataset's element: IndexedSlices are not supported; "
            "return a SparseTensor or tf.convert_to_tensor(slices)."
        )
    datasets = _spec_of_datasets(value) if isinstance(value, list) else None
    return type_spec_from_value(value) if datasets is None else datasets


@export("data.experimental.TensorStructure")
def tensor_structure(dtype: DTypeLike, shape: ShapeLike | None) -> TensorSpec:
    """The `tf.TensorSpec` of this type and shape, by its older name."""
    return TensorSpec(shape, dtype)


@export("data.experimental.SparseTensorStructure")
def sparse_tensor_structure(
    dtype: DTypeLike, shape: ShapeLike | None
) -> SparseTensorSpec:
    """The `tf.SparseTensorSpec` of this type and shape, by its older name."""
    return SparseTensorSpec(shape, dtype)
