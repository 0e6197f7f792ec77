"""Ops without arithmetic: identity, reshape, expand_dims, squeeze.

Source: core/ops/array_ops.cc, python/ops/array_ops.py, python/ops/array_grad.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export, export_value
from tfteach.framework.indexed_slices import IndexedSlices, quietly
from tfteach.framework.op import MultiOutputOp, Op, StatefulOp
from tfteach.framework.op_traits import Folding, Int32Kernel, Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_vector
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    Gradient,
    KernelContext,
    TensorLike,
)
from tfteach.ops.core.shape_ops import shape

INDICES = dtypes_of("int32 int64")

newaxis = None
export_value(__name__, newaxis="newaxis")


class _Same(Op, abstract=True):
    """The input, unchanged."""

    aliases: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    passes_list: ClassVar[bool] = True

    def infer_shape(self, input: Shape) -> Shape:
        return input

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return input


class Identity(_Same, role=Role.IDENTITY):
    """The input, unchanged.  Source: array_ops.cc, Identity."""

    signature = "input: T -> output: T"
    forwards_input: ClassVar[bool] = True
    passes_handle: ClassVar[bool] = True
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def shape_sources(self, op: Operation) -> Sequence[Tensor]:
        return op.inputs[:1]

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad]

    def expression(self, input: str) -> str:
        return input


class StopGradient(_Same):
    """The input; no gradient flows through it.  Source: StopGradient."""

    signature = "input: T -> output: T"
    forwards_input: ClassVar[bool] = True
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class PreventGradient(_Same):
    """The input; requesting its gradient is an error.  Source: PreventGradient."""

    signature = "input: T -> output: T"
    message: str = ""
    forwards_input: ClassVar[bool] = True

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        reason = self.message.encode()  # string attributes are bytes
        raise LookupError(f"Gradient explicitly disabled. Reason: {reason!r}")


class GuaranteeConst(StatefulOp):
    """The input, guaranteed never to change.  Source: array_ops.cc, GuaranteeConst."""

    signature = "input: T -> output: T"
    aliases: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False

    def infer_shape(self, input: Shape) -> Shape:
        return input

    def compute(self, ctx: KernelContext, input: Array) -> Any:
        return input


class IdentityN(MultiOutputOp):
    """Several inputs, unchanged.  Source: array_ops.cc, IdentityN."""

    signature = "input: *T -> output: *T"
    minimum: ClassVar[dict[str, int]] = {"T": 1}
    aliases: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return input

    def compute(self, xp: ArrayModule, *input: Any) -> Any:
        return input

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return list(grads)


# ---- the same elements in another shape


def reshape_to_input(op: Operation, grad: Tensor) -> Tensor:
    """A gradient reshaped to the op's first input."""
    sizes = shape(op.inputs[0])
    if isinstance(grad, IndexedSlices):
        with quietly():
            return reshape(grad, sizes)
    return reshape(grad, sizes)


class Reshape(Op):
    """The same elements in another shape.  Source: array_ops.cc, Reshape."""

    signature = "tensor: T, shape: Tshape -> output: T"
    Tshape = INDICES
    Tshape_default = int32
    aliases: ClassVar[bool] = True
    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape",)
    is_expensive: ClassVar[bool] = False
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def infer_shape(self, tensor: Shape, shape: Shape) -> Shape:
        elements = shapes.size_of(tensor)
        if shape is None or elements is None or shape.count(None) > 1:
            return shape
        known = math.prod(n for n in shape if n is not None)
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

    def check_shapes(self, shape: tuple[int, ...]) -> None:
        require_vector(shape, "sizes input must be 1-D, not %s")

    def compute(self, xp: ArrayModule, tensor: Array, shape: Any) -> Any:
        wanted = shape.tolist()
        try:
            # NumPy accepts any negative size as the inferred one, TF only -1.
            if not wanted or min(wanted) >= -1:
                return tensor.reshape(wanted)
        except (ValueError, TypeError):
            if shape.ndim == 1 and not tensor.size and wanted.count(-1) == 1:
                return tensor.reshape(_empty_shape(tensor.shape, wanted))
        raise _cannot_reshape(tensor, shape)

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Any:
        if values[1] is None:
            return None
        wanted = tuple(values[1].tolist()) if values[1].ndim == 1 else (-2,)

        def kernel(tensor: Any, shape: Any) -> Any:
            try:
                return tensor.reshape(wanted)
            except (ValueError, TypeError):
                return self.compute(xp, tensor, shape)

        return kernel if min(wanted, default=0) >= -1 else None

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        return 0 if shapes.is_full(output) and inputs[0] == output else None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [reshape_to_input(op, grad), None]


def _empty_shape(shape: tuple[int, ...], wanted: list[int]) -> list[int]:
    """TF's rule for -1 together with a 0: zero sizes are ignored on either side."""
    if 0 not in wanted:
        return wanted
    elements = math.prod(n for n in shape if n)
    rest = elements // math.prod(n for n in wanted if n > 0)
    return [rest if n == -1 else n for n in wanted]


