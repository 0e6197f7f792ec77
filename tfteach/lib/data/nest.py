"""Nested structures of elements: tuples, named tuples, dicts, attrs classes.

Unlike in `tf.nest`, a list is a value to be converted to a Tensor.
Source: python/data/util/nest.py (semantics and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.ops.core.sparse_tensor import SparseTensorValue


def is_sequence(structure: Any) -> bool:
    """Whether a value is a structure."""
    if isinstance(structure, SparseTensorValue):
        return False
    return isinstance(structure, tuple | Mapping) or nest.is_attrs(structure)


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, by sorted keys."""
    if not is_sequence(structure):
        return [structure]
    return [leaf for child in nest.children(structure) for leaf in flatten(child)]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """Leaves in the structure of another one.

    Raises:
      TypeError: `flat_sequence` is no sequence.
      ValueError: the numbers of leaves differ.
    """
    if isinstance(flat_sequence, str) or not isinstance(flat_sequence, Sequence):
        raise TypeError("flat_sequence must be a sequence")
    if not is_sequence(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                "Structure is a scalar but len(flat_sequence) == "
                f"{len(flat_sequence)} > 1"
            )
        return flat_sequence[0]
    wanted = len(flatten(structure))
    if wanted != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} elements, but "
            f"flat_sequence had {len(flat_sequence)} elements.  Structure: "
            f"{structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence))


def _pack(structure: Any, rest: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(rest)
    return nest.rebuild(structure, [_pack(c, rest) for c in nest.children(structure)])


def map_structure(
    func: Callable[..., Any], *structure: Any, **check_types_dict: bool
) -> Any:
    """The structure of a function's results for the leaves of equal structures.

    Args:
      func: accepts one leaf of each structure.
      *structure: at least one.
      **check_types_dict: `check_types`, see `assert_same_structure`.

    Raises:
      ValueError, TypeError: the structures differ.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    if check_types_dict.keys() - {"check_types"}:
        raise ValueError("Only valid keyword argument is check_types")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, **check_types_dict)
    rows = zip(*(flatten(s) for s in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*row) for row in rows])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Check that two structures agree in nesting, lengths and keys.

    Raises:
      ValueError: they differ.
      TypeError: under `check_types`, containers are of different types.
    """
    nest.assert_same(nest1, nest2, check_types, is_sequence)


def same(one: Any, two: Any) -> bool:
    """Whether two structures are alike."""
    try:
        assert_same_structure(one, two)
    except (TypeError, ValueError):
        return False
    return True


# ---- structures traversed only as deep as a shallower one


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True
) -> None:
    """Check that a structure is another one whose leaves may be replaced by structures.

    Args:
      shallow_tree: the structure that determines the depth.
      input_tree: the deeper structure.
      check_types: whether containers must be of the same type.

    Raises:
      TypeError: a leaf in place of a container, or a container of another type.
      ValueError: lengths or keys differ.
    """
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input "
            f"has type: {type(input_tree)}."
        )
    if check_types and not isinstance(input_tree, type(shallow_tree)):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has "
            f"type {type(input_tree)}, while shallow structure has type "
            f"{type(shallow_tree)}."
        )
    ours, its = list(nest.children(shallow_tree)), list(nest.children(input_tree))
    if len(ours) != len(its):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure "
            f"has length {len(its)}, while shallow structure has length {len(ours)}."
        )
    is_mapping = check_types and isinstance(shallow_tree, Mapping)
    if is_mapping and set(input_tree) != set(shallow_tree):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys "
            f"{list(input_tree)}, while shallow structure has keys "
            f"{list(shallow_tree)}."
        )
    for one, two in zip(ours, its, strict=True):
        assert_shallow_structure(one, two, check_types)


def flatten_up_to(shallow_tree: Any, input_tree: Any) -> list[Any]:
    """The parts of a structure at the leaves of a shallower one.

    Raises:
      TypeError, ValueError: see `assert_shallow_structure`.
    """
    assert_shallow_structure(shallow_tree, input_tree)
    return list(_parts_up_to(shallow_tree, input_tree))


def _parts_up_to(shallow_tree: Any, input_tree: Any) -> Iterator[Any]:
    if not is_sequence(shallow_tree):
        yield input_tree
        return
    pairs = zip(nest.children(shallow_tree), nest.children(input_tree), strict=True)
    for one, two in pairs:
        yield from _parts_up_to(one, two)


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any
) -> Any:
    """`func` applied to the parts of structures at a shallower one's leaves.

    Returns:
      A structure like `shallow_tree`.

    Raises:
      ValueError: there are no inputs; see also `assert_shallow_structure`.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    rows = zip(*(flatten_up_to(shallow_tree, tree) for tree in inputs), strict=True)
    return pack_sequence_as(shallow_tree, [func(*row) for row in rows])
