"""`tf.contrib.slim.evaluation`: one checkpoint, or each new one, evaluated.

Source: contrib/slim/python/slim/evaluation.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.export import export, export_value
from tfteach.framework.type_aliases import (
    FeedDict,
    FetchedValues,
    Fetches,
    PathLike,
    Proto,
    SessionLike,
)
from tfteach.lib.contrib.training.evaluation import (
    SummaryAtEndHook,
    evaluate_repeatedly,
)
from tfteach.lib.files.checkpoint_reader import (
    checkpoints_iterator as checkpoints_iterator,
)
from tfteach.lib.files.checkpoint_reader import (
    wait_for_new_checkpoint as wait_for_new_checkpoint,
)
from tfteach.lib.files.saver import Saver
from tfteach.lib.training.evaluation import StopAfterNEvalsHook
from tfteach.lib.training.evaluation import evaluate_once as evaluate_checkpoint
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.scaffold import Scaffold
from tfteach.ops.debug.summary_functions import merge_all
from tfteach.variables.base import Variable

_USE_DEFAULT = 0

export_value(
    __name__,
    checkpoints_iterator="contrib.slim.evaluation.checkpoints_iterator",
    wait_for_new_checkpoint="contrib.slim.evaluation.wait_for_new_checkpoint",
)


@export("contrib.slim.evaluation.evaluate_once")
def evaluate_once(
    master: str,
    checkpoint_path: PathLike,
    logdir: PathLike,
    num_evals: int = 1,
    initial_op: Fetches = None,
    initial_op_feed_dict: FeedDict | None = None,
    eval_op: Fetches = None,
    eval_op_feed_dict: FeedDict | None = None,
    final_op: Fetches = None,
    final_op_feed_dict: FeedDict | None = None,
    summary_op: Fetches = _USE_DEFAULT,
    summary_op_feed_dict: FeedDict | None = None,
    variables_to_restore: Sequence[Variable] | None = None,
    session_config: Proto | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
) -> FetchedValues:
    """Evaluate a checkpoint, and write its summaries.

    Args:
      master: the session's target.
      checkpoint_path: the checkpoint.
      logdir: the directory of the event file.
      num_evals: how often to run `eval_op`.
      initial_op: run before, after the variables are restored.
      initial_op_feed_dict: its feeds.
      eval_op: run in each step, such as the update ops of metrics.
      eval_op_feed_dict: its feeds.
      final_op: run at the end, such as the values of metrics.
      final_op_feed_dict: its feeds.
      summary_op: the summaries to write at the end; None for none, by default all.
      summary_op_feed_dict: their feeds.
      variables_to_restore: which variables the checkpoint has; None for all.
      session_config: the session's ConfigProto.
      hooks: further SessionRunHooks.

    Returns:
      The values of `final_op`; None if there is none.

    Example:
      >>> path = tf.train.latest_checkpoint("logs")
      >>> tf.contrib.slim.evaluation.evaluate_once(
      ...     "", path, "logs/eval", num_evals=100, eval_op=update, final_op=accuracy
      ... )

    Source: contrib/slim/python/slim/evaluation.py.
    """
    every = _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    return evaluate_checkpoint(
        checkpoint_path,
        master=master,
        scaffold=Scaffold(
            init_op=initial_op,
            init_feed_dict=initial_op_feed_dict,
            saver=_saver(variables_to_restore),
        ),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=every,
        config=session_config,
    )


@export("contrib.slim.evaluation.evaluation_loop")
def evaluation_loop(
    master: str,
    checkpoint_dir: PathLike,
    logdir: PathLike,
    num_evals: int = 1,
    initial_op: Fetches = None,
    initial_op_feed_dict: FeedDict | None = None,
    init_fn: Callable[[Scaffold, SessionLike], None] | None = None,
    eval_op: Fetches = None,
    eval_op_feed_dict: FeedDict | None = None,
    final_op: Fetches = None,
    final_op_feed_dict: FeedDict | None = None,
    summary_op: Fetches = _USE_DEFAULT,
    summary_op_feed_dict: FeedDict | None = None,
    variables_to_restore: Sequence[Variable] | None = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Proto | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
) -> FetchedValues:
    """Evaluate each new checkpoint of a directory, as a training writes them.

    Args:
      checkpoint_dir: the directory.
      init_fn: called with the Scaffold and the session after `initial_op`.
      eval_interval_secs: the seconds from the start of one evaluation to the next, at
        least.
      max_number_of_evaluations: after how many to return; None for ever.
      timeout: how long to wait for a checkpoint, in seconds; None for ever.
      timeout_fn: called then: True ends it, False waits again.
      others: as in `evaluate_once`.

    Returns:
      The values of `final_op` in the last evaluation; None if there was none.

    Source: contrib/slim/python/slim/evaluation.py.
    """
    every = _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    return evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=Scaffold(
            init_op=initial_op,
            init_feed_dict=initial_op_feed_dict,
            init_fn=init_fn,
            saver=_saver(variables_to_restore),
        ),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=every,
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )


def _hooks(
    num_evals: int,
    logdir: PathLike,
    summary_op: Fetches,
    feed_dict: FeedDict | None,
    hooks: Sequence[SessionRunHook] | None,
) -> list[SessionRunHook]:
    if summary_op is _USE_DEFAULT:
        summary_op = merge_all()
    every: list[SessionRunHook] = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        writes = SummaryAtEndHook(logdir, summary_op=summary_op, feed_dict=feed_dict)
        every.append(writes)
    return [*every, *(hooks or ())]


def _saver(variables: Any) -> Saver | None:
    return None if variables is None else Saver(variables)
