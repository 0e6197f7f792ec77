"""Evaluation of the checkpoints that a training writes.

Source: contrib/training/python/training/evaluation.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import (
    FeedDict,
    FetchedValues,
    Fetches,
    PathLike,
    Proto,
    SessionLike,
)
from tfteach.lib.files.checkpoint_reader import checkpoints_iterator
from tfteach.lib.files.file_writer import FileWriter, FileWriterCache
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.training.evaluation import (
    StopAfterNEvalsHook,
    counted,
    get_or_create_eval_step,
)
from tfteach.lib.training.global_step import get_or_create_global_step
from tfteach.lib.training.global_step import global_step as value_of_step
from tfteach.lib.training.hooks.feeds_and_final_ops import FinalOpsHook
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.monitored_session import MonitoredSession
from tfteach.lib.training.scaffold import Scaffold
from tfteach.lib.training.session_creators import ChiefSessionCreator
from tfteach.ops.debug.summary_functions import merge_all
from tfteach.ops.state.ref_variables import assign_add


@export("contrib.training.SummaryAtEndHook")
class SummaryAtEndHook(SessionRunHook):
    """Writes summaries at the end of an evaluation.

    Args:
      log_dir: the directory of the event file.
      summary_writer: a FileWriter in its place.
      summary_op: the summaries; None for all of the graph.
      feed_dict: their feeds.

    Raises:
      ValueError: there is neither a directory nor a writer.

    Example:
      >>> hooks = [tf.contrib.training.SummaryAtEndHook("logs/eval")]

    Source: contrib/training/python/training/evaluation.py.
    """

    def __init__(
        self,
        log_dir: PathLike | None = None,
        summary_writer: FileWriter | None = None,
        summary_op: Fetches = None,
        feed_dict: FeedDict | None = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir = log_dir
        self._summary_writer = summary_writer
        self._summary_op = summary_op
        self._replace_summary_op = summary_op is None
        self._feed_dict = feed_dict

    def begin(self) -> None:
        """Merge the graph's summaries, and create the global step if it is missing."""
        if self._replace_summary_op:
            self._summary_op = merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Open the event file."""
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(os.fspath(self._log_dir))

    def end(self, session: SessionLike) -> None:
        """Write the summaries."""
        if self._summary_op is not None:
            step = value_of_step(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer is not None:
                self._summary_writer.add_summary(summary, step)
        if self._summary_writer is not None:
            self._summary_writer.flush()


@export("contrib.training.evaluate_repeatedly")
def evaluate_repeatedly(
    checkpoint_dir: PathLike,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Fetches = None,
    feed_dict: FeedDict | None = None,
    final_ops: Fetches = None,
    final_ops_feed_dict: FeedDict | None = None,
    eval_interval_secs: float = 60,
    hooks: list[SessionRunHook] | None = None,
    config: Proto | None = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> FetchedValues:
    """Evaluate each new checkpoint of a directory.

    Args:
      checkpoint_dir: the directory.
      master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks,
        config: as in `tf.contrib.training.evaluate_once`.  The hook that stops the
        evaluation is appended to the caller's list.
      eval_interval_secs: the seconds from the start of one evaluation to the next, at
        least.
      max_number_of_evaluations: after how many to return; None for ever.
      timeout: how long to wait for a checkpoint, in seconds; None for ever.
      timeout_fn: called then: True ends it, False waits again.

    Returns:
      The values of `final_ops` in the last evaluation; None if there was none.

    Source: contrib/training/python/training/evaluation.py.
    """
    eval_step = get_or_create_eval_step()
    every = [] if hooks is None else hooks
    if eval_ops is not None:
        update = assign_add(eval_step, 1)
        for hook in every:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(update)
        eval_ops = counted(eval_ops, update)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    every.append(final)
    paths = checkpoints_iterator(
        checkpoint_dir, eval_interval_secs, timeout, timeout_fn
    )
    for number, path in enumerate(paths, start=1):
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            checkpoint_filename_with_path=path,
            master=master,
            config=config,
        )
        with MonitoredSession(creator, every) as session:
            get_logger().info(f"Starting evaluation at {_now()}")
            if eval_ops is not None:
                while not session.should_stop():
                    session.run(eval_ops, feed_dict)
            get_logger().info(f"Finished evaluation at {_now()}")
        limit = max_number_of_evaluations
        if limit is not None and number >= limit:
            break
    return final.final_ops_values


def _now() -> str:
    return time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime())
