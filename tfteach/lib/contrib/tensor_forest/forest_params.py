"""Hyperparameters of random forests.

Source: contrib/tensor_forest/python/tensor_forest.py.
"""

from __future__ import annotations

import math
import random
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.protos.pool import proto_module

_SPLIT_TYPES = {"less_or_equal": 0, "less": 1}
_REGRESSION = 2  # the type of the leaves and statistics of forests of regressors

# Arguments of TensorFlow whose other values are not supported, and their values.
_ONLY = {
    "model_name": "all_dense",
    "split_finish_name": "basic",
    "split_pruning_name": "none",
    "prune_every_samples": 0,
    "early_finish_check_every_samples": 0,
    "checkpoint_stats": False,
    "use_running_stats_method": False,
    "initialize_average_splits": False,
    "param_file": None,
}


@export("contrib.tensor_forest.python.tensor_forest.ForestHParams")
class ForestHParams:
    """Hyperparameters of a random forest; call `fill` before use.

    Args:
      num_trees: the number of trees.
      max_nodes: the number of nodes that a tree may have.
      bagging_fraction: the share of a batch that a tree learns from.
      num_splits_to_consider: the number of candidates that a leaf compares; 0 for
        max(10, sqrt(num_features)), but at most 1000.
      feature_bagging_fraction: the share of the features that a tree sees.
      max_fertile_nodes: ignored, as by TensorFlow's own trees.
      split_after_samples: the number of examples after which a leaf is split.
      valid_leaf_threshold: ignored, as by TensorFlow's own trees.
      dominate_method, dominate_fraction: how a leaf may be split earlier, with another
        `split_finish_name`.
      model_name, split_finish_name, split_pruning_name, prune_every_samples,
        early_finish_check_every_samples, checkpoint_stats, use_running_stats_method,
        initialize_average_splits, param_file: only the defaults are supported.
      inference_tree_paths: whether predictions have the nodes to the leaves, as
        serialized TreePath messages.
      split_name: "less_or_equal", or "less": the test that sends examples left.
      collate_examples: ignored: examples are always processed leaf by leaf.
      **kwargs: further attributes: `num_classes` (1, or the number of values, to
        predict numbers) and `num_features`, and as one likes `regression`, whether to
        predict numbers, and `base_random_seed`.

    Raises:
      NotImplementedError: an argument has another value than the supported one.

    Example:
      >>> from tensorflow.contrib.tensor_forest.python import tensor_forest
      >>> params = tensor_forest.ForestHParams(
      ...     num_classes=10, num_features=784, num_trees=10, max_nodes=1000).fill()

    Source: contrib/tensor_forest/python/tensor_forest.py.
    """

    def __init__(
        self,
        num_trees: int = 100,
        max_nodes: int = 10000,
        bagging_fraction: float = 1.0,
        num_splits_to_consider: int | str = 0,
        feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0,
        split_after_samples: int | str = 250,
        valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99,
        model_name: str = "all_dense",
        split_finish_name: str = "basic",
        split_pruning_name: str = "none",
        prune_every_samples: int = 0,
        early_finish_check_every_samples: int = 0,
        collate_examples: bool = False,
        checkpoint_stats: bool = False,
        use_running_stats_method: bool = False,
        initialize_average_splits: bool = False,
        inference_tree_paths: bool = False,
        param_file: str | None = None,
        split_name: str = "less_or_equal",
        **kwargs: object,
    ) -> None:
        given = dict(locals())
        for name, only in _ONLY.items():
            if given[name] != only:
                raise NotImplementedError(
                    f"{name}={given[name]!r} is not supported: leave it at {only!r}"
                )
        self.num_trees, self.max_nodes = num_trees, max_nodes
        self.bagging_fraction = bagging_fraction
        self.feature_bagging_fraction = feature_bagging_fraction
        self.num_splits_to_consider = num_splits_to_consider
        self.max_fertile_nodes = max_fertile_nodes
        self.split_after_samples = split_after_samples
        self.valid_leaf_threshold = valid_leaf_threshold
        self.dominate_method = dominate_method
        self.dominate_fraction = dominate_fraction
        self.model_name = model_name
        self.split_finish_name = split_finish_name
        self.split_pruning_name = split_pruning_name
        self.collate_examples = collate_examples
        self.checkpoint_stats = checkpoint_stats
        self.use_running_stats_method = use_running_stats_method
        self.initialize_average_splits = initialize_average_splits
        self.inference_tree_paths = inference_tree_paths
        self.param_file = param_file
        self.split_name = split_name
        self.early_finish_check_every_samples = early_finish_check_every_samples
        self.prune_every_samples = prune_every_samples
        self.num_classes: int
        self.num_features: int
        for name, value in kwargs.items():
            setattr(self, name, value)

    def values(self) -> dict[str, Any]:
        """The hyperparameters by name."""
        return self.__dict__

    def fill(self) -> ForestHParams:
        """Add what follows from the others; returns the object.

        Raises:
          AttributeError: `num_classes` or `num_features` is missing.
          KeyError: there is no such `split_name`.
        """
        self.regression = getattr(self, "regression", False)
        self.num_output_columns = self.num_classes + 1
        self.bagged_num_features = int(
            self.feature_bagging_fraction * self.num_features
        )
        self.bagged_features: list[list[int]] | None = None
        if self.feature_bagging_fraction < 1.0:
            self.bagged_features = [
                random.sample(range(self.num_features), self.bagged_num_features)
                for _ in range(self.num_trees)
            ]
        if self.regression:
            self.num_outputs = self.num_classes
        else:
            self.num_outputs = getattr(self, "num_outputs", 1)
        self.num_splits_to_consider = self.num_splits_to_consider or max(
            10, min(math.floor(math.sqrt(self.num_features)), 1000)
        )
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        self.leaf_model_type = _REGRESSION if self.regression else 0
        self.stats_model_type = self.leaf_model_type
        self.split_type = _SPLIT_TYPES[self.split_name]
        self.finish_type = self.pruning_type = 0
        return self


def _number(given: float | str) -> float:
    """A number, also in a string.

    Raises:
      NotImplementedError: the string is the text of a message.
    """
    try:
        return float(given)
    except ValueError:
        raise NotImplementedError(
            f"Parameters that depend on the depth are not supported, got {given!r}: "
            "pass a number"
        ) from None


@export("contrib.tensor_forest.python.tensor_forest.build_params_proto")
def build_params_proto(params: ForestHParams) -> Any:
    """The TensorForestParams message of filled hyperparameters."""
    message = proto_module("tensor_forest_params").TensorForestParams(
        num_trees=params.num_trees,
        max_nodes=params.max_nodes,
        num_outputs=params.num_classes,
        num_features=params.num_features,
        collate_examples=params.collate_examples,
        leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type,
        is_regression=params.regression,
        inequality_test_type=params.split_type,
        inference_tree_paths=params.inference_tree_paths,
    )
    message.pruning_type.prune_every_samples.constant_value = 0
    message.finish_type.check_every_steps.constant_value = 0
    splits, samples = params.num_splits_to_consider, params.split_after_samples
    message.num_splits_to_consider.constant_value = _number(splits)
    message.split_after_samples.constant_value = _number(samples)
    message.dominate_fraction.constant_value = params.dominate_fraction
    return message
