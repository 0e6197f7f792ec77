"""Transpose, reverse, roll: the same elements in another order.

Source: core/ops/array_ops.cc, python/ops/array_ops.py, python/ops/array_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import dtypes_of, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.core.shape_ops import Rank, rank
from tfteach.ops.math.range import Range


class InvertPermutation(Op):
    """y with y[x[i]] = i.  Source: core/ops/array_ops.cc, InvertPermutation."""

    signature = "x: T -> y: T"
    T = INDICES
    T_default = int32
    host_inputs: ClassVar[tuple[str, ...]] = ("x",)
    host_types_on_gpu: ClassVar[frozenset[str]] = frozenset(("int32", "int64"))
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def infer_shape(self, x: Shape) -> Shape:
        return shapes.with_rank(x, 1)

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        if x.ndim != 1:
            raise invalid_argument("invert_permutation expects a 1D vector.")
        inverse = np.full_like(x, -1)
        for i, position in enumerate(x.tolist()):
            if not 0 <= position < len(inverse):
                raise invalid_argument(
                    f"{position} is not between 0 and {len(inverse)}"
                )
            if inverse[position] != -1:
                raise invalid_argument(f"{position} is duplicated in the input.")
            inverse[position] = i
        return inverse

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class Transpose(Op):
    """The axes permuted.  Source: core/ops/array_ops.cc, Transpose."""

    signature = "x: T, perm: Tperm -> y: T"
    Tperm = INDICES
    Tperm_default = int32
    aliases: ClassVar[bool] = True
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"perm": 1}
    by_value: ClassVar[tuple[str, ...]] = ("perm",)
    host_inputs: ClassVar[tuple[str, ...]] = ("perm",)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, x: Shape, perm: Any) -> Shape:
        if perm is None:
            return None if x is None else (None,) * len(x)
        shapes.with_rank(perm.shape, 1)
        if x is None:
            return (None,) * len(perm)
        if len(x) != len(perm):
            raise ValueError(f"Dimension must be {len(x)} but is {len(perm)}")
        for position in perm:
            if not -len(x) <= position < len(x):
                raise ValueError(
                    f"perm dim {position} is out of range of input rank {len(x)}"
                )
        return tuple(x[int(position)] for position in perm)

    def check_shapes(self, perm: tuple[int, ...]) -> None:
        require_vector(perm, "perm must be a vector, not %s")

    def compute(self, xp: ArrayModule, x: Array, perm: Array) -> Any:
        order = perm.tolist()
        try:
            # NumPy counts negative axes from the end, TF's kernel rejects them.
            if not order or min(order) >= 0:
                return x.transpose(order)
        except ValueError:
            pass
        if len(order) != x.ndim:
            raise invalid_argument(
                f"transpose expects a vector of size {x.ndim}. But input(1) is a "
                f"vector of size {len(order)}"
            )
        for position in order:
            if not 0 <= position < x.ndim:
                raise invalid_argument(f"{position} is out of range [0 .. {x.ndim})")
        missing = min(set(range(x.ndim)) - set(order))
        raise invalid_argument(
            f"{missing} is missing from {{{','.join(map(str, order))}}}."
        )

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [transpose(grad, invert_permutation(op.inputs[1])), None]


class ConjugateTranspose(Transpose):
    """Transpose with complex conjugation.  Source: ConjugateTranspose."""

    aliases: ClassVar[bool] = False

    def compute(self, xp: ArrayModule, x: Array, perm: Array) -> Any:
        return xp.conj(super().compute(xp, x, perm))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        inverse = invert_permutation(op.inputs[1])
        return [transpose(grad, inverse, conjugate=True), None]


@export("invert_permutation", "math.invert_permutation")
def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse permutation of `x`: y[x[i]] = i.

    Args:
      x: int Tensor [n] with each of 0 to n - 1 exactly once.
      name: the op's name.

    Returns:
      A Tensor like `x`.

    Raises:
      InvalidArgumentError: `x` is not a permutation.

    Source: InvertPermutation in core/ops/array_ops.cc.
    """
    return InvertPermutation()(x, name=name)


@export("transpose")
def transpose(
    a: TensorLike,
    perm: TensorLike | None = None,
    name: str = "transpose",
    conjugate: bool = False,
) -> Tensor:
    """The axes permuted; reversed if `perm` is None.

    Args:
      a: a Tensor.
      perm: int Tensor [rank]; axis i of the result is axis perm[i] of `a`.
      name: the op's name.
      conjugate: also conjugate complex elements.

    Returns:
      A Tensor of `a`'s type.

    Raises:
      ValueError: the length of `perm` differs from `a`'s rank.

    Source: Transpose in core/ops/array_ops.cc.
    """
    with name_scope(name, "transpose", [a]) as scope:
        is_conjugated = conjugate and a.dtype.is_complex  # type: ignore[union-attr]
        op = ConjugateTranspose() if is_conjugated else Transpose()
        if perm is not None:
            return op(a, perm, name=scope)
        a = convert(a, None, "a")
        known = a.static_shape
        if known:
            perm = np.arange(len(known) - 1, -1, -1)
        else:
            axes = Rank()(a)
            perm = axes - 1 - Range()(0, axes, 1)
        result: Tensor = op(a, perm, name=scope)
        if known is not None:
            result.set_shape(known[::-1])
        return result


