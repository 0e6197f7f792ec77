"""The gradient of a concatenation: the output's gradient, cut where the parts met.

It needs slices and gathers, which are families after `join`, hence looks them up.
Source: python/ops/array_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.constant_values import constant_value
from tfteach.framework.control_flow_context import output_context
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import OPS
from tfteach.framework.operation import Tensor
from tfteach.ops.core.constant import constant
from tfteach.ops.core.shape_ops import ShapeN, rank, shape

# From this many parts on, TF splits instead of slicing.
_MOST_SLICES = 16


def concat_gradient(inputs: Sequence[Tensor], axis: Tensor, grad: Any) -> list[Any]:
    """The gradient of each of the concatenated inputs."""
    if isinstance(grad, IndexedSlices):
        return _sparse(inputs, axis, grad)
    if axis.op.type == "Const" and (
        output_context(axis.op) is not output_context(grad.op)
    ):
        # A copy inside grad's loop, instead of one more value that enters it.
        axis = constant(constant_value(axis), axis.dtype)
    at = axis % rank(inputs[0])
    sizes = _sizes(inputs)
    if len(sizes) <= _MOST_SLICES:
        offsets = OPS["ConcatOffset"]()(at, sizes)
        cut = OPS["Slice"]()
        return [cut(grad, o, n) for o, n in zip(offsets, sizes, strict=True)]
    table = OPS["Pack"](axis=1)(sizes, name="stack")
    row = OPS["Slice"]()(table, [at, 0], [1, -1])
    lengths = OPS["Squeeze"]()(row)
    return OPS["SplitV"](num_split=len(sizes))(grad, lengths, at, name="split")


def _sizes(inputs: Sequence[Tensor]) -> list[Tensor]:
    """The inputs' shapes: constants if all are known, else one ShapeN."""
    sizes = []
    for tensor in inputs:
        size = shape(tensor)
        if size.op.type != "Const":
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
        rank(inputs[0])  # TF asks with a node
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
    """Not along the rows: every input gets all indices and its columns."""
    concat, cut, fill = OPS["ConcatV2"](), OPS["Slice"](), OPS["Fill"]()
    ranks = shape(sizes[0])
    mask = concat(
        [fill(OPS["ExpandDims"]()(at, 0), 0), [1], fill(ranks - at - 1, 0)],
        0,
        name="concat",
    )
    begin = fill(ranks, 0)
    result = []
    for size in sizes:
        wanted = concat([[-1], cut(size, [1], [-1])], 0, name="concat")
        values = cut(grad.values, begin, wanted)
        result.append(IndexedSlices(values, grad.indices, size))
        begin = OPS["Add"]()(begin, size * mask)
    return result


def _sparse_rows(sizes: list[Tensor], at: Tensor, grad: IndexedSlices) -> list[Any]:
    """Along the rows: every input gets the rows that fall into it."""
    gather = OPS["GatherV2"]()
    indices = grad.indices
    start = constant(0, indices.dtype)
    result = []
    for size in sizes:
        length = gather(size, at, 0)
        if length.dtype != indices.dtype:
            length = OPS["Cast"](DstT=indices.dtype)(length)
        end = start + length
        within = OPS["LogicalAnd"]()(indices >= start, indices < end)
        rows = OPS["Squeeze"]((1,))(OPS["Where"]()(within))
        new_indices = gather(indices, rows, 0) - start
        result.append(IndexedSlices(gather(grad.values, rows, 0), new_indices, size))
        start = end
    return result
