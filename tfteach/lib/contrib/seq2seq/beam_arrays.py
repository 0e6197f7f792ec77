"""Arrays of beam search: batches tiled per beam, histories reordered by beam.

Source: contrib/seq2seq/python/ops/beam_search_decoder.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.case import Assert
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.seq2seq.attention import size_of
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.gather_tree import GatherTree
from tfteach.ops.array.one_hot import sequence_mask
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.where_select import where
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, logical_and, logical_or
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_max


@export("contrib.seq2seq.tile_batch")
def tile_batch(t: TensorLike, multiplier: int, name: str | None = None) -> Any:
    """Each row repeated `multiplier` times in sequence, for beam search.

    Args:
      t: a Tensor [batch, ...], or a nest of them.
      multiplier: an int, the number of beams.
      name: the name scope.

    Returns:
      A Tensor [batch * multiplier, ...]; nested as `t` is.

    Raises:
      ValueError: a rank is not known, or 0.

    Example:
      >>> tf.contrib.seq2seq.tile_batch(tf.constant([1, 2]), 3)  # [1, 1, 1, 2, 2, 2]

    Source: contrib/seq2seq/python/ops/beam_search_decoder.py.
    """
    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(lambda part: _tiled(part, multiplier), t)


def _tiled(tensor: Any, multiplier: int) -> Tensor:
    tensor = convert(tensor, name="t")
    sizes = shape(tensor)
    known = tensor.shape
    if known.ndims is None or known.ndims < 1:
        raise ValueError("t must have statically known rank")
    times = [1, multiplier] + [1] * (known.ndims - 1)
    tiled = tile(expand_dims(tensor, 1), times)
    tiled = reshape(tiled, concat(([sizes[0] * multiplier], sizes[1:]), 0))
    rows = known.as_list()[0]
    rows = None if rows is None else rows * multiplier
    tiled.set_shape(TensorShape([rows]).concatenate(known[1:]))
    return tiled


@export("contrib.seq2seq.gather_tree")
def gather_tree(
    step_ids: TensorLike,
    parent_ids: TensorLike,
    max_sequence_lengths: TensorLike,
    end_token: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Full beams, from the ids and the parent beams of each step.

    Args:
      step_ids: int32 Tensor [time, batch, beams], the id of each beam in each step.
      parent_ids: int32 Tensor like it, the beam of the previous step that it extends.
      max_sequence_lengths: int32 Tensor [batch]; later steps are ignored.
      end_token: int32 scalar; fills the steps after the length, and after itself.
      name: the op's name.

    Returns:
      An int32 Tensor like `step_ids`; beam k ends with beam k of the last step.

    Raises:
      InvalidArgumentError: a required parent is not a valid beam.

    Example:
      >>> steps, parents = [[[1, 2]], [[3, 4]]], [[[0, 0]], [[1, 1]]]
      >>> tf.contrib.seq2seq.gather_tree(steps, parents, [2], 9)
      >>> # [[[2, 2]], [[3, 4]]]

    Source: contrib/seq2seq/ops/beam_search_ops.cc, GatherTree.
    """
    return GatherTree()(
        step_ids, parent_ids, max_sequence_lengths, end_token, name=name
    )


def require_known_rank(tensor: Tensor) -> int:
    """The rank of a Tensor; ValueError if it is not known."""
    ndims = tensor.shape.ndims
    if ndims is None:
        raise ValueError(
            f"Expected tensor ({tensor}) to have known rank, but ndims == None."
        )
    return ndims


def sorted_array(
    part: Any, parent_ids: Tensor, lengths: Tensor, batch_size: Tensor, width: int
) -> Any:
    """A state's TensorArray as a Tensor in the order of the final beams.

    Other values, and arrays whose elements have no beams, are returned unchanged.
    """
    if not isinstance(part, TensorArray):
        return part
    known = part.element_shape
    if known.ndims is None or known.ndims < 1:
        get_logger().warning(
            "The TensorArray %s in the cell state is not amenable to sorting based on "
            "the beam search result. For a TensorArray to be sorted, its elements "
            "shape must be defined and have at least a rank of 1, but saw shape: %s",
            part.handle.name,
            known,
        )
        return part
    known_batch = python_constant_value(batch_size)
    if not _may_have_beams(known, known_batch, width):
        return part
    stacked = part.stack()
    with control_dependencies([_check_beams(stacked, batch_size, width)]):
        return gather_tree_from_array(stacked, parent_ids, lengths)


def _may_have_beams(known: TensorShape, batch: Any, width: int) -> bool:
    """Whether an element's known sizes are compatible with batch and beams."""
    sizes = known.as_list()
    if batch is None or sizes[0] is None:
        return True
    fits: bool = sizes[0] == batch * width
    if len(sizes) >= 2 and sizes[1] is not None:
        # As in TensorFlow: known sizes match only if batch and beams are separate axes.
        fits = fits and sizes[0] == batch and sizes[1] == width
    if not fits:
        get_logger().warning(
            "TensorArray reordering expects elements to be reshapable to %s which is "
            "incompatible with the current shape %s. Consider setting "
            "reorder_tensor_arrays to False to disable TensorArray reordering during "
            "the beam search.",
            TensorShape([int(batch), width, None]),
            known,
        )
    return fits


def _check_beams(stacked: Tensor, batch_size: Tensor, width: int) -> Operation:
    message = (
        "TensorArray reordering expects elements to be reshapable to [batch_size, "
        "beam_size, -1] which is incompatible with the dynamic shape of "
        f"{stacked.name} elements. Consider setting reorder_tensor_arrays to False to "
        "disable TensorArray reordering during the beam search."
    )
    sizes = shape(stacked)
    if stacked.shape.ndims == 2:
        fits = equal(sizes[1], batch_size * width)
    else:
        fits = logical_or(
            equal(sizes[1], batch_size * width),
            logical_and(equal(sizes[1], batch_size), equal(sizes[2], width)),
        )
    return Assert(fits, [message])


def gather_tree_from_array(
    stacked: Tensor, parent_ids: Tensor, sequence_length: Tensor
) -> Tensor:
    """The path of each final beam.

    Args:
      stacked: a Tensor [time, batch, beams, ...] or [time, batch * beams, ...].
      parent_ids: int32 Tensor [time, batch, beams], as for `gather_tree`.
      sequence_length: int64 Tensor [batch, beams].

    Returns:
      A Tensor like `stacked`.
    """
    steps, batch, width = (size_of(parent_ids, axis) for axis in (0, 1, 2))
    beams = tile(expand_dims(expand_dims(range_of(width), 0), 0), [steps, batch, 1])
    longest = cast(reduce_max(sequence_length, axis=1), int32)
    ordered = gather_tree(
        step_ids=beams,
        parent_ids=parent_ids,
        max_sequence_lengths=longest,
        end_token=width + 1,
    )
    inside = transpose(sequence_mask(sequence_length, maxlen=steps), perm=[2, 0, 1])
    ordered = where(inside, x=ordered, y=beams)
    times = tile(reshape(range_of(steps), [-1, 1, 1]), [1, batch, width])
    rows = tile(reshape(range_of(batch), [-1, 1, 1]), [1, steps, width])
    rows = transpose(rows, perm=[1, 0, 2])
    indices = stack([times, rows, ordered], -1)
    final_shape = shape(stacked)
    apart = reshape(stacked, [steps, batch, width, -1])
    gathered: Tensor = reshape(gather_nd(apart, indices), final_shape)
    return gathered
