"""Columns as layers, as estimators use them: `DenseFeatures` and `LinearModel`.

Unlike `input_layer` and `linear_model` they create all variables before any other op,
and these are resources.
Source: python/feature_column/dense_features.py, feature_column_v2.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from tfteach.framework.dtypes import float32
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, Initializer
from tfteach.lib.feature_column.base_column import (
    CategoricalColumn,
    Columns,
    DenseColumn,
    FeatureColumn,
    check_batch_sizes,
    size_of,
)
from tfteach.lib.feature_column.input_layer import columns_of, flat_values
from tfteach.lib.feature_column.linear_model import (
    weighted_sum_of_ids,
    weighted_sum_of_values,
)
from tfteach.lib.feature_column.serialization import (
    deserialize_feature_columns,
    serialize_feature_columns,
)
from tfteach.lib.feature_column.transformation_cache import FeatureTransformationCache
from tfteach.lib.layers.base import Layer
from tfteach.lib.layers.layer_names import unique_layer_name
from tfteach.ops.array.concat_split import concat
from tfteach.ops.math.add_n import add_n
from tfteach.ops.nn.bias_add import bias_add
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope import get_variable, variable_scope


def is_feature_column_v2(feature_columns: Iterable[Any]) -> bool:
    """Whether `DenseFeatures` accepts these columns: none is a shared embedding."""
    return all(
        isinstance(column, FeatureColumn) and column._is_v2_column
        for column in feature_columns
    )


class LayerVariables:
    """The state manager of layers: creates variables once, and finds them again.

    Args:
      trainable: whether variables may be trained.
    """

    def __init__(self, trainable: bool) -> None:
        self._trainable = trainable
        self._found: dict[tuple[Any, str], Any] = {}

    @property
    def variables(self) -> list[Any]:
        return list(self._found.values())

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Initializer | None = None,
    ) -> Any:
        """A variable of the current variable scope.

        Raises:
          ValueError: the column has a variable of this name.
        """
        if (feature_column, name) in self._found:
            raise ValueError("Variable already exists.")
        variable = self._made(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
        )
        self._found[feature_column, name] = variable
        return variable

    def _made(self, name: str, **options: Any) -> Any:
        return get_variable(name, **options)

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """A variable of a column.

        Raises:
          ValueError: it has none of this name.
        """
        if (feature_column, name) in self._found:
            return self._found[feature_column, name]
        raise ValueError("Variable does not exist.")


class StateManagerImpl(LayerVariables):
    """`LayerVariables` whose variables are among those of a layer.

    Args:
      layer: a `tf.layers.Layer`.
      trainable: whether variables may be trained.

    Source: python/feature_column/feature_column_v2.py (_StateManagerImpl).
    """

    def __init__(self, layer: Layer, trainable: bool) -> None:
        super().__init__(trainable)
        self._layer = layer

    def _made(self, name: str, **options: Any) -> Any:
        variable = super()._made(name, **options)
        is_trainable = options["trainable"]
        layer = self._layer
        own = layer._trainable_weights if is_trainable else layer._non_trainable_weights
        own.append(variable)
        return variable


class ColumnsLayer:
    """What the layers of columns share: their variables, their configuration.

    Args:
      feature_columns: columns of the layer's type.
      trainable: whether variables may be trained.
      name: the name of its variable scope and name scopes; unique if None.

    Raises:
      ValueError: a column has another type.
    """

    _column_type: ClassVar[type[FeatureColumn]]
    _default_name: ClassVar[str]

    def __init__(
        self, feature_columns: Columns, trainable: bool | None, name: str | None
    ) -> None:
        self.name = name or unique_layer_name(self._default_name)
        self.trainable = trainable
        self._feature_columns = columns_of(feature_columns, FeatureColumn)
        self._state_manager = LayerVariables(bool(trainable))
        self._is_built = False
        for column in self._feature_columns:
            if not isinstance(column, self._column_type):
                raise ValueError(
                    f"Items of feature_columns must be a {self._column_type}. You can "
                    "wrap a categorical column with an embedding_column or "
                    f"indicator_column. Given: {column}"
                )

    @property
    def variables(self) -> list[Any]:
        return self._state_manager.variables

    @property
    def weights(self) -> list[Any]:
        return self.variables

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor as plain values."""
        return {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": None,
            "feature_columns": serialize_feature_columns(self._feature_columns),
        }

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
    ) -> Self:
        """A layer of a `get_config` result.

        Args:
          config: the result.
          custom_objects: functions and classes of its columns by name.
        """
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(columns, config["trainable"], config["name"])

    def _total_size(self) -> int:
        return sum(size_of(column) for column in self._feature_columns)

    def _check_features(self, features: Any) -> None:
        if not isinstance(features, Mapping):
            raise ValueError(
                f"We expected a dictionary here. Instead we got: {features}"
            )

    def _build(self) -> None:
        if self._is_built:
            return
        self._is_built = True
        with variable_scope(self.name, auxiliary_name_scope=False):
            for column in self._feature_columns:
                with variable_scope(column.name, auxiliary_name_scope=False):
                    column.create_state(self._state_manager)


