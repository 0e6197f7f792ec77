"""`tf.estimator.BoostedTreesClassifier`, `BoostedTreesRegressor` and their base.

Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.boosted_trees.bucketized_features import (
    column_names,
    sorted_columns,
)
from tfteach.lib.estimator.boosted_trees.explanations import contributions, importances
from tfteach.lib.estimator.boosted_trees.growers import TreeParameters
from tfteach.lib.estimator.boosted_trees.model import (
    DEBUG_OUTPUT,
    ClosedForm,
    TreeModel,
    build_model,
)
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.head import Head, SingleHead
from tfteach.lib.estimator.heads.head_checks import WeightColumn, dense_labels
from tfteach.lib.estimator.heads.multi_class_head import classification_head
from tfteach.lib.estimator.heads.regression_head import RegressionHead
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.files.checkpoint_reader import load_variable
from tfteach.lib.losses.weighted import Reduction
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.ops.core.shape_ops import size
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.unary import reciprocal
from tfteach.variables.creation import enable_resource_variables

Columns = Sequence[Any]

_BIAS, _CONTRIBUTIONS = "bias", "dfc"


def _sigmoid(logits: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-logits))


def _identity(logits: Any) -> Any:
    return logits


def _logistic_closed_form(logits: Tensor, labels: Any) -> tuple[Tensor, Tensor]:
    """Gradients and hessians of the mean sigmoid cross entropy."""
    probabilities = reciprocal(exp(-logits) + 1.0)
    normalizer = reciprocal(cast(size(probabilities), float32))
    labels = dense_labels(cast(labels, float32), logits, 1)
    gradients = (probabilities - labels) * normalizer
    hessians = (probabilities * (1.0 - probabilities)) * normalizer
    return gradients, hessians


def _model_fn(model: TreeModel, explains: bool = False) -> Callable[..., EstimatorSpec]:
    def model_fn(
        features: Any, labels: Any, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        return build_model(model, features, labels, mode, config, explains)

    return model_fn


class BoostedTreesBase(Estimator):
    """What the estimators of boosted trees share; see their own arguments."""

    def __init__(
        self,
        feature_columns: Columns,
        n_batches_per_layer: int,
        head: Head,
        model_dir: PathLike | None,
        weight_column: WeightColumn,
        parameters: TreeParameters,
        config: RunConfig | None,
        train_in_memory: bool,
        closed_form: ClosedForm | None,
        activation: Callable[[Any], Any],
    ) -> None:
        model = TreeModel(
            head,
            sorted_columns(feature_columns),
            parameters,
            n_batches_per_layer,
            train_in_memory,
            closed_form,
            weight_column,
        )
        self._model, self._activation = model, activation
        enable_resource_variables()  # for the whole program, as TensorFlow does
        super().__init__(_model_fn(model), model_dir, config)

    def experimental_feature_importances(
        self, normalize: bool = False
    ) -> OrderedDict[str, Any]:
        """How much each feature column reduces the loss, the largest first.

        Args:
          normalize: whether the importances sum to 1.

        Returns:
          An OrderedDict from the columns' names to the sums of their splits' gains.

        Raises:
          ValueError: there is no checkpoint, or no split yet.

        Example:
          >>> estimator.experimental_feature_importances(normalize=True)
          OrderedDict([('age', 0.75), ('fare', 0.25)])
        """
        directory = self._model_dir
        serialized = load_variable(directory, "boosted_trees:0_serialized")
        names = column_names(self._model.columns)
        return importances(bytes(serialized), names, normalize)

    def experimental_predict_with_explanations(
        self,
        input_fn: Callable[..., Any],
        predict_keys: str | Sequence[str] | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: PathLike | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Predictions, each with what the feature columns contribute to it.

        Args:
          input_fn, predict_keys, hooks, checkpoint_path: see
            `tf.estimator.Estimator.predict`.

        Yields:
          The predictions of an example; "bias", the mean prediction before any split;
          and "dfc", an OrderedDict from columns' names to contributions, the largest
          first, which sum to the prediction less the bias.

        Raises:
          ValueError: the estimator was made without `center_bias`.
        """
        if not self._model.parameters.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        if predict_keys is not None:
            given = [predict_keys] if isinstance(predict_keys, str) else predict_keys
            keys = [k for k in given if k not in (_BIAS, _CONTRIBUTIONS)]
            predict_keys = [*keys, DEBUG_OUTPUT]
        names = column_names(self._model.columns)
        explained = Estimator(
            _model_fn(self._model, explains=True), self._model_dir, self._config
        )
        for found in explained.predict(input_fn, predict_keys, hooks, checkpoint_path):
            output = found.pop(DEBUG_OUTPUT)
            bias, parts = contributions(output, names, self._activation)
            yield {**found, _BIAS: bias, _CONTRIBUTIONS: parts}


def _checked_classes(n_classes: int, pruning_mode: str | None) -> None:
    """Raise TensorFlow's errors for more than two classes."""
    if n_classes > 2 and pruning_mode is not None:
        raise ValueError("For now pruning is not supported with multi class.")
    if n_classes != 2:
        raise ValueError(
            f"For now only binary classification is supported.n_classes given as "
            f"{n_classes}"
        )


