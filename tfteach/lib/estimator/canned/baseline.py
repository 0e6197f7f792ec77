"""Estimators that ignore the features: one bias for each logit.

Source: tensorflow_estimator/python/estimator/canned/baseline.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.control.checks.values import assert_equal
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.canned.optimizers import OptimizerLike, optimizer_of
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.head import Head
from tfteach.lib.estimator.heads.head_checks import WeightColumn
from tfteach.lib.estimator.heads.multi_class_head import classification_head
from tfteach.lib.estimator.heads.regression_head import RegressionHead
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.losses.weighted import Reduction
from tfteach.ops.core.fill import ones
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.multiply import multiply
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope import get_variable, variable_scope

_LEARNING_RATE = 0.3


def _batch_size(features: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """The first feature's batch size, and checks that the others have the same."""
    size, checks = None, []
    for _, feature in features.items():
        sizes = (
            feature.dense_shape
            if isinstance(feature, SparseTensor)
            else shape_of(feature)
        )
        if size is None:
            size = sizes[0]
        else:
            checks.append(assert_equal(size, sizes[0]))
    return size, checks


def _logits(features: Mapping[str, Any], count: int) -> Tensor:
    batch_size, checks = _batch_size(features)
    with (
        control_dependencies(checks),
        variable_scope("baseline", values=tuple(features.values())),
    ):
        bias = get_variable("bias", [count], initializer=Zeros())
        return multiply(bias, ones([batch_size, count]))


class _Baseline(Estimator):
    def __init__(
        self,
        head: Head,
        model_dir: PathLike | None,
        optimizer: OptimizerLike,
        config: RunConfig | None,
    ) -> None:
        def model_fn(
            features: Any, labels: Any, mode: str, config: RunConfig
        ) -> EstimatorSpec:
            made = optimizer_of(optimizer, _LEARNING_RATE)
            logits = _logits(features, head.logits_dimension)
            return head.create_estimator_spec(features, mode, logits, labels, made)

        super().__init__(model_fn, model_dir, config)


@export("estimator.BaselineEstimator")
class BaselineEstimator(_Baseline):
    """Predicts the same for all examples: a bias for each logit of a head.

    Args:
      head: a head, such as `tf.contrib.estimator.regression_head` makes.
      model_dir: the directory of checkpoints and event files.
      optimizer: a `tf.train.Optimizer`, a function that makes one, or "Adagrad",
        "Adam", "Ftrl", "RMSProp" or "SGD", with a learning rate of 0.3.
      config: a `tf.estimator.RunConfig`.

    Source: tensorflow_estimator/python/estimator/canned/baseline.py.
    """

    def __init__(
        self,
        head: Head,
        model_dir: PathLike | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
    ) -> None:
        super().__init__(head, model_dir, optimizer, config)


@export("estimator.BaselineClassifier")
class BaselineClassifier(_Baseline):
    """Predicts the classes' frequencies for all examples.

    Args:
      model_dir: the directory of checkpoints and event files.
      n_classes: the number of classes.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      label_vocabulary: the classes' names, if labels are strings.
      optimizer: see `tf.estimator.BaselineEstimator`.
      config: a `tf.estimator.RunConfig`.
      loss_reduction: a `tf.losses.Reduction` other than NONE.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> classifier = tf.estimator.BaselineClassifier(n_classes=3)
      >>> classifier.train(input_fn, steps=100)
      >>> classifier.evaluate(test_input_fn)["accuracy"]

    Source: tensorflow_estimator/python/estimator/canned/baseline.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Vocabulary = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = classification_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(head, model_dir, optimizer, config)


@export("estimator.BaselineRegressor")
class BaselineRegressor(_Baseline):
    """Predicts the mean label for all examples.

    Args:
      model_dir: the directory of checkpoints and event files.
      label_dimension: how many numbers a label is.
      weight_column, optimizer, config, loss_reduction: see
        `tf.estimator.BaselineClassifier`.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/python/estimator/canned/baseline.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = RegressionHead(weight_column, label_dimension, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)
