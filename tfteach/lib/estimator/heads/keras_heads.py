"""`tf.estimator.Head` and its subclasses, whose metrics and optimizers are Keras'.

They are refused by name; `tf.contrib.estimator` has the heads that
`tf.estimator.DNNEstimator` and the like train with.
Source: tensorflow_estimator/python/estimator/head.
"""

from __future__ import annotations

from typing import ClassVar

from tfteach.framework.export import export


@export("estimator.Head")
class Head:
    """Raises NotImplementedError: heads with Keras' metrics.

    Source: tensorflow_estimator/python/estimator/head/base_head.py.
    """

    _instead: ClassVar[str] = "the heads of tf.contrib.estimator"

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            f"tf.estimator.{type(self).__name__}: its metrics and optimizers are "
            f"Keras'; use {self._instead}"
        )


@export("estimator.RegressionHead")
class RegressionHead(Head):
    """Raises NotImplementedError: use `tf.contrib.estimator.regression_head`."""

    _instead = "tf.contrib.estimator.regression_head"


@export("estimator.LogisticRegressionHead")
class LogisticRegressionHead(RegressionHead):
    """Raises NotImplementedError: see `tf.contrib.estimator`."""

    _instead = "tf.contrib.estimator.logistic_regression_head"


@export("estimator.PoissonRegressionHead")
class PoissonRegressionHead(RegressionHead):
    """Raises NotImplementedError: see `tf.contrib.estimator`."""

    _instead = "tf.contrib.estimator.poisson_regression_head"


@export("estimator.BinaryClassHead")
class BinaryClassHead(Head):
    """Raises NotImplementedError: see `tf.contrib.estimator`."""

    _instead = "tf.contrib.estimator.binary_classification_head"


@export("estimator.MultiClassHead")
class MultiClassHead(Head):
    """Raises NotImplementedError: use `tf.contrib.estimator.multi_class_head`."""

    _instead = "tf.contrib.estimator.multi_class_head"


@export("estimator.MultiLabelHead")
class MultiLabelHead(Head):
    """Raises NotImplementedError: use `tf.contrib.estimator.multi_label_head`."""

    _instead = "tf.contrib.estimator.multi_label_head"


@export("estimator.MultiHead")
class MultiHead(Head):
    """Raises NotImplementedError: use `tf.contrib.estimator.multi_head`."""

    _instead = "tf.contrib.estimator.multi_head"
