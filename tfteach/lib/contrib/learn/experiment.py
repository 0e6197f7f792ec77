"""`tf.contrib.learn.Experiment`: an estimator with its data, trained and evaluated.

Source: contrib/learn/python/learn/experiment.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.framework.experimental import warn_experimental
from tfteach.lib.contrib.learn.experiment_schedule import (
    Predicate,
    checked_predicate,
    steps_per_iteration,
    training_delay_s,
)
from tfteach.lib.contrib.learn.export_strategy import ExportStrategy
from tfteach.lib.contrib.learn.interfaces import Evaluable, check_estimator
from tfteach.lib.contrib.learn.monitor_hooks import replace_monitors_with_hooks
from tfteach.lib.contrib.learn.type_aliases import InputFn, Metrics, Monitors
from tfteach.lib.contrib.learn.validation_monitor import ValidationMonitor
from tfteach.lib.estimator.estimator import Estimator as CoreEstimator
from tfteach.lib.files.checkpoint_management import latest_checkpoint
from tfteach.lib.training.hooks.checkpoints import CheckpointSaverListener
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook

_Results = tuple[Any, list[Any]]


@export("contrib.learn.Experiment")
class Experiment:
    """An estimator with the input of training and evaluation, run in this process.

    Args:
      estimator: a `tf.estimator.Estimator` or a `tf.contrib.learn.Estimator`.
      train_input_fn: a function that returns (features, labels) to train with.
      eval_input_fn: likewise, to evaluate with.
      eval_metrics: for `tf.contrib.learn`, a dict of `tf.contrib.learn.MetricSpec`s.
      train_steps: the global step at which to end; None until the input's end.
      eval_steps: the batches of an evaluation; None until the input's end.
      train_monitors: monitors or hooks of the training.
      eval_hooks: hooks of the evaluations.
      local_eval_frequency: `min_eval_frequency` of `local_run`: none if None.
      eval_delay_secs: the seconds that `evaluate` and `continuous_eval` wait first.
      continuous_eval_throttle_secs: the seconds from the start of one evaluation of
        `continuous_eval` to the next, at least.
      min_eval_frequency: the steps of a training between evaluations; there is none
        without a new checkpoint.  1 if None; 0 for none before the end.
      delay_workers_by_global_step: for clusters: not implemented.
      export_strategies: an `ExportStrategy`, several, or None.
      train_steps_per_iteration: the steps of `continuous_train_and_eval` between
        evaluations; a tenth of `train_steps`, or 1000, if None.
      checkpoint_and_export: not implemented.
      saving_listeners: for `tf.estimator`, listeners of checkpoints.
      check_interval_secs: the seconds from one look for a new checkpoint to the next.

    Raises:
      ValueError: an argument has a wrong type, or the estimator does not accept it.
      NotImplementedError: see above.

    Example:
      >>> experiment = tf.contrib.learn.Experiment(
      ...     estimator, train_input_fn, test_input_fn, train_steps=1000
      ... )
      >>> metrics, exports = experiment.train_and_evaluate()

    Source: contrib/learn/python/learn/experiment.py.
    """

    def __init__(
        self,
        estimator: CoreEstimator | Evaluable,
        train_input_fn: InputFn,
        eval_input_fn: InputFn,
        eval_metrics: Metrics | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Monitors | None = None,
        eval_hooks: Sequence[SessionRunHook] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: ExportStrategy | Iterable[ExportStrategy] | None = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        self._is_core = isinstance(estimator, CoreEstimator)
        if self._is_core:
            if eval_metrics is not None:
                raise ValueError(
                    "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use "
                    "`eval_metric_ops` in `tf.estimator.EstimatorSpec` instead."
                )
        else:
            check_estimator(estimator)
            if saving_listeners is not None:
                raise ValueError(
                    "`saving_listeners` must be `None` with "
                    "`tf.contrib.learn.Estimator`."
                )
        if delay_workers_by_global_step:
            raise NotImplementedError(
                "Experiment(delay_workers_by_global_step=True) is for clusters: leave "
                "it out"
            )
        if checkpoint_and_export:
            raise NotImplementedError(
                "Experiment(checkpoint_and_export=True): use tf.estimator."
                "train_and_evaluate with an EvalSpec(exporters=...)"
            )
        if not isinstance(train_steps_per_iteration, int | None):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._given = estimator
        self._estimator: Any = estimator  # of either kind
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._train_monitors = list(train_monitors or ())
        self._eval_hooks = None if eval_hooks is None else list(eval_hooks)
        self._eval_delay_secs = eval_delay_secs
        self._throttle_secs = continuous_eval_throttle_secs
        self._local_eval_frequency = local_eval_frequency
        self._min_eval_frequency = (
            1 if min_eval_frequency is None else min_eval_frequency
        )
        self._train_steps_per_iteration = train_steps_per_iteration
        self._saving_listeners = saving_listeners
        self._check_interval_secs = check_interval_secs
        self._export_strategies: tuple[ExportStrategy, ...]
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self) -> CoreEstimator | Evaluable:
        """The estimator."""
        return self._given

    @property
    def eval_metrics(self) -> Metrics | None:
        """The metrics of the evaluations."""
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        """The global step at which to end."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """The batches of an evaluation."""
        return self._eval_steps

    def reset_export_strategies(
        self,
        new_export_strategies: ExportStrategy | Iterable[ExportStrategy] | None = None,
    ) -> tuple[ExportStrategy, ...]:
        """Replace the strategies; returns those before.

        Raises:
          ValueError: there is something else among them.
        """
        before = getattr(self, "_export_strategies", ())
        given = new_export_strategies
        # A strategy is a tuple itself.
        every = (given,) if isinstance(given, ExportStrategy) else tuple(given or ())
        for strategy in every:
            if not isinstance(strategy, ExportStrategy):
                raise ValueError(
                    "`export_strategies` must be an ExportStrategy, an iterable of "
                    f"ExportStrategy, or `None`, found {strategy}."
                )
        self._export_strategies = every
        return before

    def extend_train_hooks(self, additional_hooks: Iterable[SessionRunHook]) -> None:
        """Add hooks to the training."""
        self._train_monitors.extend(additional_hooks)

    # ---- once

    def train(self, delay_secs: float | None = None) -> CoreEstimator | Evaluable:
        """Train until `train_steps`.

        Args:
          delay_secs: the seconds to wait first; if None, 5 for each task of TF_CONFIG
            before this one, at most 60, so that workers begin one after the other.

        Returns:
          The estimator.
        """
        if delay_secs is None:
            delay_secs = training_delay_s(self._estimator.config)
        if delay_secs:
            get_logger().info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        found: CoreEstimator | Evaluable = self._fit(max_steps=self._train_steps)
        return found

    def evaluate(
        self, delay_secs: float | None = None, name: str | None = None
    ) -> dict[str, Any]:
        """Evaluate the newest checkpoint.

        Args:
          delay_secs: the seconds to wait first; `eval_delay_secs` if None.
          name: the evaluation's name.

        Returns:
          A dict of the metrics.
        """
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        if delay_secs:
            get_logger().info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._evaluated(self._eval_input_fn, name=name)

    def train_and_evaluate(self) -> _Results:
        """Train, evaluating new checkpoints meanwhile; then evaluate and export.

        Returns:
          The metrics at the end, and a list of what the export strategies returned.
        """
        return self._train_and_evaluate(self._min_eval_frequency)

    def _train_and_evaluate(self, every_n_steps: int | None) -> _Results:
        monitors: list[Any] = []
        if every_n_steps:
            monitors.append(
                ValidationMonitor(
                    input_fn=self._eval_input_fn,
                    eval_steps=self._eval_steps,
                    metrics=self._eval_metrics,
                    every_n_steps=every_n_steps,
                    hooks=self._eval_hooks,
                    check_interval_secs=self._check_interval_secs,
                )
            )
        self._fit(monitors, max_steps=self._train_steps)
        metrics = self._evaluated(self._eval_input_fn)
        return metrics, self._exported(metrics)

    def local_run(self) -> _Results:
        """`train_and_evaluate`, evaluating each `local_eval_frequency` steps, if given.

        Returns:
          The metrics at the end, and a list of what the export strategies returned.
        """
        return self._train_and_evaluate(self._local_eval_frequency)

    def test(self) -> dict[str, Any]:
        """Train one step, evaluate one batch and export, to find errors early.

        Returns:
          A dict of the metrics.
        """
        self._fit(steps=1)
        metrics = self._evaluated(self._eval_input_fn, steps=1, name="one_pass")
        self._exported(metrics)
        return metrics

    # ---- several times

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Predicate | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluate and export new checkpoints, which another process writes.

        It ends after a checkpoint of `train_steps`, or if the predicate is false.

        Args:
          delay_secs: the seconds to wait first; `eval_delay_secs` if None.
          throttle_delay_secs: the seconds from the start of one evaluation to the next,
            at least; `continuous_eval_throttle_secs` if None.
          evaluate_checkpoint_only_once: whether to wait for a new checkpoint.
          continuous_eval_predicate_fn: is called before each evaluation with the
            metrics of the one before: None at first, {} if there was none.
          name: the evaluations' name.

        Raises:
          ValueError: the predicate is no function.
        """
        self._evaluate_continuously(
            self._eval_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn,
            exports=True,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Predicate | None = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """`continuous_eval` with the input of the training; exports nothing.

        Args:
          delay_secs, throttle_delay_secs, continuous_eval_predicate_fn, name: as in
            `continuous_eval`.
        """
        self._evaluate_continuously(
            self._train_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            True,
            continuous_eval_predicate_fn,
            exports=False,
        )

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Predicate | None = None
    ) -> _Results:
        """Train some steps, evaluate and export, until `train_steps`.

        Args:
          continuous_eval_predicate_fn: decides about the end in place of `train_steps`:
            it is called with the metrics of the evaluation before, None at first.

        Returns:
          The last metrics, and a list of what the export strategies returned.

        Raises:
          ValueError: the predicate is no function.
        """
        warn_experimental(
            "Experiment.continuous_train_and_eval", "learn.python.learn.experiment"
        )
        goes_on = checked_predicate(continuous_eval_predicate_fn) or self._goes_on
        steps = self._train_steps_per_iteration
        if steps is None:
            steps = steps_per_iteration(self._train_steps)
        metrics: Any = None
        exported: list[Any] = []
        while goes_on(metrics, None):
            get_logger().info("Training model for %s steps", steps)
            self._fit(steps=steps)
            get_logger().info("Evaluating model now.")
            metrics = self._evaluated(self._eval_input_fn, name="one_pass")
            exported = self._exported(metrics)
        return metrics, exported

    def run_std_server(self) -> None:
        """Not implemented: it serves a cluster's parameters.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(
            "Experiment.run_std_server is for clusters: train_and_evaluate runs in "
            "this process"
        )

    def _goes_on(self, metrics: Any, path: Any) -> bool:
        del path
        if metrics is None or self._train_steps is None:
            return True
        if metrics[GraphKeys.GLOBAL_STEP] < self._train_steps:
            return True
        get_logger().info("Stop training model as max steps reached")
        return False

    def _evaluate_continuously(
        self,
        input_fn: InputFn,
        name: str,
        delay_secs: float | None,
        throttle_secs: float | None,
        only_once: bool,
        predicate: Predicate | None,
        exports: bool,
    ) -> None:
        goes_on = checked_predicate(predicate)
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        throttle_secs = self._throttle_secs if throttle_secs is None else throttle_secs
        if delay_secs:
            get_logger().info("Waiting %f secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        metrics: Any = None
        evaluated = warned = None
        while goes_on is None or goes_on(
            metrics, None if metrics is None else evaluated
        ):
            if metrics and self._has_ended(metrics):
                return
            start_s = time.time()
            path = latest_checkpoint(self._estimator.model_dir)
            warning = None
            metrics = {}
            if path is None:
                warning = (
                    "Estimator is not fitted yet. Will start an evaluation when a "
                    "checkpoint is ready."
                )
            elif only_once and path == evaluated:
                warning = "No new checkpoint ready for evaluation."
            else:
                metrics = self._evaluated(input_fn, name=name, checkpoint_path=path)
                if exports:
                    self._exported(metrics, path)
                evaluated = path
            if warning is not None and warning != warned:
                get_logger().warning(warning)
            warned = warning
            left_s = throttle_secs - (time.time() - start_s)
            if left_s > 0:
                get_logger().info(
                    "Waiting %f secs before starting next eval run.", left_s
                )
                time.sleep(left_s)

    def _has_ended(self, metrics: Mapping[str, Any]) -> bool:
        step, last = metrics.get(GraphKeys.GLOBAL_STEP), self._train_steps
        if step is None or last is None or step < last:
            return False
        get_logger().info(
            "Exiting continuous eval, global_step=%s >= train_step=%s", step, last
        )
        return True

    # ---- both kinds of estimators

    def _fit(
        self,
        monitors: Sequence[Any] = (),
        steps: int | None = None,
        max_steps: int | None = None,
    ) -> Any:
        """What the estimator's method returns: the estimator."""
        every = replace_monitors_with_hooks(
            [*self._train_monitors, *monitors], self._estimator
        )
        if not self._is_core:
            return self._estimator.fit(
                input_fn=self._train_input_fn,
                steps=steps,
                max_steps=max_steps,
                monitors=every,
            )
        return self._estimator.train(
            input_fn=self._train_input_fn,
            steps=steps,
            max_steps=max_steps,
            hooks=every,
            saving_listeners=self._saving_listeners,
        )

    def _evaluated(
        self,
        input_fn: InputFn,
        steps: int | None = None,
        name: str | None = None,
        checkpoint_path: PathLike | None = None,
    ) -> dict[str, Any]:
        options: dict[str, Any] = {
            "input_fn": input_fn,
            "steps": self._eval_steps if steps is None else steps,
            "name": name,
            "checkpoint_path": checkpoint_path,
            "hooks": self._eval_hooks,
        }
        if not self._is_core:
            options["metrics"] = self._eval_metrics
        found: dict[str, Any] = self._estimator.evaluate(**options)
        return found

    def _exported(
        self, metrics: Any, checkpoint_path: PathLike | None = None
    ) -> list[Any]:
        folder = os.path.join(os.fsencode(self._estimator.model_dir), b"export")
        return [
            strategy.export(
                self._estimator,
                os.path.join(folder, os.fsencode(strategy.name)),
                checkpoint_path=checkpoint_path,
                eval_result=metrics,
            )
            for strategy in self._export_strategies
        ]
