"""Specifications of values: `tf.TensorSpec`, `tf.SparseTensorSpec`, `DatasetSpec`.

A spec states how a value is flattened to tensors, the components of an element.
Source: python/framework/{tensor_spec,type_spec,sparse_tensor}.py,
python/data/ops/dataset_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, float32, variant
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, Nested, ShapeLike, TensorLike
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.sparse.sparse_serialize import (
    SerializeManySparse,
    SerializeSparse,
    deserialize_sparse,
)

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset

# A Tensor, SparseTensor or dataset, which the spec's class determines.
Value: TypeAlias = "Any"


@export("TypeSpec", "data.experimental.Structure")
class TypeSpec:
    """The type of a value that consists of tensors; see its subclasses."""

    # The types of the tensors that a value is flattened to, and their shapes.
    flat_types: tuple[DType, ...] = ()
    flat_shapes: tuple[TensorShape, ...] = ()

    @property
    def value_type(self) -> type:
        """The Python type of values."""
        raise NotImplementedError

    def _key(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def is_compatible_with(self, spec_or_value: TypeSpec | TensorLike) -> bool:
        """Whether a value, or the values of a spec, may have this spec."""
        other = spec_of(spec_or_value)
        return (
            type(other) is type(self)
            and other.flat_types == self.flat_types
            and all(
                a.is_compatible_with(b)
                for a, b in zip(self.flat_shapes, other.flat_shapes, strict=True)
            )
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The spec of values of either; raises ValueError if there is none."""
        raise NotImplementedError

    def to_tensors(self, value: Value) -> list[Tensor]:
        """A value as tensors."""
        raise NotImplementedError

    def to_batched_tensors(self, value: Value) -> list[Tensor]:
        """A batch of values as tensors whose rows are the values'."""
        return self.to_tensors(value)

    def from_tensors(self, tensors: list[Tensor]) -> Value:
        """The value of tensors."""
        raise NotImplementedError

    def batched(self, size: int | None) -> TypeSpec:
        """The spec of a batch."""
        raise NotImplementedError

    def unbatched(self) -> TypeSpec:
        """The spec of one row."""
        raise NotImplementedError

    # The nested structures that `Dataset.output_types`, ... have.
    def _to_legacy_output_types(self) -> Any:
        return self

    def _to_legacy_output_shapes(self) -> Any:
        return self

    def _to_legacy_output_classes(self) -> Any:
        return self

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _comparable(self._key()) == _comparable(other._key())

    def __hash__(self) -> int:
        return hash((type(self), str(self._key())))


def _comparable(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        (k.dims is None, str(k)) if isinstance(k, TensorShape) else k for k in key
    )


