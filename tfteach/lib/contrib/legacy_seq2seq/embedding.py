"""Models of id sequences: an embedding, an encoder, and a decoder.

Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework.dimension import Dimension
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.contrib.legacy_seq2seq.decoders import (
    copy_of,
    decoded_either_way,
    likeliest_embedded,
    projection_checked,
    rnn_decoder,
    tied_rnn_seq2seq,
)
from tfteach.lib.contrib.rnn.projections import (
    EmbeddingWrapper,
    OutputProjectionWrapper,
)
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.static import static_rnn
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.nn.embedding_lookup import embedding_lookup
from tfteach.variables.scope import get_variable, variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


@export("contrib.legacy_seq2seq.embedding_rnn_decoder")
def embedding_rnn_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """`rnn_decoder` for ids.

    Args:
      decoder_inputs: a list of int Tensors [batch].
      initial_state: the initial state.
      cell: an RNNCell.
      num_symbols: the number of ids.
      embedding_size: the size of an id's embedding.
      output_projection: None if the outputs are logits of the ids; otherwise a pair
        (weights [output_size, num_symbols], biases [num_symbols]) that computes these.
      feed_previous: whether a step's input is the most probable id of the previous
        step; then only the first of `decoder_inputs` is used.
      update_embedding_for_previous: whether gradients flow to the embeddings of those
          ids.
      scope: the variable scope; "embedding_rnn_decoder" if None.

    Returns:
      (a list of outputs [batch, output_size], the final state).

    Raises:
      ValueError: the projection's shapes are invalid.

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    with variable_scope(scope or "embedding_rnn_decoder") as opened:
        projection_checked(output_projection, num_symbols, opened.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        following = None
        if feed_previous:
            following = likeliest_embedded(
                embedding, output_projection, update_embedding_for_previous
            )
        # Looked up step by step inside the decoder's scope, as in TensorFlow's graphs.
        vectors = (embedding_lookup(embedding, ids) for ids in decoder_inputs)
        return rnn_decoder(vectors, initial_state, cell, following)


@export("contrib.legacy_seq2seq.embedding_rnn_seq2seq")
def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: TensorLike = False,
    dtype: DTypeLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """`basic_rnn_seq2seq` for ids, with an embedding on each side.

    Args:
      encoder_inputs, decoder_inputs: lists of int Tensors [batch].
      cell: the decoder's RNNCell; the encoder has a copy with separate variables.
      num_encoder_symbols, num_decoder_symbols: the number of ids on each side.
      embedding_size: the size of an id's embedding.
      output_projection: None: outputs are projected to logits of the ids; or a pair
        (weights, biases) for that, and outputs are the cell's.
      feed_previous: as in `embedding_rnn_decoder`; or a scalar bool Tensor, evaluated
        in each run.
      dtype: the type of variables and states; the scope's if None.
      scope: the variable scope; "embedding_rnn_seq2seq" if None.

    Returns:
      (a list of outputs [batch, num_decoder_symbols], or [batch, output_size] if a
      projection is given; the decoder's final state).

    Raises:
      ValueError: the projection's shapes are invalid.

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        if dtype is not None:
            opened.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy_of(cell), num_encoder_symbols, embedding_size)
        _, begin = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(is_fed: bool, update: bool) -> Any:
            return embedding_rnn_decoder(
                decoder_inputs,
                begin,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=is_fed,
                update_embedding_for_previous=update,
            )

        steps = len(decoder_inputs)
        return decoded_either_way(feed_previous, steps, decode, lambda: begin)


@export("contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq")
def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: DTypeLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """`tied_rnn_seq2seq` for ids: one embedding and one cell for both sides.

    Args:
      encoder_inputs, decoder_inputs: lists of int Tensors [batch].
      cell: the RNNCell of both.
      num_symbols: the number of ids.
      embedding_size: the size of an id's embedding.
      num_decoder_symbols: the number of ids the decoder may generate; all if None.
      output_projection, feed_previous: as in `embedding_rnn_seq2seq`.
      dtype: the type of variables and states; the scope's if None.
      scope: the variable scope; "embedding_tied_rnn_seq2seq" if None.

    Returns:
      (a list of outputs, the decoder's final state).

    Raises:
      ValueError: the projection's shapes are invalid.

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as opened:
        dtype = opened.dtype
        projection_checked(output_projection, num_symbols, dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype)
        vectors_in = [embedding_lookup(embedding, ids) for ids in encoder_inputs]
        vectors_out = [embedding_lookup(embedding, ids) for ids in decoder_inputs]
        if output_projection is None:
            symbols = num_symbols
            if num_decoder_symbols is not None:
                symbols = num_decoder_symbols
            cell = OutputProjectionWrapper(cell, symbols)

        def decode(is_fed: bool, update: bool) -> Any:
            following = None
            if is_fed:
                following = likeliest_embedded(embedding, output_projection, update)
            return tied_rnn_seq2seq(vectors_in, vectors_out, cell, following, dtype)

        def zeros() -> Any:
            return cell.zero_state(_batch_size(encoder_inputs), dtype)

        return decoded_either_way(feed_previous, len(decoder_inputs), decode, zeros)


def _batch_size(inputs: Sequence[Any]) -> Tensor | int:
    """The batch size of the first input; ValueError if others differ."""
    first = Dimension(inputs[0].shape[0])
    for other in inputs[1:]:
        first.merge_with(Dimension(other.shape[0]))
    return shape(inputs[0])[0] if first.value is None else first.value


@export("contrib.legacy_seq2seq.one2many_rnn_seq2seq")
def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs_dict: Mapping[Any, Sequence[Any]],
    enc_cell: Any,
    dec_cells_dict: Mapping[Any, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Mapping[Any, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: DTypeLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """An encoder, and several decoders that start with the final encoder state.

    Args:
      encoder_inputs: a list of int Tensors [batch].
      decoder_inputs_dict: a list of int Tensors [batch] for each decoder's name.
      enc_cell: the encoder's RNNCell.
      dec_cells_dict: each decoder's RNNCell.
      num_encoder_symbols: the number of ids of the encoder.
      num_decoder_symbols_dict: the number of ids of each decoder.
      embedding_size: the size of an id's embedding.
      feed_previous, dtype: as in `embedding_rnn_seq2seq`.
      scope: the variable scope; "one2many_rnn_seq2seq" if None.

    Returns:
      (each decoder's list of outputs [batch, symbols], each one's final state).

    Raises:
      TypeError: a cell is not an RNNCell.
      ValueError: the dicts have different keys.

    Source: Luong et al., "Multi-task sequence to sequence learning", 2015;
    contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decodre_inputs_dict")
    for cell in dec_cells_dict.values():
        if not isinstance(cell, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(cell)}")
    all_outputs, all_states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, begin = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        for name, inputs in decoder_inputs_dict.items():
            with variable_scope(f"one2many_decoder_{name}"):
                all_outputs[name], all_states[name] = _one_of_many(
                    inputs,
                    begin,
                    dec_cells_dict[name],
                    num_decoder_symbols_dict[name],
                    embedding_size,
                    feed_previous,
                )
    return all_outputs, all_states


def _one_of_many(
    inputs: Sequence[Any],
    begin: Any,
    cell: RNNCell,
    symbols: int,
    embedding_size: int,
    feed_previous: Any,
) -> tuple[list[Any], Any]:
    projected = OutputProjectionWrapper(cell, symbols)

    def decode(is_fed: bool, _: bool) -> Any:
        return embedding_rnn_decoder(
            inputs, begin, projected, symbols, embedding_size, feed_previous=is_fed
        )

    return decoded_either_way(feed_previous, len(inputs), decode, lambda: begin)
