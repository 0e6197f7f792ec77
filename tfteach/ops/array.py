"""Shapes and values that need no arithmetic: identity, shape, reshape, fill, zeros.

Source: core/ops/array_ops.cc, python/ops/array_ops.py, python/ops/array_grad.py.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export, export_value
from tfteach.framework.op import OPS, Op, StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape, TensorShape
from tfteach.ops.constant import constant
from tfteach.ops.sparse import SparseTensor, SparseTensorValue

INDICES = dtypes_of("int32 int64")

newaxis = None
export_value(__name__, newaxis="newaxis")


def sizes(vector: Any) -> tuple[int, ...]:
    """A run-time vector of sizes as a tuple of ints."""
    return tuple(vector.tolist())


def filler(dtype: np.dtype[Any]) -> Any:
    """TF's zero of a type: the empty string for strings."""
    return b"" if dtype.hasobject else dtype.type(0)


class _Same(Op, abstract=True):
    """The input as it is."""

    aliases: ClassVar[bool] = True

    def infer_shape(self, input: Shape) -> Shape:
        return input

    def compute(self, xp: Any, input: Any) -> Any:
        return input


class Identity(_Same):
    """The input as it is.  Source: array_ops.cc, Identity."""

    signature = "input: T -> output: T"

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [grad]

    def expression(self, input: str) -> str:
        return input


class StopGradient(_Same):
    """The input, through which no gradient flows.  Source: StopGradient."""

    signature = "input: T -> output: T"

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None]


class PreventGradient(_Same):
    """The input, whose gradient is an error.  Source: PreventGradient."""

    signature = "input: T -> output: T"
    message: str = ""

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        raise LookupError(f"Gradient explicitly disabled. Reason: {self.message}")


class GuaranteeConst(StatefulOp):
    """The input, promised never to change.  Source: array_ops.cc, GuaranteeConst."""

    signature = "input: T -> output: T"
    aliases: ClassVar[bool] = True

    def infer_shape(self, input: Shape) -> Shape:
        return input

    def compute(self, ctx: Any, input: Any) -> Any:
        return input


class IdentityN(Op):
    """Several inputs as they are.  Source: array_ops.cc, IdentityN."""

    signature = "input: *T -> output: *T"
    aliases: ClassVar[bool] = True

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return input

    def compute(self, xp: Any, *input: Any) -> Any:
        return input

    def gradient(self, op: Operation, *grads: Any) -> list[Any]:
        return list(grads)


# ---- what is known of a tensor's shape


class Shape_(Op):  # noqa: N801 - the name `Shape` is the type of static shapes
    """The sizes of the input.  Source: array_ops.cc, Shape."""

    op_type: ClassVar[str] = "Shape"
    signature = "input: T -> output: out_type"
    out_type: DType = int32

    def infer_shape(self, input: Shape) -> Shape:
        return (None,) if input is None else (len(input),)

    def compute(self, xp: Any, input: Any) -> Any:
        return np.array(input.shape, self.out_type.numpy_dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None]


class ShapeN(Op):
    """The sizes of several inputs.  Source: array_ops.cc, ShapeN."""

    signature = "input: N*T -> output: N*out_type"
    out_type: DType = int32

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return [(None,) if x is None else (len(x),) for x in input]

    def compute(self, xp: Any, *input: Any) -> Any:
        return tuple(np.array(x.shape, self.out_type.numpy_dtype) for x in input)

    def gradient(self, op: Operation, *grads: Any) -> list[Any]:
        return [None] * len(op.inputs)


class Size(Op):
    """The number of elements.  Source: array_ops.cc, Size."""

    signature = "input: T -> output: out_type"
    out_type: DType = int32

    def infer_shape(self, input: Shape) -> Shape:
        return ()

    def compute(self, xp: Any, input: Any) -> Any:
        return np.array(input.size, self.out_type.numpy_dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None]


class Rank(Op):
    """The number of dimensions.  Source: array_ops.cc, Rank."""

    signature = "input: T -> output: int32"

    def infer_shape(self, input: Shape) -> Shape:
        return ()

    def compute(self, xp: Any, input: Any) -> Any:
        return np.array(input.ndim, np.int32)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None]


def all_axes(tensor: Tensor) -> Tensor:
    """0, 1, ..., rank - 1: what a full reduction reduces over."""
    known = tensor.static_shape
    if known is None:
        return OPS["Range"]()(0, rank(tensor), 1)  # type: ignore[no-any-return]
    return constant(np.arange(len(known), dtype=np.int32))


# ---- the same elements in another shape