def _checked_dimension(label_dimension: int, pruning_mode: str | None) -> None:
    """Raise TensorFlow's errors for labels that are vectors."""
    if label_dimension > 1 and pruning_mode is not None:
        raise ValueError(
            "For now pruning is not supported with multi-dimensionregression."
        )
    if label_dimension != 1:
        raise ValueError(
            "For now only 1 dimension regression is supported.label_dimension given as "
            f"{label_dimension}"
        )


def create_classification_head(
    n_classes: int,
    weight_column: WeightColumn = None,
    label_vocabulary: Vocabulary = None,
) -> SingleHead:
    """The head of a classifier of trees, whose loss is a mean."""
    return classification_head(
        n_classes, weight_column, label_vocabulary, Reduction.SUM_OVER_BATCH_SIZE
    )


def create_regression_head(
    label_dimension: int, weight_column: WeightColumn = None
) -> RegressionHead:
    """The head of a regression of trees, whose loss is a mean."""
    return RegressionHead(weight_column, label_dimension, Reduction.SUM_OVER_BATCH_SIZE)


@export("estimator.BoostedTreesClassifier")
class BoostedTreesClassifier(BoostedTreesBase):
    """Gradient boosted trees that predict one of two classes.

    A training step adds the sums of a batch; after `n_batches_per_layer` batches the
    last tree gets a layer.  The training stops when `n_trees` trees have `max_depth`
    layers.

    Args:
      feature_columns: an iterable of `tf.feature_column` columns: numeric ones, whose
        values are put into buckets by their quantiles, bucketized ones and indicators.
      n_batches_per_layer: the number of batches whose sums make a layer: for instance
        the number of batches of an epoch.
      model_dir: the directory of checkpoints and event files.
      n_classes: 2.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      label_vocabulary: the classes' names, if labels are strings.
      n_trees: the number of trees.
      max_depth: the number of layers of a tree.
      learning_rate: multiplies the trees' logits.
      l1_regularization: the penalty of leaves' absolute values.
      l2_regularization: the penalty of leaves' squares.
      tree_complexity: what a split must gain at least, if `pruning_mode` is not "none".
      min_node_weight: the sum of hessians that a node must have to be split.
      config: a `tf.estimator.RunConfig`.
      center_bias: whether the first tree's root starts at the mean of the labels, which
        explanations need.
      pruning_mode: "none"; "pre" leaves out splits that gain less than
        `tree_complexity`; "post" removes them when a tree is finished.
      quantile_sketch_epsilon: the error of quantiles; 1 / epsilon buckets are made.
      train_in_memory: whether a batch has all examples, which then keep their place in
        the trees between steps.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> age = tf.feature_column.numeric_column("age")
      >>> classifier = tf.estimator.BoostedTreesClassifier([age], 1, n_trees=50)
      >>> classifier.train(input_fn)
      >>> classifier.evaluate(test_input_fn, steps=1)["accuracy"]

    Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
    """

    def __init__(
        self,
        feature_columns: Columns,
        n_batches_per_layer: int,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Vocabulary = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str | None = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        _checked_classes(n_classes, pruning_mode)
        head = create_classification_head(n_classes, weight_column, label_vocabulary)
        is_plain = weight_column is None and label_vocabulary is None
        super().__init__(
            feature_columns,
            n_batches_per_layer,
            head,
            model_dir,
            weight_column,
            TreeParameters(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            config,
            train_in_memory,
            _logistic_closed_form if is_plain else None,
            _sigmoid,
        )


@export("estimator.BoostedTreesRegressor")
class BoostedTreesRegressor(BoostedTreesBase):
    """Gradient boosted trees that predict a number.

    Args:
      label_dimension: 1.
      feature_columns, n_batches_per_layer, model_dir, weight_column, n_trees,
        max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
        min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon,
        train_in_memory: see `tf.estimator.BoostedTreesClassifier`.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> size = tf.feature_column.numeric_column("size")
      >>> regressor = tf.estimator.BoostedTreesRegressor([size], 1, n_trees=50)
      >>> regressor.train(input_fn)

    Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
    """

    def __init__(
        self,
        feature_columns: Columns,
        n_batches_per_layer: int,
        model_dir: PathLike | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str | None = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        _checked_dimension(label_dimension, pruning_mode)
        head = create_regression_head(label_dimension, weight_column)
        super().__init__(
            feature_columns,
            n_batches_per_layer,
            head,
            model_dir,
            weight_column,
            TreeParameters(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            config,
            train_in_memory,
            None,
            _identity,
        )


@export("estimator.BoostedTreesEstimator")
class BoostedTreesEstimator(BoostedTreesBase):
    """Gradient boosted trees with a head of the caller.

    Args:
      head: a head of one logit, such as `tf.contrib.estimator.regression_head` makes,
        whose loss has second derivatives.
      feature_columns, n_batches_per_layer, model_dir, weight_column, n_trees,
        max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
        min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon: see
        `tf.estimator.BoostedTreesClassifier`.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> head = tf.contrib.estimator.poisson_regression_head()
      >>> estimator = tf.estimator.BoostedTreesEstimator(columns, 1, head)

    Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
    """

    def __init__(
        self,
        feature_columns: Columns,
        n_batches_per_layer: int,
        head: Head,
        model_dir: PathLike | None = None,
        weight_column: WeightColumn = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str | None = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        super().__init__(
            feature_columns,
            n_batches_per_layer,
            head,
            model_dir,
            weight_column,
            TreeParameters(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            config,
            False,
            None,
            _identity,
        )
