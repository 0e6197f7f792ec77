"""`tf.TypeSpec`: the types of values that consist of tensors.

A spec states how a value is flattened to tensors, such as the components of a dataset's
element, and how it is made of them again.
Source: python/framework/type_spec.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike


@export("TypeSpec", "data.experimental.Structure")
class TypeSpec:
    """The type of a value that consists of tensors; see its subclasses.

    A subclass for values of another class defines `value_type`, `_serialize` (the
    arguments of its constructor), `_component_specs` (a nested structure of specs),
    `_to_components` (a value as such a structure) and `_from_components` (the value).
    `register_type_spec_from_value_converter` makes it known.

    Source: python/framework/type_spec.py.
    """

    @property
    def value_type(self) -> type:
        """The Python type of values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    # ---- components

    def _serialize(self) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Self:
        return cls(*serialization)

    @property
    def _component_specs(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._component_specs")

    def _to_components(self, value: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_components")

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._from_components")

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        """The `tf.TensorSpec`s of the tensors that a value is flattened to."""
        return [
            leaf
            for spec in nest.flatten(self._component_specs)
            for leaf in spec._flat_tensor_specs
        ]

    @property
    def flat_types(self) -> tuple[DType, ...]:
        """The types of the tensors that a value is flattened to."""
        return tuple(spec.dtype for spec in self._flat_tensor_specs)

    @property
    def flat_shapes(self) -> tuple[TensorShape, ...]:
        """The static shapes of the tensors that a value is flattened to."""
        return tuple(spec.shape for spec in self._flat_tensor_specs)

    # ---- values as lists of tensors

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        specs = nest.flatten(self._component_specs)
        components = nest.flatten(self._to_components(value))
        pairs = zip(specs, components, strict=True)
        return [tensor for spec, part in pairs for tensor in spec._to_tensor_list(part)]

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        """A batch of values as tensors whose rows are the values'."""
        return self._to_tensor_list(value)

    def _from_tensor_list(self, tensor_list: list[Tensor]) -> Any:
        """The value of tensors.

        Raises:
          ValueError: their number, types or shapes are not those of the spec.
        """
        specs = self._flat_tensor_specs
        if len(specs) != len(tensor_list):
            raise ValueError("Incompatible input: wrong number of tensors")
        for i, (spec, tensor) in enumerate(zip(specs, tensor_list, strict=True)):
            if not spec.is_compatible_with(tensor):
                raise ValueError(
                    f"Incompatible input: tensor {i} ({tensor}) is incompatible with "
                    f"{spec}"
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: list[Tensor]) -> Any:
        specs = self._component_specs
        rest = iter(tensor_list)
        found = [
            spec._from_compatible_tensor_list([next(rest) for _ in spec.flat_types])
            for spec in nest.flatten(specs)
        ]
        return self._from_components(nest.pack_sequence_as(specs, found))

    def _batch(self, batch_size: int | None) -> TypeSpec:
        raise NotImplementedError(
            f"{self!r}: values of this type cannot be batched, as "
            f"{type(self).__name__} has no _batch."
        )

    def _unbatch(self) -> TypeSpec:
        raise NotImplementedError(
            f"{self!r}: values of this type have no rows, as {type(self).__name__} has "
            "no _unbatch."
        )

    # ---- the nested structures that `Dataset.output_types`, ... have

    def _to_legacy_output_types(self) -> Any:
        return self

    def _to_legacy_output_shapes(self) -> Any:
        return self

    def _to_legacy_output_classes(self) -> Any:
        return self

    # ---- comparison

    def is_compatible_with(self, spec_or_value: TypeSpec | TensorLike) -> bool:
        """Whether a value, or the values of a spec, may have this spec."""
        other: Any = spec_or_value
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return type(self) is type(other) and _are_compatible(
            self._serialize(), other._serialize()
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The spec of the values of either.

        Raises:
          ValueError: there is none.
        """
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_merged(self._serialize(), other._serialize()))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return bool(_key(self._serialize()) == _key(other._serialize()))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_key((type(self), *self._serialize())))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._deserialize, (self._serialize(),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


class BatchableTypeSpec(TypeSpec):
    """A spec whose values can be stacked, and divided into rows."""


def _key(part: Any) -> Any:
    """A part of a serialization as a value that can be compared and hashed."""
    if isinstance(part, TensorShape):
        return None if part.dims is None else tuple(part.as_list())
    if isinstance(part, np.ndarray):
        return part.shape, _key(part.tolist())
    if isinstance(part, list | tuple):
        return tuple(_key(item) for item in part)
    if isinstance(part, Mapping):
        return tuple((key, _key(part[key])) for key in sorted(part))
    return part


def _are_compatible(one: Any, two: Any) -> bool:
    if type(one) is not type(two):
        return False
    if isinstance(one, list | tuple):
        pairs = zip(one, two, strict=False)
        return len(one) == len(two) and all(_are_compatible(a, b) for a, b in pairs)
    if isinstance(one, Mapping):
        return one.keys() == two.keys() and all(
            _are_compatible(one[key], two[key]) for key in one
        )
    if isinstance(one, TypeSpec | TensorShape | DType):
        return bool(one.is_compatible_with(two))
    return bool(_key(one) == _key(two))


def _merged(one: Any, two: Any) -> Any:
    if type(one) is not type(two):
        raise ValueError(f"Types are not compatible: {one!r} vs {two!r}")
    if isinstance(one, list | tuple):
        if len(one) != len(two):
            raise ValueError(f"Types are not compatible: {one!r} vs {two!r}")
        parts = [_merged(a, b) for a, b in zip(one, two, strict=True)]
        return nest.rebuild(one, parts)
    if isinstance(one, Mapping):
        if one.keys() != two.keys():
            raise ValueError(f"Types are not compatible: {one!r} vs {two!r}")
        return nest.rebuild(one, [_merged(one[key], two[key]) for key in sorted(one)])
    if isinstance(one, TensorShape):
        return one.most_specific_compatible_shape(two)
    if isinstance(one, TypeSpec):
        return one.most_specific_compatible_type(two)
    if _key(one) != _key(two):
        raise ValueError(f"Types are not compatible: {one!r} vs {two!r}")
    return one


# ---- specs of values

# A class of values, the function that specifies one, whether also for subclasses.
_CONVERTERS: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type,
    converter_fn: Callable[[Any], TypeSpec],
    allow_subclass: bool = False,
) -> None:
    """State how to specify the values of a class.

    Args:
      type_object: the class.
      converter_fn: returns the `tf.TypeSpec` of a value.
      allow_subclass: whether it applies to the values of subclasses, too.
    """
    _CONVERTERS.append((type_object, converter_fn, allow_subclass))


def registered_spec(value: Any) -> TypeSpec | None:
    """The spec of a value of a registered class; None for others, such as arrays."""
    for kind, converter, allow_subclass in _CONVERTERS:
        if type(value) is kind or (allow_subclass and isinstance(value, kind)):
            return converter(value)
    return None


def type_spec_from_value(element: Any, use_fallback: bool = True) -> TypeSpec:
    """The spec of a value: that of its class, or of the Tensor that it converts to.

    Args:
      element: the value.
      use_fallback: whether to convert a value of another class to a Tensor.

    Raises:
      TypeError: it has none.
    """
    found = registered_spec(element)
    if found is None and use_fallback and not isinstance(element, TypeSpec):
        with contextlib.suppress(ValueError, TypeError):
            found = registered_spec(convert(element))
    if found is None:
        raise TypeError(
            f"Could not build a TypeSpec for {element!r} with type "
            f"{type(element).__name__}"
        )
    return found
