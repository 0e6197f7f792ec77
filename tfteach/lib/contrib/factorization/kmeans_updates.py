"""How the centers of k-means move, by all points at once or by small batches.

Source: contrib/factorization/python/ops/clustering_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.branch import cond
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import int32
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.segment_functions import unsorted_segment_sum
from tfteach.ops.array.unique import unique
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.fill import ones, ones_like, zeros_like
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import rank, shape, size
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import less_equal
from tfteach.ops.math.unary import reciprocal
from tfteach.ops.nn.l2_loss import l2_normalize
from tfteach.ops.state.ref_variables import assign, assign_sub
from tfteach.ops.state.scatter_functions import scatter_add

_NO_POINTS = 1e-6  # so that a center without points is not divided by 0


def full_batch_op(
    inputs: list[Tensor], count: Tensor, ids: list[Tensor], centers: Any,
    is_cosine: bool,
) -> Tensor:  # fmt: skip
    """Each center becomes the mean of its points."""
    graph = get_default_graph()
    sums, counts = [], []
    epsilon = constant(_NO_POINTS, dtype=inputs[0].dtype)
    for points, nearest in zip(inputs, ids, strict=True):
        with graph.colocate_with(points, ignore_existing=True):
            sums.append(unsorted_segment_sum(points, nearest, count))
            each = ones(reshape(shape(points)[0], [-1]))
            counts.append(unsorted_segment_sum(reshape(each, [-1, 1]), nearest, count))
    with graph.colocate_with(centers, ignore_existing=True):
        total: Any = sums[0] if len(sums) == 1 else add_n(sums)
        members: Any = counts[0] if len(counts) == 1 else add_n(counts)
        new = total / cast(members + epsilon, total.dtype)
        if is_cosine:
            new = l2_normalize(new, 1)
    moved: Tensor = assign(centers, new)
    return moved


def mini_batch_op(
    inputs: list[Tensor], ids: list[Tensor], centers: Any, counts: Any, sync: Any
) -> Any:
    """Each center moves towards its points, the less, the more it has had."""
    graph = get_default_graph()
    updates = [sync]
    for points, nearest in zip(inputs, ids, strict=True):
        with (
            control_dependencies([sync]),
            graph.colocate_with(points, ignore_existing=True),
        ):
            found, rows = unique(reshape(nearest, [-1]))
            number = size(found)
            with graph.colocate_with(counts, ignore_existing=True):
                old_counts = gather(counts, found)
            with graph.colocate_with(centers, ignore_existing=True):
                old_centers = gather(centers, found)
            more = unsorted_segment_sum(
                ones_like(rows, dtype=counts.dtype), rows, number
            )
            moves = unsorted_segment_sum(points, rows, number)
            first = reshape(number, [1])
            singles = ones(reshape(rank(points) - 1, [1]), dtype=int32)
            sizes = concat([first, singles], 0)
            moves -= cast(reshape(more, sizes), points.dtype) * old_centers
            rate = reciprocal(cast(old_counts + more, points.dtype))
            moves *= reshape(rate, sizes)
            for variable, added in ((counts, more), (centers, moves)):
                with graph.colocate_with(variable, ignore_existing=True):
                    updates.append(scatter_add(variable, found, added))
    return group(*updates)


def sync_op(
    steps: int, steps_left: Any, centers: Any, centers_updated: Any, counts: Any,
    is_cosine: bool,
) -> Any:  # fmt: skip
    """Every `steps` steps the centers take over the updated ones."""
    if steps == 1:
        return no_op()

    def taken_over() -> Tensor:
        new: Any = centers_updated
        with (
            control_dependencies([assign(steps_left, steps - 1)]),
            get_default_graph().colocate_with(None, ignore_existing=True),
        ):
            if is_cosine:
                with get_default_graph().colocate_with(new, ignore_existing=True):
                    new = l2_normalize(new, 1)
            with (
                control_dependencies([assign(centers, new)]),
                control_dependencies([assign(counts, zeros_like(counts))]),
            ):
                return identity(steps_left)

    with get_default_graph().colocate_with(steps_left, ignore_existing=True):
        return cond(
            less_equal(steps_left, 0), taken_over, lambda: assign_sub(steps_left, 1)
        )
