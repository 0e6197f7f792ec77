"""The same elements in another order: transpose, reverse, roll.

Source: core/ops/array_ops.cc, python/ops/array_ops.py, python/ops/array_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import OPS, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.ops.array import INDICES
from tfteach.ops.join import concat
from tfteach.ops.shapes import Rank, rank


class InvertPermutation(Op):
    """y with y[x[i]] = i.  Source: core/ops/array_ops.cc, InvertPermutation."""

    signature = "x: T -> y: T"
    T = INDICES
    T_default = int32
    host_inputs: ClassVar[tuple[str, ...]] = ("x",)

    def infer_shape(self, x: Shape) -> Shape:
        return shapes.with_rank(x, 1)

    def compute(self, xp: Any, x: Any) -> Any:
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

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None]


class Transpose(Op):
    """The axes in another order.  Source: core/ops/array_ops.cc, Transpose."""

    signature = "x: T, perm: Tperm -> y: T"
    Tperm = INDICES
    Tperm_default = int32
    aliases: ClassVar[bool] = True
    by_value: ClassVar[tuple[str, ...]] = ("perm",)
    host_inputs: ClassVar[tuple[str, ...]] = ("perm",)

    def infer_shape(self, x: Shape, perm: Any) -> Shape:
        if perm is None:
            return None if x is None else (None,) * len(x)
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

    def compute(self, xp: Any, x: Any, perm: Any) -> Any:
        order = perm.tolist()
        try:
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

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [transpose(grad, invert_permutation(op.inputs[1])), None]


class ConjugateTranspose(Transpose):
    """Transpose, and every element conjugated.  Source: ConjugateTranspose."""

    aliases: ClassVar[bool] = False

    def compute(self, xp: Any, x: Any, perm: Any) -> Any:
        return xp.conj(super().compute(xp, x, perm))

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        inverse = invert_permutation(op.inputs[1])
        return [transpose(grad, inverse, conjugate=True), None]


@export("invert_permutation", "math.invert_permutation")
def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: y[x[i]] = i.

    Args:
      x: int Tensor [n] that holds 0 to n - 1, each once.
      name: the op's name.

    Returns:
      A Tensor like `x`.

    Raises:
      InvalidArgumentError: `x` is no permutation.

    Source: InvertPermutation in core/ops/array_ops.cc.
    """
    return InvertPermutation()(x, name=name)


@export("transpose")
def transpose(
    a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False
) -> Tensor:
    """The axes in another order; reversed if no order is given.

    Args:
      a: a Tensor.
      perm: int Tensor [rank]; axis i of the result is axis perm[i] of `a`.
      name: the op's name.
      conjugate: also conjugate complex elements.

    Returns:
      A Tensor of `a`'s type.

    Raises:
      ValueError: `perm` has another length than `a` has axes.

    Source: Transpose in core/ops/array_ops.cc.
    """
    with name_scope(name, "transpose", [a]) as scope:
        op = ConjugateTranspose() if conjugate and a.dtype.is_complex else Transpose()
        if perm is not None:
            return op(a, perm, name=scope)
        a = convert(a, None, "a")
        known = a.static_shape
        if known:
            perm = np.arange(len(known) - 1, -1, -1)
        else:
            axes = Rank()(a)
            perm = axes - 1 - OPS["Range"]()(0, axes, 1)
        result: Tensor = op(a, perm, name=scope)
        if known is not None:
            result.set_shape(known[::-1])
        return result


@export("matrix_transpose", "linalg.transpose", "linalg.matrix_transpose")
def matrix_transpose(
    a: Any, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """The last two axes exchanged.

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
            first = OPS["Range"]()(0, axes - 2, 1)
            perm: Any = concat((first, [axes - 1, axes - 2]), 0)
        elif known < 2:
            raise ValueError(
                "Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: "
                f"{a.shape}"
            )
        else:
            perm = [*range(known - 2), known - 1, known - 2]
        return transpose(a, perm=perm, conjugate=conjugate)
