"""Slices by begin and size.  Source: core/ops/array_ops.cc, Slice."""

from __future__ import annotations

import builtins
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.strided_slice import _indexed
from tfteach.ops.core.identity_reshape import INDICES, reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.stack_unstack import stack


class Slice(Op):
    """A block of `size` elements from `begin` on, along every axis.

    Source: array_ops.cc.
    """

    signature = "input: T, begin: Index, size: Index -> output: T"
    Index = INDICES
    aliases: ClassVar[bool] = True
    # Passed as an array if its values are known, otherwise as a partly known tuple.
    by_value: ClassVar[tuple[str, ...]] = ("begin", "size")
    by_shape: ClassVar[tuple[str, ...]] = ("size",)
    host_inputs: ClassVar[tuple[str, ...]] = ("begin", "size")
    checks_only_ranks: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def infer_shape(self, input: Shape, begin: Any, size: Any) -> Shape:
        if begin is not None:
            shapes.with_rank(begin.shape, 1)
        for vector in (begin, size):
            if vector is not None:
                input = shapes.with_rank(input, len(vector))
        if input is None or size is None:
            return None if input is None else (None,) * len(input)
        wanted: list[int | None] = []
        for i, length in enumerate(size):
            if length == -1:
                whole = input[i] if begin is not None else None
                left = None if whole is None else whole - int(begin[i])
                if left is not None and left < 0:
                    raise ValueError(
                        "Negative dimension size caused by subtracting "
                        f"{int(begin[i])} from {whole}"
                    )
                wanted.append(left)
            else:
                wanted.append(None if length is None else int(length))
        return tuple(wanted)

    def constant_part(self, values: list[Any], shape: Any) -> Any:
        _, begin, size = values
        if begin is None or size is None:
            return None
        return tuple(
            builtins.slice(start, None if length == -1 else start + length)
            for start, length in zip(begin.tolist(), size.tolist(), strict=True)
        )

    def check_shapes(
        self, input: tuple[int, ...], begin: tuple[int, ...], size: tuple[int, ...]
    ) -> None:
        rank = len(input)
        require(
            begin == size == (rank,),
            "Expected begin and size arguments to be 1-D tensors of size %s, but got "
            "shapes %s and %s instead.",
            rank,
            begin,
            size,
        )

    def compute(self, xp: ArrayModule, input: Array, begin: Array, size: Any) -> Any:
        return input[self.index(input.shape, begin, size)]

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Any:
        return _indexed(self.index, values[1:])

    def index(self, shape: tuple[int, ...], begin: Any, size: Any) -> tuple[Any, ...]:
        """The NumPy index equivalent to the vectors."""
        starts, lengths = begin.tolist(), size.tolist()
        index = []
        for i, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            whole = shape[i]
            if not 0 <= start <= whole:
                raise invalid_argument(
                    f"Expected begin[{i}] in [0, {whole}], but got {start}"
                )
            if length == -1:
                length = whole - start
            elif not 0 <= length <= whole - start:
                raise invalid_argument(
                    f"Expected size[{i}] in [0, {whole - start}], but got {length}"
                )
            index.append(builtins.slice(start, start + length))
        return tuple(index)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.array.padding import Pad

        whole, begin = op.inputs[0], op.inputs[1]
        input_rank = rank(whole)
        part = shape(op.outputs[0])
        column = stack([input_rank, 1])
        before = reshape(begin, column)
        after = reshape(shape(whole) - part - begin, column)
        paddings = concat([before, after], 1)
        return [Pad()(grad, paddings), None, None]


# ---- public functions


@export("slice")
def slice(
    input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None
) -> Tensor:
    """A block of a tensor: `size` elements from `begin` on, along every axis.

    Args:
      input_: a Tensor.
      begin: int Tensor [rank], where the block starts.
      size: int Tensor [rank], the block's size; -1 means all remaining elements.
      name: the op's name.

    Returns:
      A Tensor of `input_`'s type and rank.

    Raises:
      InvalidArgumentError: the block exceeds the tensor.

    Source: Slice in core/ops/array_ops.cc.
    """
    return Slice()(input_, begin, size, name=name)
