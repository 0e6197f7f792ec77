"""Constants and placeholders: where values enter a graph."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar, Self

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.attributes import dtype_attribute
from tfteach.framework.build import create
from tfteach.framework.convert import register_tensor_conversion_function
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import DType, as_dtype, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import is_valid_name
from tfteach.framework.shape import Shape, TensorShape, as_shape

MAX_CONSTANT_BYTES = 1 << 31


class Const(Op):
    """An array that is part of the graph.  Source: core/ops/array_ops.cc, Const."""

    signature = "-> output: dtype"
    value: np.ndarray[Any, Any]
    dtype: DType

    aliases: ClassVar[bool] = True
    _digest: ClassVar[bytes | None] = None
    # How many elements the graph's file holds, if the last one fills up the shape.
    given: ClassVar[int | None] = None
    is_expensive: ClassVar[bool] = False

    def __new__(cls, value: Any, dtype: DType) -> Self:
        # Not interned: every Const is as costly to compare as its array.
        op = object.__new__(cls)
        object.__setattr__(op, "value", value)
        object.__setattr__(op, "dtype", dtype)
        object.__setattr__(op, "_inferred", {})
        return op

    @property
    def digest(self) -> bytes:
        """A short name for the array's type, shape and bytes."""
        if self._digest is None:
            value = self.value
            body = (
                repr(value.tolist()).encode()
                if value.dtype.hasobject
                else (np.ascontiguousarray(value).tobytes())
            )
            head = f"{self.dtype.name}{value.shape}".encode()
            digest = hashlib.blake2b(head + body, digest_size=16).digest()
            object.__setattr__(self, "_digest", digest)
        return self._digest  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def output_dtypes(self, bound: dict[str, Any]) -> list[DType]:
        return [self.dtype]

    def infer_shape(self) -> Shape:
        return self.value.shape

    def compute(self, xp: Any) -> Any:
        return self.value if xp is np else xp.asarray(self.value)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return []


class Placeholder(Op):
    """A value that must be fed.  Source: core/ops/array_ops.cc, Placeholder."""

    signature = "-> output: dtype"
    dtype: DType
    shape: Shape = None

    is_foldable: ClassVar[bool] = False

    def infer_shape(self) -> Shape:
        return self.shape

    def compute(self, xp: Any) -> Any:
        # The session feeds placeholders; reaching the kernel means nobody did.  The
        # executor puts the op's name into the message.
        shape = "" if self.shape is None else f" and shape {shapes.text(self.shape)}"
        raise invalid_argument(
            "You must feed a value for placeholder tensor '{name}' with dtype "
            f"{_proto_name(self.dtype)}{shape}"
        )

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return []


class PlaceholderWithDefault(Op):
    """A value that may be fed.  Source: array_ops.cc, PlaceholderWithDefault."""

    signature = "input: dtype -> output: dtype"
    shape: Shape

    aliases: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    is_expensive: ClassVar[bool] = False

    def infer_shape(self, input: Any) -> Shape:
        shapes.merge(input, self.shape)
        return self.shape

    def compute(self, xp: Any, input: Any) -> Any:
        return input

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [grad]


def _proto_name(dtype: DType) -> str:
    """The type's name in kernel messages: "float" for float32, "double" for float64."""
    return {"float32": "float", "float64": "double", "float16": "half"}.get(
        dtype.name, dtype.name
    )


# ---- values to arrays


def as_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """A Python value as the array that TF would make of it.

    Python ints become int32 (int64 when they do not fit), floats float32, strings
    bytes; NumPy values keep their type.

    Raises:
      TypeError: the value does not fit `dtype`, or cannot be an array.
      ValueError: it is None, or a ragged list.
    """
    if value is None:
        raise ValueError("None values not supported.")
    kind = type(value)
    if kind is float and (dtype is None or dtype.is_floating):
        return np.array(value, np.float32 if dtype is None else dtype.numpy_dtype)
    if isinstance(value, np.ndarray | np.generic):
        return _from_numpy(np.asarray(value), dtype)
    if isinstance(value, Dimension | TensorShape):
        return _from_shape(value, dtype)
    if dtype is not None:
        _check_elements(value, dtype)
    if dtype is string or (dtype is None and _is_text(value)):
        return _strings(value)
    try:
        array = np.array(value)
        if array.dtype == object and dtype is not None and dtype.is_integer:
            array = np.array(_plain(value))
    except ValueError:
        raise _ragged(value) from None
    except NotImplementedError:  # from Tensor.__array__
        raise TypeError("List of Tensors when single Tensor expected") from None
    if array.dtype == object or array.dtype.kind in "USMm":
        raise TypeError(
            f"Failed to convert object of type {type(value)} to Tensor. Contents: "
            f"{value!r}. Consider casting elements to a supported type."
        )
    if dtype is not None:
        # What is too large for an integer type wraps around, as in TF.
        return array.astype(dtype.numpy_dtype)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64:
        if array.size == 0:
            return array.astype(np.int32)
        bounds = np.iinfo(np.int32)
        if bounds.min <= array.min() and array.max() <= bounds.max:
            return array.astype(np.int32)
    as_dtype(array.dtype)
    return array


