"""`tf.contrib.learn.ops`: losses, embeddings and sequences for small models.

Source: contrib/learn/python/learn/ops/{losses_ops,embeddings_ops,seq2seq_ops}.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, Nested, TensorLike
from tfteach.lib.losses.classification import softmax_cross_entropy
from tfteach.lib.losses.regression import mean_squared_error
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.static import static_rnn
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import reshape, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_prod, reduce_sum
from tfteach.ops.nn.bias_add import xw_plus_b
from tfteach.ops.nn.cross_entropy import softmax_cross_entropy_with_logits
from tfteach.ops.nn.embedding_lookup import embedding_lookup as lookup
from tfteach.ops.nn.softmax import softmax
from tfteach.variables.scope import get_variable, variable_scope

States = list[Any]


@export("contrib.learn.ops.mean_squared_error_regressor")
def mean_squared_error_regressor(
    tensor_in: TensorLike,
    labels: TensorLike,
    weights: TensorLike,
    biases: TensorLike,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """A linear prediction, and its mean squared error.

    Args:
      tensor_in: float Tensor [batch, features].
      labels: float Tensor [batch] or [batch, outputs].
      weights: float Tensor [features, outputs].
      biases: float Tensor [outputs].
      name: the name of the scope.

    Returns:
      (predictions, loss): predictions like the labels, [batch] if these are.

    Source: contrib/learn/python/learn/ops/losses_ops.py.
    """
    values = [tensor_in, labels]
    with name_scope(name, "mean_squared_error_regressor", values):
        predictions = xw_plus_b(tensor_in, weights, biases)
        labels = convert(labels)
        if labels.get_shape().ndims == 1 and predictions.get_shape().ndims == 2:
            predictions = squeeze(predictions, axis=[1])
        return predictions, mean_squared_error(labels, predictions)


@export("contrib.learn.ops.softmax_classifier")
def softmax_classifier(
    tensor_in: TensorLike,
    labels: TensorLike,
    weights: TensorLike,
    biases: TensorLike,
    class_weight: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The probabilities of classes, and the mean cross entropy.

    Args:
      tensor_in: float Tensor [batch, features].
      labels: one-hot labels, float Tensor [batch, classes].
      weights: float Tensor [features, classes].
      biases: float Tensor [classes].
      class_weight: float Tensor [classes] by which the logits are multiplied.
      name: the name of the scope.

    Returns:
      (probabilities [batch, classes], loss).

    Source: contrib/learn/python/learn/ops/losses_ops.py.
    """
    with name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = multiply(logits, class_weight)
        return softmax(logits), softmax_cross_entropy(labels, logits)


@export("contrib.learn.ops.embedding_lookup")
def embedding_lookup(
    params: TensorLike, ids: TensorLike, name: str = "embedding_lookup"
) -> Tensor:
    """The rows of a table at ids of any shape.

    Args:
      params: Tensor [rows, size].
      ids: int Tensor [...].
      name: the name of the scope.

    Returns:
      Tensor [..., size].

    Source: contrib/learn/python/learn/ops/embeddings_ops.py.
    """
    with name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = convert(params), convert(ids)
        sizes = shape(ids)
        flat = reshape(ids, reduce_prod(sizes, keepdims=True))
        found = lookup(params, flat)
        width = params.get_shape().as_list()[-1]
        return reshape(found, concat([sizes, [width]], 0))


@export("contrib.learn.ops.categorical_variable")
def categorical_variable(
    tensor_in: TensorLike, n_classes: int, embedding_size: int, name: str
) -> Tensor:
    """Embeddings of classes, in a new variable `<name>_embeddings`.

    Args:
      tensor_in: int Tensor [...] of class ids.
      n_classes: the number of classes.
      embedding_size: the numbers of an embedding.
      name: the name of the variable scope.

    Returns:
      float Tensor [..., embedding_size].

    Source: contrib/learn/python/learn/ops/embeddings_ops.py.
    """
    with variable_scope(name):
        embeddings = get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)


