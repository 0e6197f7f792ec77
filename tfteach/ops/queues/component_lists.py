"""Types, shapes and names of a queue's components, as programs write them.

Source: python/ops/data_flow_ops.py (messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, c_name
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.type_aliases import DTypeLike


def as_type_list(dtypes: DTypeLike | Sequence[DTypeLike]) -> list[DType]:
    """The types of the components, of which one may be given bare."""
    if isinstance(dtypes, list | tuple):
        return [as_dtype(dtype) for dtype in dtypes]
    return [as_dtype(dtypes)]


def as_shape_list(
    sizes: Any,
    dtypes: Sequence[DType],
    unknown_dim_allowed: bool = False,
    unknown_rank_allowed: bool = False,
) -> list[TensorShape]:
    """The shapes of the components, of which one may be given bare.

    Raises:
      ValueError: a shape is partly unknown where that is not allowed, or there are not
        as many shapes as types.
    """
    if sizes is None and not unknown_dim_allowed:
        return []
    if unknown_dim_allowed and (
        not isinstance(sizes, list | tuple)
        or not sizes
        or any(size is None or isinstance(size, int) for size in sizes)
    ):
        raise ValueError(
            "When providing partial shapes, a list of shapes must be provided."
        )
    if isinstance(sizes, TensorShape):
        sizes = [sizes]
    if not isinstance(sizes, list | tuple):
        raise TypeError(
            "shapes must be a TensorShape or a list or tuple of TensorShapes."
        )
    if all(size is None or isinstance(size, int) for size in sizes):
        sizes = [sizes]  # one shape
    found = [TensorShape(size) for size in sizes]
    if not unknown_dim_allowed and any(not size.is_fully_defined() for size in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    if not unknown_rank_allowed and any(size.dims is None for size in found):
        raise ValueError(f"All shapes must have a defined rank: {found}")
    return found


def as_name_list(
    names: str | Sequence[str] | None, dtypes: Sequence[DType]
) -> list[str] | None:
    """The names of the components, of which one may be given bare."""
    if names is None:
        return None
    found = list(names) if isinstance(names, list | tuple) else [names]
    if len(found) != len(dtypes):
        raise ValueError(
            "List of names must have the same length as the list of dtypes"
        )
    return found  # type: ignore[return-value]


def as_shapes_attribute(sizes: Sequence[TensorShape]) -> tuple[Shape, ...]:
    """The shapes as the `shapes` attribute of a queue's op."""
    return tuple(None if s.dims is None else tuple(s.as_list()) for s in sizes)


# ---- what an op requests of a queue or barrier that another op has made

# The types and the shapes of the components.
Components: TypeAlias = tuple[Sequence[DType], Sequence[Shape]]


def check_components(shared: str, found: Components, requested: Components) -> None:
    """Raise InvalidArgumentError where an op requests other components.

    Args:
      shared: such as "queue 'name'".
      found: those that it has.
      requested: those of the op.
    """
    types, requested_types = (tuple(types) for types, _ in (found, requested))
    if types != requested_types:
        has, wanted = (", ".join(map(c_name, o)) for o in (types, requested_types))
        raise shared_differs(shared, "component types", has, wanted, "were")
    sizes, requested_sizes = (tuple(sizes) for _, sizes in (found, requested))
    if sizes != requested_sizes:
        has, wanted = (
            f"[{', '.join(map(shapes.text, o))}]" for o in (sizes, requested_sizes)
        )
        raise shared_differs(shared, "component shapes", has, wanted, "were")


def shared_differs(
    shared: str, what: str, found: Any, wanted: Any, was: str
) -> OpError:
    """The error for an op that requests something else than the shared object has."""
    return invalid_argument(
        f"Shared {shared} has {what} {found} but requested {what} {was} {wanted}"
    )
