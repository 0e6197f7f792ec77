"""One step of beam search: the best extensions of all beams.

Source: contrib/seq2seq/python/ops/beam_search_decoder.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.lib.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from tfteach.lib.contrib.seq2seq.beam_arrays import require_known_rank
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.tile import tile
from tfteach.ops.array.top_k import top_k
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import fill, ones_like
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import minimum
from tfteach.ops.math.cast import cast, to_int64
from tfteach.ops.math.compare import equal, logical_not, logical_or
from tfteach.ops.math.division import div
from tfteach.ops.math.exponential import log
from tfteach.ops.math.modulo import floormod
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_sum
from tfteach.ops.nn.softmax import log_softmax


@export("contrib.seq2seq.BeamSearchDecoderState")
class BeamSearchDecoderState(NamedTuple):
    """The state of a beam search.

    Attributes:
      cell_state: the cell's state, [batch, beams, ...].
      log_probs: a float Tensor [batch, beams].
      finished: a bool Tensor [batch, beams].
      lengths: an int64 Tensor [batch, beams].
      accumulated_attention_probs: a float Tensor [batch, beams, time of memory], or ().
    """

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


@export("contrib.seq2seq.BeamSearchDecoderOutput")
class BeamSearchDecoderOutput(NamedTuple):
    """Result of one step of beam search.

    Attributes:
      scores: a float Tensor [batch, beams].
      predicted_ids: an int32 Tensor [batch, beams].
      parent_ids: an int32 Tensor [batch, beams], the beams that these extend.
    """

    scores: Any
    predicted_ids: Any
    parent_ids: Any


def beam_search_step(
    time: Any,
    logits: Tensor,
    next_cell_state: Any,
    beam_state: BeamSearchDecoderState,
    batch_size: Tensor,
    beam_width: int,
    end_token: Tensor,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
    """The best extensions of all beams.

    Args:
      time: int32 scalar, the step's index.
      logits: a Tensor [batch, beams, classes].
      next_cell_state: the cell's state after the step, [batch, beams, ...].
      beam_state: the previous state of the search.
      batch_size: scalar int32 Tensor.
      beam_width: the number of beams.
      end_token: int32 scalar.
      length_penalty_weight, coverage_penalty_weight: as in BeamSearchDecoder.

    Returns:
      (output, next state).
    """
    known_batch = python_constant_value(batch_size)
    known_batch = None if known_batch is None else int(known_batch)
    was_finished = beam_state.finished
    goes_on = logical_not(was_finished)
    log_probs = _masked(log_softmax(logits), end_token, was_finished)
    total = expand_dims(beam_state.log_probs, 2) + log_probs
    classes = logits.shape.as_list()[-1] or shape(logits)[-1]
    more = one_hot(
        indices=fill([batch_size, beam_width], end_token),
        depth=classes,
        on_value=to_int64(0),
        off_value=to_int64(1),
        dtype=int64,
    )
    counted = cast(goes_on, int64)
    more = more * expand_dims(counted, 2)
    lengths = more + expand_dims(beam_state.lengths, 2)
    attended = attention_of(next_cell_state, coverage_penalty_weight)
    if attended is not None:
        attended = attended * expand_dims(cast(goes_on, float32), 2)
        attended = beam_state.accumulated_attention_probs + attended
    scores = _scores(
        total,
        lengths,
        length_penalty_weight,
        coverage_penalty_weight,
        was_finished,
        attended,
    )
    convert(time, name="time")
    flat = reshape(scores, [batch_size, -1])
    count = convert(beam_width, int32, name="beam_width")
    best, chosen = top_k(flat, k=count)
    best.set_shape([known_batch, beam_width])
    chosen.set_shape([known_batch, beam_width])
    probs = _gathered(
        chosen, total, batch_size, beam_width * classes, [-1], "next_beam_probs"
    )
    message = cast(floormod(chosen, classes, name="next_beam_word_ids"), int32)
    parents = cast(chosen / classes, int32, name="next_beam_parent_ids")

    def of_parents(tensor: Tensor, rows: list[Any], name: str | None = None) -> Tensor:
        return _gathered(parents, tensor, batch_size, beam_width, rows, name)

    was_finished = of_parents(was_finished, [-1])
    finished = logical_or(
        was_finished, equal(message, end_token), name="next_beam_finished"
    )
    added = cast(logical_not(was_finished), int64)
    lengths = of_parents(beam_state.lengths, [-1]) + added
    accumulated: Any = ()
    if attended is not None:
        name = "next_accumulated_attention_probs"
        accumulated = of_parents(attended, [batch_size * beam_width, -1], name)

    def part_of_parents(part: Any) -> Any:
        # As in TensorFlow's graph, the rows are computed for every part.
        rows = [batch_size * beam_width, -1]
        if isinstance(part, TensorArray) or require_known_rank(part) < len(rows):
            return part
        return of_parents(part, rows)

    state = BeamSearchDecoderState(
        cell_state=nest.map_structure(part_of_parents, next_cell_state),
        log_probs=probs,
        lengths=lengths,
        finished=finished,
        accumulated_attention_probs=accumulated,
    )
    return BeamSearchDecoderOutput(best, message, parents), state


def attention_of(cell_state: Any, coverage_penalty_weight: Any) -> Tensor | None:
    """The alignments in a state, averaged over all mechanisms; None without a penalty.

    Raises:
      ValueError: a penalty is set, but the cell has no attention.
    """
    if coverage_penalty_weight == 0.0:
        return None
    states = [cell_state]
    if not isinstance(cell_state, AttentionWrapperState):
        states = list(cell_state) if isinstance(cell_state, tuple) else []
    found = [
        _mean(state.alignments) if isinstance(state.alignments, tuple)
        else state.alignments
        for state in states
        if isinstance(state, AttentionWrapperState)
    ]  # fmt: skip
    if not found:
        raise ValueError(
            "coverage_penalty_weight must be 0.0 if no cell is attentional."
        )
    return found[0] if len(found) == 1 else _mean(found)


def _mean(tensors: Any) -> Tensor:
    side_by_side = concat([expand_dims(tensor, -1) for tensor in tensors], -1)
    return reduce_mean(side_by_side, -1)


def _scores(
    log_probs: Tensor,
    lengths: Tensor,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
    finished: Tensor,
    attended: Tensor | None,
) -> Tensor:
    """The scores of sequences; see BeamSearchDecoder."""
    length_penalty = _length_penalty(lengths, length_penalty_weight)
    scores: Tensor = log_probs / cast(length_penalty, dtype=log_probs.dtype)
    weight = convert(coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.ndims != 0:
        raise ValueError(
            f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}"
        )
    known = python_constant_value(weight)
    if attended is None or (known is not None and known == 0.0):
        return scores
    # Positions beyond the memory's end have no attention and incur no penalty.
    attended = where(equal(attended, 0.0), ones_like(attended), attended)
    penalty = reduce_sum(log(minimum(attended, 1.0)), 2)
    penalty = penalty * cast(finished, float32)
    result: Tensor = scores + expand_dims(penalty * weight, 2)
    return result


def _length_penalty(lengths: Tensor, factor: Any) -> Any:
    """((5 + length) / 6) ^ factor; see https://arxiv.org/abs/1609.08144."""
    factor = convert(factor, name="penalty_factor")
    factor.set_shape(())
    known = python_constant_value(factor)
    if known is not None and known == 0:
        return 1.0
    return div((5.0 + cast(lengths, float32)) ** factor, 6.0**factor)


