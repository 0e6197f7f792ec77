"""Columns of sequences as a layer: `SequenceFeatures`.

Source: python/feature_column/sequence_feature_column.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.control.checks.ranks import assert_rank
from tfteach.control.checks.types import assert_type
from tfteach.framework.dtypes import float32
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.feature_column.base_column import (
    Columns,
    SequenceDenseColumn,
    check_batch_sizes,
    size_of,
)
from tfteach.lib.feature_column.dense_features import ColumnsLayer
from tfteach.lib.feature_column.input_layer import equal_lengths
from tfteach.lib.feature_column.transformation_cache import FeatureTransformationCache
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile import tile
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape as shape_of


class SequenceFeatures(ColumnsLayer):
    """The values of columns of sequences, side by side.

    Args:
      feature_columns: `sequence_numeric_column`s, and embedding or indicator columns of
        `sequence_categorical_column_with_...`.
      trainable: whether variables may be trained.
      name: the name of its variable scope and name scopes; unique if None.

    Raises:
      ValueError: a column is not one of sequences.

    Source: python/feature_column/sequence_feature_column.py.
    """

    _column_type = SequenceDenseColumn
    _default_name = "sequence_features"

    def __init__(
        self, feature_columns: Columns, trainable: bool = True, name: str | None = None
    ) -> None:
        super().__init__(feature_columns, trainable, name)

    def __call__(self, features: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
        """A float Tensor [batch, steps, values of all columns], and lengths [batch].

        Args:
          features: a dictionary from keys to SparseTensors of a batch.

        Raises:
          ValueError: `features` is not a dictionary, or lacks a feature.
          tf.errors.InvalidArgumentError: in a run, columns differ in lengths.
        """
        self._check_features(features)
        with name_scope(self.name):
            self._build()
            cache = FeatureTransformationCache(features)
            found, lengths = [], []
            for column in self._feature_columns:
                with name_scope(column.name):
                    values, length = column.get_sequence_dense_tensor(
                        cache, self._state_manager
                    )
                    sizes = shape_of(values)
                    target = [sizes[0], sizes[1], size_of(column)]
                    found.append(reshape(values, target))
                    lengths.append(length)
            check_batch_sizes(found, self._feature_columns)
            check_batch_sizes(lengths, self._feature_columns)
            length = equal_lengths(lengths)
            return concat(found, -1), length

    def compute_output_shape(self, input_shape: Any) -> tuple[int | None, ...]:
        """(batch, steps, values of all columns), of an input (batch, steps, ...)."""
        return (input_shape[0], input_shape[1], self._total_size())


def concatenate_context_input(context_input: Tensor, sequence_input: Tensor) -> Tensor:
    """A context vector appended to each step of a sequence.

    Args:
      context_input: float32 [batch, context size].
      sequence_input: float32 [batch, steps, size].

    Returns:
      float32 [batch, steps, size + context size].

    Raises:
      ValueError: an argument has another rank.
      TypeError: an argument has another type.

    Example:
      >>> concatenate_context_input(tf.ones([2, 3]), tf.ones([2, 7, 5]))  # [2, 7, 8]

    Source: python/feature_column/sequence_feature_column.py.
    """
    checks = [
        *_checks("sequence_input", sequence_input, 3),
        *_checks("context_input", context_input, 2),
    ]
    with control_dependencies(checks):
        steps = shape_of(sequence_input)[1]
        steps_of_one = expand_dims(context_input, 1)
        repeated = tile(steps_of_one, concat([[1], [steps], [1]], 0))
    return concat([sequence_input, repeated], 2)


def _checks(name: str, tensor: Tensor, rank: int) -> list[Operation]:
    message = f"{name} must have rank {rank}"
    is_ranked = assert_rank(tensor, rank, data=[shape_of(tensor)], message=message)
    message = f"{name} must have dtype float32; got {tensor.dtype}."
    return [is_ranked, assert_type(tensor, float32, message=message)]
