"""`linear_model`: a weighted sum of what columns provide.

Source: python/feature_column/feature_column.py (_LinearModel).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    CategoricalColumnV1,
    DenseColumnV1,
    IdWeightPair,
)
from tfteach.lib.feature_column.input_layer import (
    columns_of,
    flat_values,
    in_scope,
    with_collections,
)
from tfteach.lib.feature_column.transformation_cache import LazyBuilder
from tfteach.lib.layers.base import Layer
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.add_n import add_n
from tfteach.ops.nn.bias_add import bias_add
from tfteach.ops.nn.safe_embedding_lookup import safe_embedding_lookup_sparse
from tfteach.ops.sparse.sparse_shape import sparse_reshape
from tfteach.variables.initializers import Zeros
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.scope import get_variable_scope, variable_scope


class _Weights(Layer):
    """A variable of a linear model, in a separate scope.

    Args:
      variable: its name.
      size: its shape.
      collections: the collections that it is added to.
    """

    def __init__(
        self, variable: str, size: list[int], collections: list[str], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._variable, self._size, self._collections = variable, size, collections

    def build(self, input_shape: Any) -> None:
        self.variable = self.add_weight(
            self._variable, self._size, initializer=Zeros(), use_resource=True
        )
        parts: list[Any] = [self.variable]
        if isinstance(self.variable, PartitionedVariable):
            parts = list(self.variable)
        graph = get_default_graph()
        for part in parts:
            for key in self._collections:
                if key != GraphKeys.GLOBAL_VARIABLES:
                    graph.add_to_collection(key, part)
        super().build(input_shape)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return self.variable


class _WeightedSum(_Weights):
    """A column's part of the sum: its values times its weights."""

    def __init__(
        self, column: Any, units: int, combiner: str, collections: list[str],
        **kwargs: Any,
    ) -> None:  # fmt: skip
        is_sparse = isinstance(column, CategoricalColumnV1)
        rows = column.num_buckets if is_sparse else size_of(column)
        super().__init__("weights", [rows, units], collections, **kwargs)
        self.column, self._combiner = column, combiner

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        column, weights = self.column, self.variable
        options = {
            "weight_collections": self._collections,
            "trainable": self.trainable,
        }
        if isinstance(column, CategoricalColumnV1):
            pair = column._get_sparse_tensors(inputs, **options)
            return weighted_sum_of_ids(pair, weights, self._combiner)
        values = column._get_dense_tensor(inputs, **options)
        return weighted_sum_of_values(column, values, weights)


def weighted_sum_of_values(column: Any, values: Tensor, weights: Any) -> Tensor:
    """A dense column's values times its weights."""
    return matmul(flat_values(column, values), weights, name="weighted_sum")


def weighted_sum_of_ids(pair: IdWeightPair, weights: Any, combiner: str) -> Tensor:
    """The sum of the weights of a categorical column's ids."""
    ids, id_weights = pair
    ids = sparse_reshape(ids, [shape(ids)[0], -1])
    if id_weights is not None:
        id_weights = sparse_reshape(id_weights, [shape(id_weights)[0], -1])
    return safe_embedding_lookup_sparse(
        weights, ids, id_weights, combiner, name="weighted_sum"
    )


@export("feature_column.linear_model")
def linear_model(
    features: Mapping[str, Any],
    feature_columns: Columns,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: list[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Tensor:
    """A linear function of columns: weights that start at 0, and a bias.

    Args:
      features: a dictionary from keys to Tensors and SparseTensors of a batch.
      feature_columns: dense and categorical columns; their order does not matter.
      units: the number of outputs.
      sparse_combiner: "sum", "mean" or "sqrtn" of the weights of an example's ids.
      weight_collections: further collections that variables are added to.
      trainable: whether variables are added to `tf.GraphKeys.TRAINABLE_VARIABLES`.
      cols_to_vars: a dictionary that receives each column's variables, and those of
        "bias".

    Returns:
      A float Tensor [batch, units].

    Raises:
      ValueError: a column is neither dense nor categorical, a feature is missing, names
        occur twice, or batches differ in size.

    Example:
      >>> age = tf.feature_column.numeric_column("age")
      >>> price = tf.feature_column.linear_model({"age": [[30.0], [50.0]]}, [age])

    Source: python/feature_column/feature_column.py.
    """
    with variable_scope(None, default_name="linear_model") as scope:
        own_name = scope.name.rpartition("/")[2]
    model = ScopedLinearModel(
        feature_columns, units, sparse_combiner, weight_collections, trainable,
        name=own_name,
    )  # fmt: skip
    logits = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return logits


class ScopedLinearModel:
    """A linear function of columns; see `linear_model`.

    Args:
      feature_columns, units, sparse_combiner, weight_collections, trainable: as in
        `linear_model`.
      name: the name of its name scope and variable scope.

    Attributes:
      bias: the variable [units], once the model has been called.

    Source: python/feature_column/feature_column.py (_LinearModel).
    """

    def __init__(
        self,
        feature_columns: Columns,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: list[str] | None = None,
        trainable: bool = True,
        name: str = "linear_model",
    ) -> None:
        self.name = name
        self._found: dict[Any, Any] = {}
        collections = with_collections(weight_collections)
        self._layers = []
        for column in columns_of(feature_columns):
            if not isinstance(column, DenseColumnV1 | CategoricalColumnV1):
                raise ValueError(
                    "Items of feature_columns must be either a _DenseColumn or "
                    f"_CategoricalColumn. Given: {column}"
                )
            with variable_scope(None, default_name=column._var_scope_name) as scope:
                column_name = scope.name.rpartition("/")[2]
            self._layers.append(
                _WeightedSum(
                    column, units, sparse_combiner, collections,
                    trainable=trainable, name=column_name,
                )
            )  # fmt: skip
        self._bias_layer = _Weights(
            "bias_weights", [units], collections, trainable=trainable, name="bias_layer"
        )

    @property
    def bias(self) -> Any:
        return self._bias_layer.variable

    def cols_to_vars(self) -> dict[Any, Any]:
        """The variables of each column, and those of "bias", once it was called."""
        return self._found

    def __call__(self, features: Mapping[str, Any]) -> Tensor:
        """A float Tensor [batch, units] of a dictionary of features."""
        with name_scope(self.name), variable_scope(self.name):
            cache: Any = LazyBuilder(features)
            sums = []
            for layer in sorted(self._layers, key=lambda layer: layer.name):
                sums.append(layer(cache))
                self._found[layer.column] = in_scope(layer.scope_name)
            check_batch_sizes(sums, [layer.column for layer in self._layers])
            total = add_n(sums, name="weighted_sum_no_bias")
            bias = self._bias_layer(cache, scope=get_variable_scope())
            total = bias_add(total, bias, name="weighted_sum")
        is_cut = isinstance(self.bias, PartitionedVariable)
        self._found["bias"] = list(self.bias) if is_cut else [self.bias]
        return total
