"""What the canned classifiers and regressors predict by default.

Source: contrib/learn/python/learn/estimators/dnn.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.learn.estimator import Estimator
from tfteach.lib.contrib.learn.keys import PredictionKey
from tfteach.lib.contrib.learn.metric_spec import MetricSpec
from tfteach.lib.contrib.learn.type_aliases import FeedFn, InputFn, Metrics, Rows


class _Canned(Estimator):
    """An estimator with one prediction that programs usually want."""

    def _one(
        self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool
    ) -> Any:
        """One of the predictions, for all examples."""
        found = Estimator.predict(
            self, x, input_fn, batch_size, outputs=[key], as_iterable=as_iterable
        )
        if as_iterable:
            return _column(found, key)
        return found[key]


def _column(predictions: Iterator[Any], key: str) -> Iterator[Any]:
    return (prediction[key] for prediction in predictions)


class Classifier(_Canned):
    """A canned model of classes."""

    def predict(  # type: ignore[override]
        self,
        x: Rows | None = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The classes of examples; or with `outputs`, dicts of several predictions.

        Args:
          x: an array [n, ...], or a dict of them.
          input_fn: a function that returns features, in place of `x`.
          batch_size: the rows of a batch of `x`; all if None.
          outputs: keys, see `tf.contrib.learn.PredictionKey`.
          as_iterable: whether to return an iterator of examples, or arrays of all.

        Returns:
          An iterator, or an array or dict of arrays.
        """
        if outputs is None:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        return Estimator.predict(self, x, input_fn, batch_size, outputs, as_iterable)

    def predict_classes(
        self,
        x: Rows | None = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The class of each example: an iterator, or an array [n].

        Args:
          x, input_fn, batch_size, as_iterable: as in `predict`.
        """
        return self._one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Rows | None = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of each example: an iterator, or an array [n, classes].

        Args:
          x, input_fn, batch_size, as_iterable: as in `predict`.
        """
        key = PredictionKey.PROBABILITIES
        return self._one(key, x, input_fn, batch_size, as_iterable)


class Regressor(_Canned):
    """A canned model of numbers."""

    def predict(  # type: ignore[override]
        self,
        x: Rows | None = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The numbers of examples; or with `outputs`, dicts of several predictions.

        Args:
          x: an array [n, ...], or a dict of them.
          input_fn: a function that returns features, in place of `x`.
          batch_size: the rows of a batch of `x`; all if None.
          outputs: keys, see `tf.contrib.learn.PredictionKey`.
          as_iterable: whether to return an iterator of examples, or arrays of all.

        Returns:
          An iterator, or an array or dict of arrays.
        """
        if outputs is None:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        return Estimator.predict(self, x, input_fn, batch_size, outputs, as_iterable)

    def predict_scores(
        self,
        x: Rows | None = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The number of each example: an iterator, or an array.

        Args:
          x, input_fn, batch_size, as_iterable: as in `predict`.
        """
        return self._one(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)


class ScoredMetrics(Estimator):
    """Evaluates metrics that name no prediction on the scores."""

    def evaluate(
        self,
        x: Rows | None = None,
        y: Rows | None = None,
        input_fn: InputFn | None = None,
        feed_fn: FeedFn | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Metrics | None = None,
        name: str | None = None,
        checkpoint_path: PathLike | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """See `tf.contrib.learn.Estimator.evaluate`."""
        found = {
            key
            if isinstance(metric, MetricSpec) or isinstance(key, tuple)
            else (key, PredictionKey.SCORES): metric
            for key, metric in (metrics or {}).items()
        }
        return super().evaluate(
            x, y, input_fn, feed_fn, batch_size, steps, found, name, checkpoint_path,
            hooks, log_progress,
        )  # fmt: skip
