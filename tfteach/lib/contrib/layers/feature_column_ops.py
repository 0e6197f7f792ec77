"""Input layers of the older columns, and what all their models share.

Source: contrib/layers/python/layers/feature_column_ops.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.lib.contrib.framework.experimental import warn_experimental
from tfteach.lib.contrib.layers.column_embeddings import embeddings_of
from tfteach.lib.contrib.layers.crossed_column import _CrossedColumn
from tfteach.lib.contrib.layers.embedding_columns import (
    _EmbeddingColumn,
    _OneHotColumn,
)
from tfteach.lib.contrib.layers.feature_column import _FeatureColumn
from tfteach.lib.contrib.layers.rank_of_input import reshaped_to_rank
from tfteach.lib.contrib.layers.real_valued_columns import (
    _RealValuedColumn,
    _RealValuedVarLenColumn,
    real_valued_column,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope

Features = Mapping[Any, Any]
Columns = Iterable[_FeatureColumn]


@export("contrib.layers.check_feature_columns")
def check_feature_columns(feature_columns: Columns) -> None:
    """Check that no column occurs twice.

    Raises:
      ValueError: one does, or the columns are in a dictionary.
    """
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This "
                "usually means that the column is almost identical to another column, "
                "and one must be discarded."
            )
        seen.add(column.key)


def in_order(columns: Columns) -> list[Any]:
    """Each column once, sorted by key."""
    return sorted(set(columns), key=lambda column: column.key)


class Transformer:
    """Computes the tensors of columns, each once.

    Args:
      columns_to_tensors: a dictionary of features; receives the columns' tensors.

    Source: contrib/layers/python/layers/feature_column_ops.py (_Transformer).
    """

    def __init__(self, columns_to_tensors: dict[Any, Any]) -> None:
        self._columns_to_tensors = columns_to_tensors

    def transform(self, feature_column: _FeatureColumn) -> Any:
        """The tensor of a column: that in the dictionary, which it is added to.

        Raises:
          KeyError: a feature is missing.
        """
        get_logger().debug("Transforming feature_column %s", feature_column)
        if feature_column not in self._columns_to_tensors:
            feature_column.insert_transformed_feature(self._columns_to_tensors)
        return self._columns_to_tensors[feature_column]


@export("contrib.layers.transform_features")
def transform_features(features: Features, feature_columns: Columns) -> dict[Any, Any]:
    """The tensors that columns compute from features: a dictionary by column.

    Raises:
      ValueError: a column occurs twice.
    """
    check_feature_columns(feature_columns)
    transformer = Transformer(dict(features))
    columns = in_order(feature_columns)
    return {column: transformer.transform(column) for column in columns}


# ---- input layers


@export("contrib.layers.input_from_feature_columns")
def input_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Columns,
    weight_collections: list[str] | None = None,
    trainable: bool = True,
    scope: VariableScope | str | None = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Tensor:
    """The values of columns, side by side, in the order of their keys.

    Args:
      columns_to_tensors: a dictionary from keys to features of a batch.
      feature_columns: columns of numbers, buckets, one-hot vectors and embeddings.
      weight_collections: further collections that variables are added to.
      trainable: whether variables may be trained.
      scope: the variable scope; "input_from_feature_columns" if None.
      cols_to_outs: a dictionary that receives each column's values.

    Returns:
      A float Tensor [batch, values of all columns].

    Raises:
      ValueError: a column occurs twice or cannot be an input, or `cols_to_outs` is not
        a dictionary.

    Example:
      >>> age = tf.contrib.layers.real_valued_column("age")
      >>> tf.contrib.layers.input_from_feature_columns({"age": tf.ones([2, 1])}, [age])

    Source: contrib/layers/python/layers/feature_column_ops.py.
    """
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    return _input(
        columns_to_tensors, feature_columns, weight_collections, trainable, scope, 2,
        "input_from_feature_columns", cols_to_outs,
    )  # fmt: skip


@export("contrib.layers.sequence_input_from_feature_columns")
def sequence_input_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Columns,
    weight_collections: list[str] | None = None,
    trainable: bool = True,
    scope: str | None = None,
) -> Tensor:
    """`input_from_feature_columns` for sequences.

    Args:
      columns_to_tensors: features of rank 3, [batch, steps, values].
      feature_columns: columns of numbers, one-hot vectors and embeddings.
      weight_collections, trainable, scope: as in `input_from_feature_columns`.

    Returns:
      A float Tensor [batch, steps, values of all columns].

    Raises:
      ValueError: a column occurs twice or is of another kind.

    Source: contrib/layers/python/layers/feature_column_ops.py.
    """
    warn_experimental(
        "sequence_input_from_feature_columns", "layers.python.layers.feature_column_ops"
    )
    _check_sequence_columns(feature_columns)
    return _input(
        columns_to_tensors, feature_columns, weight_collections, trainable, scope, 3,
        "sequence_input_from_feature_columns", None,
    )  # fmt: skip


_SEQUENCE_COLUMNS = (
    _OneHotColumn | _EmbeddingColumn | _RealValuedColumn | _RealValuedVarLenColumn
)


def _check_sequence_columns(columns: Columns) -> None:
    """Raise ValueError for columns of which there are no sequences."""
    for column in columns:
        if not isinstance(column, _SEQUENCE_COLUMNS):
            raise ValueError(
                f"FeatureColumn type {type(column).__name__} is not currently "
                "supported for sequence data."
            )
        source = getattr(column, "sparse_id_column", None)
        if isinstance(source, _CrossedColumn):
            raise ValueError(
                f"Column {source.name} is of type {type(source).__name__}, which is "
                "not currently supported for sequences."
            )


def _input(
    features: Features, columns: Columns, collections: Any, trainable: bool,
    scope: Any, rank: int, default_name: str, outputs: dict[Any, Any] | None,
) -> Tensor:  # fmt: skip
    check_feature_columns(columns)
    with variable_scope(scope, default_name=default_name, values=features.values()):
        found = []
        transformer = Transformer(dict(features))
        for column in in_order(columns):
            with variable_scope(None, default_name=column.name):
                tensor = transformer.transform(column)
                if rank == 3:
                    tensor = _as_sequences(tensor, column.name)
                values = _values(column, tensor, collections, trainable, rank)
                found.append(values)
                if outputs is not None:
                    outputs[column] = values
        return concat(found, rank - 1)


def _as_sequences(tensor: Any, column_name: str) -> Any:
    """A column's tensor, of ids and weights both, with an axis for steps."""
    if isinstance(tensor, tuple):
        return tuple(reshaped_to_rank(part, 3, column_name) for part in tensor)
    return reshaped_to_rank(tensor, 3, column_name)


