"""Boosted trees trained in one call, on data that fits into memory.

Source: tensorflow_estimator/contrib/estimator/python/estimator/boosted_trees.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.estimator.boosted_trees.estimators import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    Columns,
)
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.head_checks import WeightColumn
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook


def _repeated(input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """An input function whose dataset never ends."""

    def repeated() -> Any:
        found = input_fn()
        return found.repeat() if isinstance(found, Dataset) else found

    return repeated


@export("contrib.estimator.boosted_trees_classifier_train_in_memory")
def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Columns,
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
    train_hooks: Sequence[SessionRunHook] | None = None,
    center_bias: bool = False,
    pruning_mode: str | None = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:
    """A trained `tf.estimator.BoostedTreesClassifier`; each step adds a layer.

    Args:
      train_input_fn: returns all examples as one batch: a dataset of one element, or
        features and labels.
      train_hooks: hooks of the training.
      feature_columns, model_dir, n_classes, weight_column, label_vocabulary, n_trees,
        max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
        min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon: see
        `tf.estimator.BoostedTreesClassifier`.

    Example:
      >>> trained = tf.contrib.estimator.boosted_trees_classifier_train_in_memory(
      ...     input_fn, [tf.feature_column.numeric_column("age")], n_trees=50)

    Source: tensorflow_estimator/contrib/estimator/python/estimator/boosted_trees.py.
    """
    made = BoostedTreesClassifier(
        feature_columns,
        1,
        model_dir,
        n_classes,
        weight_column,
        label_vocabulary,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    made.train(_repeated(train_input_fn), hooks=train_hooks)
    return made


@export("contrib.estimator.boosted_trees_regressor_train_in_memory")
def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Columns,
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
    train_hooks: Sequence[SessionRunHook] | None = None,
    center_bias: bool = False,
    pruning_mode: str | None = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:
    """A trained `tf.estimator.BoostedTreesRegressor`; each step adds a layer.

    Args:
      train_input_fn: returns all examples as one batch: a dataset of one element, or
        features and labels.
      train_hooks: hooks of the training.
      feature_columns, model_dir, label_dimension, weight_column, n_trees, max_depth,
        learning_rate, l1_regularization, l2_regularization, tree_complexity,
        min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon: see
        `tf.estimator.BoostedTreesRegressor`.

    Source: tensorflow_estimator/contrib/estimator/python/estimator/boosted_trees.py.
    """
    made = BoostedTreesRegressor(
        feature_columns,
        1,
        model_dir,
        label_dimension,
        weight_column,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    made.train(_repeated(train_input_fn), hooks=train_hooks)
    return made
