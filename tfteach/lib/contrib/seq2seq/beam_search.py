"""The decoder that tracks the best sequences of each batch entry.

Source: contrib/seq2seq/python/ops/beam_search_decoder.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfteach.control.branch import cond
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import bool_, int32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.seq2seq.beam_arrays import (
    gather_tree,
    require_known_rank,
    sorted_array,
)
from tfteach.lib.contrib.seq2seq.beam_step import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    attention_of,
    beam_search_step,
)
from tfteach.lib.contrib.seq2seq.decoder import Decoder
from tfteach.lib.contrib.seq2seq.inference import embedding_function
from tfteach.lib.layers.base import Layer
from tfteach.lib.rnn.cell import RNNCell, require_cell
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.tile import tile
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_all, reduce_max


@export("contrib.seq2seq.FinalBeamSearchDecoderOutput")
class FinalBeamSearchDecoderOutput(NamedTuple):
    """Final result of beam search.

    Attributes:
      predicted_ids: int32 Tensor [batch, time, beams], the best beam first.
      beam_search_decoder_output: the steps it was computed from, a
        BeamSearchDecoderOutput.
    """

    predicted_ids: Any
    beam_search_decoder_output: Any


@export("contrib.seq2seq.BeamSearchDecoder")
class BeamSearchDecoder(Decoder):
    """A decoder that tracks the `beam_width` most probable sequences per batch entry.

    A sequence's score is its log probability / ((5 + length) / 6) ^ length_penalty +
    coverage_penalty * sum over the memory of log(min(its attention, 1)).

    Args:
      cell: an RNNCell; one with attention requires a memory tiled by `tile_batch`.
      embedding: a function of ids, or the table(s) for `tf.nn.embedding_lookup`.
      start_tokens: int32 Tensor [batch], the ids before the first step.
      end_token: int32 scalar; a sequence ends with it.
      initial_state: the cell's state, with batch x beam_width rows.
      beam_width: the number of sequences to track, an int.
      output_layer: a layer that computes logits from the cell's outputs, or None.
      length_penalty_weight: the preference for longer sequences; 0 for none.
      coverage_penalty_weight: the preference for attention to all of the memory; 0:
          none.
      reorder_tensor_arrays: return TensorArrays in the state (the history of
        alignments) as Tensors in the order of the final beams.

    Raises:
      TypeError: `cell` or `output_layer` has an unsupported type.
      ValueError: `start_tokens` is not a vector, or `end_token` not a scalar; the
        state's batch is not tiled.

    Example:
      >>> table = tf.get_variable("table", [6, 6])
      >>> cell = tf.nn.rnn_cell.GRUCell(6)
      >>> seq2seq = tf.contrib.seq2seq
      >>> state = seq2seq.tile_batch(tf.zeros([2, 6]), 3)
      >>> decoder = seq2seq.BeamSearchDecoder(cell, table, [1, 2], 0, state, 3)
      >>> outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
      >>> outputs.predicted_ids  # [2, time, 3]

    Source: contrib/seq2seq/python/ops/beam_search_decoder.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        embedding: Any,
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: TensorLike = 0.0,
        coverage_penalty_weight: TensorLike = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        require_cell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(
                f"output_layer must be a Layer, received: {type(output_layer)}"
            )
        self._cell, self._output_layer = cell, output_layer
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._embedding_fn = embedding_function(embedding)
        tokens = convert(start_tokens, int32, name="start_tokens")
        if tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert(end_token, int32, name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = size(start_tokens)
        self._initial_cell_state = nest.map_structure(
            self._maybe_split, initial_state, cell.state_size
        )
        tokens = tile(expand_dims(tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(tokens)
        # All beams are equal initially: only the first may be extended.
        self._finished = one_hot(
            zeros([self._batch_size], dtype=int32),
            depth=beam_width,
            on_value=False,
            off_value=True,
            dtype=bool_,
        )

    @property
    def batch_size(self) -> Tensor:
        """The batch size."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """Whether beams are reordered between steps: yes."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """The sizes of a step's outputs: the number of beams."""
        width = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(width, width, width)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """The types of a step's outputs."""
        kind = nest.flatten(self._initial_cell_state)[0].dtype
        scores = nest.map_structure(lambda _: kind, self._cell.output_size)
        return BeamSearchDecoderOutput(scores, int32, int32)

    def initialize(self, name: str | None = None) -> Any:
        """Initialize; returns (finished bool [batch, beams], inputs, state)."""
        kind = nest.flatten(self._initial_cell_state)[0].dtype
        log_probs = one_hot(
            zeros([self._batch_size], dtype=int32),
            depth=self._beam_width,
            on_value=convert(0.0, kind),
            off_value=convert(-np.inf, kind),
            dtype=kind,
        )
        attention = attention_of(
            self._initial_cell_state, self._coverage_penalty_weight
        )
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=zeros([self._batch_size, self._beam_width], dtype=int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    def step(
        self, time: Tensor, inputs: TensorLike, state: Any, name: str | None = None
    ) -> Any:
        """Run one step; returns (output, state, inputs, finished [batch, beams])."""
        sizes = self._cell.state_size
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            inputs = nest.map_structure(lambda x: self._merge(x, x.shape[2:]), inputs)
            cell_state = nest.map_structure(self._maybe_merge, state.cell_state, sizes)
            outputs, cell_state = self._cell(inputs, cell_state)
            outputs = nest.map_structure(lambda x: self._split(x, x.shape[1:]), outputs)
            cell_state = nest.map_structure(self._maybe_split, cell_state, sizes)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            step, state = beam_search_step(
                time,
                outputs,
                cell_state,
                state,
                self._batch_size,
                self._beam_width,
                self._end_token,
                self._length_penalty_weight,
                self._coverage_penalty_weight,
            )
            next_inputs = cond(
                reduce_all(state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(step.predicted_ids),
            )
        return step, state, next_inputs, state.finished

    def finalize(
        self, outputs: Any, final_state: Any, sequence_lengths: TensorLike
    ) -> Any:
        """(FinalBeamSearchDecoderOutput, state), from the outputs of all steps."""
        predicted = gather_tree(
            outputs.predicted_ids,
            outputs.parent_ids,
            max_sequence_lengths=cast(reduce_max(final_state.lengths, axis=1), int32),
            end_token=self._end_token,
        )
        if self._reorder_tensor_arrays:
            ordered = nest.map_structure(
                lambda part: sorted_array(
                    part,
                    outputs.parent_ids,
                    final_state.lengths,
                    self._batch_size,
                    self._beam_width,
                ),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=ordered)
        return FinalBeamSearchDecoderOutput(predicted, outputs), final_state

    # ---- [batch * beams, ...] and [batch, beams, ...]

    def _known_batch(self) -> int | None:
        known = python_constant_value(self._batch_size)
        return None if known is None else int(known)

    def _merge(self, tensor: Tensor, depth: Any) -> Tensor:
        """[batch, beams, ...] as [batch * beams, ...]."""
        sizes = shape(tensor)
        rows = [self._batch_size * self._beam_width]
        merged: Tensor = reshape(tensor, concat((rows, sizes[2:]), 0))
        known = self._known_batch()
        count = None if known is None else known * self._beam_width
        merged.set_shape(TensorShape([count]).concatenate(_depth_shape(depth)))
        return merged

    def _split(self, tensor: Tensor, depth: Any) -> Tensor:
        """[batch * beams, ...] as [batch, beams, ...].

        Raises:
          ValueError: the static shape contradicts that.
        """
        sizes = shape(tensor)
        rows = [self._batch_size, self._beam_width]
        parts: Tensor = reshape(tensor, concat((rows, sizes[1:]), 0))
        expected = TensorShape([self._known_batch(), self._beam_width])
        expected = expected.concatenate(_depth_shape(depth))
        if not parts.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size. "
                f" The reshaped tensor has shape: {parts.shape}.  We expected it to "
                f"have shape (batch_size, beam_width, depth) == {expected}.  Perhaps "
                "you forgot to create a zero_state with "
                "batch_size=encoder_batch_size * beam_width?"
            )
        parts.set_shape(expected)
        return parts

    def _maybe_split(self, part: Any, depth: Any) -> Any:
        """The same for a part of the state, unless it is a TensorArray or a scalar."""
        if isinstance(part, TensorArray):
            return part
        return self._split(part, depth) if require_known_rank(part) >= 1 else part

    def _maybe_merge(self, part: Any, depth: Any) -> Any:
        if isinstance(part, TensorArray):
            return part
        return self._merge(part, depth) if require_known_rank(part) >= 2 else part


def _depth_shape(depth: Any) -> TensorShape:
    if isinstance(depth, Tensor):
        known = python_constant_value(depth)
        return TensorShape(None if known is None else known.tolist())
    return TensorShape(depth)
