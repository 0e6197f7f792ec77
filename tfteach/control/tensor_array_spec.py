"""`tf.TensorArraySpec`: the type of a TensorArray's elements.

Source: python/ops/tensor_array_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.tensor_array import TensorArray
from tfteach.control.tensor_array_v2 import TensorListArray
from tfteach.framework.dtypes import DType, as_dtype, float32, variant
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import DTypeLike, ShapeLike
from tfteach.framework.type_spec import (
    TypeSpec,
    register_type_spec_from_value_converter,
)
from tfteach.ops.state.tensor_list_ops import (
    TensorListFromTensor,
    element_shape_input,
)


@export("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The type of a TensorArray, for datasets whose elements contain some.

    There it is a list of tensors, one variant, as with TensorFlow 2's control flow.

    Args:
      element_shape: the elements' static shape, possibly partial.
      dtype: the elements' type.
      dynamic_size: whether writing beyond the end extends it.
      infer_shape: whether all elements have the same shape.

    Source: python/ops/tensor_array_ops.py.
    """

    def __init__(
        self,
        element_shape: ShapeLike | None = None,
        dtype: DTypeLike = float32,
        dynamic_size: bool | None = False,
        infer_shape: bool | None = True,
    ) -> None:
        self._element_shape = TensorShape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @classmethod
    def from_value(cls, value: TensorArray) -> TensorArraySpec:
        """The spec of a TensorArray."""
        return cls(
            value.element_shape, value.dtype, value._dynamic_size, value._infer_shape
        )

    @property
    def value_type(self) -> type[TensorArray]:
        return TensorArray

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        if not self.is_compatible_with(other):
            raise ValueError("Types are not compatible")
        return super().most_specific_compatible_type(other)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec([], variant)]

    def _to_components(self, value: Any) -> list[Tensor]:
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but saw: {type(value)}")
        flow: Tensor = value.flow
        if flow.dtype is variant:
            return [flow]
        with name_scope("convert_tensor_array"):
            shape = element_shape_input(value.element_shape.dims_or_none)
            return [TensorListFromTensor()(value.stack(), shape)]

    def _from_components(self, components: list[Tensor]) -> TensorArray:
        made = TensorListArray(
            self._dtype, flow=components[0], infer_shape=bool(self._infer_shape)
        )
        made._dynamic_size = self._dynamic_size
        made._element_shape = [self._element_shape]
        return made

    def _to_legacy_output_types(self) -> DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        # The two switches, as sizes, then the elements' shape.
        switches = TensorShape([self._dynamic_size, self._infer_shape])
        return switches.concatenate(self._element_shape)

    def _to_legacy_output_classes(self) -> type[TensorArray]:
        return TensorArray

    @classmethod
    def from_legacy(cls, shape: TensorShape, dtype: DTypeLike) -> TensorArraySpec:
        """The spec of a shape of `_to_legacy_output_shapes`."""
        dynamic_size, infer_shape = (size.value for size in shape[:2])
        return cls(shape[2:], dtype, dynamic_size, infer_shape)


register_type_spec_from_value_converter(
    TensorArray, TensorArraySpec.from_value, allow_subclass=True
)