def reshape_to_input(op: Operation, grad: Any) -> Tensor:
    """A gradient in the shape of the op's first input."""
    return reshape(grad, shape(op.inputs[0]))


class Reshape(Op):
    """The same elements in another shape.  Source: array_ops.cc, Reshape."""

    signature = "tensor: T, shape: Tshape -> output: T"
    Tshape = INDICES
    Tshape_default = int32
    aliases: ClassVar[bool] = True
    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape",)

    def infer_shape(self, tensor: Shape, shape: Shape) -> Shape:
        elements = shapes.size_of(tensor)
        if shape is None or elements is None or shape.count(None) > 1:
            return shape
        known = functools.reduce(operator.mul, (n for n in shape if n is not None), 1)
        if None not in shape:
            if known != elements:
                raise ValueError(
                    f"Cannot reshape a tensor with {elements} elements to shape "
                    f"{shapes.text(shape)} ({known} elements)"
                )
            return shape
        if known == 0:
            return shape
        if elements % known:
            raise ValueError(
                f"Dimension size must be evenly divisible by {known} but is {elements}"
            )
        return tuple(elements // known if n is None else n for n in shape)

    def compute(self, xp: Any, tensor: Any, shape: Any) -> Any:
        wanted = shape.tolist()
        try:
            return tensor.reshape(wanted)
        except (ValueError, TypeError):
            raise _cannot_reshape(tensor, shape) from None

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [reshape_to_input(op, grad), None]


def _cannot_reshape(tensor: Any, wanted: Any) -> Exception:
    if wanted.ndim != 1:
        return invalid_argument(
            f"shape must be a vector, got shape {list(wanted.shape)}"
        )
    unknown = [i for i, n in enumerate(wanted.tolist()) if n == -1]
    for i, n in enumerate(wanted.tolist()):
        if n < -1:
            return invalid_argument(f"Size {i} must be non-negative, not {n}")
    if len(unknown) > 1:
        return invalid_argument(
            f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}"
        )
    known = int(np.prod(wanted[wanted >= 0]))
    if unknown and not known:
        return invalid_argument(
            "reshape cannot infer the missing input size for an empty tensor unless "
            "all specified input sizes are non-zero"
        )
    what = "requires a multiple of" if unknown else "has"
    return invalid_argument(
        f"Input to reshape is a tensor with {tensor.size} values, but the requested "
        f"shape {what} {known}"
    )


class ExpandDims(Op):
    """One more dimension, of size 1.  Source: array_ops.cc, ExpandDims."""

    signature = "input: T, dim: Tdim -> output: T"
    Tdim = INDICES
    Tdim_default = int32
    aliases: ClassVar[bool] = True
    by_value: ClassVar[tuple[str, ...]] = ("dim",)
    host_inputs: ClassVar[tuple[str, ...]] = ("dim",)

    def infer_shape(self, input: Shape, dim: Any) -> Shape:
        if input is None:
            return None
        if dim is None:
            return (None,) * (len(input) + 1)
        axis, rank = int(np.reshape(dim, ())), len(input)
        if not -rank - 1 <= axis <= rank:
            raise ValueError(f"dim {axis} not in the interval [{-rank - 1}, {rank}].")
        axis %= rank + 1
        return (*input[:axis], 1, *input[axis:])

    def compute(self, xp: Any, input: Any, dim: Any) -> Any:
        axis, rank = int(dim.reshape(())), input.ndim
        if not -rank - 1 <= axis <= rank:
            raise invalid_argument(
                f"Tried to expand dim index {axis} for tensor with {rank} dimensions."
            )
        return xp.expand_dims(input, axis)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [reshape_to_input(op, grad), None]


class Squeeze(Op):
    """Without the dimensions of size 1.  Source: array_ops.cc, Squeeze."""

    signature = "input: T -> output: T"
    squeeze_dims: tuple[int, ...] = ()
    aliases: ClassVar[bool] = True

    def infer_shape(self, input: Shape) -> Shape:
        if input is None:
            return None
        rank = len(input)
        if not self.squeeze_dims:
            if None in input:
                return None  # an unknown size may be 1
            return tuple(n for n in input if n != 1)
        for i, axis in enumerate(self.squeeze_dims):
            if not -rank <= axis < rank:
                raise ValueError(f"squeeze_dims[{i}] not in [{-rank},{rank}).")
            if input[axis] not in (1, None):
                raise ValueError(
                    f"Can not squeeze dim[{axis % rank}], expected a dimension of 1, "
                    f"got {input[axis]}"
                )
        gone = {axis % rank for axis in self.squeeze_dims}
        return tuple(n for i, n in enumerate(input) if i not in gone)

    def compute(self, xp: Any, input: Any) -> Any:
        if not self.squeeze_dims:
            return xp.squeeze(input)
        for axis in self.squeeze_dims:
            if not -input.ndim <= axis < input.ndim:
                raise invalid_argument(
                    f"Tried to squeeze dim index {axis} for tensor with {input.ndim} "
                    "dimensions."
                )
            if input.shape[axis] != 1:
                raise invalid_argument(
                    f"Can not squeeze dim[{axis % input.ndim}], expected a dimension "
                    f"of 1, got {input.shape[axis]}"
                )
        return xp.squeeze(input, tuple({a % input.ndim for a in self.squeeze_dims}))

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [reshape_to_input(op, grad)]


