"""Constants.  Source: core/ops/array_ops.cc, python/framework/constant_op.py."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tfteach.framework.build import create
from tfteach.framework.convert import register_tensor_conversion_function
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import DType, as_dtype, int32, int64
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.eager_values import eager_value
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel, Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import is_valid_name
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.tensor_util import as_array
from tfteach.framework.type_aliases import (
    ArrayModule,
    DTypeLike,
    Gradient,
    ShapeLike,
    TensorLike,
)

MAX_CONSTANT_BYTES = 1 << 31


class Const(Op, role=Role.CONSTANT):
    """An array that is part of the graph.  Source: core/ops/array_ops.cc, Const."""

    signature = "-> output: dtype"
    value: np.ndarray[Any, Any]
    dtype: DType

    aliases: ClassVar[bool] = True
    _digest: ClassVar[bytes | None] = None
    # Number of elements stored in a GraphDef if the last one is repeated to fill the
    # shape.
    given: ClassVar[int | None] = None
    is_expensive: ClassVar[bool] = False
    holds_value: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def __new__(cls, value: Any, dtype: DType) -> Self:
        # Not interned: comparing two Consts costs as much as comparing their arrays.
        op = object.__new__(cls)
        object.__setattr__(op, "value", value)
        object.__setattr__(op, "dtype", dtype)
        object.__setattr__(op, "_inferred", {})
        object.__setattr__(op, "eager_kernels", {})
        return op

    @property
    def digest(self) -> bytes:
        """A short hash of the array's type, shape and bytes."""
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

    @property
    def constant(self) -> Any:
        return self.value

    def output_dtypes(self, bound: dict[str, Any]) -> list[DType]:
        return [self.dtype]

    def infer_shape(self) -> Shape:
        result: Shape = self.value.shape
        return result

    def compute(self, xp: ArrayModule) -> Any:
        return self.value

    def compute_on_card(self, xp: ArrayModule) -> Any:
        return xp.asarray(self.value)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return []


# ---- public functions


def _node_name(name: Any) -> str:
    """A constant's name, checked less strictly than other nodes' (no scope opens).

    Raises:
      TypeError, AttributeError, ...: it is not a string; Python's own error is raised.
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
    """Add a Const that holds this array, uncopied, to the default graph."""
    if array.nbytes >= MAX_CONSTANT_BYTES and any(array.strides):
        raise ValueError(
            "Cannot create a tensor proto whose content is larger than 2GB. The "
            f"constant {name!r} has {array.nbytes} bytes: feed it, or assign it to a "
            "variable through a placeholder."
        )
    array.flags.writeable = False
    graph = get_default_graph()
    if graph.is_eager:
        is_number = not array.ndim and not array.dtype.hasobject
        return graph.hold(array[()] if is_number else array, dtype)
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
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A constant tensor.

    Args:
      value: a number, string, array or nested list.
      dtype: the element type; taken from `value` if None.
      shape: the result's shape; if `value` is shorter, its last element is repeated
        (in an eager program only if it is a single one).
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
    if get_default_graph().is_eager:
        return _eager_constant(value, dtype, shape, verify_shape)
    dtype = None if dtype is None else as_dtype(dtype).base_dtype
    if shape is None:
        array = as_array(value, dtype)
        return constant_node(array, dtype or as_dtype(array.dtype), name)
    array = _shaped(value, dtype, shape, verify_shape)
    node = constant_node(array, dtype or as_dtype(array.dtype), name)
    given = np.size(value)  # type: ignore[arg-type]  # an array, or made of numbers
    if 1 < given < array.size:
        object.__setattr__(node.op.spec, "given", given)
    return node


def constant_sizes(sizes: Iterable[int]) -> Tensor:
    """Sizes or axes as an int32 constant; in an eager program, one made before.

    Converting them takes longer there than many an op that needs them.
    """
    if get_default_graph().is_eager:
        return _shared(tuple(sizes))
    return constant([*sizes], int32)


def sizes_argument(sizes: Sequence[int]) -> Any:
    """`constant_sizes` as an argument of an op, which a graph's op converts itself."""
    return _shared(tuple(sizes)) if get_default_graph().is_eager else sizes


@functools.lru_cache(maxsize=1024)
def _shared(sizes: tuple[int, ...]) -> EagerTensor:
    return EagerTensor(np.array(sizes, np.int32), int32)


