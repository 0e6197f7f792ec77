"""Linear models of feature columns.

Source: tensorflow_estimator/python/estimator/canned/linear.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfteach.control.branch import cond
from tfteach.control.zero_fraction import zero_fraction
from tfteach.framework.dtypes import float32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Partitioner, PathLike
from tfteach.lib.estimator.canned.optimizers import OptimizerLike, optimizer_of
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.head import Head
from tfteach.lib.estimator.heads.head_checks import WeightColumn
from tfteach.lib.estimator.heads.multi_class_head import classification_head
from tfteach.lib.estimator.heads.regression_head import RegressionHead
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.feature_column.base_column import Columns
from tfteach.lib.feature_column.dense_features import LinearModel, is_feature_column_v2
from tfteach.lib.feature_column.first_version import FeatureColumnV1
from tfteach.lib.feature_column.linear_model import ScopedLinearModel
from tfteach.lib.files.warm_start import WarmStartSettings
from tfteach.lib.losses.weighted import Reduction
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import size
from tfteach.ops.debug.summary_functions import histogram, scalar
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.cast import cast, to_float
from tfteach.ops.math.compare import equal
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.partitioners import min_max_variable_partitioner
from tfteach.variables.scope import variable_scope

LogitFn = Callable[[Mapping[str, Any]], Tensor]
_LEARNING_RATE = 0.2
_MIN_SLICE_SIZE = 64 << 20


def check_features(features: Any) -> None:
    if not isinstance(features, dict):
        raise ValueError(
            "features should be a dictionary of `Tensor`s. Given type: "
            f"{type(features)}"
        )


def layer_partitioner(config: RunConfig | None) -> Partitioner:
    """Cuts the variables of layers for parameter servers."""
    return min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas if config else 0
    )


def input_partitioner(config: RunConfig | None) -> Partitioner:
    """Cuts the variables of columns, if they are large, for parameter servers."""
    return min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas if config else 0,
        min_slice_size=_MIN_SLICE_SIZE,
    )


def _parts_of(variable: Any) -> list[Any]:
    is_cut = isinstance(variable, PartitionedVariable)
    return list(variable) if is_cut else [variable]


def _zero_count(variable: Any, count: Tensor) -> Any:
    """The number of elements that are 0, a float; a part may be empty."""
    return cond(
        equal(count, constant(0, dtype=int64)),
        lambda: constant(0.0),
        lambda: zero_fraction(variable) * to_float(count),
        name="zero_count",
    )


def compute_fraction_of_zero(variables: list[Any]) -> Tensor:
    """The fraction of all elements of several variables that are 0."""
    with name_scope("zero_fraction"):
        with name_scope("total_size"):
            sizes = [size(variable, out_type=int64) for variable in variables]
            total_size = add_n(sizes)
        with name_scope("total_zero"):
            pairs = zip(variables, sizes, strict=True)
            zeros = [_zero_count(variable, count) for variable, count in pairs]
            total_zero = add_n(zeros)
        with name_scope("compute"):
            float_size = cast(total_size, float32, name="float32_size")
            fraction = total_zero / float_size
        return identity(fraction, name="zero_fraction_or_nan")


@export(
    "estimator.experimental.linear_logit_fn_builder",
    "contrib.estimator.linear_logit_fn_builder",
)
def linear_logit_fn_builder(
    units: int, feature_columns: Columns, sparse_combiner: str = "sum"
) -> LogitFn:
    """A function that makes logits of features: a linear model of columns.

    Args:
      units: the number of logits.
      feature_columns: an iterable of columns.
      sparse_combiner: "sum", "mean" or "sqrtn" of the weights of an example's ids.

    Returns:
      A function from a dictionary of features to logits [batch, units].

    Source: tensorflow_estimator/python/estimator/canned/linear.py.
    """

    def linear_logit_fn(features: Mapping[str, Any]) -> Tensor:
        columns: Any = feature_columns
        if is_feature_column_v2(columns):
            model = LinearModel(columns, units, sparse_combiner, name="linear_model")
            logits = model(features)
            biases = _parts_of(model.bias)
            found = [part for v in model.variables for part in _parts_of(v)]
            weights = [part for part in found if part not in biases]
        else:
            scoped = ScopedLinearModel(columns, units, sparse_combiner)
            logits = scoped(features)
            by_column = dict(scoped.cols_to_vars())
            biases = by_column.pop("bias")
            weights = [part for parts in by_column.values() for part in parts]
        if units > 1:
            histogram("bias", biases)
        else:
            scalar("bias", biases[0][0])
        scalar("fraction_of_zero_weights", compute_fraction_of_zero(weights))
        return logits

    return linear_logit_fn


def columns_tuple(feature_columns: Any) -> tuple[FeatureColumnV1, ...]:
    """The columns of a linear model.

    Raises:
      ValueError: there are none, or an item is no column.
    """
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    for column in feature_columns:
        if not isinstance(column, FeatureColumnV1):
            raise ValueError(
                "Items of feature_columns must be a _FeatureColumn. Given (type "
                f"{type(column)}): {column}."
            )
    return tuple(feature_columns)


class _Linear(Estimator):
    def __init__(
        self,
        head: Head,
        feature_columns: Columns,
        model_dir: PathLike | None,
        optimizer: OptimizerLike,
        config: RunConfig | None,
        partitioner: Partitioner | None,
        warm_start_from: PathLike | WarmStartSettings | None,
        sparse_combiner: str,
    ) -> None:
        def model_fn(
            features: Any, labels: Any, mode: str, config: RunConfig
        ) -> EstimatorSpec:
            check_features(features)
            columns = columns_tuple(feature_columns)
            made = optimizer_of(optimizer, _LEARNING_RATE)
            cut = partitioner or input_partitioner(config)
            given = tuple(features.values())
            with variable_scope("linear", values=given, partitioner=cut):
                logit_fn = linear_logit_fn_builder(
                    head.logits_dimension, columns, sparse_combiner
                )
                logits = logit_fn(features)
                return head.create_estimator_spec(features, mode, logits, labels, made)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.LinearEstimator")
class LinearEstimator(_Linear):
    """A linear model of columns, with any head.

    Args:
      head: a head, such as `tf.contrib.estimator.regression_head` makes.
      feature_columns: an iterable of columns.
      model_dir: the directory of checkpoints and event files.
      optimizer: a `tf.train.Optimizer`, a function that makes one, or "Adagrad",
        "Adam", "Ftrl", "RMSProp" or "SGD", with a learning rate of 0.2.
      config: a `tf.estimator.RunConfig`.
      partitioner: a partitioner of all variables.
      sparse_combiner: "sum", "mean" or "sqrtn" of the weights of an example's ids.

    Source: tensorflow_estimator/python/estimator/canned/linear.py.
    """

    def __init__(
        self,
        head: Head,
        feature_columns: Columns,
        model_dir: PathLike | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            head, feature_columns, model_dir, optimizer, config, partitioner, None,
            sparse_combiner,
        )  # fmt: skip


@export("estimator.LinearClassifier")
class LinearClassifier(_Linear):
    """A linear model that predicts classes.

    Args:
      feature_columns: an iterable of columns.
      model_dir: the directory of checkpoints and event files.
      n_classes: the number of classes.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      label_vocabulary: the classes' names, if labels are strings.
      optimizer, config, partitioner, sparse_combiner: see
        `tf.estimator.LinearEstimator`.
      warm_start_from: see `tf.estimator.Estimator`.
      loss_reduction: a `tf.losses.Reduction` other than NONE.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> age = tf.feature_column.numeric_column("age")
      >>> classifier = tf.estimator.LinearClassifier([age], "logs")
      >>> classifier.train(input_fn, steps=1000)

    Source: tensorflow_estimator/python/estimator/canned/linear.py.
    """

    def __init__(
        self,
        feature_columns: Columns,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Vocabulary = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = classification_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(
            head, feature_columns, model_dir, optimizer, config, partitioner,
            warm_start_from, sparse_combiner,
        )  # fmt: skip


@export("estimator.LinearRegressor")
class LinearRegressor(_Linear):
    """A linear model that predicts numbers.

    Args:
      feature_columns: an iterable of columns.
      model_dir: the directory of checkpoints and event files.
      label_dimension: how many numbers a label is.
      weight_column, optimizer, config, partitioner, warm_start_from, loss_reduction,
      sparse_combiner: see `tf.estimator.LinearClassifier`.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/python/estimator/canned/linear.py.
    """

    def __init__(
        self,
        feature_columns: Columns,
        model_dir: PathLike | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionHead(weight_column, label_dimension, loss_reduction)
        super().__init__(
            head, feature_columns, model_dir, optimizer, config, partitioner,
            warm_start_from, sparse_combiner,
        )  # fmt: skip
