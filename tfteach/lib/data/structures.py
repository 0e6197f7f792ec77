"""Elements of datasets as tensors, and the structures of their specs.

Source: python/data/util/structure.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.control.tensor_array import TensorArray
from tfteach.control.tensor_array_spec import TensorArraySpec
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_spec import TypeSpec
from tfteach.lib.data import nest
from tfteach.lib.data.element_specs import converts, spec_of
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorValue
from tfteach.ops.sparse.sparse_tensor_spec import SparseTensorSpec

# The names under which datasets use them.
is_nested = nest.is_sequence
flatten = nest.flatten
pack = nest.pack_sequence_as
mapped = nest.map_structure
require_same = nest.assert_same_structure
same = nest.same
leaves_up_to = nest.flatten_up_to


def normalized(element: Any) -> Any:
    """An element whose leaves are tensors or values that specs describe."""
    found: list[Any] = []
    with name_scope("normalize_element"):
        for i, leaf in enumerate(flatten(element)):
            if isinstance(leaf, SparseTensorValue):
                found.append(SparseTensor.from_value(leaf))
            elif converts(leaf):
                found.append(convert(leaf, name=f"component_{i}"))
            else:
                found.append(leaf)
    return pack(element, found)


def specs_of(element: Any) -> Any:
    """The structure of the specs of an element's leaves."""
    return mapped(spec_of, element)


def flat_types(specs: Any) -> tuple[Any, ...]:
    """The element types of the components."""
    return tuple(t for spec in flatten(specs) for t in spec.flat_types)


def flat_shapes(specs: Any) -> tuple[Any, ...]:
    """The static shapes of the components."""
    return tuple(s for spec in flatten(specs) for s in spec.flat_shapes)


def get_flat_tensor_specs(element_spec: Any) -> list[TensorSpec]:
    """The list of the specs of the components."""
    flat = flatten(element_spec)
    return [component for spec in flat for component in spec._flat_tensor_specs]


def get_flat_tensor_types(element_spec: Any) -> list[Any]:
    """The list of the element types of the components."""
    return list(flat_types(element_spec))


def get_flat_tensor_shapes(element_spec: Any) -> list[Any]:
    """The list of the static shapes of the components."""
    return list(flat_shapes(element_spec))


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Whether structures of specs are alike, with specs of compatible values."""
    if not same(spec1, spec2):
        return False
    pairs = zip(flatten(spec1), flatten(spec2), strict=True)
    return all(one.is_compatible_with(two) for one, two in pairs)


def to_tensors(specs: Any, element: Any) -> list[Tensor]:
    """An element as tensors."""
    require_same(specs, element)
    pairs = zip(flatten(specs), flatten(element), strict=True)
    return [tensor for spec, leaf in pairs for tensor in spec._to_tensor_list(leaf)]


def to_batched_tensors(specs: Any, element: Any) -> list[Tensor]:
    """A batch of elements as tensors whose rows are the elements'."""
    found: list[Tensor] = []
    for spec, leaf in zip(flatten(specs), flatten(element), strict=True):
        found += spec._to_batched_tensor_list(leaf)
    return found


def from_tensor_list(element_spec: Any, tensor_list: Sequence[Tensor]) -> Any:
    """The element of tensors.

    Raises:
      ValueError: their number, types or shapes are not those of the specs.
    """
    return _decoded(element_spec, tensor_list, checks=True)


def from_tensors(specs: Any, tensors: Sequence[Tensor]) -> Any:
    """The element of tensors of the specs' types and compatible shapes."""
    return _decoded(specs, tensors, checks=False)


def _decoded(specs: Any, tensors: Sequence[Tensor], checks: bool) -> Any:
    flat: list[TypeSpec] = flatten(specs)
    needed = sum(len(spec.flat_types) for spec in flat)
    if needed != len(tensors):
        raise ValueError(f"Expected {needed} tensors but got {len(tensors)}.")
    rest = iter(tensors)
    leaves = []
    for spec in flat:
        own = [next(rest) for _ in spec.flat_types]
        decode = spec._from_tensor_list if checks else spec._from_compatible_tensor_list
        leaves.append(decode(own))
    return pack(specs, leaves)


def legacy_types(specs: Any) -> Any:
    """The structure of element types."""
    return mapped(lambda spec: spec._to_legacy_output_types(), specs)


def legacy_shapes(specs: Any) -> Any:
    """The structure of static shapes."""
    return mapped(lambda spec: spec._to_legacy_output_shapes(), specs)


def legacy_classes(specs: Any) -> Any:
    """The structure of classes, such as `tf.Tensor`."""
    return mapped(lambda spec: spec._to_legacy_output_classes(), specs)


def from_legacy(types: Any, shapes: Any = None, classes: Any = None) -> Any:
    """The structure of specs, from those of types, shapes and classes.

    Raises:
      TypeError: the structures differ.
    """
    types = mapped(lambda t: t if isinstance(t, TypeSpec) else as_dtype(t), types)
    flat = flatten(types)
    sizes = [None] * len(flat) if shapes is None else leaves_up_to(types, shapes)
    kinds = [Tensor] * len(flat) if classes is None else flatten(classes)
    return pack(types, [_spec(*row) for row in zip(flat, sizes, kinds, strict=True)])


def _spec(dtype: Any, shape: Any, kind: Any) -> TypeSpec:
    if isinstance(kind, TypeSpec):
        return kind
    if issubclass(kind, SparseTensor):
        return SparseTensorSpec(shape, dtype)
    if issubclass(kind, Tensor):
        return TensorSpec(shape if shape is None else TensorShape(shape), dtype)
    if issubclass(kind, TensorArray):
        return TensorArraySpec.from_legacy(TensorShape(shape), dtype)
    raise TypeError(f"Could not build a structure for output class {kind!r}")


def merged(one: Any, two: Any) -> Any:
    """The structure of specs of elements of either structure."""
    pairs = zip(flatten(one), flatten(two), strict=True)
    return pack(one, [a.most_specific_compatible_type(b) for a, b in pairs])
