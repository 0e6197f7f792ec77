"""`tf.contrib.learn.Estimator`: the Estimator of 2016, of arrays and model functions.

Sessions, hooks, checkpoints and event files are those of `tf.estimator`; what differs
is what a model function may return, metrics given to `evaluate`, and input from arrays.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import set_random_seed
from tfteach.framework.type_aliases import Array, FetchedValues, PathLike
from tfteach.lib.contrib.learn.estimator_config import (
    check_params,
    checked_config,
    session_config,
)
from tfteach.lib.contrib.learn.evaluation_summary import write_evaluation
from tfteach.lib.contrib.learn.input import Inputs, inputs_of
from tfteach.lib.contrib.learn.interfaces import Evaluable, Trainable
from tfteach.lib.contrib.learn.keys import ModeKeys
from tfteach.lib.contrib.learn.metric_ops import split as split_metrics
from tfteach.lib.contrib.learn.metric_ops import with_metrics
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.monitor_hooks import replace_monitors_with_hooks
from tfteach.lib.contrib.learn.predictions import (
    examples,
    joined,
    only,
    predicted,
)
from tfteach.lib.contrib.learn.saved_model import ExportsSavedModels
from tfteach.lib.contrib.learn.sklearn_interface import NotFittedError, WithParams
from tfteach.lib.contrib.learn.tensor_signature import (
    checked_signatures,
    create_placeholders_from_signatures,
)
from tfteach.lib.contrib.learn.type_aliases import (
    FeedFn,
    InputFn,
    Metrics,
    Monitors,
    Rows,
)
from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.estimator.model_results import evaluating
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.estimator.training_session import train_by_ops
from tfteach.lib.files.checkpoint_management import latest_checkpoint
from tfteach.lib.files.checkpoint_reader import list_variables, load_variable
from tfteach.lib.training.evaluation import StopAfterNEvalsHook, evaluate_once
from tfteach.lib.training.global_step import (
    create_global_step,
    global_step_read,
)
from tfteach.lib.training.hooks.feeds_and_final_ops import FeedFnHook
from tfteach.lib.training.hooks.stopping import StopAtStepHook
from tfteach.lib.training.scaffold import Scaffold
from tfteach.lib.training.session_creators import ChiefSessionCreator
from tfteach.ops.core.control_flow_ops import group

_LOG_EVERY_STEPS = 100


def _refuse_cluster(config: RunConfig) -> None:
    if config.cluster_spec or config.master or config.evaluation_master:
        raise NotImplementedError(
            "TF_CONFIG: tf.contrib.learn does not train in several processes; use "
            "tf.estimator.train_and_evaluate"
        )


@export("contrib.learn.BaseEstimator")
class BaseEstimator(WithParams, ExportsSavedModels, Evaluable, Trainable):
    """Trains, evaluates and uses a model; subclasses build it.

    Args:
      model_dir: the directory of checkpoints and event files; None for that of
        `config`, or a temporary one.
      config: a `tf.contrib.learn.RunConfig`.

    Raises:
      ValueError: the directories differ.

    Source: contrib/learn/python/learn/estimators/estimator.py.
    """

    def __init__(
        self, model_dir: PathLike | None = None, config: RunConfig | None = None
    ) -> None:
        self._config = checked_config(config, model_dir)
        self._model_dir: str = self._config.model_dir or ""
        self._session_config = session_config(self._config)
        self._features_info: Any = None
        self._labels_info: Any = None
        get_logger().info("Using config: %s", vars(self._config))

    @property
    def config(self) -> RunConfig:
        """The RunConfig."""
        return self._config

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""
        return self._model_dir

    @abc.abstractmethod
    def _call_model_fn(
        self, features: Any, labels: Any, mode: str, metrics: Metrics | None = None
    ) -> ModelFnOps:
        """Build the model, and the metrics that a call adds to it."""

    # ---- train

    def fit(
        self,
        x: Rows | None = None,
        y: Rows | None = None,
        input_fn: InputFn | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Monitors | None = None,
        max_steps: int | None = None,
    ) -> BaseEstimator:
        """Train the model from the newest checkpoint on.

        Args:
          x: an array [n, ...], a dict of them, or an iterator of examples.
          y: the labels, of the same kind.
          input_fn: a function that returns (features, labels), in place of arrays.
          steps: how many steps to train; None for no limit.
          batch_size: the rows of a batch of `x`; all if None.
          monitors: monitors or hooks.
          max_steps: the global step at which to end; None for no limit.

        Returns:
          This object.

        Raises:
          ValueError: the arguments contradict each other, or the input differs from
            that of earlier calls in types or shapes.

        Example:
          >>> estimator.fit(x, y, steps=1000)
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        inputs = inputs_of(x, y, input_fn, None, batch_size, shuffle=True, epochs=None)
        if max_steps is not None and max_steps <= self._trained_steps():
            get_logger().info("Skipping training since max_steps has already saved.")
            return self
        hooks = replace_monitors_with_hooks(monitors, self)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train(inputs, hooks)
        get_logger().info("Loss for final step: %s.", loss)
        return self

    def partial_fit(
        self,
        x: Rows | None = None,
        y: Rows | None = None,
        input_fn: InputFn | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Monitors | None = None,
    ) -> BaseEstimator:
        """`fit` for some steps more, one by default; each call builds the graph anew.

        Args:
          x, y, input_fn, steps, batch_size, monitors: as in `fit`.
        """
        get_logger().warning(
            "The current implementation of partial_fit is not optimized for use in a "
            "loop. Consider using fit() instead."
        )
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def _trained_steps(self) -> int:
        path = latest_checkpoint(self._model_dir)
        return -1 if path is None else int(load_variable(path, GraphKeys.GLOBAL_STEP))

    def _train(self, inputs: Inputs, hooks: list[Any]) -> Any:
        _refuse_cluster(self._config)
        with Graph().as_default() as graph, graph.device(self._config.device_fn):
            set_random_seed(self._config.tf_random_seed)
            create_global_step(graph)
            features, labels = inputs.input_fn()
            self._check_inputs(features, labels)
            global_step_read(graph)
            ops = self._call_model_fn(features, labels, ModeKeys.TRAIN)
            if inputs.feed_fn is not None:
                hooks = [FeedFnHook(inputs.feed_fn), *hooks]
            return train_by_ops(
                ops._replace(scaffold=ops.scaffold or Scaffold()),
                self._config,
                self._model_dir,
                self._session_config,
                hooks,
                [],
                shown_every_steps=_LOG_EVERY_STEPS,
                speed_every_steps=_LOG_EVERY_STEPS,
            )

    def _check_inputs(self, features: Any, labels: Any) -> None:
        """Check that types and shapes are those of earlier calls.

        Raises:
          ValueError: they are not.
        """
        self._features_info = checked_signatures(
            features, self._features_info, "Features"
        )
        self._labels_info = checked_signatures(labels, self._labels_info, "Labels")

    # ---- evaluate

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
        """Evaluate a checkpoint: the metrics over the input, which are also written.

        Args:
          x: an array [n, ...], a dict of them, or an iterator of examples; these are
            read once.
          y: the labels, of the same kind.
          input_fn: a function that returns (features, labels), in place of arrays.
          feed_fn: a function that returns the feeds of each step.
          batch_size: the rows of a batch of `x`; all if None.
          steps: the number of batches; None until the input's end.
          metrics: a dict of names to `tf.contrib.learn.MetricSpec`s, or of names, or
            (name, key of the predictions), to functions of predictions and labels.
          name: the evaluation's name, which its directory has.
          checkpoint_path: the checkpoint; None for the newest.
          hooks: SessionRunHooks; not with arrays.
          log_progress: whether to log the steps.

        Returns:
          A dict of the metrics' names to values, with "loss" and "global_step".

        Raises:
          NotFittedError: there is no checkpoint.
          ValueError: the arguments contradict each other.
        """
        inputs = inputs_of(x, y, input_fn, feed_fn, batch_size, shuffle=False, epochs=1)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        # TensorFlow does not pass these on when it is called with arrays.
        passed = [] if x is not None else list(hooks or ())
        return self._evaluate(
            inputs, steps, metrics, name, None if x is not None else checkpoint_path,
            passed, log_progress,
        )  # fmt: skip

    def _evaluate(
        self,
        inputs: Inputs,
        steps: int | None,
        metrics: Mapping[Any, Any] | None,
        name: str | None,
        checkpoint_path: PathLike | None,
        hooks: list[Any],
        log_progress: bool,
    ) -> dict[str, Any]:
        _refuse_cluster(self._config)
        path = self._checkpoint(checkpoint_path)
        folder = os.path.join(self._model_dir, f"eval_{name}" if name else "eval")
        with Graph().as_default() as graph, graph.device(self._config.device_fn):
            set_random_seed(self._config.tf_random_seed)
            step = create_global_step(graph)
            features, labels = inputs.input_fn()
            self._check_inputs(features, labels)
            ops = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
            updates, values = split_metrics(ops)
            update = group(*updates)
            values[GraphKeys.GLOBAL_STEP] = step
            if steps is not None:
                if steps == 0:
                    get_logger().warning(
                        "evaluation steps are 0. If `input_fn` does not raise "
                        "`OutOfRangeError`, the evaluation will never stop. Use "
                        "steps=None if intended."
                    )
                if steps:
                    hooks = [*hooks, StopAfterNEvalsHook(steps, log_progress)]
            if inputs.feed_fn is not None:
                hooks = [*hooks, FeedFnHook(inputs.feed_fn)]
            results: dict[str, Any] = evaluate_once(
                path,
                master=self._config.evaluation_master,
                scaffold=evaluating(ops.scaffold) if ops.scaffold else None,
                eval_ops=update,
                final_ops=values,
                hooks=hooks,
                config=self._session_config,
            )
            write_evaluation(folder, results)
        return results

    def _checkpoint(self, given: PathLike | None = None) -> str:
        if given:
            return os.fspath(given)
        path = latest_checkpoint(self._model_dir)
        if path is None:
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")
        return path

    # ---- predict

    def predict(
        self,
        x: Rows | None = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> FetchedValues:
        """The model's predictions.

        Args:
          x: an array [n, ...], a dict of them, or an iterator of examples.
          input_fn: a function that returns features, or (features, labels), in place
            of arrays.
          batch_size: the rows of a batch of `x`; all if None.
          outputs: the keys of the predictions to compute; all if None.
          as_iterable: whether to return an iterator of examples, or arrays of all.
          iterate_batches: whether the iterator yields batches.

        Returns:
          An iterator, an array, or a dict of arrays.

        Raises:
          NotFittedError: there is no checkpoint.
          ValueError: the predictions are no dict, or have none of the keys.

        Example:
          >>> list(estimator.predict(x))
        """
        inputs = inputs_of(x, None, input_fn, None, batch_size, shuffle=False, epochs=1)
        path = self._checkpoint()
        batches = self._batches(inputs, outputs, path)
        if not as_iterable:
            return joined(batches)
        return batches if iterate_batches else examples(batches)

    def _batches(
        self, inputs: Inputs, outputs: Sequence[str] | None, path: str
    ) -> Iterator[Any]:
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            create_global_step(graph)
            result = inputs.input_fn()
            features = result[0] if isinstance(result, list | tuple) else result
            # Known after training.
            labels = create_placeholders_from_signatures(self._labels_info)
            ops = self._call_model_fn(features, labels, ModeKeys.INFER)
            predictions = only(ops.predictions, outputs)
            # Constants never end: one batch of them is all there is.
            is_endless = inputs.feed_fn is None and not graph.get_collection(
                GraphKeys.QUEUE_RUNNERS
            )
        creator = ChiefSessionCreator(
            checkpoint_filename_with_path=path,
            scaffold=ops.scaffold,
            config=self._session_config,
        )
        return predicted(graph, creator, predictions, inputs.feed_fn, is_endless)

    # ---- variables

    def get_variable_value(self, name: str) -> Array:
        """A variable's value in the newest checkpoint.

        Args:
          name: the variable's name.

        Raises:
          ValueError: there is no checkpoint.
        """
        return load_variable(self._model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the newest checkpoint.

        Raises:
          ValueError: there is no checkpoint.
        """
        return [name for name, _ in list_variables(self._model_dir)]


@export("contrib.learn.Estimator")
class Estimator(BaseEstimator):
    """Trains, evaluates and uses a model that a function builds.

    Args:
      model_fn: a function of features, labels and, as it likes, `mode`, `params`,
        `config` and `model_dir`, that returns (predictions, loss, train op) or a
        `tf.contrib.learn.ModelFnOps`.
      model_dir: the directory of checkpoints and event files; None for that of
        `config`, or a temporary one.
      config: a `tf.contrib.learn.RunConfig`.
      params: hyperparameters for the function.
      feature_engineering_fn: a function from features and labels to such, called
        before the model function.

    Raises:
      ValueError: there are parameters, but the function does not accept any.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     prediction = tf.contrib.layers.linear(features, 1)[:, 0]
      ...     loss = tf.losses.mean_squared_error(labels, prediction)
      ...     step = tf.train.get_global_step()
      ...     train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD")
      ...     return prediction, loss, train
      >>> estimator = tf.contrib.learn.Estimator(model_fn)

    Source: contrib/learn/python/learn/estimators/estimator.py.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: PathLike | None = None,
        config: RunConfig | None = None,
        params: Mapping[str, Any] | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(model_dir, config)
        if model_fn is not None:
            check_params(model_fn, params)
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn

    @property
    def model_fn(self) -> Callable[..., ModelFnOps]:
        """The model function, as a function of features, labels and mode."""

        def public(features: Any, labels: Any, mode: str) -> ModelFnOps:
            return self._call_model_fn(features, labels, mode)

        return public

    def _call_model_fn(
        self, features: Any, labels: Any, mode: str, metrics: Metrics | None = None
    ) -> ModelFnOps:
        if self._feature_engineering_fn is not None:
            features, labels = self._feature_engineering_fn(features, labels)
        function: Any = self._model_fn
        wanted = argument_names(function)
        offered = {
            "mode": mode, "params": self.params, "config": self._config,
            "model_dir": self._model_dir,
        }  # fmt: skip
        arguments = {key: value for key, value in offered.items() if key in wanted}
        found = function(features, labels, **arguments)
        if isinstance(found, ModelFnOps):
            ops = found
        elif len(found) == 3:
            ops = ModelFnOps(mode, *found)
        else:
            raise ValueError(
                "Unrecognized value returned by model_fn, please return ModelFnOps."
            )
        if mode == ModeKeys.EVAL and ops.loss is None:
            raise ValueError("Missing loss.")
        return with_metrics(ops, metrics, features, labels)
