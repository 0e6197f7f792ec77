"""One evaluation of a checkpoint, and the hook that counts its steps.

Source: python/training/evaluation.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import (
    FeedDict,
    FetchedValues,
    Fetches,
    PathLike,
    Proto,
)
from tfteach.lib.training.hooks.feeds_and_final_ops import FinalOpsHook
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfteach.lib.training.monitored_session import MonitoredSession
from tfteach.lib.training.scaffold import Scaffold
from tfteach.lib.training.session_creators import ChiefSessionCreator
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.base import Variable
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope import get_variable

_LINES_PER_EVALUATION = 10


@export("contrib.training.get_or_create_eval_step")
def get_or_create_eval_step() -> Variable:
    """The number of steps of the current evaluation, an int64 local variable.

    Raises:
      ValueError: the graph has several.

    Source: python/training/evaluation.py.
    """
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        step: Variable = found[0]
        return step
    made: Variable = get_variable(
        GraphKeys.EVAL_STEP,
        shape=[],
        dtype=int64,
        initializer=Zeros(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )
    return made


@export("contrib.training.StopAfterNEvalsHook")
class StopAfterNEvalsHook(SessionRunHook):
    """Ends an evaluation after a number of steps.

    Args:
      num_evals: that number; None for as long as there is input.
      log_progress: whether to log the steps, about ten times, as "Evaluation [1/10]".

    Example:
      >>> hooks = [tf.contrib.training.StopAfterNEvalsHook(100)]

    Source: python/training/evaluation.py.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._log_progress = log_progress
        self._evals_completed: Any = None
        count = num_evals or 0
        self._log_frequency = (
            1 if count < 2 * _LINES_PER_EVALUATION else count // _LINES_PER_EVALUATION
        )

    def _set_evals_completed_tensor(self, updated_eval_step: Tensor) -> None:
        """Called by the evaluation: the count after a step."""
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the number of steps."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Log it, and request a stop after the last."""
        done, count = run_values.results["evals_completed"], self._num_evals
        if self._log_progress and count is None:
            get_logger().info(f"Evaluation [{done}]")
        elif self._log_progress and (done % self._log_frequency == 0 or done == count):
            get_logger().info(f"Evaluation [{done}/{count}]")
        if count is not None and done >= count:
            run_context.request_stop()


def counted(eval_ops: Fetches, update: Any) -> Any:
    """`eval_ops` with the op that counts the step."""
    if isinstance(eval_ops, dict):
        # The caller's dict itself, as in TF.
        eval_ops["update_eval_step"] = update
        return eval_ops
    if isinstance(eval_ops, tuple | list):
        return [*eval_ops, update]
    return [eval_ops, update]


def _latest_eval_step(eval_ops: Any) -> Tensor:
    """The count once the step's ops are done."""
    ops = list(eval_ops.values()) if isinstance(eval_ops, dict) else eval_ops
    with control_dependencies(ops):
        return identity(get_or_create_eval_step().read_value())


@export("contrib.training.evaluate_once")
def evaluate_once(
    checkpoint_path: PathLike,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Fetches = None,
    feed_dict: FeedDict | None = None,
    final_ops: Fetches = None,
    final_ops_feed_dict: FeedDict | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Proto | None = None,
) -> FetchedValues:
    """Evaluate a checkpoint: run ops until a hook or the input's end stops it.

    Args:
      checkpoint_path: the checkpoint to restore.
      master: the session's target.
      scaffold: the ops that initialize and restore; None for the default ones.
      eval_ops: what to run in each step, such as the update ops of metrics: a Tensor,
        a list or a dict.  None for no steps.
      feed_dict: the feeds of each step.
      final_ops: what to run at the end, such as the values of metrics.
      final_ops_feed_dict: its feeds.
      hooks: SessionRunHooks; StopAfterNEvalsHook limits the number of steps.
      config: the session's ConfigProto.

    Returns:
      The values of `final_ops`; None if there are none.

    Example:
      >>> hooks = [tf.contrib.training.StopAfterNEvalsHook(100)]
      >>> tf.contrib.training.evaluate_once(
      ...     path, eval_ops=update, final_ops=accuracy, hooks=hooks
      ... )

    Source: python/training/evaluation.py.
    """
    every = list(hooks or ())
    return run_evaluation(
        checkpoint_path,
        with_eval_step(eval_ops, every),
        final_ops,
        every,
        scaffold=scaffold,
        master=master,
        feed_dict=feed_dict,
        final_ops_feed_dict=final_ops_feed_dict,
        config=config,
    )


def with_eval_step(eval_ops: Fetches, hooks: Sequence[SessionRunHook]) -> Any:
    """The ops of an evaluation's step, which also count it for the hooks."""
    eval_step = get_or_create_eval_step()
    if eval_ops is None:
        return None
    eval_ops = counted(eval_ops, assign_add(eval_step, 1, use_locking=True))
    latest = _latest_eval_step(eval_ops)
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(latest)
    return eval_ops


def run_evaluation(
    checkpoint_path: PathLike,
    eval_ops: Fetches,
    final_ops: Fetches,
    hooks: Sequence[SessionRunHook],
    *,
    scaffold: Scaffold | None,
    master: str = "",
    feed_dict: FeedDict | None = None,
    final_ops_feed_dict: FeedDict | None = None,
    config: Proto | None = None,
) -> FetchedValues:
    """`evaluate_once` with ops as `with_eval_step` returns them."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime())
    get_logger().info(f"Starting evaluation at {now}")
    creator = ChiefSessionCreator(
        scaffold=scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=config,
    )
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    with MonitoredSession(creator, [*hooks, final]) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    now = time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime())
    get_logger().info(f"Finished evaluation at {now}")
    return final.final_ops_values
