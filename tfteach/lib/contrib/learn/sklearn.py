"""`tf.contrib.learn.SKCompat`: an Estimator with scikit-learn's methods.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import FetchedValues
from tfteach.lib.contrib.learn.estimator import BaseEstimator
from tfteach.lib.contrib.learn.predictions import joined
from tfteach.lib.contrib.learn.sklearn_interface import WithParams
from tfteach.lib.contrib.learn.type_aliases import Metrics, Monitors, Rows


@export("contrib.learn.SKCompat")
class SKCompat(WithParams):
    """An Estimator of arrays: `fit`, `score` and `predict` as scikit-learn has them.

    Args:
      estimator: a `tf.contrib.learn.Estimator`.

    Example:
      >>> classifier = tf.contrib.learn.SKCompat(tf.contrib.learn.Estimator(model_fn))
      >>> classifier.fit(x, y, steps=100)
      >>> classifier.predict(x)["classes"]

    Source: contrib/learn/python/learn/estimators/estimator.py.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Rows,
        y: Rows,
        batch_size: int | None = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Monitors | None = None,
    ) -> SKCompat:
        """Train the model.

        Args:
          x: an array [n, ...], a dict of them, or an iterator of examples.
          y: the labels, of the same kind.
          batch_size: the rows of a batch.
          steps: how many steps to train; None for no limit.
          max_steps: the global step at which to end; None for no limit.
          monitors: monitors or hooks.

        Returns:
          This object.
        """
        self._estimator.fit(
            x, y, steps=steps, batch_size=batch_size, monitors=monitors,
            max_steps=max_steps,
        )  # fmt: skip
        return self

    def score(
        self,
        x: Rows,
        y: Rows,
        batch_size: int | None = 128,
        steps: int | None = None,
        metrics: Metrics | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluate the newest checkpoint.

        Args:
          x, y, batch_size: as in `fit`.
          steps, metrics, name: as in `tf.contrib.learn.Estimator.evaluate`.

        Returns:
          A dict of the metrics' names to values.
        """
        return self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name
        )

    def predict(
        self,
        x: Rows,
        batch_size: int | None = 128,
        outputs: Sequence[str] | None = None,
    ) -> FetchedValues:
        """The predictions for all examples: an array, or a dict of arrays.

        Args:
          x: an array [n, ...], a dict of them, or an iterator of examples.
          batch_size: the rows of a batch.
          outputs: the keys of the predictions to compute; all if None.
        """
        batches = BaseEstimator.predict(
            self._estimator, x, batch_size=batch_size, outputs=outputs,
            iterate_batches=True,
        )  # fmt: skip
        return joined(batches)
