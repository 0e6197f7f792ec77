"""Nested structures of elements: tuples, named tuples, dicts, attrs classes.

Unlike in `tf.nest`, a list is a value to be converted to a Tensor.
Source: python/data/util/{nest,structure}.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.lib.data.element_specs import (
    SparseTensorSpec,
    TensorSpec,
    TypeSpec,
    spec_of,
)
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorValue


def is_nested(value: Any) -> bool:
    """Whether a value is a structure."""
    if isinstance(value, SparseTensorValue):
        return False
    return isinstance(value, tuple | Mapping) or nest.is_attrs(value)


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, by sorted keys."""
    if not is_nested(structure):
        return [structure]
    return [leaf for child in nest.children(structure) for leaf in flatten(child)]


def pack(structure: Any, leaves: Sequence[Any]) -> Any:
    """Leaves in the structure of another one."""
    rest = iter(leaves)
    return _pack(structure, rest)


def _pack(structure: Any, rest: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(rest)
    return nest.rebuild(structure, [_pack(c, rest) for c in nest.children(structure)])


def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """The structure of a function's results for the leaves."""
    return pack(structure, [function(leaf) for leaf in flatten(structure)])


def require_same(one: Any, two: Any) -> None:
    """Raise TypeError or ValueError if two structures differ."""
    nest.assert_same_structure(_dots(one), _dots(two))


def same(one: Any, two: Any) -> bool:
    """Whether two structures are alike."""
    try:
        require_same(one, two)
    except (TypeError, ValueError):
        return False
    return True


def _dots(structure: Any) -> Any:
    return pack(structure, ["."] * len(flatten(structure)))


def leaves_up_to(shallow: Any, structure: Any) -> list[Any]:
    """The parts of a structure at the positions of another one's leaves.

    Raises:
      TypeError, ValueError: it is not as deep.
    """
    if not is_nested(shallow):
        return [structure]
    if not is_nested(structure) and not isinstance(structure, list):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input "
            f"has type: {type(structure)}."
        )
    ours, its = list(nest.children(shallow)), list(nest.children(structure))
    if len(ours) != len(its):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure "
            f"has length {len(its)}, while shallow structure has length {len(ours)}."
        )
    pairs = zip(ours, its, strict=True)
    return [leaf for a, b in pairs for leaf in leaves_up_to(a, b)]


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
