"""The keys of traces: two calls with equal arguments share one.

Tensors are equal by type and shape, Python values as Python compares them (so 1, 1.0
and True are equal), objects by identity unless they define equality.
Source: TFE_Py_EncodeArg in python/eager/pywrap_tfe_src.cc (what is distinguished).
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.composite import spec_of_composite
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec

# Types of values that stand for themselves: neither nested nor weakly referenced.
PLAIN = frozenset((int, float, bool, complex, str, bytes, type(None)))


def context_key() -> Hashable:
    """What else a trace depends on: the graph outside of all functions, colocations."""
    graph = get_default_graph()
    if graph.is_eager:
        return None
    outer, colocation = outermost(graph), graph.scopes.state.colocation
    return (outer, colocation) if outer is not None or colocation else None


def outermost(graph: Graph) -> Graph | None:
    """The graph around all functions; None where ops run eagerly."""
    outer: Any = graph
    while outer.building_function:
        outer = outer.outer_graph
    return None if outer.is_eager else outer


def argument_key(args: Any, kwargs: Mapping[str, Any]) -> Hashable:
    """The key of a call's arguments.

    Raises:
      TypeError: one is not hashable.
    """
    key = encoded((args, kwargs) if kwargs else args)
    try:
        hash(key)
    except TypeError as error:
        raise TypeError(
            "Arguments supplied to `defun`-generated functions must be hashable.  "
            f"Original error: {error}"
        ) from None
    return key


def encoded(value: Any, ranks_only: bool = False) -> Hashable:
    """The key of one argument, nested as it is.

    Args:
      value: a Tensor, a Python value or a structure.
      ranks_only: whether sizes make no difference.
    """
    kind = type(value)
    if kind is EagerTensor:
        shape: Any = value.static_shape
        return value.dtype, len(shape) if ranks_only else shape
    if kind in PLAIN:
        return value  # type: ignore[no-any-return]
    if isinstance(value, Tensor):
        # TensorFlow, too, traces anew for tensors of graphs, but not for scalars.
        shape = value.static_shape
        if shape == ():
            return value.dtype, 0 if ranks_only else shape
        if ranks_only and shape is not None:
            shape = len(shape)
        return "graph", value.dtype, shape
    spec: Hashable = spec_of_composite(value)
    if spec is not None:
        return spec
    return _of_container_or_object(value, ranks_only)


def _of_container_or_object(value: Any, ranks_only: bool) -> Hashable:
    if isinstance(value, list):
        return "list", tuple([encoded(item, ranks_only) for item in value])
    if isinstance(value, tuple):
        return "tuple", tuple([encoded(item, ranks_only) for item in value])
    if isinstance(value, Mapping):
        keys = sorted(value)
        return "dict", tuple([(k, encoded(value[k], ranks_only)) for k in keys])
    if nest.is_attrs(value):
        items = [encoded(item, ranks_only) for item in nest.children(value)]
        return "attrs", weakref.ref(type(value)), tuple(items)
    if isinstance(value, TensorSpec):
        return value
    try:
        return weakref.ref(value)
    except TypeError:
        return value  # type: ignore[no-any-return]


# ---- relaxed shapes


def relaxed(
    known: Iterable[TensorShape | None], more: Iterable[TensorShape | None]
) -> list[TensorShape | None]:
    """The most specific shapes that both include; None for what is no Tensor."""
    return [_common(a, b) for a, b in zip(known, more, strict=True)]


def _common(one: TensorShape | None, other: TensorShape | None) -> TensorShape | None:
    if one is None or other is None:
        return None
    a, b = one.dims_or_none, other.dims_or_none
    if a is None or b is None or len(a) != len(b):
        return TensorShape(None)
    sizes = zip(a, b, strict=True)
    return TensorShape([x if x == y else None for x, y in sizes])


def covers(
    general: Sequence[TensorShape | None], shapes: Sequence[TensorShape | None]
) -> bool:
    """Whether a trace for `general` shapes can be called with Tensors of `shapes`."""
    return all(map(_covers, general, shapes))


def _covers(general: TensorShape | None, shape: TensorShape | None) -> bool:
    if general is None or shape is None:
        return True
    a, b = general.dims_or_none, shape.dims_or_none
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(
        x is None or x == y for x, y in zip(a, b, strict=True)
    )
