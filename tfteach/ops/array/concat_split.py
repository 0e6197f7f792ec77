"""Concatenation along an axis, and splitting.

Source: core/ops/array_ops.cc, python/ops/array_ops.py, python/ops/array_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_grad import concat_gradient
from tfteach.ops.core.identity_reshape import INDICES, identity
from tfteach.ops.core.stack_unstack import brackets


def _concat_shape(values: list[Shape], axis: Any) -> Shape:
    ranks = [len(v) for v in values if v is not None]
    if ranks and min(ranks) == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    if not ranks:
        return None
    for value in values:
        shapes.with_rank(value, ranks[0])
    if axis is None:
        return (None,) * ranks[0]
    axis = int(np.reshape(axis, ()))
    needed = axis + 1 if axis >= 0 else -axis
    parts = [shapes.with_rank_at_least(v, needed) for v in values]
    total: int | None = 0
    before: Shape = None
    after: Shape = None
    for part in parts:
        if part is None:
            total = None
            continue
        at = axis % len(part)
        before = _merge_side(before, part[:at])
        after = _merge_side(after, part[at + 1 :])
        total = None if total is None or part[at] is None else total + part[at]
    if None in values and axis < 0:
        return None if before is None or after is None else (*before, None, *after)
    assert before is not None and after is not None
    return (*before, total, *after)


def _merge_side(a: Shape, b: Shape) -> Shape:
    try:
        return shapes.merge(a, b)
    except ValueError:
        pass
    assert a is not None and b is not None
    i = next(
        i
        for i, (m, n) in enumerate(zip(a, b, strict=True))
        if None not in (m, n) and m != n
    )
    raise ValueError(
        f"Dimension {i} in both shapes must be equal, but are {a[i]} and {b[i]}. "
        f"Shapes are {shapes.text(a)} and {shapes.text(b)}."
    )


def _concatenate(xp: ArrayModule, values: tuple[Any, ...], axis: Any) -> Any:
    at, rank = int(axis.reshape(())), values[0].ndim
    if not -rank <= at < rank:
        raise invalid_argument(
            "ConcatOp : Expected concatenating dimensions in the range "
            f"[{-rank}, {rank}), but got {at}"
        )
    try:
        return xp.concatenate(values, at)
    except ValueError:
        _refuse_parts(values, at % rank)
        raise


def _refuse_parts(values: tuple[Any, ...], at: int) -> None:
    """Raise TensorFlow's error for arrays that NumPy refused to concatenate."""
    rank = values[0].ndim
    first = values[0].shape
    for i, value in enumerate(values):
        if value.ndim != rank:
            raise invalid_argument(
                "ConcatOp : Ranks of all input tensors should match: shape[0] = "
                f"{brackets(values[0])} vs. shape[{i}] = {brackets(value)}"
            )
        if value.shape[:at] + value.shape[at + 1 :] != first[:at] + first[at + 1 :]:
            raise invalid_argument(
                "ConcatOp : Dimensions of inputs should match: shape[0] = "
                f"{brackets(values[0])} vs. shape[{i}] = {brackets(value)}"
            )


class ConcatV2(Op):
    """Arrays concatenated along an axis.  Source: array_ops.cc, ConcatV2."""

    signature = "values: N*T, axis: Tidx -> output: T"
    minimum: ClassVar[dict[str, int]] = {"N": 2}
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"axis": 0}
    Tidx = INDICES
    Tidx_default = int32
    by_value: ClassVar[tuple[str, ...]] = ("axis",)
    host_inputs: ClassVar[tuple[str, ...]] = ("axis",)
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.PYTHON

    def infer_shape(self, values: list[Shape], axis: Any) -> Shape:
        return _concat_shape(values, axis)

    def shape_sources(self, op: Operation) -> Sequence[Tensor]:
        return op.inputs[:-1]

    def joined_shape(self, op: Operation, parts: list[Shape]) -> Shape:
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return tuple(size for part in known for size in part)

    def check_shapes(self, axis: tuple[int, ...]) -> None:
        require_scalar(axis, "axis tensor should be a scalar integer, but got shape %s")

    def compute(self, xp: ArrayModule, *arrays: Any) -> Any:
        return _concatenate(xp, arrays[:-1], arrays[-1])

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        if len(op.inputs) == 2:
            return [grad, None]
        return [*concat_gradient(op.inputs[:-1], op.inputs[-1], grad), None]


class Concat(Op):
    """The older ConcatV2, with the axis first.  Source: array_ops.cc, Concat."""

    signature = "concat_dim: int32, values: N*T -> output: T"
    minimum: ClassVar[dict[str, int]] = {"N": 2}
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"concat_dim": 0}
    by_value: ClassVar[tuple[str, ...]] = ("concat_dim",)
    host_inputs: ClassVar[tuple[str, ...]] = ("concat_dim",)
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.PYTHON

    def infer_shape(self, concat_dim: Any, values: list[Shape]) -> Shape:
        return _concat_shape(values, concat_dim)

    def check_shapes(self, concat_dim: tuple[int, ...]) -> None:
        message = "concat_dim tensor should be a scalar integer, but got shape %s"
        require_scalar(concat_dim, message)

    def compute(self, xp: ArrayModule, concat_dim: Array, *values: Any) -> Any:
        return _concatenate(xp, values, concat_dim)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        if len(op.inputs) == 2:
            return [None, grad]
        return [None, *concat_gradient(op.inputs[1:], op.inputs[0], grad)]