class DenseFeatures(ColumnsLayer):
    """The values of dense columns, side by side; see `tf.feature_column.input_layer`.

    Args:
      feature_columns: dense columns, other than shared embeddings.
      trainable: whether variables may be trained.
      name: the name of its variable scope and name scopes; unique if None.

    Raises:
      ValueError: a column is not dense.
    """

    _column_type = DenseColumn
    _default_name = "dense_features"

    def __init__(
        self, feature_columns: Columns, trainable: bool = True, name: str | None = None
    ) -> None:
        super().__init__(feature_columns, trainable, name)

    def __call__(
        self,
        features: Mapping[str, Any],
        cols_to_output_tensors: dict[Any, Tensor] | None = None,
    ) -> Tensor:
        """A float Tensor [batch, values of all columns].

        Args:
          features: a dictionary from keys to Tensors and SparseTensors of a batch.
          cols_to_output_tensors: a dictionary that receives each column's values.

        Raises:
          ValueError: `features` is not a dictionary, or lacks a feature.
        """
        self._check_features(features)
        with name_scope(self.name):
            self._build()
            cache = FeatureTransformationCache(features)
            found = []
            for column in self._feature_columns:
                with name_scope(column.name):
                    values = column.get_dense_tensor(cache, self._state_manager)
                    found.append(flat_values(column, values))
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = found[-1]
            check_batch_sizes(found, self._feature_columns)
            return concat(found, -1)

    def compute_output_shape(self, input_shape: Any) -> tuple[int | None, ...]:
        """(batch, values of all columns), of an input (batch, ...)."""
        return (input_shape[0], self._total_size())


class LinearModel:
    """A linear function of columns; see `tf.feature_column.linear_model`.

    Args:
      feature_columns: dense and categorical columns, other than shared embeddings.
      units: the number of outputs.
      sparse_combiner: "sum", "mean" or "sqrtn" of the weights of an example's ids.
      trainable: whether variables may be trained.
      name: the name of its variable scope and name scopes; unique if None.

    Attributes:
      bias: the variable [units], once the model has been called.

    Raises:
      ValueError: a column is neither dense nor categorical.
    """

    def __init__(
        self, feature_columns: Columns, units: int = 1, sparse_combiner: str = "sum",
        trainable: bool = True, name: str | None = None,
    ) -> None:  # fmt: skip
        self.name = name or unique_layer_name("linear_model")
        self.bias: Any = None
        self._columns = columns_of(feature_columns, FeatureColumn)
        self._units, self._sparse_combiner = units, sparse_combiner
        self._state_manager = LayerVariables(trainable)
        for column in self._columns:
            if not isinstance(column, DenseColumn | CategoricalColumn):
                raise ValueError(
                    "Items of feature_columns must be either a DenseColumn or "
                    f"CategoricalColumn. Given: {column}"
                )

    @property
    def variables(self) -> list[Any]:
        """The weights of each column, in the order of their names; last the bias."""
        return self._state_manager.variables

    def __call__(self, features: Mapping[str, Any]) -> Tensor:
        """A float Tensor [batch, units].

        Args:
          features: a dictionary from keys to Tensors and SparseTensors of a batch.

        Raises:
          ValueError: `features` is not a dictionary, or lacks a feature.
        """
        if not isinstance(features, Mapping):
            raise ValueError(
                f"We expected a dictionary here. Instead we got: {features}"
            )
        # The scopes of the model, of the layer in it, and of the layer's call.
        with name_scope(self.name), name_scope(self.name):
            self._build()
            with name_scope(self.name):
                return self._sum(FeatureTransformationCache(features))

    def _build(self) -> None:
        if self.bias is not None:
            return
        manager = self._state_manager
        with variable_scope(self.name, auxiliary_name_scope=False):
            for column in self._columns:
                with variable_scope(column.name, auxiliary_name_scope=False):
                    column.create_state(manager)
                    is_sparse = isinstance(column, CategoricalColumn)
                    rows = column.num_buckets if is_sparse else size_of(column)
                    manager.create_variable(
                        column, "weights", (rows, self._units), float32,
                        initializer=Zeros(),
                    )  # fmt: skip
            self.bias = manager.create_variable(
                None, "bias_weights", [self._units], float32, initializer=Zeros()
            )

    def _sum(self, cache: FeatureTransformationCache) -> Tensor:
        manager = self._state_manager
        sums = []
        for column in self._columns:
            with name_scope(column.name):
                weights = manager.get_variable(column, "weights")
                if isinstance(column, CategoricalColumn):
                    pair = column.get_sparse_tensors(cache, manager)
                    combiner = self._sparse_combiner
                    sums.append(weighted_sum_of_ids(pair, weights, combiner))
                else:
                    values = column.get_dense_tensor(cache, manager)
                    sums.append(weighted_sum_of_values(column, values, weights))
        check_batch_sizes(sums, self._columns)
        total = add_n(sums, name="weighted_sum_no_bias")
        return bias_add(total, self.bias, name="weighted_sum")