@export("matrix_transpose", "linalg.transpose", "linalg.matrix_transpose")
def matrix_transpose(
    a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """The last two axes swapped.

    Args:
      a: Tensor [..., rows, columns].
      name: the name of the scope.
      conjugate: also conjugate complex elements.

    Returns:
      A Tensor [..., columns, rows].

    Raises:
      ValueError: `a` has fewer than two axes.

    Source: python/ops/array_ops.py.
    """
    with name_scope(name, values=[a]):
        a = convert(a, None, "a")
        known = a.shape.rank
        if known is None:
            axes = rank(a)
            first = Range()(0, axes - 2, 1)
            perm: Any = concat((first, [axes - 1, axes - 2]), 0)
        elif known < 2:
            raise ValueError(
                "Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: "
                f"{a.shape}"
            )
        else:
            perm = [*range(known - 2), known - 1, known - 2]
        return transpose(a, perm=perm, conjugate=conjugate)


class ReverseV2(Op):
    """Some axes reversed.  Source: core/ops/array_ops.cc, ReverseV2."""

    signature = "tensor: T, axis: Tidx -> output: T"
    Tidx = INDICES
    Tidx_default = int32
    T = dtypes_of(
        "uint8 int8 uint16 int16 int32 int64 bool bfloat16 float16 float32 float64 "
        "complex64 complex128 string"
    )
    aliases: ClassVar[bool] = True
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"axis": 1}
    by_value: ClassVar[tuple[str, ...]] = ("axis",)
    host_inputs: ClassVar[tuple[str, ...]] = ("axis",)
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, tensor: Shape, axis: Any) -> Shape:
        if tensor is not None and axis is not None:
            _axes(axis, len(tensor))
        return tensor

    def check_shapes(self, axis: tuple[int, ...]) -> None:
        require_vector(axis, f"'dims' must be 1-dimension, not {len(axis)}")

    def compute(self, xp: ArrayModule, tensor: Array, axis: Any) -> Any:
        try:
            axes = _axes(axis, tensor.ndim)
        except ValueError as error:
            raise invalid_argument(str(error)) from None
        return xp.flip(tensor, axes) if axes else tensor

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [reverse(grad, op.inputs[1]), None]


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    found: list[int] = []
    for i, value in enumerate(axis.tolist()):
        if not -rank <= value < rank:
            # TF's message has no closing bracket either
            raise ValueError(
                f"'axis'[{i}] = {value} is out of valid range [0, {rank - 1}"
            )
        if value % rank in found:
            raise ValueError(f"axis {value % rank} specified more than once.")
        found.append(value % rank)
    return tuple(found)


class ReverseSequence(Op):
    """The first elements of every row reversed.  Source: ReverseSequence."""

    signature = "input: T, seq_lengths: Tlen -> output: T"
    seq_dim: int
    batch_dim: int = 0
    Tlen = INDICES
    Tlen_default = int64

    def infer_shape(self, input: Shape, seq_lengths: Shape) -> Shape:
        (count,) = shapes.with_rank(seq_lengths, 1)
        if input is None:
            return None
        for what, axis in (("batch_dim", self.batch_dim), ("seq_dim", self.seq_dim)):
            if axis >= len(input):
                raise ValueError(
                    f"{what} must be < input rank: {axis} vs. {len(input)}"
                )
        if None not in (count, input[self.batch_dim]) and (
            count != input[self.batch_dim]
        ):
            raise ValueError(
                f"Dimensions must be equal, but are {input[self.batch_dim]} and {count}"
            )
        if count is None:
            return input
        at = self.batch_dim
        return (*input[:at], count, *input[at + 1 :])

    def check_shapes(
        self, input: tuple[int, ...], seq_lengths: tuple[int, ...]
    ) -> None:
        rank, batch, seq = len(input), self.batch_dim, self.seq_dim
        message = f"seq_lens input must be 1-dim, not {len(seq_lengths)}"
        require_vector(seq_lengths, message)
        message = "must be < input.dims()( %s vs. %s)"
        require(batch < rank, f"batch_dim {message}", batch, rank)
        require(seq < rank, f"seq_dim {message}", seq, rank)
        message = f"len(seq_lens) != input.dims({batch}), ({seq_lengths[0]} vs. 0)"
        require(batch >= 0 and seq >= 0, message)

    def compute(self, xp: ArrayModule, input: Array, seq_lengths: Array) -> Any:
        if self.batch_dim == self.seq_dim:
            raise invalid_argument(f"batch_dim == seq_dim == {self.seq_dim}")
        batch, steps = input.shape[self.batch_dim], input.shape[self.seq_dim]
        if len(seq_lengths) != batch:
            raise invalid_argument(
                f"len(seq_lens) != input.dims({self.batch_dim}), "
                f"({len(seq_lengths)} vs. {batch})"
            )
        for i, length in enumerate(seq_lengths.tolist()):
            if length < 0:
                raise invalid_argument(f"seq_lens({i}) < 0")
            if length > steps:
                raise invalid_argument(f"seq_lens({i}) > input.dims({self.seq_dim})")
        step = xp.arange(steps)[None, :]
        length = seq_lengths[:, None]
        source = xp.where(step < length, length - 1 - step, step)
        rows = xp.moveaxis(input, (self.batch_dim, self.seq_dim), (0, 1))
        found = rows[xp.arange(batch)[:, None], source]
        return xp.moveaxis(found, (0, 1), (self.batch_dim, self.seq_dim))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [self(grad, op.inputs[1]), None]


