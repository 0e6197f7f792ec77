"""Padding: constant, reflected, symmetric; and its gradients.

Source: core/ops/array_ops.cc (Pad, PadV2, MirrorPad), python/ops/array_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_scalar
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.slicing import Slice
from tfteach.ops.core.identity_reshape import INDICES, reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.stack_unstack import brackets, stack


class _Padding(Op, abstract=True):
    """Base of the pad ops: `paddings` is [rank, 2], before and after each axis."""

    Tpaddings = INDICES
    Tpaddings_default = int32
    by_value: ClassVar[tuple[str, ...]] = ("paddings",)
    host_inputs: ClassVar[tuple[str, ...]] = ("paddings",)
    # Whether padding adds to a size (1) or removes from it (-1, the gradient).
    sign: ClassVar[int] = 1

    def infer_shape(self, input: Shape, paddings: Any, *_: Any) -> Shape:
        if paddings is None:
            return None if input is None else (None,) * len(input)
        shapes.with_rank(paddings.shape, 2)
        if paddings.shape[1] != 2:
            raise ValueError(f"Dimension must be 2 but is {paddings.shape[1]}")
        if input is not None and len(input) != len(paddings):
            raise ValueError(
                f"Shape must be rank {len(paddings)} but is rank {len(input)}"
            )
        if (paddings < 0).any():
            raise ValueError("Paddings must be non-negative")
        known = shapes.with_rank(input, len(paddings))
        return tuple(
            None if n is None else n + self.sign * int(a + b)
            for n, (a, b) in zip(known, paddings, strict=True)
        )

    def checked(self, input: Any, paddings: Any) -> list[tuple[int, int]]:
        """The paddings as pairs of ints."""
        if paddings.shape != (input.ndim, 2):
            raise invalid_argument(
                "The first dimension of paddings must be the rank of inputs"
                f"{brackets(paddings)} {brackets(input)}"
            )
        pairs = [(a, b) for a, b in paddings.tolist()]
        for before, after in pairs:
            if before < 0 or after < 0:
                raise invalid_argument(
                    f"Paddings must be non-negative: {before} {after}"
                )
        return pairs

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        whole, paddings = op.inputs[:2]
        column = Slice()(paddings, [0, 0], stack([rank(whole), 1]))
        begin = reshape(column, [-1])
        part = Slice()(grad, begin, shape(whole))
        return [part] + [None] * (len(op.inputs) - 1)


class _Plan(NamedTuple):
    """Slices to copy, so that each element along an axis is written once."""

    shape: tuple[int, ...]  # the result's
    border: list[tuple[slice, ...]]
    inner: tuple[slice, ...]


def _plan(shape: tuple[int, ...], pairs: list[tuple[int, int]]) -> _Plan:
    whole = tuple(n + a + b for n, (a, b) in zip(shape, pairs, strict=True))
    inner = tuple(slice(a, a + n) for n, (a, _) in zip(shape, pairs, strict=True))
    padded = [axis for axis, (a, b) in enumerate(pairs) if a or b]
    if len(padded) > 1:
        return _Plan(whole, [()], inner)
    border = []
    for axis in padded:
        outer, (before, after) = (slice(None),) * axis, pairs[axis]
        if before:
            border.append((*outer, slice(before)))
        if after:
            border.append((*outer, slice(before + shape[axis], None)))
    return _Plan(whole, border, inner)


def _surround(xp: ArrayModule, input: Any, plan: _Plan, value: Any) -> Any:
    result = xp.empty(plan.shape, input.dtype)
    for part in plan.border:
        result[part] = value
    result[plan.inner] = input
    return result


class Pad(_Padding):
    """An array padded with zeros.  Source: core/ops/array_ops.cc, Pad."""

    signature = "input: T, paddings: Tpaddings -> output: T"
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: ArrayModule, input: Array, paddings: Array) -> Any:
        plan = _plan(input.shape, self.checked(input, paddings))
        return _surround(xp, input, plan, b"" if input.dtype.hasobject else 0)

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Any:
        if values[1] is None:
            return None
        known: tuple[Any, Any] = None, None

        def kernel(input: Any, paddings: Any) -> Any:
            nonlocal known
            shape, plan = known
            if input.shape != shape:
                plan = _plan(input.shape, self.checked(input, paddings))
                known = input.shape, plan
            return _surround(xp, input, plan, b"" if input.dtype.hasobject else 0)

        return kernel


class PadV2(_Padding):
    """An array padded with a given value.  Source: core/ops/array_ops.cc, PadV2."""

    signature = "input: T, paddings: Tpaddings, constant_values: T -> output: T"
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def check_shapes(self, constant_values: tuple[int, ...]) -> None:
        require_scalar(constant_values, "constant_values must be a scalar. Found: %s")

    def compute(
        self, xp: ArrayModule, input: Array, paddings: Array, constant_values: Array
    ) -> Any:
        plan = _plan(input.shape, self.checked(input, paddings))
        return _surround(xp, input, plan, constant_values)


class _Mirror(_Padding, abstract=True):
    mode: str

    def validate(self) -> None:
        check_choice(self.op_type, "mode", self.mode, ("REFLECT", "SYMMETRIC"))

    def sources(
        self, xp: ArrayModule, shape: tuple[int, ...], pairs: list[tuple[int, int]]
    ) -> list[Any]:
        """For each axis, the input index that each output index repeats."""
        found = []
        for n, (before, after) in zip(shape, pairs, strict=True):
            positions = np.arange(-before, n + after)
            if self.mode == "REFLECT":
                if before >= n or after >= n:
                    raise invalid_argument(
                        "paddings must be less than the dimension size: "
                        f"{before}, {after} not less than {n}"
                    )
                positions = np.abs(positions)
                positions = np.where(positions >= n, 2 * n - 2 - positions, positions)
            else:
                if before > n or after > n:
                    raise invalid_argument(
                        "paddings must be no greater than the dimension size: "
                        f"{before}, {after} greater than {n}"
                    )
                positions = np.where(positions < 0, -1 - positions, positions)
                positions = np.where(positions >= n, 2 * n - 1 - positions, positions)
            found.append(xp.asarray(positions))
        return found


class MirrorPad(_Mirror):
    """An array padded with its mirror image.

    REFLECT leaves the edge out of the mirror image, SYMMETRIC repeats it.
    """

    signature = "input: T, paddings: Tpaddings -> output: T"
    mode: str

    def compute(self, xp: ArrayModule, input: Array, paddings: Array) -> Any:
        pairs = self.checked(input, paddings)
        for axis, positions in enumerate(self.sources(xp, input.shape, pairs)):
            if pairs[axis] != (0, 0):
                input = xp.take(input, positions, axis)
        return input if paddings.any() else input.copy()

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [MirrorPadGrad(self.mode)(grad, op.inputs[1]), None]


class MirrorPadGrad(_Mirror):
    """The gradient of MirrorPad: the border folded back onto the array.

    Source: MirrorPadGrad.
    """

    signature = "input: T, paddings: Tpaddings -> output: T"
    mode: str
    sign: ClassVar[int] = -1
    by_value: ClassVar[tuple[str, ...]] = ()
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("paddings",)

    def infer_shape(self, input: Shape, paddings: Any, *_: Any) -> Shape:
        if isinstance(paddings, np.ndarray):
            return super().infer_shape(input, paddings)
        # As in TensorFlow, only the paddings determine the rank.
        rank = shapes.with_rank(paddings, 2)[0]
        return None if rank is None else (None,) * rank

    def compute(self, xp: ArrayModule, input: Array, paddings: Array) -> Any:
        pairs = self.checked(input, paddings)
        shape = tuple(n - a - b for n, (a, b) in zip(input.shape, pairs, strict=True))
        for axis, positions in enumerate(self.sources(xp, shape, pairs)):
            rows = xp.moveaxis(input, axis, 0)
            folded = xp.zeros((shape[axis], *rows.shape[1:]), input.dtype)
            xp.add.at(folded, positions, rows)
            input = xp.moveaxis(folded, 0, axis)
        return input

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [MirrorPad(self.mode)(grad, op.inputs[1]), None]


@export("pad")
def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: TensorLike = 0,
) -> Tensor:
    """A padded tensor.

    Args:
      tensor: a Tensor.
      paddings: int Tensor [rank, 2], the sizes added before and after along each axis.
      mode: "CONSTANT", "REFLECT" (mirrored at the edge element) or "SYMMETRIC"
        (mirrored at the edge, which is repeated); any case.
      name: the op's name.
      constant_values: scalar, the border's value in mode "CONSTANT".

    Returns:
      A Tensor of `tensor`'s type.

    Raises:
      ValueError: the mode is unknown, or the paddings are invalid.

    Source: Pad, PadV2 and MirrorPad in core/ops/array_ops.cc.
    """
    mode = mode.upper()
    if mode in ("REFLECT", "SYMMETRIC"):
        return MirrorPad(mode)(tensor, paddings, name=name)
    if mode != "CONSTANT":
        raise ValueError(f"Unknown padding mode: {mode}")
    if not isinstance(constant_values, Tensor) and constant_values == 0:
        return Pad()(tensor, paddings, name=name)
    return PadV2()(tensor, paddings, constant_values, name=name)
