"""Feeds: keys to tensors, values to arrays of the tensor's type and shape.

Source: python/client/session.py (rules and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfteach.engine.session.fetches import expansion_of
from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, string
from tfteach.framework.errors import InternalError, InvalidArgumentError
from tfteach.framework.graph import Graph
from tfteach.framework.nest import flatten
from tfteach.framework.operation import Tensor
from tfteach.framework.variable_cell import Cell
from tfteach.ops.state.session_tensors import TensorHandle

Converter = Callable[[Any], Any]


def flatten_feeds(graph: Graph, feed_dict: Mapping[Any, Any]) -> dict[Tensor, Any]:
    """The fed tensors with their values, composite keys expanded.

    Raises:
      TypeError: a key does not denote a tensor of the graph.
      ValueError: a tensor may not be fed.
    """
    if not isinstance(feed_dict, Mapping):
        raise TypeError(
            "input must be a dictionary: feed_dict maps tensors to values, and is a "
            f"{type(feed_dict).__name__}"
        )
    fed: dict[Tensor, Any] = {}
    for key, value in feed_dict.items():
        expansion = expansion_of(key)
        if expansion is not None and expansion.feed is not None:
            pairs = expansion.feed(key, value)
        elif isinstance(key, tuple):
            pairs = _zip_flat(key, value)
        else:
            pairs = [(key, value)]
        for part, part_value in pairs:
            fed[resolve_feed(graph, part)] = part_value
    return fed


def _zip_flat(key: Any, value: Any) -> list[tuple[Any, Any]]:
    """The parts of a nested key with those of its value, which lists nest, too."""
    keys, values = flatten(key), flatten(value)
    if len(keys) != len(values):
        raise ValueError(
            f"Could not flatten dictionary. Key had {len(keys)} elements, but value "
            f"had {len(values)} elements. Key: {keys}, value: {values}. Feed arrays "
            "instead of lists: each number of a list counts."
        )
    return list(zip(keys, values, strict=True))


def parts(key: Any) -> list[Any]:
    """The tensors that a key of a feed denotes."""
    expansion = expansion_of(key)
    if expansion is None or expansion.feed_keys is None:
        return flatten(key) if isinstance(key, tuple) else [key]
    return expansion.feed_keys(key)


def resolve_feed(graph: Graph, key: Any) -> Tensor:
    """The tensor that a key of a feed dict denotes."""
    try:
        tensor = graph.as_graph_element(key, allow_operation=False)
    except (AttributeError, TypeError, ValueError, KeyError) as error:
        raise TypeError(
            f"Cannot interpret feed_dict key as Tensor: {error.args[0]}"
        ) from None
    if not graph.is_feedable(tensor):  # type: ignore[arg-type]
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return tensor  # type: ignore[return-value]


def converter_for(tensor: Tensor) -> Converter:
    """A function that converts a fed value to an array that fits `tensor`."""
    dtype = tensor.dtype.base_dtype
    numpy_dtype = dtype.numpy_dtype
    shape = tensor.static_shape
    full = shapes.is_full(shape)
    scalar_ok = shape is None or shape == ()
    is_float = dtype.is_floating and numpy_dtype.kind == "f"
    scalar_type = numpy_dtype.type

    def convert(value: Any) -> Any:
        kind = type(value)
        if kind is np.ndarray and value.dtype == numpy_dtype and dtype is not string:
            array = value
        elif kind is float and is_float and scalar_ok:
            return scalar_type(value)
        elif kind is scalar_type and scalar_ok and kind is not np.object_:
            return value
        else:
            array = _to_array(tensor, value)
        actual = array.shape
        if actual != shape and (full or not shapes.compatible(shape, actual)):
            raise ValueError(
                f"Cannot feed value of shape {actual!r} for Tensor {tensor.name!r}, "
                f"which has shape {str(tensor.shape)!r}"
            )
        if array.ndim == 0 and dtype is not string:
            return array[()]
        return array

    return convert


def _to_array(tensor: Tensor, value: Any) -> Any:
    dtype = tensor.dtype.base_dtype
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values "
            "include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. "
            f"For reference, the tensor object was {value!s} which was passed to the "
            f"feed with key {tensor}."
        )
    if isinstance(value, Cell):
        return value
    if isinstance(value, TensorHandle):
        return _of_handle(value, dtype)
    if isinstance(value, int):
        _check_fits(value, dtype)
    if dtype is string:
        return _bytes_array(value)
    fed_to = f"(fed to {tensor.name!r}, which has dtype {dtype.name})"
    try:
        return np.asarray(value, dtype.numpy_dtype)
    except (ValueError, TypeError, OverflowError) as error:
        if any(isinstance(part, Tensor) for part in flatten(value)):
            raise ValueError(
                f"setting an array element with a sequence. {error} {fed_to}"
            ) from None
        raise type(error)(f"{error} {fed_to}") from None


def _of_handle(handle: TensorHandle, dtype: DType) -> Any:
    """The tensor that a session stores under a handle."""
    kept = handle.stored()
    if handle.dtype != dtype:
        raise InvalidArgumentError(
            None,
            None,
            f"Expects arg[0] to be {dtype.name} but {handle.dtype.name} is provided",
        )
    return kept


def _check_fits(value: int, dtype: DType) -> None:
    """Raise for an int that the type cannot represent; TF checks no other values."""
    if not (-(2**63) <= value < 2**64 or dtype is string or dtype.is_floating):
        raise OverflowError(
            f"Python int too large to convert to C long: {value} for {dtype.name}"
        )
    try:
        # Compare as Python numbers: NumPy would round `value` before comparing.
        if dtype is string or dtype.numpy_dtype.type(value).item() == value:
            return
    except OverflowError:
        pass
    raise TypeError(
        f"Type of feed value {value} with type {type(value)} is not compatible with "
        f"Tensor type {dtype.as_numpy_dtype}. Try explicitly setting the type of the "
        "feed tensor to a larger type (e.g. int64)."
    )


def _bytes_array(value: Any) -> Any:
    """Strings as an object array of bytes (text in UTF-8)."""
    boxed = np.asarray(value, object)
    flat = [v.encode() if isinstance(v, str) else v for v in boxed.reshape(-1).tolist()]
    for item in flat:
        if not isinstance(item, bytes):
            raise InternalError(
                None,
                None,
                f"Unsupported object type {type(item).__name__}: a string tensor is "
                f"fed str or bytes, got {item!r}",
            )
    array = np.empty(len(flat), object)
    array[:] = flat
    return array.reshape(boxed.shape)
