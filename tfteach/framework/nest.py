"""Nested structures: lists, tuples, named tuples, dicts and attrs classes.

Dicts are traversed in the order of their sorted keys; their views (`weights.values()`,
a list in Python 2) in the order of the dict.
Source: python/util/nest.py (semantics and messages).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import Any

from tfteach.framework.composite import is_composite, is_rows, spec_of_composite
from tfteach.framework.export import export_value


def is_sequence(seq: Any) -> bool:
    """Whether `seq` is one of the containers to traverse."""
    return is_nested(seq)


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a list, tuple, mapping, view of one or attrs instance."""
    kind = seq.__class__
    return kind is list or kind is tuple or _is_container(kind)


@functools.lru_cache(maxsize=1024)
def _is_container(kind: Any) -> bool:
    """`is_nested` for the instances of a type: asking the abstract ones is slow."""
    return (
        issubclass(kind, Sequence | Mapping | MappingView)
        and not issubclass(kind, str | bytes)
    ) or hasattr(kind, "__attrs_attrs__")


def is_attrs(value: Any) -> bool:
    """Whether `value` is an instance of an attrs class."""
    return hasattr(type(value), "__attrs_attrs__")


def children(structure: Any) -> Iterator[Any]:
    """The items of a container: by sorted keys, by attribute, or in order."""
    if type(structure) is list or type(structure) is tuple:
        return iter(structure)
    return _children(structure)


def _children(structure: Any) -> Iterator[Any]:
    if isinstance(structure, Mapping):
        try:
            keys = sorted(structure)
        except TypeError:
            raise TypeError("nest only supports dicts with sortable keys.") from None
        for key in keys:
            yield structure[key]
    elif is_attrs(structure):
        for attribute in type(structure).__attrs_attrs__:
            yield getattr(structure, attribute.name)
    else:
        yield from structure