def _masked(log_probs: Tensor, end_token: Tensor, finished: Tensor) -> Tensor:
    """The log probabilities; after the end only the end token is possible."""
    classes = shape(log_probs)[2]
    kind = log_probs.dtype
    row = one_hot(
        end_token,
        classes,
        dtype=kind,
        on_value=convert(0.0, kind),
        off_value=kind.min,
    )
    rows = tile(reshape(row, [1, 1, -1]), concat([shape(finished), [1]], 0))
    mask = tile(expand_dims(finished, 2), [1, 1, classes])
    return where(mask, rows, log_probs)


def _gathered(
    indices: Tensor,
    source: Tensor,
    batch_size: Tensor,
    range_size: Any,
    rows: list[Any],
    name: str | None = None,
) -> Tensor:
    """Elements of each batch entry, by their index within the entry.

    Args:
      indices: int32 Tensor [batch, beams].
      source: a Tensor [batch, range_size, ...].
      batch_size: scalar int32 Tensor.
      range_size: the number of elements per batch entry.
      rows: the shape in which all elements lie along one axis.
      name: the name scope.

    Returns:
      A Tensor [batch, beams, ...].
    """
    axes = 1 + len(rows)
    with name_scope(name, "tensor_gather_helper"):
        offsets = expand_dims(range_of(batch_size) * range_size, 1)
        indices = reshape(indices + offsets, [-1])
        found = gather(reshape(source, rows), indices)
        final_shape = shape(source)[:axes]
        known = python_constant_value(batch_size)
        static = TensorShape([None if known is None else int(known)])
        found = reshape(found, final_shape, name="output")
        found.set_shape(static.concatenate(source.shape[1:axes]))
        return found
