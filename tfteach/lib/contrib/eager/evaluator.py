"""`tensorflow.contrib.eager.python.evaluator`: the metrics of a model, by batches.

Source: contrib/eager/python/evaluator.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfteach.framework.defaults import get_default_session
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import PathLike, SessionLike, Structure
from tfteach.lib.contrib.eager.metrics import Accuracy, Mean, Metric
from tfteach.lib.contrib.summary.recording import (
    always_record_summaries,
    never_record_summaries,
)
from tfteach.lib.contrib.summary.writers import create_file_writer
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.functions.eager_defun import defun
from tfteach.ops.core.control_flow_ops import group, no_op


class Evaluator:
    """Base of evaluators: `__init__` tracks metrics, `call` updates them.

    Args:
      model: an object whose method `eval_data` computes, from a batch of examples, what
        `call` receives.

    Example:
      >>> class Errors(Evaluator):
      ...     def __init__(self, model):
      ...         super().__init__(model)
      ...         self.mean = self.track_metric(tf.contrib.eager.metrics.Mean("error"))
      ...     def call(self, eval_data):
      ...         self.mean(eval_data)
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._metrics: dict[str, Metric] = {}
        self._evaluators: dict[str, Evaluator] = {}
        if not get_default_graph().is_eager:  # the updates run in the order of the code
            self.call = defun(self.call)  # type: ignore[method-assign]

    @property
    def model(self) -> Any:
        """The model."""
        return self._model

    def call(self, eval_data: Any) -> Any:
        """Update the metrics."""
        raise NotImplementedError("Evaluators must define a call member function.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Update the metrics with a batch: the arguments are those of `eval_data`."""
        return self.call(self._model.eval_data(*args, **kwargs))

    # ---- metrics

    def track_metric(self, metric: Metric) -> Metric:
        """Add a metric; returns it.

        Raises:
          RuntimeError: `Evaluator.__init__` was not called.
          TypeError: it is no metric.
          ValueError: another has its name, or another evaluator has it.
        """
        if not hasattr(self, "_metrics"):
            raise RuntimeError("Need to call Evaluator.__init__ before adding metrics")
        if not isinstance(metric, Metric):
            raise TypeError(
                f"Evaluator.track_metric() passed type {type(metric)}, not a "
                "tfe.metrics.Metric"
            )
        known = self._metrics.get(metric.name)
        if known is metric:
            return metric
        if known is not None:
            raise ValueError(
                f"Attempt to add two Metrics with the name '{metric.name}' to the same "
                f"Evaluator '{type(self).__name__}'"
            )
        if metric.evaluator is not None:
            raise ValueError(
                f"Metric {metric.name} already added to Evaluator {metric.evaluator}"
            )
        metric.evaluator = type(self).__name__
        self._metrics[metric.name] = metric
        return metric

    def track_evaluator(self, prefix: str, evaluator: Evaluator) -> Evaluator:
        """Add an evaluator whose `call` this one calls; returns it.

        Args:
          prefix: the names of its metrics begin with that.
          evaluator: the evaluator.

        Raises:
          RuntimeError: `Evaluator.__init__` was not called, or another has the prefix.
          TypeError: it is no evaluator.
        """
        if not hasattr(self, "_evaluators"):
            raise RuntimeError(
                "Need to call Evaluator.__init__ before adding evaluators"
            )
        if not isinstance(evaluator, Evaluator):
            raise TypeError(
                f"Evaluator.track_evaluator() passed type {type(evaluator)}, not a "
                "tfe.Evaluator."
            )
        if self._evaluators.setdefault(prefix, evaluator) is not evaluator:
            raise RuntimeError(
                f"Attempt to add two Evaluators with the same prefix '{prefix}'."
            )
        return evaluator

    @property
    def metrics(self) -> list[tuple[str, Metric]]:
        """The metrics, with the prefixes of their evaluators."""
        return list(self._all_metrics())

    def _all_metrics(self) -> Iterator[tuple[str, Metric]]:
        for metric in self._metrics.values():
            yield "", metric
        for prefix, evaluator in self._evaluators.items():
            for inner, metric in evaluator.metrics:
                yield f"{prefix}/{inner}", metric

    @property
    def metric_variables(self) -> list[Any]:
        """The variables of all metrics."""
        return [v for _, metric in self.metrics for v in metric.variables]

    def init_variables(self) -> Operation:
        """An op that initializes the metrics, in a graph, after the first call.

        Raises:
          RuntimeError: in an eager program.
        """
        _require_graph("init_variables() not needed")
        return group(*[metric.init_variables() for _, metric in self.metrics])

    # ---- results

    def all_metric_results(self, summary_logdir: PathLike | None = None) -> Structure:
        """A dict from the names of the metrics to their results.

        Args:
          summary_logdir: where to write them as summaries; None for nowhere.
        """
        if summary_logdir is None:
            with never_record_summaries():
                return self._results()

        def written() -> Structure:
            writer = create_file_writer(summary_logdir)
            with writer.as_default(), always_record_summaries():
                return self._results()

        return written() if get_default_graph().is_eager else defun(written)()

    def _results(self) -> dict[str, Structure]:
        return {
            prefix + metric.name: metric.result() for prefix, metric in self.metrics
        }

    def evaluate_on_dataset(
        self, dataset: Dataset, *args: Any, **kwargs: Any
    ) -> Structure:
        """Update the metrics with all elements of a dataset.

        Args:
          dataset: the batches.
          *args, **kwargs: further arguments of `eval_data`; and `summary_logdir`, as
            for `all_metric_results`.

        Returns:
          The results; in a graph the arguments of `run_evaluation`.
        """
        folder = kwargs.pop("summary_logdir", None)
        if get_default_graph().is_eager:
            for batch in dataset:
                self(batch, *args, **kwargs)
            return self.all_metric_results(folder)
        batch = dataset.make_one_shot_iterator().get_next()
        # A function may begin before all its inputs are there, and the dataset may end.
        with control_dependencies([batch]):
            has_batch = no_op(name="iterator_has_next")
        with control_dependencies([has_batch]):
            update = self(batch, *args, **kwargs)
        return self.init_variables(), update, self.all_metric_results(folder)

    @staticmethod
    def run_evaluation(
        init_op: Operation,
        call_op: Structure,
        results_op: Mapping[str, Tensor],
        sess: SessionLike | None = None,
    ) -> Structure:
        """Run what `evaluate_on_dataset` built in a graph; returns the results.

        Args:
          init_op, call_op, results_op: what it returned.
          sess: the session; the default session if None.

        Raises:
          RuntimeError: in an eager program.
        """
        _require_graph("run_evaluation() not supported")
        session: Any = sess or get_default_session()
        session.run(init_op)
        try:
            while True:
                session.run(call_op)
        except OutOfRangeError:
            pass
        found: Structure = session.run(results_op)
        return found


def _require_graph(what: str) -> None:
    if get_default_graph().is_eager:
        raise RuntimeError(f"Evaluator.{what} when eager execution is enabled.")


class SparseSoftmaxEvaluator(Evaluator):
    """The mean loss and the accuracy of a classifier.

    Args:
      model: an object whose `eval_data` returns a dict.
      loss_key, label_key, predicted_class_key, weights_key: its keys; there may be no
        weights.
    """

    def __init__(
        self,
        model: Any,
        loss_key: str = "loss",
        label_key: str = "label",
        predicted_class_key: str = "predicted_class",
        weights_key: str = "weights",
    ) -> None:
        super().__init__(model)
        self.avg_loss = self.track_metric(Mean("Avg Loss"))
        self.accuracy = self.track_metric(Accuracy())
        self.loss_key, self.label_key = loss_key, label_key
        self.predicted_class_key = predicted_class_key
        self.weights_key = weights_key

    def call(self, eval_data: Mapping[str, Any]) -> None:
        """Update both metrics."""
        weights = eval_data.get(self.weights_key)
        self.avg_loss(eval_data[self.loss_key], weights=weights)
        classes = eval_data[self.label_key], eval_data[self.predicted_class_key]
        self.accuracy(*classes, weights=weights)
