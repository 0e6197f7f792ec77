"""A loop of 2016 that evaluates a graph: `tf.contrib.learn.evaluate`.

Source: contrib/learn/python/learn/graph_actions.py.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfteach.engine.session.session import Session
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import Summary
from tfteach.framework.type_aliases import FeedDict, Fetches, PathLike, TensorLike
from tfteach.lib.contrib.framework.variables import assert_or_get_global_step
from tfteach.lib.contrib.learn.graph_fetches import (
    STOP_GRACE_SECS,
    check_directory,
    get_summary_writer,
    restore,
)
from tfteach.lib.contrib.learn.type_aliases import FeedFn
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.queues.queue_runner import start_queue_runners
from tfteach.lib.training.session_manager import SessionManager
from tfteach.lib.training.supervisor_setup import (
    default_local_init_op,
    default_saver,
    first_or_new,
)
from tfteach.variables.collections import (
    global_variables_initializer,
    report_uninitialized_variables,
)


def _shown(results: Mapping[str, Any] | None) -> str:
    found = results or {}
    return ", ".join(f"{key} = {found[key]}" for key in sorted(found))


def _write_results(
    folder: str, results: Mapping[str, Any] | None, global_step: int
) -> None:
    get_logger().info(
        "Saving evaluation summary for step %d: %s", global_step, _shown(results)
    )
    writer = get_summary_writer(folder)
    summary = Summary()
    for key, value in (results or {}).items():
        written = summary.value.add(tag=key)
        if isinstance(value, np.float32 | float):
            written.simple_value = float(value)
        else:
            get_logger().warning(
                "Skipping summary for %s, must be a float or np.float32.", key
            )
    writer.add_summary(summary, global_step)
    writer.flush()


@export("contrib.learn.evaluate", "contrib.learn.graph_actions.evaluate")
def evaluate(
    graph: Graph,
    output_dir: PathLike,
    checkpoint_path: PathLike | None,
    eval_dict: Mapping[str, Any],
    update_op: Fetches = None,
    global_step_tensor: TensorLike | None = None,
    supervisor_master: str = "",
    log_every_steps: int = 10,
    feed_fn: FeedFn | None = None,
    max_steps: int | None = None,
) -> tuple[dict[str, Any], int]:
    """Run tensors until the input ends, and write the last values as summaries.

    Args:
      graph: the graph.
      output_dir: the directory of the event file.
      checkpoint_path: the checkpoint; None to initialize the variables.
      eval_dict: a dict of names to tensors.
      update_op: run at each step in place of `eval_dict`, which is then run where
        results are logged, and at the end.
      global_step_tensor: the global step; None for the graph's.
      supervisor_master: the session's target.
      log_every_steps: the steps from one line with results to the next.
      feed_fn: returns the feeds of each step; ends the evaluation by StopIteration.
      max_steps: the number of steps; None until the input's end.

    Returns:
      A dict of the names to values, and the global step.

    Raises:
      ValueError: there is no directory, or no such checkpoint.
      TypeError: the graph has no global step.

    Example:
      >>> tf.contrib.learn.evaluate(graph, "eval", path, {"loss": loss}, max_steps=10)

    Source: contrib/learn/python/learn/graph_actions.py.
    """
    folder = check_directory(output_dir)
    with graph.as_default():
        step_tensor = assert_or_get_global_step(graph, global_step_tensor)
        path = os.fspath(checkpoint_path) if checkpoint_path else None
        coord = Coordinator()
        with _evaluated(graph, supervisor_master, path, coord) as session:
            global_step = session.run(step_tensor)
            shown = "inf" if max_steps is None else max_steps
            get_logger().info(
                "Eval steps [0,%s) for training step %d.", shown, global_step
            )
            loop = _EvaluationLoop(session, eval_dict, update_op, log_every_steps)
            loop.run(feed_fn, max_steps)
        _write_results(folder, loop.results, global_step)
        return loop.results, global_step


@contextlib.contextmanager
def _evaluated(
    graph: Graph, master: str, path: str | None, coord: Coordinator
) -> Iterator[Session]:
    """A session with the model, whose queues run."""
    saver = first_or_new(GraphKeys.SAVERS, default_saver)
    local_init_op = first_or_new(GraphKeys.LOCAL_INIT_OP, default_local_init_op)
    ready_op = first_or_new(GraphKeys.READY_OP, report_uninitialized_variables)
    manager = SessionManager(local_init_op=local_init_op, ready_op=ready_op)
    # TensorFlow looks for a checkpoint in a directory of this name, where there is
    # none; the file itself is restored below.
    session, is_initialized = manager.recover_session(
        master=master, saver=saver, checkpoint_dir=path
    )
    with session:
        threads = start_queue_runners(session, coord)
        try:
            if not is_initialized:
                get_logger().warning("Failed to initialize from %s.", path)
                session.run(global_variables_initializer())
                if path:
                    restore(session, graph, path, saver)
            yield session
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=STOP_GRACE_SECS)


class _EvaluationLoop:
    """The steps of `evaluate`, in a session; `results` are the last values."""

    def __init__(
        self,
        session: Session,
        eval_dict: Mapping[str, Any],
        update_op: Fetches,
        log_every_steps: int,
    ) -> None:
        self._session = session
        self._eval_dict = eval_dict
        self._update_op = update_op
        self._log_every_steps = log_every_steps
        self.results: Any = None

    def run(self, feed_fn: FeedFn | None, max_steps: int | None) -> None:
        """Run the steps; the values are those after the last one."""
        step = 0
        evaluated_step: int | None = None
        feed_dict: FeedDict | None = None
        try:
            while max_steps is None or step < max_steps:
                step += 1
                begun = time.time()
                feed_dict = feed_fn() if feed_fn is not None else None
                if self._update_op is None:
                    self._evaluate(feed_dict)
                    evaluated_step = step
                else:
                    self._session.run(self._update_op, feed_dict)
                if step % self._log_every_steps == 0:
                    if evaluated_step != step:
                        self._evaluate(feed_dict)
                        evaluated_step = step
                    get_logger().info(
                        "Results after %d steps (%.3f sec/batch): %s.",
                        step,
                        time.time() - begun,
                        _shown(self.results),
                    )
        except OutOfRangeError:
            get_logger().info("Input queue is exhausted.")
        except StopIteration as error:
            get_logger().warning("Input iterator is exhausted: %s.", error)
        if evaluated_step != step or self.results is None:
            self._evaluate(feed_dict)

    def _evaluate(self, feed_dict: FeedDict | None) -> None:
        self.results = self._session.run(self._eval_dict, feed_dict)
