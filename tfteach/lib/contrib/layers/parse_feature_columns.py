"""Parsing of Examples and SequenceExamples for the older columns.

Source: contrib/layers/python/layers/feature_column.py, feature_column_ops.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.layers.feature_column import _FeatureColumn
from tfteach.lib.contrib.layers.feature_column_ops import (
    Columns,
    Transformer,
    check_feature_columns,
    in_order,
)
from tfteach.lib.parsing.examples import parse_example
from tfteach.lib.parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
)
from tfteach.lib.parsing.sequences import parse_single_sequence_example
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.placeholder import placeholder
from tfteach.ops.core.sparse_tensor import SparseTensor, sparse_placeholder


@export("contrib.layers.create_feature_spec_for_parsing")
def create_feature_spec_for_parsing(
    feature_columns: Columns | Mapping[Any, _FeatureColumn],
) -> dict[str, Any]:
    """The features that columns read, as the argument of `tf.parse_example`.

    Args:
      feature_columns: columns, or a dictionary whose values are columns.

    Returns:
      A dictionary from keys to `tf.FixedLenFeature`, `tf.FixedLenSequenceFeature` or
      `tf.VarLenFeature`.

    Raises:
      TypeError: an item is none of these columns.
    """
    if isinstance(feature_columns, Mapping):
        feature_columns = feature_columns.values()
    found: dict[str, Any] = {}
    for column in feature_columns:
        found.update(_features_of(column))
    return found


def _features_of(column: Any) -> dict[str, Any]:
    if not isinstance(column, _FeatureColumn):
        raise TypeError(
            "feature_columns should only contain instances of _FeatureColumn. Given "
            f"column is {column}"
        )
    return column.config


@export("contrib.layers.parse_feature_columns_from_examples")
def parse_feature_columns_from_examples(
    serialized: TensorLike,
    feature_columns: Columns,
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[Any, Any]:
    """The features parsed from Examples, and the tensor of each column.

    Args:
      serialized: string Tensor [batch], serialized Examples.
      feature_columns: the columns.
      name, example_names: as in `tf.parse_example`.

    Returns:
      A dictionary from keys and columns to tensors.

    Raises:
      ValueError: a column occurs twice.
    """
    check_feature_columns(feature_columns)
    tensors: dict[Any, Any] = parse_example(
        serialized, create_feature_spec_for_parsing(feature_columns), name,
        example_names,
    )  # fmt: skip
    transformer = Transformer(tensors)
    for column in in_order(feature_columns):
        transformer.transform(column)
    return tensors


@export("contrib.layers.parse_feature_columns_from_sequence_examples")
def parse_feature_columns_from_sequence_examples(
    serialized: TensorLike,
    context_feature_columns: Columns | None,
    sequence_feature_columns: Columns | None,
    name: str | None = None,
    example_name: TensorLike | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features parsed from one SequenceExample.

    Args:
      serialized: string Tensor [], a serialized SequenceExample.
      context_feature_columns: the columns of its context; None: there are none.
      sequence_feature_columns: the columns of its steps; None: there are none.
      name, example_name: as in `tf.parse_single_sequence_example`.

    Returns:
      A pair of dictionaries from keys to tensors: those of the context, and of the
      steps, [steps, values].  Unlike those of `parse_feature_columns_from_examples`,
      they do not have the columns' own tensors.

    Raises:
      ValueError: a column occurs twice.
    """
    serialized = reshape(serialized, [])
    check_feature_columns(context_feature_columns or [])
    check_feature_columns(sequence_feature_columns or [])
    return parse_single_sequence_example(
        serialized,
        create_feature_spec_for_parsing(context_feature_columns or []),
        create_sequence_feature_spec_for_parsing(sequence_feature_columns or []),
        example_name,
        name,
    )


def create_sequence_feature_spec_for_parsing(
    sequence_feature_columns: Columns, allow_missing_by_default: bool = False
) -> dict[str, Any]:
    """The features that columns read of each step of a SequenceExample.

    Args:
      sequence_feature_columns: the columns.
      allow_missing_by_default: whether features of a fixed size may be missing; those
        with a default value always may.

    Source: contrib/layers/python/layers/feature_column.py
      (_create_sequence_feature_spec_for_parsing).
    """
    found = create_feature_spec_for_parsing(sequence_feature_columns)
    for key, feature in found.items():
        if isinstance(feature, FixedLenFeature | FixedLenSequenceFeature):
            may_miss = allow_missing_by_default or feature.default_value is not None
            found[key] = FixedLenSequenceFeature(feature.shape, feature.dtype, may_miss)
    return found


@export("contrib.layers.make_place_holder_tensors_for_base_features")
def make_place_holder_tensors_for_base_features(
    feature_columns: Columns | Mapping[Any, _FeatureColumn],
) -> dict[str, Tensor | SparseTensor]:
    """A placeholder for each feature that columns read.

    Args:
      feature_columns: columns, or a dictionary whose values are columns.

    Returns:
      A dictionary from keys to placeholders, which are named "Placeholder_<key>": a
      SparseTensor for features of any number of values, else a Tensor [batch, values].

    Raises:
      TypeError: an item is none of these columns.
    """
    found: dict[str, Tensor | SparseTensor] = {}
    for key, feature in create_feature_spec_for_parsing(feature_columns).items():
        name = f"Placeholder_{key}"
        if isinstance(feature, VarLenFeature):
            found[key] = sparse_placeholder(feature.dtype, name=name)
        else:
            (width,) = feature.shape or (None,)
            found[key] = placeholder(feature.dtype, [None, width], name)
    return found
