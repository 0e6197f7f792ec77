"""`tf.estimator.experimental.InMemoryEvaluatorHook`: evaluations while training.

Source: tensorflow_estimator/python/estimator/hooks/hooks.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_arguments import checked_hooks
from tfteach.lib.training.evaluation import StopAfterNEvalsHook
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfteach.lib.training.hooks.timer import SecondOrStepTimer
from tfteach.lib.training.scaffold import Scaffold


@export("estimator.experimental.InMemoryEvaluatorHook")
class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates the model during its training, without checkpoints.

    The evaluation's graph is built once; each evaluation gets the variables' values
    from the session that trains.

    Args:
      estimator: the Estimator that trains.
      input_fn, steps, hooks, name: as for `Estimator.evaluate`.
      every_n_iter: the number of training steps between two evaluations.

    Raises:
      ValueError: `steps` or `every_n_iter` is not positive; in a training, the model
        has a Saver or an initializer function of its own.

    Example:
      >>> hook = tf.estimator.experimental.InMemoryEvaluatorHook(
      ...     estimator, test_input_fn, every_n_iter=100
      ... )
      >>> estimator.train(input_fn, hooks=[hook], steps=1000)

    Source: tensorflow_estimator/python/estimator/hooks/hooks.py.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if estimator.config.eval_distribute is not None:
            raise NotImplementedError(
                "InMemoryEvaluator of a RunConfig(eval_distribute=...): call "
                "estimator.evaluate, or leave eval_distribute out"
            )
        self._hooks = checked_hooks(hooks)
        if steps is not None:
            self._hooks.append(StopAfterNEvalsHook(num_evals=steps))
        self._estimator, self._input_fn, self._name = estimator, input_fn, name
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)
        self._iterations = 0

    def begin(self) -> None:
        """Build the graph of evaluations."""
        self._timer.reset()
        self._iterations = 0
        self._variables = {
            v.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)
        }
        self._graph = Graph()
        with self._graph.as_default():
            self._evaluation = self._estimator._evaluation(
                self._input_fn, self._hooks, None
            )
            scaffold = self._evaluation.scaffold
            if scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._evaluation = self._evaluation._replace(
                scaffold=Scaffold(init_fn=self._load, copy_from_scaffold=scaffold)
            )
            own = get_collection(GraphKeys.GLOBAL_VARIABLES)
            self._own = [v for v in own if v.name in self._variables]

    def _load(self, scaffold: Scaffold, session: SessionLike) -> None:
        """Copy the values of the training into the evaluation's variables."""
        feeds = {v.initializer.inputs[1]: self._values[v.name] for v in self._own}
        session.run([v.initializer for v in self._own], feeds)

    def after_create_session(self, session: SessionLike, coord: Any) -> None:
        """Evaluate the model as it is at the start."""
        if not self._iterations:
            self._evaluate(session)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Evaluate, if it is time."""
        self._iterations += 1
        if self._timer.should_trigger_for_step(self._iterations):
            self._evaluate(run_context.session)

    def end(self, session: SessionLike) -> None:
        """Evaluate the trained model."""
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        self._timer.update_last_triggered_step(self._iterations)
        fetches = {v.name: self._variables[v.name] for v in self._own}
        self._values = session.run(fetches)
        with self._graph.as_default():
            self._estimator._evaluated(self._evaluation, None, self._name)
