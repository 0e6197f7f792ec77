"""Input layers of the older columns, and parsing of Examples for them.

Source: contrib/layers/python/layers/feature_column_ops.py, embedding_ops.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfteach.framework.dtypes import float32, int32, string
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.embedding import safe_embedding_lookup_sparse
from tfteach.lib.contrib.layers.embedding_columns import (
    _EmbeddingColumn,
    _OneHotColumn,
)
from tfteach.lib.contrib.layers.feature_column import (
    DeepLookup,
    OldFeatureColumn,
    _RealValuedColumn,
    real_valued_column,
)
from tfteach.lib.contrib.layers.rank_of_input import inner_flatten
from tfteach.lib.files.init_from_checkpoint import init_from_checkpoint
from tfteach.lib.parsing.examples import parse_example
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile import tile
from tfteach.ops.array.unique import unique
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.nn.embedding_lookup import embedding_lookup, tables_of
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense
from tfteach.ops.sparse.sparse_feature_cross import sparse_feature_cross
from tfteach.ops.sparse.sparse_segment import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from tfteach.ops.sparse.sparse_shape import sparse_fill_empty_rows
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope

Features = Mapping[Any, Any]
Columns = Iterable[OldFeatureColumn]


@export("contrib.layers.check_feature_columns")
def check_feature_columns(feature_columns: Columns) -> None:
    """Check that no column occurs twice.

    Raises:
      ValueError: one does.
    """
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


def transformed(column: Any, tensors: dict[Any, Any]) -> Any:
    """The tensor of a column, which is added to `tensors` if missing."""
    if column not in tensors:
        column.insert_transformed_feature(tensors)
    return tensors[column]


@export("contrib.layers.transform_features")
def transform_features(features: Features, feature_columns: Columns) -> dict[Any, Any]:
    """The tensors that columns compute from features: a dictionary by column.

    Raises:
      ValueError: a column occurs twice.
    """
    tensors = dict(features)
    check_feature_columns(feature_columns)
    columns = in_order(feature_columns)
    for column in columns:
        transformed(column, tensors)
    return {column: tensors[column] for column in columns}


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
    check_feature_columns(feature_columns)
    for column in feature_columns:
        kinds = _RealValuedColumn | _EmbeddingColumn | _OneHotColumn
        if not isinstance(column, kinds):
            raise ValueError(
                f"FeatureColumn type {type(column).__name__} is not currently "
                "supported for sequence data."
            )
    return _input(
        columns_to_tensors, feature_columns, weight_collections, trainable, scope, 3,
        "sequence_input_from_feature_columns", None,
    )  # fmt: skip


def _input(
    features: Features, columns: Columns, collections: Any, trainable: bool,
    scope: Any, rank: int, default_name: str, outputs: dict[Any, Any] | None,
) -> Tensor:  # fmt: skip
    tensors = dict(features)
    check_feature_columns(columns)
    with variable_scope(scope, default_name=default_name, values=features.values()):
        found = []
        for column in in_order(columns):
            with variable_scope(None, default_name=column.name):
                tensor = transformed(column, tensors)
                values = _values(column, tensor, collections, trainable, rank)
                found.append(values)
                if outputs is not None:
                    outputs[column] = values
        return concat(found, rank - 1)


def _values(
    column: Any, tensor: Any, collections: Any, trainable: bool, rank: int
) -> Tensor:
    """The values of a column: looked up in a table, or dense."""
    try:
        lookup = column.deep(tensor)
    except NotImplementedError as missing:
        try:
            values: Tensor = column.to_input(tensor, rank)
            return values
        except ValueError as error:
            raise ValueError(
                f"Error creating input layer for column: {column.name}.\n{error}, "
                f"{missing}"
            ) from None
    return _looked_up(column, lookup, collections, trainable, rank)


def _looked_up(
    column: Any, lookup: DeepLookup, collections: Any, trainable: bool, rank: int
) -> Tensor:
    ids = inner_flatten(lookup.ids, rank)
    weights = None if lookup.weights is None else inner_flatten(lookup.weights, rank)

    def table(name: str, size: list[int]) -> Any:
        return model_variable(
            name, size, float32, lookup.initializer,
            trainable=trainable and lookup.trainable, collections=collections,
        )  # fmt: skip

    if lookup.hash_key:
        numbers = table("weights", [lookup.vocab_size])
        return _scattered(numbers, ids, lookup)
    size = [lookup.vocab_size, lookup.dimension]
    if lookup.shared_name is None:
        parts = table("weights", size)
    else:
        key = f"SHARED_EMBEDDING_COLLECTION_{lookup.shared_name.upper()}"
        graph = get_default_graph()
        shared = graph.get_collection(key)
        if not shared:
            graph.add_to_collection(key, table(lookup.shared_name, size))
        parts = graph.get_collection(key)[0]
        if parts.get_shape().as_list() != size:
            raise ValueError(
                f"The embedding variable with name {lookup.shared_name} already exists,"
                " but its shape does not match required embedding shape here. Please "
                "make sure to use different shared_embedding_name for different shared "
                "embeddings."
            )
    tables = tables_of(parts)
    load_checkpoint(column, tables)
    return safe_embedding_lookup_sparse(
        tables, ids, weights, lookup.combiner, name=f"{column.name}weights",
        max_norm=lookup.max_norm,
    )  # fmt: skip


def load_checkpoint(column: Any, tables: list[Any]) -> None:
    """Initialize variables from the column's checkpoint."""
    found = column.checkpoint()
    if found is not None:
        path, tensor_name = found
        init_from_checkpoint(path, {tensor_name: tables})


_COMBINERS = {
    "sum": sparse_segment_sum,
    "mean": sparse_segment_mean,
    "sqrtn": sparse_segment_sqrt_n,
}


def _scattered(numbers: Any, words: SparseTensor, lookup: DeepLookup) -> Tensor:
    """Vectors of words, each number of them at a hash of the word and its place."""
    tables = tables_of(numbers)
    with name_scope("lookup") as scope:
        # Words of empty rows that no other word is likely to share a hash with.
        missing: Any = "6ZxWzWOHxZ" if words.dtype == string else 1288896567
        words, _ = sparse_fill_empty_rows(words, missing)
        segments = cast(words.indices[:, 0], int32)
        values, positions = unique(words.values)
        with name_scope(None, "scattered_embedding_lookup"):
            sizes = shape(values)
            values = reshape(values, [-1, 1])
            places = expand_dims(range_of(0, lookup.dimension), 0)
            places = tile(places, shape(values))
            crossed = sparse_feature_cross(
                [places, values], lookup.vocab_size, lookup.hash_key
            )
            ids = sparse_tensor_to_dense(crossed)
            found = embedding_lookup(tables, ids, partition_strategy="div")
            vectors = reshape(found, concat([sizes, [lookup.dimension]], 0))
        combine = _COMBINERS[lookup.combiner]
        return combine(vectors, positions, segments, name=scope)


# ---- Examples


@export("contrib.layers.create_feature_spec_for_parsing")
def create_feature_spec_for_parsing(feature_columns: Columns) -> dict[str, Any]:
    """The features that columns read, as the argument of `tf.parse_example`."""
    found: dict[str, Any] = {}
    for column in feature_columns:
        found.update(column.config)
    return found


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
    for column in in_order(feature_columns):
        transformed(column, tensors)
    return tensors


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
    return [_inferred(key, features[key]) for key in sorted(features)]


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
