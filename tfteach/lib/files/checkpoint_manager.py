"""`tf.train.CheckpointManager`: keeps the newest checkpoints of a Checkpoint.

Source: python/training/checkpoint_management.py, CheckpointManager.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from tfteach.framework.defaults import get_default_session
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import PathLike, TensorLike
from tfteach.lib.files import checkpoint_management as management
from tfteach.lib.files.object_checkpoint import Checkpoint
from tfteach.lib.training.global_step import global_step

_SECONDS_PER_HOUR = 3600


@export("train.CheckpointManager", "contrib.checkpoint.CheckpointManager")
class CheckpointManager:
    """Saves a `tf.train.Checkpoint` under numbers, and deletes old ones.

    Which checkpoints it manages stands in the file `checkpoint` of the directory, where
    the next manager finds it.

    Args:
      checkpoint: the Checkpoint.
      directory: where the files are.
      max_to_keep: the number of checkpoints to keep; None means all.
      keep_checkpoint_every_n_hours: the interval of checkpoints that are kept beyond
        `max_to_keep`; None means none.
      checkpoint_name: what the files' names begin with.

    Raises:
      ValueError: `max_to_keep` is not positive.

    Example:
      >>> checkpoint = tf.train.Checkpoint(w=tf.Variable(1.0))
      >>> manager = tf.train.CheckpointManager(checkpoint, "managed", max_to_keep=3)
      >>> with tf.Session() as session:
      ...     checkpoint.restore(manager.latest_checkpoint).initialize_or_restore()
      ...     print(manager.save())
      managed/ckpt-1

    Source: python/training/checkpoint_management.py.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: PathLike,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                "Expected a positive integer or `None` for `max_to_max_to_keep`, got "
                f"{max_to_keep}."
            )
        self._checkpoint = checkpoint
        self._directory = os.fsdecode(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._times: dict[str, float] = {}  # of the managed ones, the oldest first
        self._latest: str | None = None
        # A little earlier: a manager that follows at once must know its checkpoints.
        self._last_preserved = time.time() - 1.0
        state: Any = management.get_checkpoint_state(self._directory)
        if state is not None:
            self._recover(state)

    def _recover(self, state: Any) -> None:
        """Manage what the last manager of the directory did."""
        now = time.time()
        self._latest = state.model_checkpoint_path
        self._last_preserved = state.last_preserved_timestamp
        if now < self._last_preserved:
            get_logger().warning(
                f"time.time() returned a value {self._last_preserved - now:f} seconds "
                "behind the last preserved checkpoint timestamp."
            )
            self._last_preserved = now
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps)
        for path, written in zip(
            paths, times or [self._last_preserved] * len(paths), strict=True
        ):
            written = min(written, now)
            if written > self._last_preserved:
                self._times[path] = written

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint's path; None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the managed checkpoints, the oldest first."""
        return list(self._times)

    def save(self, checkpoint_number: TensorLike | None = None) -> str:
        """Write a checkpoint, and delete old ones.

        In a graph it is written in the default session.

        Args:
          checkpoint_number: its number: an integer, or an integer variable or Tensor;
            None means the Checkpoint's own counter, which is incremented anyway.

        Returns:
          The checkpoint's path.

        Raises:
          ValueError: there is no default session.
        """
        session = get_default_session()
        if session is None and not get_default_graph().is_eager:
            raise ValueError("No session: call this inside `with tf.Session():`")
        number: Any = self._checkpoint.next_number(session)
        if checkpoint_number is not None:
            number = checkpoint_number
        if not isinstance(number, int | np.integer):
            number = global_step(session, number)
        path = self._checkpoint.write(f"{self._prefix}-{number}", session)
        self._times.pop(path, None)
        self._times[path] = time.time()
        self._latest = path
        # If the program ends while old ones are deleted, the list has the new one.
        self._write_state()
        self._sweep()
        self._write_state()
        return path

    def _write_state(self) -> None:
        assert self._latest is not None
        management.write_checkpoint_state(
            self._directory,
            self._latest,
            list(self._times),
            None,
            True,
            list(self._times.values()),
            self._last_preserved,
        )

    def _sweep(self) -> None:
        while self._max_to_keep and len(self._times) > self._max_to_keep:
            path, written = next(iter(self._times.items()))
            del self._times[path]
            interval_s = (self._hours or 0) * _SECONDS_PER_HOUR
            if self._hours and written - interval_s >= self._last_preserved:
                self._last_preserved = written
            else:
                management.delete_data_files(path)
