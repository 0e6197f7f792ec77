"""`tf.data.experimental.Optional`: an element, or nothing.

Source: python/data/ops/optional_ops.py, data/ops/iterator_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.composite import register_composite
from tfteach.framework.dtypes import variant
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Structure
from tfteach.framework.type_spec import (
    TypeSpec,
    register_type_spec_from_value_converter,
)
from tfteach.lib.data import structures
from tfteach.lib.data.iterator import IteratorBase
from tfteach.ops.data.iterators import IteratorGetNextAsOptional
from tfteach.ops.data.optionals import (
    OptionalFromValue,
    OptionalGetValue,
    OptionalHasValue,
    OptionalNone,
)


@export("data.experimental.Optional", "contrib.data.Optional")
class Optional:
    """A value that may be missing: an element, or nothing at the end of a dataset.

    Unlike `iterator.get_next()`, an optional does not end a run with an error.

    Example:
      >>> iterator = tf.data.Dataset.range(1).make_one_shot_iterator()
      >>> optional = tf.data.experimental.get_next_as_optional(iterator)
      >>> number = tf.cond(optional.has_value(), optional.get_value, lambda: -1)

    Source: python/data/ops/optional_ops.py.
    """

    def __init__(self) -> None:
        raise TypeError(
            "Can't instantiate abstract class Optional with abstract methods "
            "_type_spec, get_value, has_value, value_structure: use "
            "`Optional.from_value`, `Optional.none_from_structure` or "
            "`tf.data.experimental.get_next_as_optional`"
        )

    _variant_tensor: Tensor
    _structure: Any

    @property
    def value_structure(self) -> Structure:
        """The structure of the value, with `tf.TensorSpec` and the like as leaves."""
        return self._structure

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether it has a value, a scalar bool Tensor.

        Args:
          name: the op's name.
        """
        return OptionalHasValue()(self._variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Structure:
        """The value, a nested structure of tensors.

        Args:
          name: the op's name.

        Raises:
          tf.errors.InvalidArgumentError: in a run, it has none.
        """
        specs = self._structure
        op = OptionalGetValue(
            structures.flat_types(specs), structures.flat_shapes(specs)
        )
        tensors = op(self._variant_tensor, name=name)
        return structures.from_tensors(specs, tensors)

    @staticmethod
    def from_value(value: Structure) -> Optional:
        """An optional that has a value.

        Args:
          value: a nested structure of tensors.

        Raises:
          TypeError: a leaf cannot be a tensor.
        """
        with name_scope("optional") as scope:
            with name_scope("value"):
                specs = structures.specs_of(value)
                tensors = structures.to_tensors(specs, value)
            return OptionalImpl(OptionalFromValue()(tensors, name=scope), specs)

    @staticmethod
    def none_from_structure(value_structure: Structure) -> Optional:
        """An optional without a value.

        Args:
          value_structure: the structure of the value that it might have, with
            `tf.TensorSpec` and the like as leaves.
        """
        return OptionalImpl(OptionalNone()(), value_structure)


class OptionalImpl(Optional):
    """An optional of a tensor.

    Args:
      variant_tensor: a scalar Tensor of type variant.
      value_structure: the structure of the value, with `tf.TensorSpec` and the like as
        leaves.
    """

    def __init__(self, variant_tensor: Tensor, value_structure: Structure) -> None:
        self._variant_tensor = variant_tensor
        self._structure = value_structure


@export("OptionalSpec", "data.experimental.OptionalStructure")
class OptionalSpec(TypeSpec):
    """The spec of optionals.

    Args:
      value_structure: the structure of the value, with `tf.TensorSpec` and the like as
        leaves.
    """

    def __init__(self, value_structure: Structure) -> None:
        self._value_structure = value_structure

    @classmethod
    def from_value(cls, value: Optional) -> OptionalSpec:
        """The spec of an optional."""
        return cls(value.value_structure)

    @property
    def value_type(self) -> type:
        return OptionalImpl

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec([], variant)]

    def _to_components(self, value: Any) -> list[Tensor]:
        return [value._variant_tensor]

    def _from_components(self, components: list[Tensor]) -> Optional:
        return OptionalImpl(components[0], self._value_structure)


@export("data.experimental.get_next_as_optional", "contrib.data.get_next_as_optional")
def get_next_as_optional(iterator: IteratorBase) -> Optional:
    """The next element of an iterator, or nothing at the end.

    Args:
      iterator: a `tf.data.Iterator`.

    Returns:
      A `tf.data.experimental.Optional`.

    Example:
      >>> iterator = tf.data.Dataset.range(3).make_one_shot_iterator()
      >>> tf.data.experimental.get_next_as_optional(iterator).has_value()
    """
    specs = iterator.element_spec
    op = IteratorGetNextAsOptional(
        structures.flat_types(specs), structures.flat_shapes(specs)
    )
    return OptionalImpl(op(iterator._iterator_resource), specs)


register_type_spec_from_value_converter(OptionalImpl, OptionalSpec.from_value)
register_composite(OptionalImpl, OptionalSpec.from_value)