def _values(
    column: Any, tensor: Any, collections: Any, trainable: bool, rank: int
) -> Tensor:
    """The values of a column: looked up in a table, or dense."""
    try:
        lookup = column._deep_embedding_lookup_arguments(tensor)
    except NotImplementedError as missing:
        try:
            values: Tensor = column._to_dnn_input_layer(
                tensor, collections, trainable, output_rank=rank
            )
            return values
        except ValueError as error:
            raise ValueError(
                f"Error creating input layer for column: {column.name}.\n{error}, "
                f"{missing}"
            ) from None
    return embeddings_of(column, lookup, collections, trainable, rank)


@export("contrib.layers.infer_real_valued_columns")
def infer_real_valued_columns(
    features: Tensor | Mapping[str, Tensor],
) -> list[_RealValuedColumn]:
    """Columns of numbers for a Tensor, or for each in a dictionary.

    Raises:
      ValueError: a Tensor of another type, or a SparseTensor.
    """
    if not isinstance(features, Mapping):
        return [_inferred("", features)]
    return [_inferred(key, tensor) for key, tensor in features.items()]


def _inferred(key: str, tensor: Any) -> _RealValuedColumn:
    if isinstance(tensor, SparseTensor):
        raise ValueError(
            "SparseTensor is not supported for auto detection. Please define "
            "corresponding FeatureColumn for tensor {} {}.",
            key,
            tensor,
        )
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto detection. "
            "Please define corresponding FeatureColumn for tensor {} {}.",
            key,
            tensor,
        )
    sizes = tensor.get_shape().as_list()
    width = 1
    for size in sizes[1:]:
        width *= size
    return real_valued_column(key, dimension=width, dtype=tensor.dtype)