def _eager_constant(
    value: Any, dtype: DTypeLike | None, shape: Any, verify_shape: bool
) -> EagerTensor:
    """A tensor with a value; a single number fills the shape."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, EagerTensor):
        array, found = value.value, value.dtype
        if wanted not in (None, found):
            raise TypeError(f"Expected tensor with type {dtype!r} not {found!r}")
    else:
        array, found = eager_value(value, wanted)
    if shape is not None:
        array = _eagerly_shaped(np.asarray(array), TensorShape(shape), verify_shape)
        array = array if array.ndim or array.dtype.hasobject else array[()]
    return get_default_graph().hold(array, found)


def _shaped(
    value: Any, dtype: DType | None, shape: Any, verify_shape: bool
) -> np.ndarray[Any, Any]:
    """`value` in a shape; its last element is repeated for missing ones."""
    sizes = _sizes_of(shape)
    size = math.prod(sizes)
    if size == 0 and not isinstance(value, np.ndarray | np.generic):
        if value is None:
            raise ValueError("None values not supported.")
        # As in TF, neither the value nor its type matters here.
        return np.empty(sizes, np.float32 if dtype is None else dtype.numpy_dtype)
    array = as_array(value, dtype)
    if verify_shape and array.shape != sizes:
        raise TypeError(f"Expected Tensor's shape: {sizes}, got {array.shape}.")
    if array.size > size:
        raise ValueError(
            f"Too many elements provided. Needed at most {size}, but received "
            f"{array.size}"
        )
    if array.size == size:
        return array.reshape(sizes)
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), sizes)
    flat = array.reshape(-1)
    rest = np.repeat(flat[-1:], size - flat.size)
    return np.concatenate([flat, rest]).reshape(sizes)


def _eagerly_shaped(
    array: np.ndarray[Any, Any], shape: TensorShape, verify_shape: bool
) -> np.ndarray[Any, Any]:
    """An array in a shape of as many elements; only a single one is repeated."""
    sizes: Any = shape.dims_or_none
    if verify_shape and array.shape != sizes:
        found = tuple(TensorShape(array.shape))
        raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {found}.")
    size = math.prod(sizes)
    if array.size == size:
        return array.reshape(sizes)
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), sizes)
    raise TypeError(
        "Eager execution of tf.constant with unsupported shape (value has "
        f"{array.size} elements, shape is {shape} with {size} elements)."
    )


def _sizes_of(shape: Any) -> tuple[int, ...]:
    """A constant's shape: whole numbers; other values are converted by `int`."""
    if isinstance(shape, Tensor):
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({shape.name}) to a numpy array. "
            "A constant's shape is a list of numbers: for this, use tf.fill."
        )
    sizes = []
    for size in shape:
        if isinstance(size, Tensor):
            raise ValueError(
                "setting an array element with a sequence. A constant's shape is a "
                f"list of numbers, got {size}: for this, use tf.fill."
            )
        if isinstance(size, str | bytes):
            raise TypeError(f"cannot perform reduce with flexible type: {size!r}")
        sizes.append(int(size))
    return TensorShape(sizes).dims_or_none  # type: ignore[return-value]


# ---- conversions


def _convert_value(
    value: Any,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    if get_default_graph().is_eager:
        return get_default_graph().hold(*eager_value(value, dtype))
    array = as_array(value, dtype)
    return constant_node(array, dtype or as_dtype(array.dtype), name)


def _convert_shape(
    value: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    sizes = value.value if isinstance(value, Dimension) else value.dims_or_none
    if sizes is None or (isinstance(sizes, tuple) and None in sizes):
        raise ValueError(
            f"Cannot convert a partially known TensorShape to a Tensor: {value}"
        )
    if dtype is not None and dtype not in (int32, int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    largest = max(np.ravel(sizes), default=0)
    is_large = largest > np.iinfo(np.int32).max
    if is_large and dtype is int32:
        raise ValueError(
            "Cannot convert a TensorShape to dtype int32; a dimension is too large "
            f"({largest})"
        )
    kind = as_dtype(dtype or (int64 if is_large else int32))
    return constant_node(
        np.array(sizes, kind.numpy_dtype),
        kind,
        "shape_as_tensor" if name is None else name,
    )


register_tensor_conversion_function(object, _convert_value, 200)
register_tensor_conversion_function(TensorShape, _convert_shape, 100)
register_tensor_conversion_function(Dimension, _convert_shape, 100)