@export("contrib.learn.ops.sequence_classifier")
def sequence_classifier(
    decoding: Sequence[Tensor],
    labels: Sequence[Tensor],
    sampling_decoding: Sequence[Tensor] | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The probabilities of a sequence of classes, and the cross entropy.

    Args:
      decoding: the logits of each step, float Tensors [batch, classes].
      labels: the one-hot labels of each step, float Tensors [batch, classes].
      sampling_decoding: the logits to predict with; None for `decoding`.
      name: the name of the scope.

    Returns:
      (probabilities [batch, steps, classes], the sum of the cross entropies).

    Source: contrib/learn/python/learn/ops/seq2seq_ops.py.
    """
    with name_scope(name, "sequence_classifier", [decoding, labels]):
        sampled = decoding if sampling_decoding is None else sampling_decoding
        losses, predictions = [], []
        for i, logits in enumerate(decoding):
            loss = softmax_cross_entropy_with_logits(
                labels=labels[i], logits=logits, name=f"sequence_loss/xent_raw{i}"
            )
            losses.append(loss)
            predictions.append(softmax(sampled[i]))
        entropy = add_n(losses, name="sequence_loss/xent")
        loss = reduce_sum(entropy, name="sequence_loss")
        return stack(predictions, axis=1), loss


@export("contrib.learn.ops.seq2seq_inputs")
def seq2seq_inputs(
    x: TensorLike,
    y: TensorLike,
    input_length: int,
    output_length: int,
    sentinel: TensorLike | None = None,
    name: str | None = None,
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Sequences as lists of steps, for an encoder and a decoder.

    Args:
      x: the inputs, Tensor [batch, input_length, features].
      y: the outputs, Tensor [batch, output_length, features].
      input_length, output_length: the numbers of steps.
      sentinel: the step that begins and ends an output, [batch, features]; None for
        zeros.
      name: the name of the scope.

    Returns:
      (inputs of the encoder, inputs of the decoder, outputs of the decoder): the
      sentinel is before the second, and after the third.

    Source: contrib/learn/python/learn/ops/seq2seq_ops.py.
    """
    with name_scope(name, "seq2seq_inputs", [x, y]):
        inputs = unstack(x, axis=1, num=input_length)
        outputs = unstack(y, axis=1, num=output_length)
        if sentinel is None:
            size = outputs[0].get_shape()[1]
            sentinel = zeros(stack([shape(inputs[0])[0], size]))
            sentinel.set_shape(outputs[0].get_shape())
        end: Any = sentinel
        return inputs, [end, *outputs], [*outputs, end]


@export("contrib.learn.ops.rnn_decoder")
def rnn_decoder(
    decoder_inputs: Sequence[Tensor],
    initial_state: Nested[Tensor],
    cell: RNNCell,
    scope: str | None = None,
) -> tuple[list[Tensor], States, list[Tensor], States]:
    """A decoder that is run on its inputs, and on its own outputs.

    Args:
      decoder_inputs: the input of each step, Tensors [batch, features].
      initial_state: the state before the first step.
      cell: an RNNCell, whose output is as large as an input.
      scope: the name of the variable scope; "dnn_decoder" if None.

    Returns:
      (outputs, states, sampled outputs, sampled states): the outputs of the inputs,
      and those of the outputs before; the states begin with the initial one.

    Source: contrib/learn/python/learn/ops/seq2seq_ops.py.
    """
    with variable_scope(scope or "dnn_decoder") as variables:
        states: States = [initial_state]
        sampled_states: States = [initial_state]
        outputs: list[Tensor] = []
        sampled: list[Tensor] = []
        with name_scope("training"):
            for i, step in enumerate(decoder_inputs):
                if i > 0:
                    variables.reuse_variables()
                output, state = cell(step, states[-1])
                outputs.append(output)
                states.append(state)
        with name_scope("sampling"):
            for i, _ in enumerate(decoder_inputs):
                if i == 0:
                    sampled.append(outputs[0])
                    sampled_states.append(states[0])
                    continue
                output, state = cell(sampled[-1], sampled_states[-1])
                sampled.append(output)
                sampled_states.append(state)
        return outputs, states, sampled, sampled_states


@export("contrib.learn.ops.rnn_seq2seq")
def rnn_seq2seq(
    encoder_inputs: Sequence[Tensor],
    decoder_inputs: Sequence[Tensor],
    encoder_cell: RNNCell,
    decoder_cell: RNNCell | None = None,
    dtype: DTypeLike = float32,
    scope: str | None = None,
) -> tuple[list[Tensor], States, list[Tensor], States]:
    """An encoder, and a decoder that begins with its last state.

    Args:
      encoder_inputs: the encoder's input of each step, Tensors [batch, features].
      decoder_inputs: the decoder's.
      encoder_cell: an RNNCell.
      decoder_cell: another; None for the encoder's.
      dtype: the type of the states.
      scope: the name of the variable scope; "rnn_seq2seq" if None.

    Returns:
      As `rnn_decoder`.

    Source: contrib/learn/python/learn/ops/seq2seq_ops.py.
    """
    with variable_scope(scope or "rnn_seq2seq"):
        _, state = static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        cell = encoder_cell if decoder_cell is None else decoder_cell
        return rnn_decoder(decoder_inputs, state, cell)