class Roll(Op):
    """Elements shifted cyclically along axes.  Source: manip_ops.cc, Roll."""

    signature = "input: T, shift: Tshift, axis: Taxis -> output: T"
    Tshift = INDICES
    Taxis = INDICES
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {
        "shift": (0, 1), "axis": (0, 1),
    }  # fmt: skip
    host_inputs: ClassVar[tuple[str, ...]] = ("shift", "axis")
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, input: Shape, shift: Shape, axis: Shape) -> Shape:
        shapes.with_rank_at_least(input, 1)
        if shift is not None and axis is not None and shift != axis:
            for i, (m, n) in enumerate(zip(shift, axis, strict=False)):
                if None not in (m, n) and m != n:
                    raise ValueError(
                        f"Dimension {i} in both shapes must be equal, but are {m} and "
                        f"{n}. Shapes are {shapes.text(shift)} and {shapes.text(axis)}."
                    )
        return input

    def check_shapes(
        self, input: tuple[int, ...], shift: tuple[int, ...], axis: tuple[int, ...]
    ) -> None:
        require(input, "input must be 1-D or higher")
        message = "must be a scalar or a 1-D vector. Found: %s"
        require(len(shift) <= 1, f"shift {message}", shift)
        require(len(axis) <= 1, f"axis {message}", axis)
        require(shift == axis, "shift and axis must have the same size")

    def compute(self, xp: ArrayModule, input: Any, shift: Any, axis: Any) -> Any:
        axes = axis.reshape(-1).tolist()
        for value in axes:
            if not -input.ndim <= value < input.ndim:
                raise invalid_argument(f"axis {value} is out of range")
        return xp.roll(input, tuple(shift.reshape(-1).tolist()), tuple(axes))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        _, shift, axis = op.inputs
        return [Roll()(grad, -shift, axis), None, None]


@export("reverse", "manip.reverse", "reverse_v2")
def reverse(tensor: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """Some axes reversed.

    Args:
      tensor: a Tensor.
      axis: int Tensor [n], the axes to reverse.
      name: the op's name.

    Returns:
      A Tensor like `tensor`.

    Raises:
      ValueError: an axis is out of range or named twice.

    Source: ReverseV2 in core/ops/array_ops.cc.
    """
    return ReverseV2()(tensor, axis, name=name)


@export("reverse_sequence")
def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Rows whose first elements are reversed, as many as the row's length says.

    Args:
      input: a Tensor.
      seq_lengths: int Tensor [input.shape[batch_axis]].
      seq_axis: the axis to reverse along.
      batch_axis: the axis of the rows; 0 if None.
      name: the op's name.
      seq_dim, batch_dim: deprecated names of the axes.

    Returns:
      A Tensor like `input`.

    Raises:
      InvalidArgumentError: a length is too large.
      TypeError: `seq_axis` is missing.

    Source: ReverseSequence in core/ops/array_ops.cc.
    """
    seq_axis = deprecated_argument_lookup("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = deprecated_argument_lookup(
        "batch_axis", batch_axis, "batch_dim", batch_dim
    )
    if seq_axis is None:
        raise TypeError("Expected int for argument 'seq_dim' not None.")
    op = ReverseSequence(seq_axis, 0 if batch_axis is None else batch_axis)
    return op(input, seq_lengths, name=name)


@export("roll", "manip.roll")
def roll(
    input: TensorLike, shift: TensorLike, axis: TensorLike, name: str | None = None
) -> Tensor:
    """Elements shifted cyclically along axes.

    Args:
      input: a Tensor.
      shift: int Tensor, scalar or [n], the distances.
      axis: int Tensor like `shift`, the axes to shift along.
      name: the op's name.

    Returns:
      A Tensor like `input`.

    Raises:
      InvalidArgumentError: an axis is out of range.

    Source: Roll in core/ops/manip_ops.cc.
    """
    return Roll()(input, shift, axis, name=name)