def _parts(value: Any) -> list[Any]:
    """The tensors that a value consists of; the specs of a spec's tensors."""
    if not is_rows(value):
        spec = spec_of_composite(value)
        is_spec = spec is value
        return flatten(spec._component_specs if is_spec else spec._to_components(value))
    parts = [value.values, value.indices]
    if type(value).__name__ == "SparseTensor":
        parts.reverse()
    return parts if value.dense_shape is None else [*parts, value.dense_shape]


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure`, in order; `[structure]` if it is a leaf itself.

    Args:
      structure: any nested structure.
      expand_composites: replace IndexedSlices and SparseTensors by their parts.
    """
    found: list[Any] = []
    _flatten_into(structure, expand_composites, found)
    return found


def _flatten_into(structure: Any, expand: bool, found: list[Any]) -> None:
    if is_nested(structure):
        for child in children(structure):
            _flatten_into(child, expand, found)
    elif expand and is_composite(structure):
        found += _parts(structure)
    else:
        found.append(structure)


def rebuild(like: Any, parts: Sequence[Any]) -> Any:
    """A container of the kind of `like` with these children, in their order."""
    if type(like) is list or type(like) is tuple:
        return type(like)(parts)
    if not isinstance(like, Mapping):
        return builder_of(like)(parts)
    kind: Any = type(like)
    by_key = dict(zip(sorted(like), parts, strict=True))
    pairs = [(key, by_key[key]) for key in like]
    if hasattr(like, "default_factory"):
        return kind(like.default_factory, pairs)
    return kind(pairs)


def builder_of(like: Any) -> Callable[[Sequence[Any]], Any]:
    """A function from children to a container of the kind of `like`, not a mapping."""
    kind: Any = type(like)
    if hasattr(like, "_fields") or is_attrs(like):
        return lambda parts: kind(*parts)
    if isinstance(like, MappingView | range):
        return list  # neither can be constructed from its elements
    return kind  # type: ignore[no-any-return]


def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """`flat_sequence` in the structure of `structure`; the inverse of `flatten`.

    Raises:
      ValueError: the numbers of leaves differ.
    """
    flat = list(flat_sequence)
    wanted = len(flatten(structure, expand_composites))
    if not is_nested(structure) and not (expand_composites and is_composite(structure)):
        if len(flat) != 1:
            raise ValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat)} > 1"
            )
        return flat[0]
    if wanted != len(flat):
        raise ValueError(
            "Could not pack sequence. Structure had "
            f"{wanted} elements, but flat_sequence had {len(flat)} elements.  "
            f"Structure: {structure}, flat_sequence: {flat}."
        )
    return _pack(structure, iter(flat), expand_composites)


def _pack(structure: Any, flat: Iterator[Any], expand: bool) -> Any:
    if is_nested(structure):
        packed = [_pack(c, flat, expand) for c in children(structure)]
        return rebuild(structure, packed)
    if expand and is_composite(structure):
        parts = [next(flat) for _ in _parts(structure)]
        if not is_rows(structure):
            spec = spec_of_composite(structure)
            return spec._from_components(pack_sequence_as(spec._component_specs, parts))
        if structure.dense_shape is None:
            parts.append(None)
        return type(structure)(*parts)
    return next(flat)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Check that two structures agree in nesting, lengths and keys.

    Raises:
      ValueError: the structures differ.
      TypeError: under `check_types`, containers are of different types.
    """
    try:
        assert_same(nest1, nest2, check_types, is_nested)
    except (ValueError, TypeError) as error:
        raise type(error)(
            f"{error}\n"
            f"Entire first structure:\n{_dotted(nest1)}\n"
            f"Entire second structure:\n{_dotted(nest2)}"
        ) from None


def assert_same(
    nest1: Any, nest2: Any, check_types: bool, nested: Callable[[Any], bool]
) -> None:
    """`assert_same_structure` of structures whose containers `nested` determines."""
    try:
        _check_same(nest1, nest2, check_types, nested)
    except (ValueError, TypeError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_described(nest1)}\n\n"
            f"Second structure: {_described(nest2)}\n\n"
            f"More specifically: {error}"
        ) from None


def _dotted(structure: Any) -> str:
    """The structure with a dot for every leaf."""
    dots = pack_sequence_as(structure, [_DOT] * len(flatten(structure)))
    return str(dots)


class _Dot:
    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


def _described(structure: Any) -> str:
    return f"type={type(structure).__name__} str={structure}"


def _check_same(
    one: Any, two: Any, check_types: bool, nested: Callable[[Any], bool]
) -> None:
    if nested(one) != nested(two):
        inner, outer = (one, two) if nested(one) else (two, one)
        raise ValueError(
            f'Substructure "{_described(inner)}" is a sequence, '
            f'while substructure "{_described(outer)}" is not'
        )
    if not nested(one):
        return
    if check_types and not _same_type(one, two):
        raise TypeError(
            "The two namedtuples don't have the same sequence type. First structure "
            f"{_described(one)} has type {type(one).__name__}, while second structure "
            f"{_described(two)} has type {type(two).__name__}"
        )
    if check_types and isinstance(one, Mapping) and set(one) != set(two):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure "
            f"has keys {_described(list(one))}, while second structure has keys "
            f"{_described(list(two))}"
        )
    left, right = list(children(one)), list(children(two))
    if len(left) != len(right):
        raise ValueError(
            "The two structures don't have the same number of elements. First "
            f"structure: {_described(one)}. Second structure: {_described(two)}"
        )
    for a, b in zip(left, right, strict=True):
        _check_same(a, b, check_types, nested)


def _same_type(one: Any, two: Any) -> bool:
    """Whether containers count as of one type: lists, mappings, equal named tuples."""
    if type(one) is type(two) or same_named_tuple(one, two):
        return True
    return any(isinstance(one, k) and isinstance(two, k) for k in (list, Mapping))


def same_named_tuple(one: Any, two: Any) -> bool:
    """Whether two named tuples have the same fields and name of their type."""
    return (
        hasattr(one, "_fields")
        and getattr(two, "_fields", None) == one._fields
        and type(one).__name__ == type(two).__name__
    )


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func` applied to the leaves of equal structures, in the same structure.

    Args:
      func: accepts one leaf of each structure.
      *structure: at least one.
      **kwargs: `check_types` (True), `expand_composites` (False).

    Raises:
      ValueError, TypeError: the structures differ; see `assert_same_structure`.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, "
            f"not: `{'`, `'.join(kwargs)}`"
        )
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    leaves = [flatten(s, expand) for s in structure]
    return pack_sequence_as(
        structure[0], [func(*row) for row in zip(*leaves, strict=True)], expand
    )


for _name in (
    "assert_same_structure flatten is_nested map_structure pack_sequence_as"
).split():
    export_value(__name__, **{_name: f"nest.{_name} contrib.framework.nest.{_name}"})
export_value(__name__, is_sequence="contrib.framework.nest.is_sequence")
