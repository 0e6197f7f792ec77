"""A monitor that saves checkpoints.

Source: contrib/learn/python/learn/monitors.py.
"""

from __future__ import annotations

import os
import time
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import SessionLog
from tfteach.framework.type_aliases import PathLike, SessionLike
from tfteach.lib.contrib.learn.monitors import BaseMonitor
from tfteach.lib.files.file_writer import FileWriterCache
from tfteach.lib.files.saver import Saver
from tfteach.lib.training.scaffold import Scaffold


@export("contrib.learn.monitors.CheckpointSaver")
class CheckpointSaver(BaseMonitor):
    """Saves a checkpoint at the first step, then from time to time, and at the end.

    Args:
      checkpoint_dir: the directory.
      save_secs: the seconds from one checkpoint to the next.
      save_steps: the steps; exactly one of the two is given.
      saver: the Saver; None for that of `scaffold`.
      checkpoint_basename: the beginning of the checkpoints' names.
      scaffold: a `tf.train.Scaffold`.

    Raises:
      ValueError: both intervals are given, or none.

    Example:
      >>> monitor = tf.contrib.learn.monitors.CheckpointSaver(
      ...     "model", save_steps=100, saver=tf.train.Saver())

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(
        self,
        checkpoint_dir: PathLike,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
    ) -> None:
        get_logger().info("Create CheckpointSaver.")
        super().__init__()
        folder = os.fspath(checkpoint_dir)
        self._saver = saver
        self._scaffold = scaffold
        self._summary_writer = FileWriterCache.get(folder)
        self._save_path = os.path.join(folder, checkpoint_basename)
        self._save_secs = save_secs
        self._save_steps = save_steps
        self._last_saved_time: float | None = None
        self._last_begin_step: int | None = None
        self._last_saved_step: int | None = None
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")

    def begin(self, max_steps: int | None = None) -> None:
        """Forget the steps of an earlier training."""
        super().begin(max_steps)
        self._last_saved_time = None
        self._last_begin_step = None
        self._last_saved_step = None

    def step_begin(self, step: int) -> list[Any]:
        """Record the step, which may be the last."""
        super().step_begin(step)
        self._last_begin_step = step
        return []

    def post_step(self, step: int, session: SessionLike) -> None:
        """Save if it is time."""
        super().post_step(step, session)
        if self._is_due(step):
            self._save(step, session)

    def _is_due(self, step: int) -> bool:
        if self._last_saved_step is None or self._last_saved_time is None:
            return True
        if self._save_steps is not None:
            return step >= self._last_saved_step + self._save_steps
        assert self._save_secs is not None
        return time.time() >= self._last_saved_time + self._save_secs

    def end(self, session: SessionLike | None = None) -> None:
        """Save the last step, if it was not saved."""
        super().end(session)
        step = self._last_begin_step
        if step is not None and session is not None and step != self._last_saved_step:
            self._save(step, session)

    def _save(self, step: int, session: SessionLike) -> None:
        get_logger().info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._last_saved_time = time.time()
        self._last_saved_step = step
        saver: Any = self._saver
        if saver is None:
            if self._scaffold is None:
                raise ValueError(
                    "CheckpointSaver needs a Saver: give it `saver` or `scaffold`."
                )
            saver = self._scaffold.saver
        saver.save(session, self._save_path, global_step=step)
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)
