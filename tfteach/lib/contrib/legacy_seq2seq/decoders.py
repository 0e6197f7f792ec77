"""Decoders without embedding, and feeding of previous outputs, shared by all models.

Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfteach.control.branch import cond
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.static import static_rnn
from tfteach.ops.core.identity_reshape import stop_gradient
from tfteach.ops.math.reduce_functions import argmax
from tfteach.ops.nn.bias_add import xw_plus_b
from tfteach.ops.nn.embedding_lookup import embedding_lookup
from tfteach.variables.scope import get_variable_scope, variable_scope
from tfteach.variables.scope.variable_scope import VariableScope

NextInput = Callable[[Tensor, int], Any]
Decode = Callable[[bool, bool], tuple[list[Any], Any]]


def copy_of(cell: RNNCell) -> Any:
    """A copy of the cell, with separate variables.

    Raises:
      TypeError: the cell already has variables.
    """
    if getattr(cell, "built", False) or getattr(cell, "variables", None):
        raise TypeError(
            f"{cell} cannot be copied for the encoder: it already has variables. "
            "Create a new cell for the model, and call it only there."
        )
    return copy.deepcopy(cell)


def likeliest_embedded(
    embedding: Any, output_projection: Any = None, update_embedding: bool = True
) -> NextInput:
    """A function from a step's output to the embedding of the most probable id."""

    def following(output: Tensor, _: int) -> Tensor:
        if output_projection is not None:
            weights, biases = output_projection
            output = xw_plus_b(output, weights, biases)
        vectors = embedding_lookup(embedding, argmax(output, 1))
        return vectors if update_embedding else stop_gradient(vectors)

    return following


def projection_checked(
    output_projection: Any,
    symbols: int,
    dtype: DTypeLike | None,
    weights_too: bool = True,
) -> None:
    """Raise ValueError unless the projection, if given, has `symbols` outputs."""
    if output_projection is None:
        return
    if weights_too:
        weights = convert(output_projection[0], dtype=dtype)
        weights.shape.assert_is_compatible_with([None, symbols])
    biases = convert(output_projection[1], dtype=dtype)
    biases.shape.assert_is_compatible_with([symbols])


def decoded_either_way(
    feed_previous: Any, steps: int, decode: Decode, begin: Callable[[], Any]
) -> tuple[list[Any], Any]:
    """`decode(True)` or `decode(False)`, chosen by a bool, or by a Tensor in each run.

    With a Tensor both create their ops; the second one reuses the first's variables.

    Args:
      feed_previous: a bool, or a bool Tensor.
      steps: the number of outputs.
      decode: returns (outputs, the final state); also whether the ids fed are learned.
      begin: returns a state nested like the final one.

    Returns:
      (outputs, the final state).
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def branch(is_fed: bool) -> list[Any]:
        reuse = None if is_fed else True
        with variable_scope(get_variable_scope(), reuse=reuse):
            outputs, state = decode(is_fed, False)
            return outputs + nest.flatten(state)

    found = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    outputs, parts = found[:steps], found[steps:]
    structure = begin()
    if nest.is_sequence(structure):
        return outputs, nest.pack_sequence_as(structure, parts)
    return outputs, parts[0]


@export("contrib.legacy_seq2seq.rnn_decoder")
def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: RNNCell,
    loop_function: NextInput | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """A cell run over a list of inputs, or over its own outputs.

    Args:
      decoder_inputs: a list of float Tensors [batch, depth].
      initial_state: the initial state.
      cell: an RNNCell.
      loop_function: a function of (the previous output, the step's index) that returns
        a step's input; then only the first of `decoder_inputs` is used.
      scope: the variable scope; "rnn_decoder" if None.

    Returns:
      (a list of outputs [batch, output_size], the final state).

    Example:
      >>> cell = tf.nn.rnn_cell.GRUCell(4)
      >>> outputs, state = tf.contrib.legacy_seq2seq.rnn_decoder(
      ...     [tf.ones([2, 3])] * 5, tf.zeros([2, 4]), cell)

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    state = initial_state
    outputs: list[Any] = []
    with variable_scope(scope or "rnn_decoder"):
        for step, now in enumerate(decoder_inputs):
            if loop_function is not None and step > 0:
                with variable_scope("loop_function", reuse=True):
                    now = loop_function(outputs[-1], step)
            if step > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(now, state)
            outputs.append(output)
    return outputs, state


@export("contrib.legacy_seq2seq.basic_rnn_seq2seq")
def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    dtype: DTypeLike = float32,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """An encoder, and a decoder that starts with the final encoder state.

    Args:
      encoder_inputs, decoder_inputs: lists of float Tensors [batch, depth].
      cell: the decoder's RNNCell; the encoder has a copy with separate variables.
      dtype: the type of the encoder's initial state.
      scope: the variable scope; "basic_rnn_seq2seq" if None.

    Returns:
      (a list of outputs [batch, output_size], the decoder's final state).

    Source: Sutskever et al., "Sequence to sequence learning with neural networks",
    2014; contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy_of(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


@export("contrib.legacy_seq2seq.tied_rnn_seq2seq")
def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    loop_function: NextInput | None = None,
    dtype: DTypeLike = float32,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """An encoder and a decoder with shared variables.

    Args:
      encoder_inputs, decoder_inputs: lists of float Tensors [batch, depth].
      cell: the RNNCell of both.
      loop_function: as in `rnn_decoder`.
      dtype: the type of the encoder's initial state.
      scope: the name of the cell's variable scope, inside "combined_tied_rnn_seq2seq";
        "tied_rnn_seq2seq" if None.

    Returns:
      (a list of outputs [batch, output_size], the decoder's final state).

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, scope)
