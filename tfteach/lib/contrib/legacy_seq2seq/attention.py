"""Decoders with attention to the encoder's outputs.

Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import DType, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.contrib.legacy_seq2seq.decoders import (
    NextInput,
    copy_of,
    decoded_either_way,
    likeliest_embedded,
    projection_checked,
)
from tfteach.lib.contrib.rnn.linear import Linear
from tfteach.lib.contrib.rnn.projections import (
    EmbeddingWrapper,
    OutputProjectionWrapper,
)
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.static import static_rnn
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import tanh
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.nn.embedding_lookup import embedding_lookup
from tfteach.ops.nn.softmax import softmax
from tfteach.ops.windows.conv_2d import conv2d
from tfteach.variables.scope import get_variable, get_variable_scope, variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


class _Attention:
    """The attention heads: each weights the attention states for every query.

    s = v . tanh(U states + W query + b);  softmax(s) . states
    """

    def __init__(self, states: Tensor, size: int, heads: int, dtype: DTypeLike) -> None:
        length = dimension_value(states.shape[1])
        self._length = shape(states)[1] if length is None else length
        self._size, self._dtype = size, dtype
        self._hidden = reshape(states, [-1, self._length, 1, size])
        self._heads = []
        for head in range(heads):
            # One matrix product for all steps, as a convolution.
            kernel = get_variable(f"AttnW_{head}", [1, 1, size, size], dtype=dtype)
            features = conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME")
            vector = get_variable(f"AttnV_{head}", [size], dtype=dtype)
            self._heads.append((features, vector))

    def read(self, query: Any) -> list[Tensor]:
        """The attention value of each head, Tensors [batch, size]."""
        if nest.is_sequence(query):
            parts = nest.flatten(query)
            if any(part.shape.ndims not in (None, 0, 2) for part in parts):
                raise AssertionError(f"The state's parts must be matrices: {parts}")
            query = concat(parts, 1)
        found = []
        for head, (features, vector) in enumerate(self._heads):
            with variable_scope(f"Attention_{head}"):
                y = Linear(query, self._size)(query)
                y = cast(reshape(y, [-1, 1, 1, self._size]), self._dtype)
                scores = reduce_sum(vector * tanh(features + y), [2, 3])
                weights = cast(softmax(cast(scores, float32)), self._dtype)
                weights = reshape(weights, [-1, self._length, 1, 1])
                mean = reduce_sum(weights * self._hidden, [1, 2])
                found.append(reshape(mean, [-1, self._size]))
        return found


def _nothing_read(
    batch_size: Tensor, size: int, heads: int, dtype: DTypeLike
) -> list[Any]:
    sizes = stack([batch_size, size])
    found = [zeros(sizes, dtype=dtype) for _ in range(heads)]
    for tensor in found:
        tensor.set_shape([None, size])
    return found


def _joined(values: list[Any], size: int, dtype: DTypeLike) -> Tensor:
    """`W + b` applied to the concatenated values."""
    values = [cast(value, dtype) for value in values]
    return Linear(values, size)(values)


@export("contrib.legacy_seq2seq.attention_decoder")
def attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Tensor,
    cell: RNNCell,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: NextInput | None = None,
    dtype: DTypeLike | None = None,
    scope: VariableScope | str | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:
    """`rnn_decoder` with attention in each step.

    A step's input and the previous attention values are combined into the cell's input;
    the new state is the next query; the cell's output and the attention values are
    combined into the step's output.

    Args:
      decoder_inputs: a list of float Tensors [batch, depth].
      initial_state: the initial state.
      attention_states: a float Tensor [batch, length, size], such as the encoder's
        outputs.
      cell: an RNNCell.
      output_size: the size of the outputs; the cell's if None.
      num_heads: the number of attention heads.
      loop_function: as in `rnn_decoder`.
      dtype: the type of variables; the scope's if None.
      scope: the variable scope; "attention_decoder" if None.
      initial_state_attention: attend before the first step; otherwise use zeros.

    Returns:
      (a list of outputs [batch, output_size], the final state).

    Raises:
      ValueError: no inputs, no heads, or unknown sizes of inputs or attention states.

    Source: Vinyals et al., "Grammar as a foreign language", 2014; contrib/
    legacy_seq2seq/python/ops/seq2seq.py.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    size = dimension_value(attention_states.shape[2])
    if size is None:
        raise ValueError(
            f"Shape[2] of attention_states must be known: {attention_states.shape}"
        )
    output_size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        dtype = opened.dtype
        batch_size = shape(decoder_inputs[0])[0]
        attention = _Attention(attention_states, size, num_heads, dtype)
        state = initial_state
        outputs: list[Tensor] = []
        read = _nothing_read(batch_size, size, num_heads, dtype)
        if initial_state_attention:
            read = attention.read(initial_state)
        for step, now in enumerate(decoder_inputs):
            if step > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and step > 0:
                with variable_scope("loop_function", reuse=True):
                    now = loop_function(outputs[-1], step)
            depth = now.shape.with_rank(2).as_list()[1]
            if depth is None:
                raise ValueError(f"Could not infer input size from input: {now.name}")
            output, state = cell(_joined([now, *read], depth, dtype), state)
            if step == 0 and initial_state_attention:
                with variable_scope(get_variable_scope(), reuse=True):
                    read = attention.read(state)
            else:
                read = attention.read(state)
            with variable_scope("AttnOutputProjection"):
                outputs.append(_joined([output, *read], output_size, dtype))
    return outputs, state


