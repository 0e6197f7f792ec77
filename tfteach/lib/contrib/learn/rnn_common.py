"""Parts of the models of sequences of `tf.contrib.learn`: cells, and last or unpadded
activations.

Source: contrib/learn/python/learn/estimators/rnn_common.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.cells import BasicRNNCell, GRUCell, LSTMCell
from tfteach.lib.rnn.wrappers import DropoutWrapper, MultiRNNCell
from tfteach.ops.array.gather import boolean_mask, gather
from tfteach.ops.array.one_hot import sequence_mask
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.range import range as tf_range


class RNNKeys:
    """Keys of features, predictions and states."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class PredictionType:
    """Whether a sequence has one value, or one for each step."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


_CELL_TYPES: dict[str, Callable[[int], RNNCell]] = {
    "basic_rnn": BasicRNNCell,
    "lstm": LSTMCell,
    "gru": GRUCell,
}


def _get_single_cell(cell_type: Any, num_units: int) -> RNNCell:
    """A cell of a type, or of a type's name.

    Raises:
      TypeError: there is no such type.
    """
    make: Any = _CELL_TYPES.get(cell_type, cell_type)
    if not (isinstance(make, type) and issubclass(make, RNNCell)):
        raise TypeError(
            f"Invalid cell type {cell_type!r}: use 'basic_rnn', 'lstm', 'gru' or a "
            "subclass of RNNCell."
        )
    make_of_units: Callable[[int], RNNCell] = make
    return make_of_units(num_units)


def construct_rnn_cell(
    num_units: int | Sequence[int],
    cell_type: Any = "basic_rnn",
    dropout_keep_probabilities: Sequence[float] | None = None,
) -> RNNCell:
    """A cell, or a stack of cells.

    Args:
      num_units: the units of a cell, or of each cell of a stack.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      dropout_keep_probabilities: the probabilities of keeping inputs of each cell, and
        outputs of the last; None for no dropout.

    Raises:
      TypeError: there is no such type.
      ValueError: the number of probabilities is not that of cells + 1.
    """
    sizes = [num_units] if isinstance(num_units, int) else list(num_units)
    cells = [_get_single_cell(cell_type, size) for size in sizes]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


def apply_dropout(
    cells: Sequence[RNNCell],
    dropout_keep_probabilities: Sequence[float],
    random_seed: int | None = None,
) -> list[RNNCell]:
    """Cells with dropout of their inputs, and of the last one's outputs.

    Args:
      cells: the cells.
      dropout_keep_probabilities: for each cell the probability of keeping its inputs,
        then that of the last cell's outputs.
      random_seed: the seed.

    Raises:
      ValueError: the number of probabilities is not that of cells + 1.
    """
    if len(dropout_keep_probabilities) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number "
            f"of cells. Got {len(cells)} cells and "
            f"{len(dropout_keep_probabilities)} dropout probabilities."
        )
    *inputs, last = dropout_keep_probabilities
    outputs = [1.0] * (len(cells) - 1) + [last]
    return [
        DropoutWrapper(cell, kept, kept_out, seed=random_seed)
        for cell, kept, kept_out in zip(cells, inputs, outputs, strict=True)
    ]


def select_last_activations(activations: Tensor, sequence_lengths: Tensor) -> Tensor:
    """The activations at the last step of each sequence.

    Args:
      activations: a Tensor [batch, padded length, k].
      sequence_lengths: an integer Tensor [batch].

    Returns:
      A Tensor [batch, k].
    """
    with name_scope("select_last_activations", values=[activations, sequence_lengths]):
        sizes = shape(activations)
        batch_size, padded_length, depth = sizes[0], sizes[1], sizes[2]
        rows = reshape(activations, [-1, depth])
        first = tf_range(batch_size) * padded_length
        last: Tensor = gather(rows, first + sequence_lengths - 1)
        last.set_shape([None, activations.get_shape().as_list()[2]])
        return last


def mask_activations_and_labels(
    activations: Tensor, labels: Tensor, sequence_lengths: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The activations and labels of all steps, without the padding.

    Args:
      activations: a Tensor [batch, padded length, k].
      labels: a Tensor [batch, padded length].
      sequence_lengths: an integer Tensor [batch]; None if there is no padding.

    Returns:
      Tensors [steps, k] and [steps], of the steps of all sequences.
    """
    with name_scope(
        "mask_activations_and_labels", values=[activations, labels, sequence_lengths]
    ):
        sizes = shape(labels)
        batch_size, padded_length = sizes[0], sizes[1]
        if sequence_lengths is None:
            steps = padded_length * batch_size
            return reshape(activations, [steps, -1]), reshape(labels, [steps])
        mask = sequence_mask(sequence_lengths, padded_length)
        return boolean_mask(activations, mask), boolean_mask(labels, mask)
