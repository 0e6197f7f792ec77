"""The gradient of a concatenation: slices of the output's gradient.

Slicing and gathering are defined in modules that import this one, hence local imports.
Source: python/ops/array_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.constant_values import constant_value
from tfteach.framework.control_flow_context import output_context
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Gradient
from tfteach.ops.array.where_select import Where
from tfteach.ops.core.constant import Const, constant
from tfteach.ops.core.fill import Fill
from tfteach.ops.core.identity_reshape import ExpandDims, Squeeze
from tfteach.ops.core.shape_ops import ShapeN, rank, shape
from tfteach.ops.core.stack_unstack import Pack
from tfteach.ops.math.binary import Add
from tfteach.ops.math.cast import Cast
from tfteach.ops.math.compare import LogicalAnd

# From this many inputs on, TF uses a split instead of slices.
_MOST_SLICES = 16


def concat_gradient(
    inputs: Sequence[Tensor], axis: Tensor, grad: Any
) -> list[Gradient]:
    """The gradient of each of the concatenated inputs."""
    from tfteach.ops.array.concat_split import ConcatOffset, SplitV
    from tfteach.ops.array.slicing import Slice

    if isinstance(grad, IndexedSlices):
        return _sparse(inputs, axis, grad)
    if (
        not isinstance(axis, EagerTensor)
        and isinstance(axis.op.spec, Const)
        and output_context(axis.op) is not output_context(grad.op)
    ):
        # A copy in the gradient's loop saves one more value that enters it.
        axis = constant(constant_value(axis), axis.dtype)
    at = axis % rank(inputs[0])
    sizes = _sizes(inputs)
    if len(sizes) <= _MOST_SLICES:
        offsets = ConcatOffset()(at, sizes)
        cut = Slice()
        return [cut(grad, o, n) for o, n in zip(offsets, sizes, strict=True)]
    table = Pack(axis=1)(sizes, name="stack")
    row = Slice()(table, [at, 0], [1, -1])
    lengths = Squeeze()(row)
    return [*SplitV(num_split=len(sizes))(grad, lengths, at, name="split")]


def _sizes(inputs: Sequence[Tensor]) -> list[Tensor]:
    """The inputs' shapes: constants if all are known, else one ShapeN."""
    sizes = []
    for tensor in inputs:
        size = shape(tensor)
        if not isinstance(size, EagerTensor) and not isinstance(size.op.spec, Const):
            return ShapeN()(list(inputs))
        sizes.append(size)
    return sizes


def _sparse(inputs: Sequence[Tensor], axis: Tensor, grad: IndexedSlices) -> list[Any]:
    at = axis % rank(inputs[0])
    known = constant_value(axis)
    if known is None:
        raise ValueError(
            "Can only compute IndexedSlices gradient with statically-known concat_dim"
        )
    known = int(known)
    if known < 0:
        total = inputs[0].shape.rank
        rank(inputs[0])  # TF adds this node too
        if total is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim when "
                "first value rank is statically-known."
            )
        known %= total
    sizes = [shape(tensor) for tensor in inputs]
    if known > 0:
        return _sparse_inner(sizes, at, grad)
    return _sparse_rows(sizes, at, grad)


def _sparse_inner(sizes: list[Tensor], at: Tensor, grad: IndexedSlices) -> list[Any]:
    """Concatenated along another axis than the rows: all indices, some columns each."""
    from tfteach.ops.array.concat_split import ConcatV2
    from tfteach.ops.array.slicing import Slice

    concat, cut, fill = ConcatV2(), Slice(), Fill()
    ranks = shape(sizes[0])
    mask = concat(
        [fill(ExpandDims()(at, 0), 0), [1], fill(ranks - at - 1, 0)],
        0,
        name="concat",
    )
    begin = fill(ranks, 0)
    result = []
    for size in sizes:
        wanted = concat([[-1], cut(size, [1], [-1])], 0, name="concat")
        values = cut(grad.values, begin, wanted)
        result.append(IndexedSlices(values, grad.indices, size))
        begin = Add()(begin, size * mask)
    return result


def _sparse_rows(sizes: list[Tensor], at: Tensor, grad: IndexedSlices) -> list[Any]:
    """Concatenated along the rows: the rows within each input's range."""
    from tfteach.ops.array.gather import GatherV2

    gather = GatherV2()
    indices = grad.indices
    start = constant(0, indices.dtype)
    result = []
    for size in sizes:
        length = gather(size, at, 0)
        if length.dtype != indices.dtype:
            length = Cast(DstT=indices.dtype)(length)
        end = start + length
        within = LogicalAnd()(indices >= start, indices < end)
        rows = Squeeze((1,))(Where()(within))
        new_indices = gather(indices, rows, 0) - start
        result.append(IndexedSlices(gather(grad.values, rows, 0), new_indices, size))
        start = end
    return result
