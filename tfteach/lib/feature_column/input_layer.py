"""Dense columns as one Tensor: `input_layer` and `sequence_input_layer`.

Source: python/feature_column/feature_column.py,
contrib/feature_column/python/feature_column/sequence_feature_column.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfteach.control.checks.values import assert_equal
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.feature_column.base_column import (
    Columns,
    check_batch_sizes,
    size_of,
)
from tfteach.lib.feature_column.first_version import (
    DenseColumnV1,
    FeatureColumnV1,
    SequenceDenseColumnV1,
)
from tfteach.lib.feature_column.transformation_cache import (
    FeatureTransformationCache,
    LazyBuilder,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.variables.scope import get_variable_scope, variable_scope


def columns_of(given: Any, kind: type[FeatureColumnV1] = FeatureColumnV1) -> list[Any]:
    """The columns, in the order of their names.

    Args:
      given: a column, or an iterable of columns.
      kind: the class of all columns.

    Raises:
      ValueError: there are none, an item is not a column, or two have the same name.
    """
    if isinstance(given, FeatureColumnV1):
        given = [given]
    if isinstance(given, Iterator):
        given = list(given)
    if isinstance(given, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in given:
        if not isinstance(column, kind):
            shown = "_FeatureColumn" if kind is FeatureColumnV1 else kind.__name__
            raise ValueError(
                f"Items of feature_columns must be a {shown}. "
                f"Given (type {type(column)}): {column}."
            )
    if not given:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in given:
        if column.name in by_name:
            raise ValueError(
                "Duplicate feature column name found for columns: "
                f"{column} and {by_name[column.name]}. This usually means that these "
                "columns refer to same base feature. Either one must be discarded or a "
                "duplicated but renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    return [by_name[name] for name in sorted(by_name)]


def with_collections(given: Any) -> list[str]:
    """The collections of weights: all variables, model variables, and those given."""
    found = list(given or [])
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
        if key not in found:
            found.append(key)
    return found


def in_scope(scope: str) -> list[Any]:
    """The variables of a scope."""
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)


@export("feature_column.input_layer")
def input_layer(
    features: Mapping[str, Any],
    feature_columns: Columns,
    weight_collections: list[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Tensor] | None = None,
) -> Tensor:
    """The values of dense columns, side by side.

    Args:
      features: a dictionary from keys to Tensors and SparseTensors of a batch.
      feature_columns: dense columns; their order does not matter.
      weight_collections: further collections that variables are added to.
      trainable: whether variables are added to `tf.GraphKeys.TRAINABLE_VARIABLES`.
      cols_to_vars: a dictionary that receives each column's variables.
      cols_to_output_tensors: a dictionary that receives each column's values.

    Returns:
      A float Tensor [batch, values of all columns]; columns in the order of names.

    Raises:
      ValueError: a column is not dense, a feature is missing, names occur twice, or
        batches differ in size.

    Example:
      >>> age = tf.feature_column.numeric_column("age")
      >>> tf.feature_column.input_layer({"age": [[30.0], [50.0]]}, [age])
      <tf.Tensor 'input_layer/concat/concat:0' shape=(2, 1) dtype=float32>

    Source: python/feature_column/feature_column.py.
    """
    columns = dense_columns_of(feature_columns)
    with variable_scope(None, default_name="input_layer", values=features.values()):
        return input_values(
            features, columns, weight_collections, trainable, cols_to_vars,
            cols_to_output_tensors,
        )  # fmt: skip


def dense_columns_of(given: Any) -> list[Any]:
    """The columns, in the order of their names.

    Raises:
      ValueError: as `columns_of`, or a column is not dense.
    """
    columns = columns_of(given)
    for column in columns:
        if not isinstance(column, DenseColumnV1):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a "
                "categorical column with an embedding_column or indicator_column. "
                f"Given: {column}"
            )
    return columns


def input_values(
    features: Mapping[str, Any],
    columns: list[Any],
    weight_collections: list[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Tensor] | None = None,
    keeps_scope_names: bool = False,
) -> Tensor:
    """`input_layer` in the current scope.

    Args:
      columns: the result of `dense_columns_of`.
      keeps_scope_names: whether a column's variable scope has the same name in each
        call, so that variables are reused.
      features, weight_collections, trainable, cols_to_vars, cols_to_output_tensors: as
        in `input_layer`.
    """
    collections = with_collections(weight_collections)
    cache = LazyBuilder(features)
    found = []
    for column in columns:
        name = column._var_scope_name
        with variable_scope(name if keeps_scope_names else None, default_name=name):
            values = column._get_dense_tensor(
                cache, weight_collections=collections, trainable=trainable
            )
            values = flat_values(column, values)
            found.append(values)
            if cols_to_vars is not None:
                cols_to_vars[column] = in_scope(get_variable_scope().name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = values
    check_batch_sizes(found, columns)
    return concat(found, 1)


def transform_features(
    features: Mapping[str, Any], feature_columns: Columns
) -> dict[Any, Any]:
    """What columns make of features: a dictionary from columns to tensors.

    Source: python/feature_column/feature_column.py (_transform_features).
    """
    return _transformed(LazyBuilder(features), features, feature_columns, None)


def transform_features_v2(
    features: Mapping[str, Any], feature_columns: Columns, state_manager: Any = None
) -> dict[Any, Any]:
    """`transform_features` of columns with state.

    Source: python/feature_column/feature_column_v2.py (_transform_features_v2).
    """
    cache = FeatureTransformationCache(features)
    return _transformed(cache, features, feature_columns, state_manager)


def _transformed(
    cache: FeatureTransformationCache,
    features: Mapping[str, Any],
    feature_columns: Columns,
    state_manager: Any,
) -> dict[Any, Any]:
    columns = columns_of(feature_columns)
    with name_scope(None, "transform_features", features.values()):
        found = {}
        for column in columns:
            with name_scope(column.name):
                found[column] = cache.get(column, state_manager)
    return found


def flat_values(column: Any, values: Tensor) -> Tensor:
    """A dense column's values as a matrix [batch, values]."""
    return reshape(values, (shape(values)[0], size_of(column)))