class ConcatOffset(MultiOutputOp):
    """The offset of each input in a concatenation.  Source: ConcatOffset."""

    signature = "concat_dim: int32, shape: N*int32 -> offset: N*int32"
    minimum: ClassVar[dict[str, int]] = {"N": 2}
    host_inputs: ClassVar[tuple[str, ...]] = ("concat_dim", "shape")
    is_expensive: ClassVar[bool] = False
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self, concat_dim: Shape, shape: list[Shape]) -> list[Shape]:
        return list(shape)

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        message = "Concat dim tensor should be a scalar integer, but got shape %s"
        require_scalar(shapes[0], message)
        for i, own in enumerate(shapes[1:]):
            require_vector(own, f"input {i} should be a vector, but got shape %s")
            message = f"input {i} should contain %s elements, but got %s"
            require(own == shapes[1], message, shapes[1][0], own[0])

    def compute(self, xp: ArrayModule, concat_dim: Array, *shape: Any) -> Any:
        axis, rank = int(concat_dim), shape[0].size
        if not -rank <= axis < rank:
            raise invalid_argument(f"Concat dim is out of range: {axis} vs. {rank}")
        offsets, start, axis = [], 0, axis % rank
        for i, sizes in enumerate(shape):
            differs = sizes != shape[0]
            differs[axis] = False
            if differs.any():
                texts = " ".join(map(str, sizes)), " ".join(map(str, shape[0]))
                raise invalid_argument(
                    f"All dimensions except {axis} must match. Input {i} has shape "
                    f"[{texts[0]}] and doesn't match input 0 with shape [{texts[1]}]."
                )
            offset = np.zeros(len(sizes), np.int32)
            offset[axis] = start
            start += int(sizes[axis])
            offsets.append(offset)
        return tuple(offsets)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class Split(MultiOutputOp):
    """Equal parts along an axis.  Source: core/ops/array_ops.cc, Split."""

    signature = "split_dim: int32, value: T -> output: num_split*T"
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"split_dim": 0}
    num_split: int
    aliases: ClassVar[bool] = True
    by_value: ClassVar[tuple[str, ...]] = ("split_dim",)
    host_inputs: ClassVar[tuple[str, ...]] = ("split_dim",)
    minimum: ClassVar[dict[str, int]] = {"num_split": 1}

    def infer_shape(self, split_dim: Any, value: Shape) -> list[Shape]:
        if value is None:
            return [None] * self.num_split
        if split_dim is None:
            return [(None,) * len(value)] * self.num_split
        axis = _axis_within(int(split_dim), len(value))
        whole = value[axis]
        if whole is not None and whole % self.num_split:
            raise ValueError(
                f"Dimension size must be evenly divisible by {self.num_split} but is "
                f"{whole}\n\tNumber of ways to split should evenly divide the split "
                "dimension"
            )
        part = None if whole is None else whole // self.num_split
        return [(*value[:axis], part, *value[axis + 1 :])] * self.num_split

    def check_shapes(self, split_dim: tuple[int, ...]) -> None:
        message = f"split_dim must be a scalar but has rank {len(split_dim)}"
        require_scalar(split_dim, message)

    def compute(self, xp: ArrayModule, split_dim: Array, value: Array) -> Any:
        axis = int(split_dim)
        if not -value.ndim <= axis < value.ndim:
            raise invalid_argument(
                f"-input rank(-{value.ndim}) <= split_dim < input rank "
                f"({value.ndim}), but got {axis}"
            )
        if value.shape[axis] % self.num_split:
            raise invalid_argument(
                "Number of ways to split should evenly divide the split dimension, "
                f"but got split_dim {axis % value.ndim} (size = {value.shape[axis]}) "
                f"and num_split {self.num_split}"
            )
        return _parts(xp, value, axis % value.ndim, self.num_split)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, concat(list(grads), op.inputs[0])]


# Smaller parts are copied: computing with a view of columns takes twice as long, so the
# copy soon pays off.
_MIN_VIEWED = 1 << 16


def _parts(xp: ArrayModule, value: Any, axis: int, count: int) -> tuple[Any, ...]:
    """Equal parts along an axis (`np.split` takes 10 us for this)."""
    size = value.shape[axis] // count
    before = (slice(None),) * axis
    cuts = [(*before, slice(i * size, (i + 1) * size)) for i in range(count)]
    if axis and value.size < count * _MIN_VIEWED:
        return tuple([xp.ascontiguousarray(value[cut]) for cut in cuts])
    return tuple([value[cut] for cut in cuts])


