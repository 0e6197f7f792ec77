"""Structures traversed only as deep as a shallower one, and the paths of their leaves.

Source: python/util/nest.py (semantics and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tfteach.framework.export import export_value
from tfteach.framework.nest import (
    children,
    is_attrs,
    is_nested,
    pack_sequence_as,
    same_named_tuple,
)


def _items(structure: Any) -> list[tuple[Any, Any]]:
    """(key, field name or index; child) of a container."""
    keys: Any
    if isinstance(structure, Mapping):
        keys = sorted(structure)
    elif is_attrs(structure):
        keys = [attribute.name for attribute in type(structure).__attrs_attrs__]
    else:
        keys = getattr(structure, "_fields", range(len(structure)))
    return list(zip(keys, children(structure), strict=True))


def _refuse_composites(expand_composites: bool) -> None:
    if expand_composites:
        raise NotImplementedError(
            "expand_composites: shallow structures do not go into IndexedSlices and "
            "SparseTensors."
        )


def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Check that a structure is another one whose leaves may be replaced by structures.

    Args:
      shallow_tree: the structure that determines the depth.
      input_tree: the deeper structure.
      check_types: whether containers must be of the same type.
      expand_composites: must be False.
      check_subtrees_length: whether lengths must be equal; otherwise the deeper
        containers may be longer.

    Raises:
      TypeError: a leaf in place of a container, or a container of another type.
      ValueError: lengths or keys differ.
    """
    _refuse_composites(expand_composites)
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input "
            f"has type: {type(input_tree)}."
        )
    both_mappings = isinstance(shallow_tree, Mapping) and isinstance(
        input_tree, Mapping
    )
    if check_types and not (
        isinstance(input_tree, type(shallow_tree))
        or same_named_tuple(shallow_tree, input_tree)
        or both_mappings
    ):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has "
            f"type {type(input_tree)}, while shallow structure has type "
            f"{type(shallow_tree)}."
        )
    shallow, deep = list(children(shallow_tree)), list(children(input_tree))
    if check_subtrees_length and len(shallow) != len(deep):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure "
            f"has length {len(deep)}, while shallow structure has length "
            f"{len(shallow)}."
        )
    if len(deep) < len(shallow):
        raise ValueError(
            "The input_tree has fewer elements than the shallow_tree. Input structure "
            f"has length {len(deep)}, while shallow structure has length "
            f"{len(shallow)}."
        )
    if isinstance(shallow_tree, Mapping):
        absent = set(shallow_tree) - set(input_tree)
        if absent:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. "
                "The shallow_tree has the following keys that are not in the "
                f"input_tree: {sorted(absent)}."
            )
    found = dict(_items(input_tree))
    for (key, branch), nth in zip(_items(shallow_tree), deep, strict=False):
        assert_shallow_structure(
            branch,
            found.get(key, nth),
            check_types,
            check_subtrees_length=check_subtrees_length,
        )


def _paths_up_to(
    shallow_tree: Any, input_tree: Any, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if not is_nested(shallow_tree):
        yield path, input_tree
        return
    found, nth = dict(_items(input_tree)), list(children(input_tree))
    for i, (key, branch) in enumerate(_items(shallow_tree)):
        child = found[key] if key in found else nth[i]
        yield from _paths_up_to(branch, child, (*path, key))


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[tuple[tuple[Any, ...], Any]]:
    """`flatten_up_to` with paths: the keys, names and indices of each part."""
    assert_shallow_structure(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return list(_paths_up_to(shallow_tree, input_tree))


def flatten_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """The parts of a structure at the leaves of a shallower one.

    Args and Raises: see `assert_shallow_structure`.
    """
    pairs = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [value for _, value in pairs]


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`func` applied to the parts of structures at a shallower one's leaves.

    Args:
      shallow_tree: the shallow structure.
      func: accepts one value of each structure.
      *inputs: at least one structure.
      **kwargs: `check_types`, `expand_composites`, `check_subtrees_length` as in
        `assert_shallow_structure`; the others are passed to `func`.

    Returns:
      A structure like `shallow_tree`.

    Raises:
      ValueError: there are no inputs; see also `assert_shallow_structure`.
    """
    return map_structure_with_tuple_paths_up_to(
        shallow_tree,
        lambda _, *values, **more: func(*values, **more),
        *inputs,
        **kwargs,
    )


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`map_structure_up_to`, with the path as the first argument of `func`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    names = ("check_types", "expand_composites", "check_subtrees_length")
    how = {name: kwargs.pop(name) for name in names if name in kwargs}
    columns = [
        flatten_with_tuple_paths_up_to(shallow_tree, tree, **how) for tree in inputs
    ]
    results = [
        func(row[0][0], *(value for _, value in row), **kwargs)
        for row in zip(*columns, strict=True)
    ]
    return pack_sequence_as(shallow_tree, results)


def map_structure_with_tuple_paths(
    func: Callable[..., Any], *structure: Any, **kwargs: Any
) -> Any:
    """`map_structure`, with the path as the first argument of `func`."""
    return map_structure_with_tuple_paths_up_to(
        structure[0], func, *structure, **kwargs
    )


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """(path, leaf) of all leaves."""
    _refuse_composites(expand_composites)
    return list(_paths_up_to(structure, structure))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """(path as one string, leaf) of all leaves."""
    pairs = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), value) for path, value in pairs]


def yield_flat_paths(
    nest: Any, expand_composites: bool = False
) -> Iterator[tuple[Any, ...]]:
    """The paths of all leaves."""
    _refuse_composites(expand_composites)
    for path, _ in _paths_up_to(nest, nest):
        yield path


for _name in (
    "assert_shallow_structure flatten_up_to flatten_with_joined_string_paths "
    "flatten_with_tuple_paths flatten_with_tuple_paths_up_to map_structure_up_to "
    "map_structure_with_tuple_paths map_structure_with_tuple_paths_up_to "
    "yield_flat_paths"
).split():
    export_value(__name__, **{_name: f"contrib.framework.nest.{_name}"})