@export("contrib.legacy_seq2seq.embedding_attention_decoder")
def embedding_attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Tensor,
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: DType | None = None,
    scope: VariableScope | str | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:
    """`attention_decoder` for ids.

    Args:
      decoder_inputs: a list of int Tensors [batch].
      initial_state: the initial state.
      attention_states: a float Tensor [batch, length, size].
      cell: an RNNCell.
      num_symbols: the number of ids.
      embedding_size: the size of an id's embedding.
      num_heads, output_size, initial_state_attention: as in `attention_decoder`.
      output_projection, feed_previous, update_embedding_for_previous: as in
        `embedding_rnn_decoder`.
      dtype: the type of variables; the scope's if None.
      scope: the variable scope; "embedding_attention_decoder" if None.

    Returns:
      (a list of outputs [batch, output_size], the final state).

    Raises:
      ValueError: the projection's shapes are invalid.

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    output_size = cell.output_size if output_size is None else output_size
    projection_checked(output_projection, num_symbols, dtype, weights_too=False)
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        following = None
        if feed_previous:
            following = likeliest_embedded(
                embedding, output_projection, update_embedding_for_previous
            )
        return attention_decoder(
            [embedding_lookup(embedding, ids) for ids in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=following,
            initial_state_attention=initial_state_attention,
        )


@export("contrib.legacy_seq2seq.embedding_attention_seq2seq")
def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: DTypeLike | None = None,
    scope: VariableScope | str | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:
    """`embedding_rnn_seq2seq` with attention to all outputs of the encoder.

    Args:
      encoder_inputs, decoder_inputs: lists of int Tensors [batch].
      cell: the decoder's RNNCell; the encoder has a copy with separate variables.
      num_encoder_symbols, num_decoder_symbols: the number of ids on each side.
      embedding_size: the size of an id's embedding.
      num_heads, initial_state_attention: as in `attention_decoder`.
      output_projection, feed_previous: as in `embedding_rnn_seq2seq`.
      dtype: the type of variables and states; the scope's if None.
      scope: the variable scope; "embedding_attention_seq2seq" if None.

    Returns:
      (a list of outputs [batch, num_decoder_symbols], or [batch, output_size] if a
      projection is given; the decoder's final state).

    Raises:
      ValueError: the projection's shapes are invalid.

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(copy_of(cell), num_encoder_symbols, embedding_size)
        encoded, begin = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        rows = [reshape(output, [-1, 1, cell.output_size]) for output in encoded]
        attention_states = concat(rows, 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(is_fed: bool, update: bool) -> Any:
            return embedding_attention_decoder(
                decoder_inputs,
                begin,
                attention_states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=is_fed,
                update_embedding_for_previous=update,
                initial_state_attention=initial_state_attention,
            )

        steps = len(decoder_inputs)
        return decoded_either_way(feed_previous, steps, decode, lambda: begin)