def _cannot_reshape(tensor: Any, wanted: Any) -> Exception:
    if wanted.ndim != 1:
        text = ",".join(map(str, wanted.shape))
        return invalid_argument(f"sizes input must be 1-D, not [{text}]")
    unknown = [i for i, n in enumerate(wanted.tolist()) if n == -1]
    for i, n in enumerate(wanted.tolist()):
        if n < -1:
            return invalid_argument(f"Size {i} must be non-negative, not {n}")
    if len(unknown) > 1:
        return invalid_argument(
            f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}"
        )
    known = math.prod(n for n in wanted.tolist() if n >= 0)
    if unknown and not known and not tensor.size:
        return invalid_argument(
            "reshape cannot infer the missing input size for an empty tensor unless "
            "all specified input sizes are non-zero"
        )
    what = "requires a multiple of" if unknown and known else "has"
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
    is_expensive: ClassVar[bool] = False
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def infer_shape(self, input: Shape, dim: Any) -> Shape:
        if input is None:
            return None
        if dim is None:
            return None  # as in TF, which then forgets the rank too
        axis, rank = int(np.reshape(dim, ())), len(input)
        if not -rank - 1 <= axis <= rank:
            raise ValueError(f"dim {axis} not in the interval [{-rank - 1}, {rank}].")
        axis %= rank + 1
        return (*input[:axis], 1, *input[axis:])

    def check_shapes(self, dim: tuple[int, ...]) -> None:
        single = all(n == 1 for n in dim)
        require(single, "'dim' must be a tensor with a single value")

    def compute(self, xp: ArrayModule, input: Array, dim: Array) -> Any:
        axis, rank = dim.item(), input.ndim
        if not -rank - 1 <= axis <= rank:
            raise invalid_argument(
                f"Tried to expand dim index {axis} for tensor with {rank} dimensions."
            )
        axis %= rank + 1
        return input.reshape((*input.shape[:axis], 1, *input.shape[axis:]))

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        return 0 if shapes.is_full(output) and inputs[0] == output else None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [reshape_to_input(op, grad), None]


class Squeeze(Op):
    """The input without its dimensions of size 1.  Source: array_ops.cc, Squeeze."""

    signature = "input: T -> output: T"
    squeeze_dims: tuple[int, ...] = ()
    aliases: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

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

    def compute(self, xp: ArrayModule, input: Array) -> Any:
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

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [reshape_to_input(op, grad)]


# ---- public functions


@export("identity")
def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """The same value in a new tensor.

    Args:
      input: a Tensor of any type.
      name: the op's name.

    Returns:
      A Tensor of `input`'s type and shape.

    Source: Identity in core/ops/array_ops.cc.
    """
    return Identity()(input, name=name)


@export("identity_n")
def identity_n(input: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Several tensors, unchanged; none is available before all are computed.

    Args:
      input: a list of Tensors of any types.
      name: the op's name.

    Returns:
      A list of Tensors.

    Source: IdentityN in core/ops/array_ops.cc.
    """
    return IdentityN()(input, name=name)


@export("stop_gradient")
def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """The input, treated as a constant by `tf.gradients`.

    Args:
      input: a Tensor of any type.
      name: the op's name.

    Returns:
      A Tensor of `input`'s type and shape.

    Example:
      >>> tf.gradients(x * tf.stop_gradient(x), x)  # x, not 2 x

    Source: StopGradient in core/ops/array_ops.cc.
    """
    return StopGradient()(input, name=name)


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """The input; requesting its gradient raises an error with `message`."""
    return PreventGradient(message)(input, name=name)


@export("guarantee_const")
def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """The input, guaranteed never to change.

    Args:
      input: a Tensor of any type.
      name: the op's name.

    Returns:
      A Tensor of `input`'s type and shape.

    Source: GuaranteeConst in core/ops/array_ops.cc.
    """
    return GuaranteeConst()(input, name=name)


@export("reshape", "manip.reshape")
def reshape(tensor: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """The same elements, in row-major order, in another shape.

    Args:
      tensor: a Tensor of any type.
      shape: int Tensor [rank]; one size may be -1 and is computed from the others.
      name: the op's name.

    Returns:
      A Tensor of `tensor`'s type.

    Raises:
      ValueError: the static shapes have different numbers of elements.
      InvalidArgumentError: the run-time shapes have different numbers of elements.

    Example:
      >>> tf.reshape(tf.zeros([2, 6]), [-1, 4]).shape
      TensorShape([Dimension(3), Dimension(4)])

    Source: Reshape in core/ops/array_ops.cc.
    """
    return Reshape()(tensor, shape, name=name)


@export("expand_dims")
def expand_dims(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """One more dimension, of size 1.

    Args:
      input: a Tensor of any type.
      axis: the position of the new dimension, from -rank - 1 to rank.
      name: the op's name.
      dim: deprecated name of `axis`.

    Returns:
      A Tensor of `input`'s type with one more dimension.

    Raises:
      ValueError: `axis` is missing or out of range.

    Source: ExpandDims in core/ops/array_ops.cc.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return ExpandDims()(input, axis, name=name)


@export("squeeze")
def squeeze(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    squeeze_dims: TensorLike | None = None,
) -> Tensor:
    """The input without its dimensions of size 1.

    Args:
      input: a Tensor of any type.
      axis: an int or list of ints, the dimensions to remove; None removes all of size
          1.
      name: the op's name.
      squeeze_dims: deprecated name of `axis`.

    Returns:
      A Tensor of `input`'s type.

    Raises:
      ValueError: a dimension to remove is not of size 1.

    Source: Squeeze in core/ops/array_ops.cc.
    """
    axis = deprecated_argument_lookup("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        axis = ()
    elif np.isscalar(axis):
        axis = (axis,)
    op = Squeeze(axis)  # type: ignore[arg-type]  # converted by the op
    return op(input, name=name)