def _from_numpy(array: np.ndarray[Any, Any], dtype: DType | None) -> Any:
    if dtype is None:
        dtype = as_dtype(array.dtype)
    if dtype is string:
        return (
            _strings(array.tolist()) if array.dtype.kind in "US" else (_strings(array))
        )
    if array.dtype.kind in "USO":
        raise TypeError(
            f"Expected {dtype.name}, got an array of {array.dtype} instead."
        )
    # A copy: the graph must not change when the caller's array does.
    return np.array(array, dtype.numpy_dtype, order="C")


def _from_shape(value: Any, dtype: DType | None) -> Any:
    sizes = value.value if isinstance(value, Dimension) else value.dims_or_none
    if sizes is None or (isinstance(sizes, tuple) and None in sizes):
        raise ValueError(
            f"Cannot convert a partially known TensorShape to a Tensor: {value}"
        )
    largest = max(np.ravel(sizes), default=0)
    kind = np.int64 if largest > np.iinfo(np.int32).max else np.int32
    return np.array(sizes, kind if dtype is None else dtype.numpy_dtype)


def _plain(value: Any) -> Any:
    """`[-1, x.shape[1]]` in numbers alone."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    known = isinstance(value, Dimension) and value.value is not None
    return value.value if known else value


def _first_leaf(value: Any) -> Any:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value


def _leaves(value: Any) -> Any:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _is_text(value: Any) -> bool:
    return isinstance(_first_leaf(value), str | bytes)


def _ragged(value: Any) -> Exception:
    first = len(value[0]) if isinstance(value[0], list | tuple) else 0
    return ValueError(
        f"Argument must be a dense tensor: {value!r} - got shape [{len(value)}], but "
        f"wanted [{len(value)}, {first}]."
    )


_ACCEPTED: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("is_bool", (bool, np.bool_)),
    ("is_integer", (int, np.integer)),
    ("is_floating", (int, float, np.integer, np.floating)),
    ("is_complex", (int, float, complex, np.number)),
    ("is_quantized", (int, np.integer)),
)


def _check_elements(value: Any, dtype: DType) -> None:
    """TF's rule: a Python value must be of the wanted kind; nothing is cut silently."""
    if dtype is string:
        accepted: tuple[type, ...] = (str, bytes)
    else:
        accepted = next((t for flag, t in _ACCEPTED if getattr(dtype, flag)), ())
    for leaf in _leaves(value):
        if isinstance(leaf, np.ndarray) or leaf is None:
            continue
        if isinstance(leaf, Dimension) and dtype.is_integer:
            continue
        # A Python bool is an int, in TF as in Python.
        if not isinstance(leaf, accepted):
            kind = (
                "containing Tensors"
                if isinstance(leaf, Tensor)
                else (f"'{type(leaf).__name__}'")
            )
            raise TypeError(
                f"Expected {dtype.name}, got {leaf!r} of type {kind} instead."
            )


def _strings(value: Any) -> np.ndarray[Any, Any]:
    """Strings as an object array of bytes (text in UTF-8)."""
    if isinstance(value, str | bytes):
        leaves, shape = [value], ()
    else:
        boxed = np.array(value, dtype=object)
        leaves, shape = boxed.reshape(-1).tolist(), boxed.shape
    array = np.empty(len(leaves), object)
    for i, leaf in enumerate(leaves):
        if not isinstance(leaf, str | bytes):
            raise TypeError(
                f"Expected string, got {leaf!r} of type '{type(leaf).__name__}' "
                "instead."
            )
        array[i] = leaf.encode() if isinstance(leaf, str) else leaf
    return array.reshape(shape)


# ---- public functions


def _node_name(name: Any) -> str:
    """A constant's name, of which TF asks less than of other nodes' (no scope opens).

    Raises:
      TypeError, AttributeError, ...: it is no string; what else Python says of it.
    """
    if name is None:
        return "Const"
    if name and name[-1] == "/":
        return str(name)
    text = name.lower() and name
    return text.decode() if isinstance(text, bytes) else text


