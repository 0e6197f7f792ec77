"""What tf.contrib.estimator has, and this package refuses by name.

Source: tensorflow_estimator/contrib/estimator/python/estimator.
"""

from __future__ import annotations

from typing import NoReturn

from tfteach.framework.export import export

_ONE_DEVICE = (
    "use what it wraps itself, with tf.estimator.RunConfig(train_distribute="
    "tf.distribute.MirroredStrategy())"
)


def _refuse(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"tf.contrib.estimator.{name}: {instead}")


@export("contrib.estimator.DNNClassifierWithLayerAnnotations")
def DNNClassifierWithLayerAnnotations(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: use `tf.estimator.DNNClassifier`."""
    _refuse("DNNClassifierWithLayerAnnotations", "use tf.estimator.DNNClassifier")


@export("contrib.estimator.DNNRegressorWithLayerAnnotations")
def DNNRegressorWithLayerAnnotations(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: use `tf.estimator.DNNRegressor`."""
    _refuse("DNNRegressorWithLayerAnnotations", "use tf.estimator.DNNRegressor")


@export("contrib.estimator.TowerOptimizer")
class TowerOptimizer:
    """Raises NotImplementedError: use the optimizer itself."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        _refuse("TowerOptimizer", _ONE_DEVICE)


@export("contrib.estimator.replicate_model_fn")
def replicate_model_fn(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: use the model function itself."""
    _refuse("replicate_model_fn", _ONE_DEVICE)