def _axis_within(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(
            f"Dimension size, given by scalar input {axis} must be in range "
            f"[{-rank}, {rank})"
        )
    return axis % rank


class SplitV(MultiOutputOp):
    """Parts of given lengths along an axis.  Source: array_ops.cc, SplitV."""

    signature = "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split*T"
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {
        "size_splits": 1,
        "split_dim": 0,
    }
    num_split: int
    Tlen = INDICES
    Tlen_default = int64
    aliases: ClassVar[bool] = True
    by_value: ClassVar[tuple[str, ...]] = ("size_splits", "split_dim")
    host_inputs: ClassVar[tuple[str, ...]] = ("size_splits", "split_dim")
    minimum: ClassVar[dict[str, int]] = {"num_split": 1}
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, value: Shape, size_splits: Any, split_dim: Any) -> Any:
        if size_splits is not None and len(size_splits) != self.num_split:
            raise ValueError("Length of size_splits should be equal to num_outputs")
        if value is None:
            return [None] * self.num_split
        if split_dim is None:
            return [(None,) * len(value)] * self.num_split
        axis = _axis_within(int(split_dim), len(value))
        lengths: list[int | None] = [None] * self.num_split
        if size_splits is not None:
            lengths = [None if n < 0 else int(n) for n in size_splits]
            known = sum(n for n in lengths if n is not None)
            rest = None if value[axis] is None else value[axis] - known  # type: ignore[operator]
            if rest is not None and (rest < 0 or (rest and None not in lengths)):
                raise ValueError(
                    f"can't split axis of size {value[axis]} into pieces of size "
                    f"[{','.join(str(n) for n in size_splits)}]"
                )
            lengths = [rest if n is None else n for n in lengths]
        return [(*value[:axis], n, *value[axis + 1 :]) for n in lengths]

    def check_shapes(
        self,
        value: tuple[int, ...],
        size_splits: tuple[int, ...],
        split_dim: tuple[int, ...],
    ) -> None:
        message = "split_dim_tensor must have exactly one element."
        require(all(n == 1 for n in split_dim), message)
        message = "size of the split_tensor must be 1-D and have the same elements as "
        size = size_splits[0] if size_splits else 1
        message += f"outputs got {len(size_splits)} -D and {size} elements"
        require(size_splits == (self.num_split,), message)

    def compute(
        self, xp: ArrayModule, value: Array, size_splits: Array, split_dim: Array
    ) -> Any:
        axis, lengths = int(split_dim.reshape(())), size_splits.tolist()
        rank = value.ndim
        if not -rank <= axis < rank:
            raise invalid_argument(
                f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got "
                f"{axis}"
            )
        whole = value.shape[axis]
        if lengths.count(-1) > 1:
            raise invalid_argument("There can only be one -1 in the input.")
        known = sum(n for n in lengths if n >= 0)
        if known > whole or (known != whole and -1 not in lengths):
            raise invalid_argument(
                "Determined shape must either match input shape along split_dim "
                "exactly if fully specified, or be less than the size of the input "
                f"along split_dim if not fully specified.  Got: {known}"
            )
        lengths = [whole - known if n == -1 else n for n in lengths]
        return tuple(xp.split(value, np.cumsum(lengths[:-1]).tolist(), axis))

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [concat(list(grads), op.inputs[2]), None, None]


# ---- public functions


@export("concat")
def concat(
    values: Sequence[TensorLike], axis: TensorLike, name: str = "concat"
) -> Tensor:
    """Tensors concatenated along an axis.

    Args:
      values: a list of Tensors that differ in size along `axis` only, or one Tensor.
      axis: scalar int Tensor, from -rank to rank - 1.
      name: the op's name.

    Returns:
      A Tensor.

    Raises:
      ValueError: the static shapes are incompatible.
      InvalidArgumentError: the run-time shapes do not.

    Example:
      >>> tf.concat([[[1, 2]], [[3, 4]]], axis=0)  # [[1, 2], [3, 4]]

    Source: ConcatV2 in core/ops/array_ops.cc.
    """
    if not isinstance(values, list | tuple):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            at = convert(axis, int32, "concat_dim")
            shapes.with_rank(at.static_shape, 0)
            return identity(values[0], name=name)
    return ConcatV2()(values, axis, name=name)


@export("split")
def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: TensorLike = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Tensor]:
    """The parts of a tensor along an axis.

    Args:
      value: a Tensor.
      num_or_size_splits: the number of equal parts (an int), or the parts' lengths (an
        int Tensor [num], in which one may be -1 for the rest).
      axis: the axis to split.
      num: the number of lengths, if it is not known statically.
      name: the op's name.

    Returns:
      A list of Tensors.

    Raises:
      ValueError: the lengths do not add up to the size, or `num` is not known.

    Source: Split and SplitV in core/ops/array_ops.cc.
    """
    lengths = convert(num_or_size_splits)
    if isinstance(num_or_size_splits, int | np.integer | Dimension):
        return Split(int(num_or_size_splits))(axis, value, name=name)
    if lengths.static_shape == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to "
            f"split. Argument provided: {num_or_size_splits!s}"
        )
    if num is None:
        num = lengths.static_shape[0] if lengths.static_shape else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits!s}")
    return SplitV(num)(value, lengths, axis, name=name)