class _ShapedSpec(TypeSpec):
    """A spec with a shape and an element type."""

    def __init__(self, shape: ShapeLike | None, dtype: DTypeLike) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._dtype

    def _key(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    def _to_legacy_output_types(self) -> DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def _to_legacy_output_classes(self) -> Any:
        return self.value_type

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        if type(other) is not type(self) or other._dtype is not self._dtype:
            raise ValueError(
                f"Incompatible types: {self} has no common type with {other}."
            )
        shape = self._shape.most_specific_compatible_shape(other._shape)
        return type(self)(shape, self._dtype)

    def batched(self, size: int | None) -> TypeSpec:
        return type(self)(TensorShape([size]).concatenate(self._shape), self._dtype)

    def unbatched(self) -> TypeSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return type(self)(self._shape[1:], self._dtype)


@export("TensorSpec", "contrib.framework.TensorSpec")
class TensorSpec(_ShapedSpec):
    """The shape and element type of a Tensor.

    Args:
      shape: a static shape, possibly partial.
      dtype: the element type.
      name: the name of an argument, or None.

    Example:
      >>> tf.TensorSpec([None, 3], tf.int32)
      TensorSpec(shape=(?, 3), dtype=tf.int32, name=None)

    Source: python/framework/tensor_spec.py.
    """

    def __init__(
        self,
        shape: ShapeLike | None,
        dtype: DTypeLike = float32,
        name: str | None = None,
    ) -> None:
        super().__init__(shape, dtype)
        self._name = name

    @staticmethod
    def from_spec(spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """The same spec with another name."""
        return TensorSpec(spec.shape, spec.dtype, name or spec.name)

    @staticmethod
    def from_tensor(tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The spec of a Tensor; its name is the op's if `name` is None."""
        return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def name(self) -> str | None:
        """The name of an argument, or None."""
        return self._name

    @property
    def value_type(self) -> type[Tensor]:
        return Tensor

    @property
    def flat_types(self) -> tuple[DType, ...]:  # type: ignore[override]
        return (self._dtype,)

    @property
    def flat_shapes(self) -> tuple[TensorShape, ...]:  # type: ignore[override]
        return (self._shape,)

    def to_tensors(self, value: Value) -> list[Tensor]:
        return [convert(value)]

    def from_tensors(self, tensors: list[Tensor]) -> Tensor:
        tensors[0].set_shape(self._shape)
        return tensors[0]

    def __repr__(self) -> str:
        return (
            f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, "
            f"name={self._name!r})"
        )


@export("SparseTensorSpec")
class SparseTensorSpec(_ShapedSpec):
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
        super().__init__(shape, dtype)

    @property
    def value_type(self) -> type[SparseTensor]:
        return SparseTensor

    @property
    def flat_types(self) -> tuple[DType, ...]:  # type: ignore[override]
        return (variant,)

    @property
    def flat_shapes(self) -> tuple[TensorShape, ...]:  # type: ignore[override]
        return (TensorShape(None),)

    def to_tensors(self, value: Value) -> list[Tensor]:
        return [
            SerializeSparse(variant)(value.indices, value.values, value.dense_shape)
        ]

    def to_batched_tensors(self, value: Value) -> list[Tensor]:
        op = SerializeManySparse(variant)
        return [op(value.indices, value.values, value.dense_shape)]

    def from_tensors(self, tensors: list[Tensor]) -> SparseTensor:
        rank = self._shape.ndims
        return deserialize_sparse(tensors[0], self._dtype, rank)

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"


@export("data.DatasetSpec", "data.experimental.DatasetStructure")
class DatasetSpec(TypeSpec):
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
        self._shape = TensorShape(dataset_shape)

    @property
    def value_type(self) -> type:
        from tfteach.lib.data.dataset import Dataset

        return Dataset

    @property
    def flat_types(self) -> tuple[DType, ...]:  # type: ignore[override]
        return (variant,)

    @property
    def flat_shapes(self) -> tuple[TensorShape, ...]:  # type: ignore[override]
        return (self._shape,)

    def _key(self) -> tuple[Any, ...]:
        return self._element_spec, self._shape

    def to_tensors(self, value: Value) -> list[Tensor]:
        return [value._variant_tensor]

    def from_tensors(self, tensors: list[Tensor]) -> Dataset:
        from tfteach.lib.data.dataset import Dataset

        found = Dataset(tensors[0], self._element_spec)
        found.preserves_count = True
        return found

    def batched(self, size: int | None) -> TypeSpec:
        shape = TensorShape([size]).concatenate(self._shape)
        return DatasetSpec(self._element_spec, shape)

    def unbatched(self) -> TypeSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return DatasetSpec(self._element_spec, self._shape[1:])

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._shape!r})"


# What a value of another module's class is specified by.
_SPECS: list[tuple[type, Callable[[Any], TypeSpec]]] = []


def register_spec(kind: type, spec: Callable[[Any], TypeSpec]) -> None:
    """State how to specify the values of a class."""
    _SPECS.append((kind, spec))


def converts(value: Any) -> bool:
    """Whether a value is one that elements contain as a Tensor."""
    kinds = (TypeSpec, SparseTensor, IndexedSlices, *(kind for kind, _ in _SPECS))
    return not isinstance(value, kinds)


def spec_of(value: Any) -> TypeSpec:
    """The spec of a value, converted to a Tensor if nothing else.

    Raises:
      TypeError: it cannot be converted.
    """
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.get_shape(), value.dtype)
    if isinstance(value, IndexedSlices):
        raise NotImplementedError(
            f"{value!r} in a dataset's element: IndexedSlices are not supported; "
            "return a SparseTensor or tf.convert_to_tensor(slices)."
        )
    for kind, spec in _SPECS:
        if isinstance(value, kind):
            return spec(value)
    try:
        tensor = convert(value)
    except (ValueError, TypeError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)


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
