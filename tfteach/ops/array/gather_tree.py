"""Full beams from step and parent ids: `tf.contrib.seq2seq.gather_tree`.

Source: contrib/seq2seq/ops/beam_search_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import errors
from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.shape import Shape, text, with_rank
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.array.where_select import merge_by_size


class GatherTree(Op):
    """Beams traced from their last step to the first.  Source: beam_search_ops.cc."""

    signature = (
        "step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T "
        "-> beams: T"
    )
    T = dtypes_of("int32")
    host_inputs: ClassVar[tuple[str, ...]] = ("end_token",)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(
        self,
        step_ids: Shape,
        parent_ids: Shape,
        max_sequence_lengths: Shape,
        end_token: Shape,
    ) -> Shape:
        steps, parents = with_rank(step_ids, 3), with_rank(parent_ids, 3)
        lengths = with_rank(max_sequence_lengths, 1)
        with_rank(end_token, 0)
        steps = merge_by_size(steps, parents) or steps
        return (steps[0], shapes.same_size(steps[1], lengths[0]), steps[2])

    def compute(
        self,
        xp: ArrayModule,
        step_ids: Array,
        parent_ids: Array,
        max_sequence_lengths: Array,
        end_token: Array,
    ) -> Any:
        _check_shapes(step_ids, parent_ids, max_sequence_lengths, end_token)
        steps, batch, width = step_ids.shape
        end = end_token.item()
        beams = xp.full(step_ids.shape, end, step_ids.dtype)
        lengths = max_sequence_lengths[:, None]
        ends_at = xp.minimum(lengths, steps) - 1
        # The parent beam at each step, traced back from the last step.
        place = xp.broadcast_to(xp.arange(width), (batch, width))
        for time in range(steps - 1, -1, -1):
            is_inside = time <= ends_at
            is_bad = (time < ends_at) & ((place < 0) | (place >= width))
            if width and is_bad.any():
                row, beam = (int(i[0]) for i in xp.nonzero(is_bad))
                raise errors.invalid_argument(
                    f"Saw invalid parent id {int(place[row, beam])} at (batch, time, "
                    f"beam) == ({row}, {time}, {beam})"
                )
            here = xp.where(is_inside, place, 0)
            found = xp.take_along_axis(step_ids[time], here, 1)
            beams[time] = xp.where(is_inside, found, end)
            parents = xp.take_along_axis(parent_ids[time], here, 1)
            place = xp.where(is_inside, parents, place)
        has_ended = xp.cumsum(beams == end, axis=0) > 0
        return xp.where(has_ended, beams.dtype.type(end), beams)


def _check_shapes(steps: Any, parents: Any, lengths: Any, end: Any) -> None:
    """Raise TensorFlow's errors for shapes known only at run time."""
    if steps.ndim != 3:
        raise errors.invalid_argument(
            f"step_ids must be a 3-tensor, saw shape: {text(steps.shape)}"
        )
    if lengths.ndim != 1:
        raise errors.invalid_argument(
            f"max_sequence_lengths must be a vector, saw shape: {text(lengths.shape)}"
        )
    if end.ndim != 0:
        raise errors.invalid_argument(
            f"end_token must be a scalar, saw shape: {text(end.shape)}"
        )
    if steps.shape != parents.shape:
        raise errors.invalid_argument(
            "step_ids.shape must match parent_ids.shape.  but shapes are: "
            f"{text(steps.shape)} and {text(parents.shape)}"
        )
    if steps.shape[1] != lengths.shape[0]:
        raise errors.invalid_argument(
            "batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] "
            f"must match.  but shapes are: {text(steps.shape)} and "
            f"{text(lengths.shape)}"
        )