@export("contrib.feature_column.sequence_input_layer")
def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Columns,
    weight_collections: list[str] | None = None,
    trainable: bool = True,
) -> tuple[Tensor, Tensor]:
    """The values of columns of sequences, side by side.

    Args:
      features: a dictionary from keys to SparseTensors of a batch.
      feature_columns: `sequence_numeric_column`s, and embedding or indicator columns of
        `sequence_categorical_column_with_...`.
      weight_collections: the collections that variables are added to, instead of the
        usual ones.
      trainable: whether variables are added to `tf.GraphKeys.TRAINABLE_VARIABLES`.

    Returns:
      A pair: a float Tensor [batch, steps, values of all columns], in the order of the
      columns' names, and an int64 Tensor [batch] of lengths.

    Raises:
      ValueError: a column is not one of sequences, or batches differ in size.
      tf.errors.InvalidArgumentError: in a run, columns differ in lengths.

    Source: contrib/feature_column/python/feature_column/sequence_feature_column.py.
    """
    columns = columns_of(feature_columns)
    for column in columns:
        if not isinstance(column, SequenceDenseColumnV1):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can "
                "wrap a sequence_categorical_column with an embedding_column or "
                f"indicator_column. Given (type {type(column)}): {column}"
            )
    with variable_scope(
        None, default_name="sequence_input_layer", values=features.values()
    ):
        cache = LazyBuilder(features)
        found, lengths = [], []
        for column in columns:
            with variable_scope(None, default_name=column._var_scope_name):
                values, length = column._get_sequence_dense_tensor(
                    cache, weight_collections=weight_collections, trainable=trainable
                )
                sizes = shape(values)
                target = [sizes[0], sizes[1], size_of(column)]
                found.append(reshape(values, target))
                lengths.append(length)
        check_batch_sizes(found, columns)
        check_batch_sizes(lengths, columns)
        length = equal_lengths(lengths)
        return concat(found, -1), length


def equal_lengths(tensors: list[Tensor]) -> Tensor:
    """The first Tensor, once all are found to be equal."""
    with name_scope(None, "assert_all_equal", tensors):
        if len(tensors) == 1:
            return tensors[0]
        checks = [assert_equal(tensors[0], other) for other in tensors[1:]]
        with get_default_graph().control_dependencies(checks):
            return identity(tensors[0])
