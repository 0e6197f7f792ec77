"""`tf.TensorSpec`: the shape and element type of a Tensor.

Source: python/framework/tensor_spec.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.framework.type_spec import (
    BatchableTypeSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
)


@export("TensorSpec", "contrib.framework.TensorSpec", "contrib.eager.TensorSpec")
class TensorSpec(BatchableTypeSpec):
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
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """The same spec with another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The spec of a Tensor; its name is the op's if `name` is None."""
        return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name of an argument, or None."""
        return self._name

    @property
    def value_type(self) -> type[Tensor]:
        return Tensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def is_compatible_with(self, spec_or_tensor: TypeSpec | TensorLike) -> bool:
        """Whether a Tensor, or those of a spec, may have this spec."""
        return (
            isinstance(spec_or_tensor, TensorSpec | Tensor)
            and self._dtype.is_compatible_with(spec_or_tensor.dtype)
            and self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorSpec:
        """The spec of the Tensors of either, named if both have the same name.

        Raises:
          ValueError: there is none.
        """
        if not isinstance(other, TensorSpec) or self._dtype != other._dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        shape = self._shape.most_specific_compatible_shape(other._shape)
        name = self._name if self._name == other._name else None
        return TensorSpec(shape, self._dtype, name)

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [self]

    @property
    def flat_types(self) -> tuple[DType, ...]:
        return (self._dtype,)

    @property
    def flat_shapes(self) -> tuple[TensorShape, ...]:
        return (self._shape,)

    def _to_components(self, value: Any) -> Tensor:
        try:
            tensor = convert(value, self._dtype)
        except (TypeError, ValueError):
            raise self._not_convertible(value) from None
        if not tensor.shape.is_compatible_with(self._shape):
            raise self._not_convertible(tensor)
        return tensor

    def _not_convertible(self, value: Any) -> ValueError:
        return ValueError(
            f"Value {value!r} is not convertible to a tensor with dtype "
            f"{self._dtype!s} and shape {self._shape}."
        )

    def _from_components(self, components: Tensor) -> Tensor:
        return components

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return [self._to_components(value)]

    def _from_compatible_tensor_list(self, tensor_list: list[Tensor]) -> Tensor:
        tensor_list[0].set_shape(self._shape)
        return tensor_list[0]

    def _batch(self, batch_size: int | None) -> TensorSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return TensorSpec(shape, self._dtype)

    def _unbatch(self) -> TensorSpec:
        return TensorSpec(without_batch(self._shape), self._dtype)

    def _to_legacy_output_types(self) -> DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def _to_legacy_output_classes(self) -> type[Tensor]:
        return Tensor

    def __repr__(self) -> str:
        return (
            f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, "
            f"name={self._name!r})"
        )


Bound: TypeAlias = "float | Sequence[Any] | np.ndarray[Any, Any]"


@export("contrib.framework.BoundedTensorSpec")
class BoundedTensorSpec(TensorSpec):
    """A `tf.TensorSpec` with the least and greatest values of elements.

    Args:
      shape, dtype: see `tf.TensorSpec`.
      minimum, maximum: bounds, inclusive: scalars or arrays that can be broadcast to
        the shape.
      name: the name of an argument, or None.

    Raises:
      ValueError: a bound is missing, or cannot be broadcast.
    """

    def __init__(
        self,
        shape: ShapeLike | None,
        dtype: DTypeLike,
        minimum: Bound | None,
        maximum: Bound | None,
        name: str | None = None,
    ) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(
                f"minimum and maximum must be provided; but saw '{minimum}' and "
                f"'{maximum}'"
            )
        self._minimum = self._bound(minimum, "minimum")
        self._maximum = self._bound(maximum, "maximum")

    def _bound(self, value: Any, name: str) -> np.ndarray[Any, Any]:
        array = np.array(value, self._dtype.as_numpy_dtype)
        its = list(array.shape)
        ours = its if self._shape.ndims is None else self._shape.as_list()
        aligned = zip(reversed(ours), reversed(its), strict=False)
        fits = all(1 in (a, b) or a is None or a == b for a, b in aligned)
        if not fits:
            sizes = "({},)" if len(its) == 1 else "({})"
            one = sizes.format(", ".join(map(str, its)))
            error = ValueError(
                f"Incompatible shapes for broadcasting: {one} and {self._shape}"
            )
            raise ValueError(
                f"{name} is not compatible with shape. Message: {error!r}."
            )
        array.setflags(write=False)
        return array

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> BoundedTensorSpec:
        """The same spec with another name, and by default with its type's limits."""
        low = getattr(spec, "minimum", spec.dtype.min)
        high = getattr(spec, "maximum", spec.dtype.max)
        return cls(spec.shape, spec.dtype, low, high, name or spec.name)

    @property
    def minimum(self) -> np.ndarray[Any, Any]:
        """The least values of elements, read-only."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray[Any, Any]:
        """The greatest values of elements, read-only."""
        return self._maximum

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and TensorSpec.from_spec(self) == TensorSpec.from_spec(other)
            and bool(np.allclose(self._minimum, other._minimum))
            and bool(np.allclose(self._maximum, other._maximum))
        )

    __hash__ = None  # type: ignore[assignment]  # equality tolerates rounding

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, "
            f"name={self._name!r}, minimum={self._minimum!r}, "
            f"maximum={self._maximum!r})"
        )


def without_batch(shape: TensorShape) -> TensorShape:
    """A shape without its first size.

    Raises:
      ValueError: it is a scalar's.
    """
    if shape.ndims == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    rows: TensorShape = shape[1:]
    return rows


register_type_spec_from_value_converter(
    Tensor,
    lambda tensor: TensorSpec(tensor.shape, tensor.dtype.base_dtype),
    allow_subclass=True,
)
register_type_spec_from_value_converter(
    np.ndarray, lambda array: TensorSpec(array.shape, array.dtype)
)
