"""`tf.train.CheckpointSaverHook`: saves checkpoints during a loop.

Source: python/training/basic_session_run_hooks.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import SessionLog
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import (
    PathLike,
    SessionLike,
)
from tfteach.lib.files.file_writer import FileWriterCache
from tfteach.lib.files.graph_io import write_graph
from tfteach.lib.files.meta_graph import export_meta_graph
from tfteach.lib.files.saver import Saver
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.training.global_step import required_global_step_read
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfteach.lib.training.hooks.timer import SecondOrStepTimer
from tfteach.lib.training.scaffold import Scaffold


@export("train.CheckpointSaverListener", "estimator.CheckpointSaverListener")
class CheckpointSaverListener:
    """What a CheckpointSaverHook calls around each checkpoint; override what you need.

    Example:
      >>> class Evaluate(tf.train.CheckpointSaverListener):
      ...     def after_save(self, session, global_step_value):
      ...         print("saved at", global_step_value)

    Source: python/training/basic_session_run_hooks.py.
    """

    def begin(self) -> None:
        """Called before the session is created: the graph can still be changed."""

    def before_save(self, session: SessionLike, global_step_value: int) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session: SessionLike, global_step_value: int) -> bool | None:
        """Called when it has been written; True ends the loop."""

    def end(self, session: SessionLike, global_step_value: int) -> None:
        """Called at the end, after the last checkpoint."""


@export("train.CheckpointSaverHook", "estimator.CheckpointSaverHook")
class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint at the beginning, every some steps or seconds, and at the end.

    Args:
      checkpoint_dir: the directory; created if missing.  The graph is written there,
        too, to "graph.pbtxt" and an event file.
      save_secs: the seconds from one checkpoint to the next.
      save_steps: the steps between them; exactly one of the two is given.
      saver: the Saver; None for that of `scaffold`, or that in the collection
        `tf.GraphKeys.SAVERS`.
      checkpoint_basename: the beginning of the files' names.
      scaffold: the Scaffold whose Saver to use.
      listeners: CheckpointSaverListeners to call.

    Raises:
      ValueError: both a saver and a scaffold are given; both intervals are None, or
        neither is.
      RuntimeError: when the session begins, the graph has no global step; or there is
        no Saver, or several.

    Example:
      >>> saver = tf.train.Saver()
      >>> hook = tf.train.CheckpointSaverHook("logs", save_steps=100, saver=saver)

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(
        self,
        checkpoint_dir: PathLike,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> None:
        get_logger().info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._checkpoint_dir = os.fspath(checkpoint_dir)
        self._save_path = os.path.join(self._checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        # The caller's list itself: an Estimator appends to it later.
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        """How much one run increments the global step, for a loop inside the graph."""
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Open the event file, and add the read of the global step to the graph."""
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = required_global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Write the graph, and the first checkpoint."""
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        graph_def = graph.as_graph_def(add_shapes=True)
        write_graph(graph_def, self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        meta_graph_def = export_meta_graph(
            graph_def=graph_def, saver_def=saver.saver_def if saver else None
        )
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(meta_graph_def)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Save if it is time."""
        # The value that was fetched may precede the run's own increment.
        if not self._timer.should_trigger_for_step(
            run_values.results + self._steps_per_run
        ):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: SessionLike) -> None:
        """Save the last step, unless that has been done."""
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: SessionLike, step: int) -> bool:
        """Write a checkpoint; whether a listener asks to stop."""
        get_logger().info(f"Saving checkpoints for {step} into {self._save_path}.")
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                get_logger().info(
                    "A CheckpointSaverListener requested that training be stopped. "
                    f"listener: {listener}"
                )
                should_stop = True
        return should_stop

    def _get_saver(self) -> Any:
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            key = GraphKeys.SAVERS
            savers = get_collection(key)
            if not savers:
                raise RuntimeError(
                    f"No items in collection {key}. Please add a saver to the "
                    "collection or provide a saver or scaffold."
                )
            if len(savers) > 1:
                raise RuntimeError(
                    f"More than one item in collection {key}. Please indicate which "
                    "one to use by passing it to the constructor."
                )
            self._saver = savers[0]
        return self._saver
