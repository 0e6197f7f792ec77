"""Utilities of the layers: named outputs, static conditions, argument checks.

Source: contrib/layers/python/layers/utils.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tfteach.control.branch import cond
from tfteach.framework import constant_values
from tfteach.framework.dimension import dimension_value
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import add_to_collections, get_collection
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import (
    CollectionNames,
    DTypeLike,
    T,
    TensorLike,
)
from tfteach.variables.base import Variable

_aliases: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()


# slim also exposes TensorFlow's modules, such as slim.initializers; ours -> theirs
_SLIM = {
    "initializers": "initializers",
    "regularizers": "regularizers",
    "optimizers": "optimizers",
    "embedding": "embedding_ops",
    "groups": "normalization",
}


def public(name: str) -> Callable[[T], T]:
    """Decorator: exports to contrib.layers, contrib.slim and one of slim's modules."""

    def note(item: T) -> T:
        ours = item.__module__.rpartition(".")[2]
        names = [f"contrib.layers.{name}", f"contrib.slim.{name}"]
        if ours != "summaries":
            names.append(f"contrib.slim.{_SLIM.get(ours, 'layers')}.{name}")
        return export(*names)(item)

    return note


@export("contrib.slim.utils.collect_named_outputs")
def collect_named_outputs(
    collections: CollectionNames | None, alias: str, outputs: T
) -> T:
    """Add a Tensor to collections, and record an alias for it.

    Returns:
      `outputs` itself.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


@export("contrib.slim.utils.append_tensor_alias")
def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Record an alias of a Tensor; returns the Tensor."""
    _aliases.setdefault(tensor, []).append(alias.removesuffix("/"))
    return tensor


@export("contrib.slim.utils.get_tensor_aliases")
def get_tensor_aliases(tensor: Tensor) -> list[str]:
    """The aliases of a Tensor; its name if it has none."""
    own = tensor.op.name if tensor.name.endswith(":0") else tensor.name
    return _aliases.get(tensor, [own])


@export("contrib.slim.utils.gather_tensors_aliases")
def gather_tensors_aliases(tensors: Sequence[Any]) -> list[str]:
    """The aliases of several Tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


@export("contrib.slim.utils.convert_collection_to_dict")
def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """A collection's Tensors in a dict by their aliases.

    Args:
      collection: its name.
      clear_collection: whether to empty it.
    """
    found = OrderedDict(
        (alias, tensor)
        for tensor in get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        get_default_graph().clear_collection(collection)
    return found


@export("contrib.slim.utils.constant_value")
def constant_value(value_or_tensor_or_var: Any, dtype: DTypeLike | None = None) -> Any:
    """The value of a constant Tensor, None for other Tensors; other values unchanged.

    Raises:
      ValueError: it is None, or its type differs from `dtype`.
    """
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, Tensor | Variable):
        return value
    if dtype is not None and value.dtype != dtype:
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return (
        None if isinstance(value, Variable) else constant_values.constant_value(value)
    )


@export("contrib.slim.utils.static_cond")
def static_cond(
    pred: TensorLike, fn1: Callable[..., Any], fn2: Callable[..., Any]
) -> Any:
    """`fn1()` if `pred` is true, otherwise `fn2()`."""
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


@export("contrib.slim.utils.smart_cond")
def smart_cond(
    pred: TensorLike,
    fn1: Callable[..., Any],
    fn2: Callable[..., Any],
    name: str | None = None,
) -> Any:
    """`tf.cond`, without branches if `pred` is known while the graph is built."""
    known = constant_value(pred)
    if known is not None:
        return static_cond(known, fn1, fn2)
    return cond(pred, fn1, fn2, name=name)


@export("contrib.slim.utils.get_variable_collections")
def get_variable_collections(
    variables_collections: CollectionNames | None, name: str
) -> Any:
    """A variable's collections: a shared list, or its entry in a dict."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def _size(shape: TensorShape, axis: int, min_rank: int) -> int:
    dims = shape.dims
    if dims is None:
        raise ValueError("dims of shape must be known but is None")
    if len(dims) < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {len(dims)}")
    size = dimension_value(dims[axis])
    if size is None:
        raise ValueError(
            f"dimension {axis} of shape must be known but is None: {shape}"
        )
    return size


@export("contrib.slim.utils.channel_dimension")
def channel_dimension(shape: TensorShape, data_format: str, min_rank: int = 1) -> int:
    """The number of channels.

    Raises:
      ValueError: it is unknown, or the rank is below `min_rank`.
    """
    return _size(shape, 1 if data_format == "channels_first" else -1, min_rank)


@export("contrib.slim.utils.last_dimension")
def last_dimension(shape: TensorShape, min_rank: int = 1) -> int:
    """The last size.

    Raises:
      ValueError: it is unknown, or the rank is below `min_rank`.
    """
    return _size(shape, -1, min_rank)


@export("contrib.slim.utils.two_element_tuple")
def two_element_tuple(int_or_tuple: Any) -> tuple[Any, Any]:
    """Two ints, from one or from two.

    Raises:
      ValueError: it is neither.
    """
    if isinstance(int_or_tuple, list | tuple):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    if isinstance(int_or_tuple, TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError(
        "Must be an int, a list with 2 elements or a TensorShape of length 2"
    )


@export("contrib.slim.utils.n_positive_integers")
def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """`n` positive ints, from one or from a sequence of `n`.

    Raises:
      ValueError: there are not `n`, or one is not positive.
    """
    if int(n) < 1 or int(n) != n:
        raise ValueError("n must be a positive integer")
    message = f"Expected sequence of {n} positive integers, but received {value!r}"
    try:
        values = (int(value),) * n
    except (TypeError, ValueError):
        if len(value) != n:
            raise ValueError(message) from None
        try:
            values = tuple(int(x) for x in value)
        except (TypeError, ValueError):
            raise ValueError(message) from None
    for x in values:
        if x < 1:
            raise ValueError(f"expected positive integer, but received {x}")
    return values
