"""Recurrent networks of sequence columns, as Estimators.

Source: tensorflow_estimator/contrib/estimator/python/estimator/rnn.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfteach.framework.dtypes import float32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Partitioner, PathLike
from tfteach.lib.contrib.estimator.extenders import clip_gradients_by_norm
from tfteach.lib.contrib.estimator.head import (
    binary_classification_head,
    multi_class_head,
)
from tfteach.lib.estimator.canned.linear import input_partitioner, layer_partitioner
from tfteach.lib.estimator.canned.optimizers import OptimizerLike, optimizer_of
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.head import Head
from tfteach.lib.estimator.heads.head_checks import WeightColumn
from tfteach.lib.estimator.heads.sequential_head import SequentialHead
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.feature_column.base_column import Columns
from tfteach.lib.feature_column.input_layer import input_layer, sequence_input_layer
from tfteach.lib.feature_column.sequence_features import concatenate_context_input
from tfteach.lib.layers.core import dense
from tfteach.lib.losses.weighted import Reduction
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell
from tfteach.lib.rnn.dynamic import dynamic_rnn
from tfteach.lib.rnn.wrappers import MultiRNNCell
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.optimizer import Optimizer
from tfteach.ops.array.gather import gather
from tfteach.ops.array.one_hot import sequence_mask
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.debug.summary_functions import histogram
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.variables.scope import variable_scope

AnyHead = Head | SequentialHead
CellType = str | type[RNNCell]
CellFn = Callable[[str], RNNCell]
LogitFn = Callable[[Mapping[str, Any], str], tuple[Tensor, Tensor]]

_LEARNING_RATE, _CLIP_NORM = 0.05, 5.0
_CELL_TYPES: dict[str, type[RNNCell]] = {
    "basic_rnn": BasicRNNCell,
    "lstm": BasicLSTMCell,
    "gru": GRUCell,
}
# The default type of cells, which is an error beside a function that makes them.
USE_DEFAULT = object()


def make_rnn_cell_fn(
    num_units: Iterable[int], cell_type: CellType | object = "basic_rnn"
) -> CellFn:
    """A function from a mode to a cell, or to several stacked.

    Raises:
      TypeError: there is no such type.
      ValueError: the type is no RNNCell.
    """

    def rnn_cell_fn(mode: str) -> RNNCell:
        del mode
        cells = [_cell(size, cell_type) for size in num_units]
        return cells[0] if len(cells) == 1 else MultiRNNCell(cells)

    return rnn_cell_fn


def _cell(num_units: int, cell_type: object) -> RNNCell:
    kind = _CELL_TYPES.get(cell_type) if isinstance(cell_type, str) else cell_type
    if not isinstance(kind, type):
        raise TypeError(
            f"cell_type must be one of {sorted(_CELL_TYPES)} or a subclass of RNNCell; "
            f"got {cell_type!r}"
        )
    if not issubclass(kind, RNNCell):
        raise ValueError(f"cell_type must be a subclass of RNNCell; got {cell_type!r}")
    make: Callable[[int], RNNCell] = kind  # subclasses take the number of units
    return make(num_units)


def _cell_fn_of(
    num_units: Iterable[int] | None, cell_type: object, rnn_cell_fn: CellFn | None
) -> CellFn:
    if rnn_cell_fn is None:
        kind = "basic_rnn" if cell_type is USE_DEFAULT else cell_type
        if num_units is None:
            raise TypeError("num_units must list the units of each layer; got None")
        return make_rnn_cell_fn(num_units, kind)
    if num_units or cell_type is not USE_DEFAULT:
        raise ValueError(
            "num_units and cell_type must not be specified when using rnn_cell_fn"
        )
    return rnn_cell_fn


def select_last_activations(activations: Tensor, sequence_lengths: Tensor) -> Tensor:
    """The activations of each sequence's last step.

    Args:
      activations: Tensor [batch, steps, size].
      sequence_lengths: int64 Tensor [batch].

    Returns:
      Tensor [batch, size].
    """
    with name_scope("select_last_activations"):
        sizes = shape_of(activations)
        batch, steps, size = sizes[0], sizes[1], sizes[2]
        starts = cast(range_of(batch) * steps, int64, name="ToInt64")
        last = starts + sequence_lengths - 1
        found = gather(reshape(activations, [batch * steps, size]), last)
        found.set_shape([activations.shape[0], activations.shape[2]])
        return found


def rnn_logit_fn_builder(
    output_units: int,
    rnn_cell_fn: CellFn,
    sequence_feature_columns: Columns,
    context_feature_columns: Columns | None,
    input_layer_partitioner: Partitioner | None,
    return_sequences: bool = False,
) -> LogitFn:
    """A function that makes logits of features: a recurrent network.

    Args:
      output_units: the number of logits.
      rnn_cell_fn: a function from a mode to a cell.
      sequence_feature_columns: an iterable of columns of sequences.
      context_feature_columns: an iterable of dense columns, whose values are appended
        to each step; None for none.
      input_layer_partitioner: the partitioner of the columns' variables.
      return_sequences: whether to make logits of each step; otherwise of the last one.

    Returns:
      A function from a dictionary of features and a `tf.estimator.ModeKeys` to logits
      [batch, units] or [batch, steps, units], and the mask of steps [batch, steps].

    Raises:
      ValueError: `output_units` is no int.
    """
    if not isinstance(output_units, int):
        raise ValueError(f"units must be an int.  Given type: {type(output_units)}")

    def rnn_logit_fn(features: Mapping[str, Any], mode: str) -> tuple[Tensor, Tensor]:
        with variable_scope(
            "sequence_input_layer",
            values=tuple(features.values()),
            partitioner=input_layer_partitioner,
        ):
            inputs, lengths = sequence_input_layer(features, sequence_feature_columns)
            histogram("sequence_length", lengths)
            if context_feature_columns:
                context = input_layer(features, context_feature_columns)
                inputs = concatenate_context_input(context, inputs)
        outputs, _ = dynamic_rnn(rnn_cell_fn(mode), inputs, lengths, dtype=float32)
        if not return_sequences:
            outputs = select_last_activations(outputs, lengths)
        with variable_scope("logits", values=(outputs,)):
            logits = dense(outputs, output_units)
        return logits, sequence_mask(lengths)

    return rnn_logit_fn


def rnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: AnyHead,
    rnn_cell_fn: CellFn,
    sequence_feature_columns: Columns,
    context_feature_columns: Columns | None,
    return_sequences: bool = False,
    optimizer: OptimizerLike = "Adagrad",
    input_layer_partitioner: Partitioner | None = None,
    config: RunConfig | None = None,
) -> EstimatorSpec:
    """The model of RNNEstimator; see there.

    Raises:
      ValueError: the features are no dictionary.
    """
    if not isinstance(features, dict):
        raise ValueError(
            "features should be a dictionary of `Tensor`s. Given type: "
            f"{type(features)}"
        )
    if not isinstance(optimizer, Optimizer):
        made = optimizer_of(optimizer, _LEARNING_RATE)
        optimizer = clip_gradients_by_norm(made, _CLIP_NORM)
    chosen: Optimizer = optimizer
    with variable_scope(
        "rnn", values=tuple(features.values()), partitioner=layer_partitioner(config)
    ):
        logit_fn = rnn_logit_fn_builder(
            head.logits_dimension, rnn_cell_fn, sequence_feature_columns,
            context_feature_columns,
            input_layer_partitioner or input_partitioner(config), return_sequences,
        )  # fmt: skip
        logits, mask = logit_fn(features, mode)
        if isinstance(head, SequentialHead):
            features = {head.input_sequence_mask_key: mask, **features}

        def train_op_fn(loss: Tensor) -> Operation | Tensor:
            return chosen.minimize(loss, global_step=get_global_step())

        return head.create_estimator_spec(
            features, mode, logits, labels, train_op_fn=train_op_fn
        )


class _RNN(Estimator):
    def __init__(
        self,
        head: AnyHead,
        rnn_cell_fn: CellFn,
        sequence_feature_columns: Columns,
        context_feature_columns: Columns | None,
        return_sequences: bool,
        model_dir: PathLike | None,
        optimizer: OptimizerLike,
        input_layer_partitioner: Partitioner | None,
        config: RunConfig | None,
    ) -> None:
        def model_fn(
            features: Any, labels: Any, mode: str, config: RunConfig
        ) -> EstimatorSpec:
            return rnn_model_fn(
                features, labels, mode, head, rnn_cell_fn, sequence_feature_columns,
                context_feature_columns, return_sequences, optimizer,
                input_layer_partitioner, config,
            )  # fmt: skip

        super().__init__(model_fn, model_dir, config)


@export("contrib.estimator.RNNEstimator")
class RNNEstimator(_RNN):
    """A recurrent network of columns of sequences, with any head.

    Args:
      head: a head, such as `tf.contrib.estimator.regression_head` makes.
      sequence_feature_columns: an iterable of columns of sequences, such as
        `tf.contrib.feature_column.sequence_numeric_column` makes.
      context_feature_columns: an iterable of dense columns, whose values are appended
        to each step.
      num_units: the number of units of each layer of cells.
      cell_type: "basic_rnn", "lstm", "gru", or a subclass of
        `tf.nn.rnn_cell.RNNCell`.
      rnn_cell_fn: instead of both, a function from a `tf.estimator.ModeKeys` to a
        `tf.nn.rnn_cell.RNNCell`.
      return_sequences: whether the head gets the logits of each step, [batch, steps,
        units], and not those of the last one; needs a head for sequences.
      model_dir: the directory of checkpoints and event files.
      optimizer: a `tf.train.Optimizer`; one by name, "Adagrad", "Adam", "Ftrl",
        "RMSProp" or "SGD", has a learning rate of 0.05, and its gradients, as those of
        a function that makes an optimizer, are clipped to a global norm of 5.
      input_layer_partitioner: the partitioner of the columns' variables.
      config: a `tf.estimator.RunConfig`.

    Raises:
      ValueError: the cells are described twice, or the head is not for sequences.

    Source: tensorflow_estimator/contrib/estimator/python/estimator/rnn.py.
    """

    def __init__(
        self,
        head: AnyHead,
        sequence_feature_columns: Columns,
        context_feature_columns: Columns | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: CellType | object = USE_DEFAULT,
        rnn_cell_fn: CellFn | None = None,
        return_sequences: bool = False,
        model_dir: PathLike | None = None,
        optimizer: OptimizerLike = "Adagrad",
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
    ) -> None:
        if return_sequences and not isinstance(head, SequentialHead):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when "
                "`return_sequences` is set to True."
            )
        cell_fn = _cell_fn_of(num_units, cell_type, rnn_cell_fn)
        super().__init__(
            head, cell_fn, sequence_feature_columns, context_feature_columns,
            return_sequences, model_dir, optimizer, input_layer_partitioner, config,
        )  # fmt: skip


@export("contrib.estimator.RNNClassifier")
class RNNClassifier(_RNN):
    """A recurrent network that predicts the class of a sequence.

    Args:
      sequence_feature_columns, context_feature_columns, num_units, cell_type,
      rnn_cell_fn, model_dir, optimizer, input_layer_partitioner, config: see
        `tf.contrib.estimator.RNNEstimator`.
      n_classes: the number of classes.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      label_vocabulary: the classes' names, if labels are strings.
      loss_reduction: a `tf.losses.Reduction` other than NONE.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> prices = tf.contrib.feature_column.sequence_numeric_column("price")
      >>> classifier = tf.contrib.estimator.RNNClassifier(
      ...     [prices], num_units=[32], cell_type="lstm"
      ... )
      >>> classifier.train(input_fn, steps=1000)

    Source: tensorflow_estimator/contrib/estimator/python/estimator/rnn.py.
    """

    def __init__(
        self,
        sequence_feature_columns: Columns,
        context_feature_columns: Columns | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: CellType | object = USE_DEFAULT,
        rnn_cell_fn: CellFn | None = None,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Vocabulary = None,
        optimizer: OptimizerLike = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
    ) -> None:
        cell_fn = _cell_fn_of(num_units, cell_type, rnn_cell_fn)
        head: Head
        if n_classes == 2:
            head = binary_classification_head(
                weight_column, None, label_vocabulary, loss_reduction
            )
        else:
            head = multi_class_head(
                n_classes, weight_column, label_vocabulary, loss_reduction
            )
        super().__init__(
            head, cell_fn, sequence_feature_columns, context_feature_columns, False,
            model_dir, optimizer, input_layer_partitioner, config,
        )  # fmt: skip