def constant_node(
    array: np.ndarray[Any, Any], dtype: DType, name: str | None
) -> Tensor:
    """Add a Const of this very array to the default graph."""
    if array.nbytes >= MAX_CONSTANT_BYTES and any(array.strides):
        raise ValueError(
            "Cannot create a tensor proto whose content is larger than 2GB. The "
            f"constant {name!r} has {array.nbytes} bytes: feed it, or assign it to a "
            "variable through a placeholder."
        )
    array.flags.writeable = False
    graph = get_default_graph()
    if type(name) is not str:
        name = _node_name(name)
    if name[-1:] == "/" and name != "/":
        unique = name[:-1]
    else:
        prefix = graph.get_name_scope()
        if not is_valid_name(name, prefix != ""):
            raise ValueError(f"'{name}' is not a valid node name")
        graph._check_not_finalized()
        unique = graph.unique(f"{prefix}/{name}" if prefix else name)
    return create(graph, Const(array, dtype), (), unique).outputs[0]


@export("constant")
def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A constant tensor.

    Args:
      value: a number, string, array or nested list.
      dtype: the element type; taken from `value` if None.
      shape: the result's shape; a shorter `value` is filled up with its last element.
      name: the op's name.
      verify_shape: raise unless `value` has exactly `shape`.

    Returns:
      A Tensor of the given type and shape.

    Raises:
      TypeError: `value` does not fit `dtype`, or `shape` under `verify_shape`.
      ValueError: `value` has more elements than `shape`, or is 2 GB or larger.

    Example:
      >>> tf.constant([1.0, 2.0], name="a")
      <tf.Tensor 'a:0' shape=(2,) dtype=float32>

    Source: python/framework/constant_op.py; Const in core/ops/array_ops.cc.
    """
    dtype = None if dtype is None else as_dtype(dtype).base_dtype
    array = as_array(value, dtype)
    given = array.size
    if shape is not None:
        array = _fill_up(array, as_shape(shape), verify_shape)
    node = constant_node(array, dtype or as_dtype(array.dtype), name)
    if 1 < given < array.size:
        object.__setattr__(node.op.spec, "given", given)
    return node


def _fill_up(array: Any, shape: Shape, verify_shape: bool) -> Any:
    if shape is None or None in shape:
        raise ValueError(
            f"constant needs a fully known shape, got {TensorShape(shape)}"
        )
    if verify_shape and array.shape != shape:
        raise TypeError(f"Expected Tensor's shape: {shape}, got {array.shape}.")
    size = shapes.size_of(shape) or 0
    if size == 0:  # whatever the value is
        return np.empty(shape, array.dtype)
    if array.size > size:
        raise ValueError(
            f"Too many elements provided. Needed at most {size}, but received "
            f"{array.size}"
        )
    if array.size == size:
        return array.reshape(shape)
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), shape)  # type: ignore[arg-type]
    flat = array.reshape(-1)
    rest = np.repeat(flat[-1:], size - flat.size)
    return np.concatenate([flat, rest]).reshape(shape)


@export("placeholder")
def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value every run must feed.

    Args:
      dtype: the element type.
      shape: what is known of the shape; None accepts any.
      name: the op's name.

    Returns:
      A Tensor to use as a key of `feed_dict`.

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 784], name="x")

    Source: Placeholder in core/ops/array_ops.cc.
    """
    kind = Placeholder(dtype_attribute("dtype", dtype), _placeholder_shape(shape))
    return kind(name=name)


def _placeholder_shape(shape: Any) -> Shape:
    try:
        return as_shape(shape)
    except ValueError as error:
        raise ValueError(f"Error converting shape to a TensorShape: {error}.") from None


@export("placeholder_with_default")
def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor that is `input` unless it is fed.

    Args:
      input: the default value, a Tensor or what converts to one.
      shape: what is known of the shape; must be compatible with `input`'s.
      name: the op's name.

    Returns:
      A Tensor of `input`'s type.

    Source: PlaceholderWithDefault in core/ops/array_ops.cc.
    """
    return PlaceholderWithDefault(as_shape(shape))(input, name=name)


# ---- conversions


def _convert_value(
    value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    array = as_array(value, dtype)
    return constant_node(array, dtype or as_dtype(array.dtype), name)


def _convert_shape(
    value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    if dtype is not None and not dtype.is_integer:
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype!r}")
    array = _from_shape(value, dtype)
    return constant_node(
        array, as_dtype(array.dtype), "shape_as_tensor" if name is None else name
    )


register_tensor_conversion_function(object, _convert_value, 200)
register_tensor_conversion_function(TensorShape, _convert_shape, 100)
register_tensor_conversion_function(Dimension, _convert_shape, 100)