# ---- arrays of one value


class Fill(Op):
    """An array full of one value.  Source: array_ops.cc, Fill."""

    signature = "dims: index_type, value: T -> output: T"
    index_type = INDICES
    index_type_default = int32
    by_shape: ClassVar[tuple[str, ...]] = ("dims",)
    host_inputs: ClassVar[tuple[str, ...]] = ("dims",)

    def infer_shape(self, dims: Shape, value: Shape) -> Shape:
        shapes.with_rank(value, 0)
        return dims

    def compute(self, xp: Any, dims: Any, value: Any) -> Any:
        wanted = sizes(dims)
        if any(n < 0 for n in wanted):
            raise invalid_argument(f"Fill: dims must be non-negative, got {wanted}")
        return xp.full(wanted, value, dtype=value.dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        grad = convert(grad)
        return [None, OPS["Sum"]()(grad, all_axes(grad))]


class ZerosLike(Op):
    """Zeros in the input's shape.  Source: array_ops.cc, ZerosLike."""

    signature = "x: T -> y: T"

    def infer_shape(self, x: Shape) -> Shape:
        return x

    def compute(self, xp: Any, x: Any) -> Any:
        if x.dtype.hasobject:
            return np.full(x.shape, b"", object)
        return xp.zeros(x.shape, x.dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None]


class OnesLike(Op):
    """Ones in the input's shape.  Source: array_ops.cc, OnesLike."""

    signature = "x: T -> y: T"
    T = dtypes_of(
        "bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 int64 "
        "complex64 complex128 bool"
    )

    def infer_shape(self, x: Shape) -> Shape:
        return x

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.ones(x.shape, x.dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None]


# ---- public functions


@export("identity")
def identity(input: Any, name: str | None = None) -> Tensor:
    """The same value as a tensor of its own.

    Args:
      input: a Tensor of any type.
      name: the op's name.

    Returns:
      A Tensor of `input`'s type and shape.

    Source: Identity in core/ops/array_ops.cc.
    """
    return Identity()(input, name=name)  # type: ignore[no-any-return]


@export("identity_n")
def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """Several tensors as they are, all there before any is passed on.

    Args:
      input: a list of Tensors of any types.
      name: the op's name.

    Returns:
      A list of Tensors.

    Source: IdentityN in core/ops/array_ops.cc.
    """
    return IdentityN()(input, name=name)  # type: ignore[no-any-return]


@export("stop_gradient")
def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The input, which `tf.gradients` takes for a constant.

    Args:
      input: a Tensor of any type.
      name: the op's name.

    Returns:
      A Tensor of `input`'s type and shape.

    Example:
      >>> tf.gradients(x * tf.stop_gradient(x), x)  # x, not 2 x

    Source: StopGradient in core/ops/array_ops.cc.
    """
    return StopGradient()(input, name=name)  # type: ignore[no-any-return]


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """The input, whose gradient is an error that says `message`."""
    return PreventGradient(message)(input, name=name)  # type: ignore[no-any-return]


@export("guarantee_const")
def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """The input, with the promise that it never changes.

    Args:
      input: a Tensor of any type.
      name: the op's name.

    Returns:
      A Tensor of `input`'s type and shape.

    Source: GuaranteeConst in core/ops/array_ops.cc.
    """
    return GuaranteeConst()(input, name=name)  # type: ignore[no-any-return]


def _is_sparse(value: Any) -> bool:
    return isinstance(value, SparseTensor | SparseTensorValue)


@export("shape")
def shape(input: Any, name: str | None = None, out_type: Any = int32) -> Tensor:
    """The sizes of a tensor, as a tensor.

    Args:
      input: a Tensor or SparseTensor.
      name: the op's name.
      out_type: int32 or int64.

    Returns:
      A Tensor [rank]; a constant where the static shape is fully known.

    Example:
      >>> tf.shape(tf.zeros([2, 3]))  # [2, 3]

    Source: Shape in core/ops/array_ops.cc.
    """
    return shape_internal(input, name, True, out_type)


def shape_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = int32
) -> Tensor:
    """`shape`, which can also leave the constant to the run."""
    out_type = as_dtype(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        if _is_sparse(input):
            return _cast(input.dense_shape, out_type)
        input = convert(input)
        if optimize and shapes.is_full(input.static_shape):
            return constant(list(input.static_shape), out_type, name=scope)
        return Shape_(out_type)(input, name=scope)  # type: ignore[no-any-return]


def _cast(value: Any, dtype: DType) -> Tensor:
    return OPS["Cast"](DstT=dtype)(value)  # type: ignore[no-any-return]


@export("shape_n")
def shape_n(input: Any, out_type: Any = int32, name: str | None = None) -> list[Tensor]:
    """The sizes of several tensors of one type.

    Args:
      input: a list of Tensors.
      out_type: int32 or int64.
      name: the op's name.

    Returns:
      A list of Tensors [rank].

    Source: ShapeN in core/ops/array_ops.cc.
    """
    return ShapeN(as_dtype(out_type))(input, name=name)  # type: ignore[no-any-return]


@export("size")
def size(input: Any, name: str | None = None, out_type: Any = int32) -> Tensor:
    """The number of elements of a tensor, as a tensor.

    Args:
      input: a Tensor or SparseTensor.
      name: the op's name.
      out_type: int32 or int64.

    Returns:
      A scalar Tensor; a constant where the static shape tells.

    Source: Size in core/ops/array_ops.cc.
    """
    out_type = as_dtype(out_type)
    with name_scope(name, "Size", [input]) as scope:
        if _is_sparse(input):
            return OPS["Prod"]()(_cast(input.dense_shape, out_type), 0, name=scope)  # type: ignore[no-any-return]
        input = convert(input)
        known = input.static_shape
        if shapes.is_full(known):
            return constant(shapes.size_of(known), out_type, name=scope)
        if known is not None and 0 in known:
            return constant(0, out_type, name=scope)
        return Size(out_type)(input, name=scope)  # type: ignore[no-any-return]


@export("rank")
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions of a tensor, as a tensor.

    Args:
      input: a Tensor or SparseTensor.
      name: the op's name.

    Returns:
      A scalar int32 Tensor; a constant where the static rank is known.

    Source: Rank in core/ops/array_ops.cc.
    """
    with name_scope(name, "Rank", [input]) as scope:
        if _is_sparse(input):
            return Size()(input.dense_shape, name=scope)  # type: ignore[no-any-return]
        input = convert(input)
        if input.static_shape is not None:
            return constant(len(input.static_shape), int32, name=scope)
        return Rank()(input, name=scope)  # type: ignore[no-any-return]


@export("reshape", "manip.reshape")
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements, in row-major order, in another shape.

    Args:
      tensor: a Tensor of any type.
      shape: int Tensor [rank]; one size may be -1 and is computed from the others.
      name: the op's name.

    Returns:
      A Tensor of `tensor`'s type.

    Raises:
      ValueError: the static shapes have different numbers of elements.
      InvalidArgumentError: so have the run-time shapes.

    Example:
      >>> tf.reshape(tf.zeros([2, 6]), [-1, 4]).shape
      TensorShape([Dimension(3), Dimension(4)])

    Source: Reshape in core/ops/array_ops.cc.
    """
    return Reshape()(tensor, shape, name=name)  # type: ignore[no-any-return]


@export("expand_dims")
def expand_dims(
    input: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """One more dimension, of size 1.

    Args:
      input: a Tensor of any type.
      axis: where the new dimension comes, from -rank - 1 to rank.
      name: the op's name.
      dim: deprecated name of `axis`.

    Returns:
      A Tensor of `input`'s type with one dimension more.

    Raises:
      ValueError: no axis is given, or it is out of range.

    Source: ExpandDims in core/ops/array_ops.cc.
    """
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return ExpandDims()(input, axis, name=name)  # type: ignore[no-any-return]


def either(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    """The value of an argument that also has a deprecated name.

    Raises:
      ValueError: both are given.
    """
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old


@export("squeeze")
def squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """Without the dimensions of size 1.

    Args:
      input: a Tensor of any type.
      axis: an int or list of ints, the dimensions to remove; all of size 1 if None.
      name: the op's name.
      squeeze_dims: deprecated name of `axis`.

    Returns:
      A Tensor of `input`'s type.

    Raises:
      ValueError: a dimension to remove has another size than 1.

    Source: Squeeze in core/ops/array_ops.cc.
    """
    axis = either("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        axis = ()
    elif np.isscalar(axis):
        axis = (axis,)
    return Squeeze(tuple(int(a) for a in axis))(input, name=name)  # type: ignore[no-any-return]


@export("fill")
def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """An array full of one value.

    Args:
      dims: int Tensor [rank], the sizes.
      value: a scalar Tensor.
      name: the op's name.

    Returns:
      A Tensor of `value`'s type and of shape `dims`.

    Example:
      >>> tf.fill([2, 3], 9)

    Source: Fill in core/ops/array_ops.cc.
    """
    return Fill()(dims, value, name=name)  # type: ignore[no-any-return]


def _is_small(shape: Any) -> bool:
    """Whether an array of this shape becomes a constant instead of a Fill."""
    if isinstance(shape, list | tuple) and any(isinstance(n, Tensor) for n in shape):
        # TF multiplies the sizes, tensors or not, and finds that it cannot tell; the
        # nodes of that attempt stay in its graphs, hence in ours.
        return bool(functools.reduce(operator.mul, shape) < 1000)
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if not hasattr(shape, "__len__"):
        return False  # a single size, which TF makes a vector on the way to Fill
    return bool(np.prod(shape) < 1000)


def _filled(value: Any, shape: Any, dtype: Any, name: str | None, kind: str) -> Tensor:
    dtype = as_dtype(dtype).base_dtype
    if dtype.is_bool:
        value = bool(value)
    elif dtype is dtypes.string and not value:
        value = ""
    with name_scope(name, kind, [shape]) as scope:
        if not isinstance(shape, Tensor):
            try:
                if _is_small(shape):
                    return constant(value, dtype, shape, name=scope)
            except TypeError:
                pass
            try:
                shape = convert(TensorShape(shape))
            except (TypeError, ValueError):
                shape = convert(shape, int32)
        if not shape.static_shape:
            shape = reshape(shape, [-1])
        return fill(shape, constant(value, dtype), name=scope)


@export("zeros")
def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """An array of zeros.

    Args:
      shape: the sizes: a list, a TensorShape or an int Tensor [rank].
      dtype: the element type.
      name: the op's name.

    Returns:
      A Tensor: a constant if it is small and its shape is known, else a Fill.

    Source: python/ops/array_ops.py.
    """
    return _filled(0, shape, dtype, name, "zeros")


@export("ones")
def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """An array of ones.

    Args:
      shape: the sizes: a list, a TensorShape or an int Tensor [rank].
      dtype: the element type.
      name: the op's name.

    Returns:
      A Tensor: a constant if it is small and its shape is known, else a Fill.

    Source: python/ops/array_ops.py.
    """
    return _filled(1, shape, dtype, name, "ones")


@export("zeros_like")
def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Zeros in the shape of a tensor.

    Args:
      tensor: a Tensor.
      dtype: the element type; `tensor`'s if None.
      name: the op's name.
      optimize: make a constant where the static shape is known.

    Returns:
      A Tensor of `tensor`'s shape.

    Source: ZerosLike in core/ops/array_ops.cc.
    """
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert(tensor, None, "tensor")
        dtype = None if dtype is None else as_dtype(dtype)
        same = dtype is None or dtype == tensor.dtype
        if tensor.dtype == dtypes.variant or dtype == dtypes.variant:
            return ZerosLike()(tensor, name=scope)  # type: ignore[no-any-return]
        if optimize and shapes.is_full(tensor.static_shape):
            return zeros(tensor.shape, dtype or tensor.dtype, name=scope)
        if same:
            return ZerosLike()(tensor, name=scope)  # type: ignore[no-any-return]
        return zeros(shape_internal(tensor, optimize=optimize), dtype, name=scope)


@export("ones_like")
def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Ones in the shape of a tensor.

    Args:
      tensor: a Tensor.
      dtype: the element type; `tensor`'s if None.
      name: the op's name.
      optimize: use the static shape where it is known.

    Returns:
      A Tensor of `tensor`'s shape.

    Source: python/ops/array_ops.py.
    """
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert(tensor, None, "tensor")
        sizes = shape_internal(tensor, optimize=optimize)
        result = ones(sizes, dtype or tensor.dtype, name=scope)
        result.set_shape(tensor.static_shape)
        return result
