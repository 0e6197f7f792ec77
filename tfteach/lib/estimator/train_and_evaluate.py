"""`tf.estimator.train_and_evaluate`: evaluates after each checkpoint of a training.

Source: tensorflow_estimator/python/estimator/training.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_arguments import check_no_cluster
from tfteach.lib.estimator.exporters import Exporter
from tfteach.lib.training.hooks.checkpoints import CheckpointSaverListener
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.hooks.timer import SecondOrStepTimer


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks: Iterable[Any] | None) -> tuple[SessionRunHook, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(
                f"All hooks must be `SessionRunHook` instances, given: {hook}"
            )
    return found


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    if exporters is None:
        return ()
    found = (exporters,) if isinstance(exporters, Exporter) else exporters
    try:
        found = tuple(found)
    except TypeError:
        found = (None,)
    if not all(isinstance(exporter, Exporter) for exporter in found):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, "
            f"found {exporters}."
        )
    names = [exporter.name for exporter in found]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter "
                f"names: {names}"
            )
        if not isinstance(name, str):
            raise ValueError(
                f"An Exporter must have a string name. Given: {type(name)}"
            )
    if len(set(names)) < len(names):
        raise ValueError(
            "`exporters` must have unique names. Such a name cannot be `None`. All "
            f"exporter names: {names}"
        )
    return found


class _TrainFields(NamedTuple):
    input_fn: Any
    max_steps: Any
    hooks: Any


@export("estimator.TrainSpec")
class TrainSpec(_TrainFields):
    """The training of `tf.estimator.train_and_evaluate`.

    Args:
      input_fn: as in `tf.estimator.Estimator.train`.
      max_steps: the global step at which to end; None until the input's end.
      hooks: SessionRunHooks.

    Raises:
      TypeError, ValueError: an argument is of a wrong type, or not positive.

    Source: tensorflow_estimator/python/estimator/training.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
    ) -> TrainSpec:
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks))


class _EvalFields(NamedTuple):
    input_fn: Any
    steps: Any
    name: Any
    hooks: Any
    exporters: Any
    start_delay_secs: Any
    throttle_secs: Any


@export("estimator.EvalSpec")
class EvalSpec(_EvalFields):
    """The evaluations of `tf.estimator.train_and_evaluate`.

    Args:
      input_fn, steps, name, hooks: as in `tf.estimator.Estimator.evaluate`.
      exporters: an Exporter, several, or None.
      start_delay_secs: for clusters only.
      throttle_secs: the seconds from one evaluation to the next, at least.

    Raises:
      TypeError, ValueError: an argument is of a wrong type, or not positive.

    Source: tensorflow_estimator/python/estimator/training.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        exporters: Exporter | Iterable[Exporter] | None = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        checked = _checked_hooks(hooks), _checked_exporters(exporters)
        if start_delay_secs < 0:
            raise ValueError(
                f"Must specify start_delay_secs >= 0, given: {start_delay_secs}"
            )
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(
            cls, input_fn, steps, name, *checked, start_delay_secs, throttle_secs
        )


class _Evaluating(CheckpointSaverListener):
    """Evaluates and exports each new checkpoint, but for the first."""

    def __init__(
        self, estimator: Estimator, spec: EvalSpec, max_steps: int | None
    ) -> None:
        self._estimator, self._spec, self._max_steps = estimator, spec, max_steps
        self.metrics: dict[str, Any] | None = None
        self.exported: list[Any] | None = None
        self._evaluated: str | None = None

    def begin(self) -> None:
        self._timer = SecondOrStepTimer(every_secs=self._spec.throttle_secs)
        self._is_first = True

    def after_save(self, session: SessionLike, global_step_value: int) -> None:
        if self._is_first:  # what was restored, or initialized
            self._is_first = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            get_logger().info(
                "Skip the current checkpoint eval due to throttle secs "
                f"({self._spec.throttle_secs} secs)."
            )

    def end(self, session: SessionLike, global_step_value: int) -> None:
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        estimator, spec = self._estimator, self._spec
        path = estimator.latest_checkpoint()
        if path is None or path == self._evaluated:
            raise RuntimeError("There was no new checkpoint after the training.")
        self._evaluated = path
        self.metrics = estimator.evaluate(
            spec.input_fn, spec.steps, spec.hooks, path, spec.name
        )
        reached = self.metrics[GraphKeys.GLOBAL_STEP]
        is_last = self._max_steps is not None and reached >= self._max_steps
        folder = os.path.join(estimator.model_dir, "export")
        self.exported = [
            exporter.export(
                estimator=estimator,
                export_path=os.path.join(folder, exporter.name),
                checkpoint_path=path,
                eval_result=self.metrics,
                is_the_final_export=bool(is_last),
            )
            for exporter in spec.exporters
        ]


@export("estimator.train_and_evaluate")
def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    """Train a model in this process, and evaluate each of its checkpoints.

    Args:
      estimator: the Estimator, whose RunConfig says when checkpoints are written.
      train_spec: the training.
      eval_spec: the evaluations.

    Returns:
      The metrics of the last evaluation, and what the exporters returned; None for both
      if the training had ended before.

    Raises:
      TypeError: an argument is of a wrong type.
      NotImplementedError: TF_CONFIG has a cluster.

    Example:
      >>> tf.estimator.train_and_evaluate(
      ...     estimator,
      ...     tf.estimator.TrainSpec(train_input_fn, max_steps=1000),
      ...     tf.estimator.EvalSpec(test_input_fn, throttle_secs=10),
      ... )

    Source: tensorflow_estimator/python/estimator/training.py.
    """
    for value, name, kind in (
        (eval_spec, "eval_spec", EvalSpec),
        (estimator, "estimator", Estimator),
        (train_spec, "train_spec", TrainSpec),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: "
                f"{type(value)}"
            )
    config = estimator.config
    check_no_cluster(config)
    get_logger().info("Not using Distribute Coordinator.")
    get_logger().info("Running training and evaluation locally (non-distributed).")
    get_logger().info(
        "Start train and evaluate loop. The evaluate will happen after every "
        "checkpoint. Checkpoint frequency is determined based on RunConfig arguments: "
        f"save_checkpoints_steps {config.save_checkpoints_steps} or "
        f"save_checkpoints_secs {config.save_checkpoints_secs}."
    )
    listener = _Evaluating(estimator, eval_spec, train_spec.max_steps)
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks,
        max_steps=train_spec.max_steps,
        saving_listeners=[listener],
    )
    return listener.metrics, listener.exported
