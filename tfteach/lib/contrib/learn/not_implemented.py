"""Names of `tf.contrib.learn` that say what to use in their place."""

from __future__ import annotations

from typing import NoReturn

from tfteach.framework.export import export


def _refuse(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"tf.{name} is not implemented: {instead}")


@export("contrib.learn.DynamicRnnEstimator")
def DynamicRnnEstimator(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: use tf.nn.dynamic_rnn in an Estimator.

    Raises:
      NotImplementedError: always.
    """
    _refuse(
        "contrib.learn.DynamicRnnEstimator",
        "use tf.nn.dynamic_rnn in an Estimator",
    )


@export("contrib.learn.learn_runner.tune")
def learn_runner_tune(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: it is for a tuning service.

    Raises:
      NotImplementedError: always.
    """
    _refuse("contrib.learn.learn_runner.tune", "it is for a tuning service")


@export("contrib.learn.SVM")
def SVM(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: use a LinearEstimator with a binary_svm_head.

    Raises:
      NotImplementedError: always.
    """
    _refuse("contrib.learn.SVM", "use a LinearEstimator with a binary_svm_head")


@export(
    "contrib.learn.read_keyed_batch_examples_shared_queue",
    "contrib.learn.io.read_keyed_batch_examples_shared_queue",
)
def read_keyed_batch_examples_shared_queue(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: use tf.train.shuffle_batch or tf.data.

    Raises:
      NotImplementedError: always.
    """
    _refuse(
        "contrib.learn.read_keyed_batch_examples_shared_queue",
        "use tf.train.shuffle_batch or tf.data",
    )


@export(
    "contrib.learn.read_keyed_batch_features_shared_queue",
    "contrib.learn.io.read_keyed_batch_features_shared_queue",
)
def read_keyed_batch_features_shared_queue(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: use tf.train.shuffle_batch or tf.data.

    Raises:
      NotImplementedError: always.
    """
    _refuse(
        "contrib.learn.read_keyed_batch_features_shared_queue",
        "use tf.train.shuffle_batch or tf.data",
    )
