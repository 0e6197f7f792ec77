"""`tf.estimator.Estimator`: trains, evaluates and uses a model that a function builds.

Source: tensorflow_estimator/python/estimator/estimator.py.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import get_collection, set_random_seed
from tfteach.framework.type_aliases import Array, FetchedValues, PathLike
from tfteach.lib.estimator.estimator_arguments import (
    check_model_fn,
    check_overrides,
    check_trains_here,
    checked_config,
    checked_hooks,
    checked_listeners,
    device_function,
    warm_start_settings,
)
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.evaluation_summary import run_and_write
from tfteach.lib.estimator.input_fn import (
    DatasetInitializerHook,
    argument_names,
    features_and_labels,
    is_dataset,
)
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.model_exports import ModelExports
from tfteach.lib.estimator.model_results import (
    Evaluation,
    evaluating,
    examples,
    metrics_of,
    selected,
)
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.estimator.training_session import global_step_of, train_by_spec
from tfteach.lib.files.checkpoint_management import latest_checkpoint
from tfteach.lib.files.checkpoint_reader import list_variables, load_variable
from tfteach.lib.files.warm_start import WarmStartSettings, warm_start
from tfteach.lib.training.evaluation import (
    StopAfterNEvalsHook,
    with_eval_step,
)
from tfteach.lib.training.global_step import (
    create_global_step,
    get_global_step,
    global_step_read,
)
from tfteach.lib.training.hooks.checkpoints import CheckpointSaverListener
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.hooks.stopping import StopAtStepHook
from tfteach.lib.training.monitored_session import MonitoredSession
from tfteach.lib.training.session_creators import ChiefSessionCreator


@export("estimator.Estimator", v2="estimator.Estimator")
class Estimator(ModelExports):
    """Trains, evaluates and uses a model.  Each call builds the model in a new graph.

    Args:
      model_fn: a function of `features` and, as it likes, `labels`, `mode`, `params`
        and `config` that builds the model and returns a `tf.estimator.EstimatorSpec`.
      model_dir: the directory of checkpoints and event files; None for that of
        `config`, or a temporary one.
      config: a `tf.estimator.RunConfig`.
      params: hyperparameters for the function, a dict or an object.
      warm_start_from: a checkpoint's path or a `tf.estimator.WarmStartSettings`, from
        which variables get their values when there is no checkpoint yet.

    Raises:
      ValueError: the function's arguments are others, or the directories differ.

    Example:
      >>> estimator = tf.estimator.Estimator(model_fn, "logs")
      >>> estimator.train(train_input_fn, steps=1000)
      >>> estimator.evaluate(test_input_fn)["loss"]

    Source: tensorflow_estimator/python/estimator/estimator.py.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: PathLike | None = None,
        config: RunConfig | None = None,
        params: object = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
    ) -> None:
        check_overrides(type(self), Estimator)
        self._config = checked_config(config, model_dir)
        self._model_dir: str = self._config.model_dir or ""
        get_logger().info("Using config: %s", vars(self._config))
        self._session_config = self._config.session_config
        self._device_fn = device_function(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = warm_start_settings(warm_start_from)

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> object:
        """A copy of the hyperparameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function, as a function of features, labels, mode and config."""
        return self._call_model_fn

    def get_variable_value(self, name: str) -> Array:
        """A variable's value in the newest checkpoint.

        Raises:
          ValueError: there is no checkpoint.
        """
        self._check_checkpoint()
        return load_variable(self._model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the newest checkpoint.

        Raises:
          ValueError: there is no checkpoint.
        """
        self._check_checkpoint()
        return [name for name, _ in list_variables(self._model_dir)]

    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint; None if there is none."""
        return latest_checkpoint(self._model_dir)

    def _check_checkpoint(self) -> None:
        if self.latest_checkpoint() is None:
            raise ValueError(
                f"Could not find trained model in model_dir: {self._model_dir}."
            )

    def eval_dir(self, name: str | None = None) -> str:
        """The directory of an evaluation's event files.

        Args:
          name: the evaluation's name; None for the one without.
        """
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    # ---- train

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[SessionRunHook] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> Estimator:
        """Train the model from the newest checkpoint on, until the input's end.

        Args:
          input_fn: returns (features, labels), as Tensors or a dataset of them.
          hooks: SessionRunHooks.
          steps: how many steps to train; None for no limit.
          max_steps: the global step at which to end; None for no limit.
          saving_listeners: called around each checkpoint.

        Returns:
          This object.

        Raises:
          ValueError: both limits are given, or one is not positive.
          NanLossDuringTrainingError: the loss is NaN.

        Example:
          >>> estimator.train(input_fn, steps=1000)
        """
        check_trains_here(self._config)
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        if max_steps is not None and max_steps <= global_step_of(self._model_dir):
            get_logger().info("Skipping training since max_steps has already saved.")
            return self
        every = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            every.append(StopAtStepHook(steps, max_steps))
        loss = self._train(input_fn, every, checked_listeners(saving_listeners))
        get_logger().info(f"Loss for final step: {loss!s}.")
        return self

    def _train(
        self,
        input_fn: Callable[..., Any],
        hooks: list[SessionRunHook],
        listeners: list[CheckpointSaverListener],
    ) -> Any:
        if self._config.train_distribute is not None:
            return self._train_in_replicas(input_fn, hooks, listeners)
        with Graph().as_default() as graph, graph.device(self._device_fn):
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            if get_global_step(graph) is not None:
                global_step_read(graph)
            features, labels, input_hooks = self._inputs(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            self._warm_start_without(self.latest_checkpoint())
            return train_by_spec(
                spec,
                self._config,
                self._model_dir,
                self._session_config,
                [*input_hooks, *hooks],
                listeners,
            )

    def _train_in_replicas(
        self,
        input_fn: Callable[..., Any],
        hooks: list[SessionRunHook],
        listeners: list[CheckpointSaverListener],
    ) -> Any:
        """`_train` by a distribution strategy."""
        # Strategies are a library of their own, which few programs use.
        from tfteach.lib.estimator.replicated_model import replicated_spec

        strategy: Any = self._config.train_distribute
        config = self._config
        strategy.configure(
            self._session_config,
            config.cluster_spec or None,
            config.task_type,
            config.task_id,
        )
        with (
            Graph().as_default() as graph,
            strategy.scope(),
            strategy._scale_loss_for_estimator_enabled(),
        ):
            set_random_seed(self._config.tf_random_seed)
            iterator = self._replicas_inputs(strategy, input_fn, ModeKeys.TRAIN)
            self._create_and_assert_global_step(graph)
            if get_global_step(graph) is not None:
                global_step_read(graph)

            def model(features: Any, labels: Any) -> EstimatorSpec:
                return self._call_model_fn(
                    features, labels, ModeKeys.TRAIN, self.config
                )

            spec = replicated_spec(strategy, iterator, model)
            self._warm_start_without(self.latest_checkpoint())
            return train_by_spec(
                spec,
                self._config,
                self._model_dir,
                self._session_config,
                [DatasetInitializerHook(iterator), *hooks],
                listeners,
            )

    # ---- evaluate

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: PathLike | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluate a checkpoint: the metrics over the input, which are also written.

        Args:
          input_fn: returns (features, labels), as Tensors or a dataset of them.
          steps: the number of batches; None until the input's end.
          hooks: SessionRunHooks.
          checkpoint_path: the checkpoint; None for the newest.
          name: the evaluation's name, which its directory has.

        Returns:
          A dict of the metrics' names to values; "loss" is the mean loss and
          "global_step" the step.

        Raises:
          ValueError: `steps` is not positive, or a metric has one of these names.
        """
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        every = checked_hooks(hooks)
        if steps is not None:
            every.append(StopAfterNEvalsHook(num_evals=steps))
        path = self._checkpoint(checkpoint_path, "evaluate")
        strategy: Any = self._config.eval_distribute
        with (
            Graph().as_default() as graph,
            strategy.scope() if strategy else graph.device(self._device_fn),
        ):
            return self._evaluated(self._evaluation(input_fn, every, path), path, name)

    def _evaluation(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[SessionRunHook],
        path: str | None,
    ) -> Evaluation:
        """Build an evaluation in the current graph."""
        set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(get_default_graph())
        if self._config.eval_distribute is not None:
            update, values, spec, input_hooks = self._metrics_in_replicas(input_fn)
        else:
            features, labels, input_hooks = self._inputs(input_fn, ModeKeys.EVAL)
            spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
            update, values = metrics_of(spec)
        self._warm_start_without(path)
        every = [*input_hooks, *hooks, *spec.evaluation_hooks]
        scaffold = evaluating(spec.scaffold)
        return Evaluation(scaffold, with_eval_step(update, every), values, every)

    def _metrics_in_replicas(self, input_fn: Callable[..., Any]) -> Any:
        """The metrics of a distribution strategy, the model, and hooks for inputs."""
        from tfteach.lib.estimator.replicated_model import replicated_evaluation

        strategy: Any = self._config.eval_distribute
        iterator = self._replicas_inputs(strategy, input_fn, ModeKeys.EVAL)

        def model(features: Any, labels: Any) -> EstimatorSpec:
            return self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)

        found = replicated_evaluation(strategy, iterator, model)
        return *found, [DatasetInitializerHook(iterator)]

    def _evaluated(
        self, evaluation: Evaluation, path: str | None, name: str | None
    ) -> dict[str, Any]:
        """Run an evaluation, and write its results."""
        return run_and_write(evaluation, path, self.eval_dir(name), self._config)

    def _checkpoint(self, given: PathLike | None, verb: str) -> str | None:
        if given:
            return os.fspath(given)
        path = self.latest_checkpoint()
        if path is None:
            get_logger().info(
                f"Could not find trained model in model_dir: {self._model_dir}, "
                f"running initialization to {verb}."
            )
        return path

    def _warm_start_without(self, checkpoint: str | None) -> None:
        if checkpoint is None and self._warm_start_settings:
            settings = self._warm_start_settings
            get_logger().info(f"Warm-starting with WarmStartSettings: {settings}")
            warm_start(*settings)

    # ---- predict

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: str | Sequence[str] | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: PathLike | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[FetchedValues]:
        """The model's predictions, one for each example, until the input's end.

        The graph is built and the checkpoint restored when the first one is asked for:
        each call does so anew.  An input function that reads a generator, and an
        iterator that stays open, do it once.

        Args:
          input_fn: returns features, or (features, labels), of which the labels are
            ignored.
          predict_keys: the predictions to compute, if they are a dict; None for all.
          hooks: SessionRunHooks.
          checkpoint_path: the checkpoint; None for the newest.
          yield_single_examples: whether to yield examples; otherwise batches.

        Yields:
          Predictions: arrays, or dicts of them.

        Raises:
          ValueError: the predictions have none of the keys, or batches of different
            sizes.

        Example:
          >>> for prediction in estimator.predict(input_fn):
          ...     print(prediction)
        """
        every = checked_hooks(hooks)
        path = self._checkpoint(checkpoint_path, "predict")
        with Graph().as_default() as graph, graph.device(self._device_fn):
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            result = self._call_input_fn(input_fn, ModeKeys.PREDICT)
            features, _, input_hooks = features_and_labels(result, ModeKeys.PREDICT)
            if not is_dataset(result) and not get_collection(GraphKeys.QUEUE_RUNNERS):
                get_logger().warning(
                    "Input graph does not use tf.data.Dataset or contain a "
                    "QueueRunner. That means predict yields forever. This is probably "
                    "a mistake."
                )
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._warm_start_without(path)
            predictions = selected(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                checkpoint_filename_with_path=path,
                master=self._config.master,
                scaffold=spec.scaffold,
                config=self._session_config,
            )
            every = [*input_hooks, *every, *spec.prediction_hooks]
            with MonitoredSession(creator, every) as session:
                while not session.should_stop():
                    values = session.run(predictions)
                    if yield_single_examples:
                        yield from examples(values)
                    else:
                        yield values

    # ---- the functions

    def _create_and_assert_global_step(self, graph: Graph) -> None:
        create_global_step(graph)

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: str, context: Any = None
    ) -> Any:
        wanted = argument_names(input_fn)
        offered = {"mode": mode, "params": self.params, "config": self.config}
        if context is not None:
            offered["input_context"] = context
        with get_default_graph().device("/cpu:0"):
            return input_fn(**{k: v for k, v in offered.items() if k in wanted})

    def _replicas_inputs(
        self, strategy: Any, input_fn: Callable[..., Any], mode: str
    ) -> Any:
        return strategy.make_input_fn_iterator(
            lambda context: self._call_input_fn(input_fn, mode, context)
        )

    def _inputs(self, input_fn: Callable[..., Any], mode: str) -> Any:
        return features_and_labels(self._call_input_fn(input_fn, mode), mode)

    def _call_model_fn(
        self, features: Any, labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        wanted = argument_names(self._model_fn)
        offered = {"mode": mode, "params": self.params, "config": config}
        arguments = {key: value for key, value in offered.items() if key in wanted}
        if "labels" in wanted:
            arguments["labels"] = labels
        elif labels is not None:
            raise ValueError(
                "model_fn does not take labels, but input_fn returns labels."
            )
        get_logger().info("Calling model_fn.")
        spec = self._model_fn(features=features, **arguments)
        get_logger().info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec
