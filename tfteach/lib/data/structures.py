"""Elements of datasets as tensors, and the structures of their specs.

Source: python/data/util/structure.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.lib.data import nest
from tfteach.lib.data.element_specs import (
    SparseTensorSpec,
    TensorSpec,
    TypeSpec,
    spec_of,
)
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorValue

# The names under which datasets use them.
is_nested = nest.is_sequence
flatten = nest.flatten
pack = nest.pack_sequence_as
mapped = nest.map_structure
require_same = nest.assert_same_structure
same = nest.same
leaves_up_to = nest.flatten_up_to


def normalized(element: Any) -> Any:
    """An element whose leaves are tensors, sparse tensors or datasets."""
    found = []
    with name_scope("normalize_element"):
        for i, leaf in enumerate(flatten(element)):
            if isinstance(leaf, SparseTensor) or hasattr(leaf, "_variant_tensor"):
                found.append(leaf)
            elif isinstance(leaf, SparseTensorValue):
                found.append(SparseTensor.from_value(leaf))
            else:
                found.append(convert(leaf, name=f"component_{i}"))
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
    return [tensor for spec, leaf in pairs for tensor in spec.to_tensors(leaf)]


def to_batched_tensors(specs: Any, element: Any) -> list[Tensor]:
    """A batch of elements as tensors whose rows are the elements'."""
    pairs = zip(flatten(specs), flatten(element), strict=True)
    return [tensor for spec, leaf in pairs for tensor in spec.to_batched_tensors(leaf)]


def from_tensors(specs: Any, tensors: Sequence[Tensor]) -> Any:
    """The element of tensors."""
    flat: list[TypeSpec] = flatten(specs)
    needed = sum(len(spec.flat_types) for spec in flat)
    if needed != len(tensors):
        raise ValueError(f"Expected {needed} tensors but got {len(tensors)}.")
    rest = iter(tensors)
    leaves = [spec.from_tensors([next(rest) for _ in spec.flat_types]) for spec in flat]
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
    raise TypeError(f"Could not build a structure for output class {kind!r}")


def merged(one: Any, two: Any) -> Any:
    """The structure of specs of elements of either structure."""
    pairs = zip(flatten(one), flatten(two), strict=True)
    return pack(one, [a.most_specific_compatible_type(b) for a, b in pairs])
