"""The checkpoints that a Saver has written: which of them remain, which are deleted.

Source: python/training/saver.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import Proto
from tfteach.lib.files import checkpoint_management as management

_SECONDS_PER_HOUR = 3600


class LastCheckpoints:
    """Base of `tf.train.Saver`: the checkpoints that it has not yet deleted.

    Args:
      saver_def: a SaverDef proto, with the number to keep; None before it is made.
    """

    def __init__(self, saver_def: Proto | None) -> None:
        self.saver_def: Any = saver_def
        self._next_kept_time = 0.0
        self._last_checkpoints: list[tuple[str, float]] = []
        self._to_delete: list[tuple[str, float]] = []

    def _begin_keeping(self) -> None:
        """Start the interval of checkpoints that are never deleted."""
        hours = self.saver_def.keep_checkpoint_every_n_hours
        self._next_kept_time = time.time() + hours * _SECONDS_PER_HOUR

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that are not yet deleted, the oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Set the checkpoints to delete when there are more than `max_to_keep`.

        Args:
          last_checkpoints: their paths, the oldest first.  None of them is kept for
            `keep_checkpoint_every_n_hours`; see `set_last_checkpoints_with_time`.

        Raises:
          AssertionError: the argument is not a list.
        """
        assert isinstance(last_checkpoints, list), "expected a list of checkpoints"
        self._last_checkpoints = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: list[tuple[str, float]]
    ) -> None:
        """Set the checkpoints to delete when there are more than `max_to_keep`.

        Args:
          last_checkpoints_with_time: their paths and when each was written, in seconds
            since 1970; the oldest first.

        Raises:
          AssertionError: the argument is not a list.
        """
        is_list = isinstance(last_checkpoints_with_time, list)
        assert is_list, "expected a list of checkpoints"
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Set the checkpoints to those of `checkpoint_paths` that exist.

        After a restart the Saver deletes them, too, as `max_to_keep` demands.

        Args:
          checkpoint_paths: such as `all_model_checkpoint_paths` of
            `tf.train.get_checkpoint_state`.
        """
        found = []
        for path in checkpoint_paths:
            times = management.modification_times([path])
            found += [(path, time_s) for time_s in times]
        self.set_last_checkpoints_with_time(found)

    def _record(self, path: str) -> None:
        """Append a checkpoint; the oldest may now be deleted."""
        if not self.saver_def.max_to_keep:
            return
        kept = [item for item in self._last_checkpoints if item[0] != path]
        self._last_checkpoints = [*kept, (path, time.time())]
        if len(self._last_checkpoints) > self.saver_def.max_to_keep:
            self._to_delete.append(self._last_checkpoints.pop(0))

    def _delete_oldest(self, meta_graph_suffix: str) -> None:
        if not self._to_delete:
            return
        path, written = self._to_delete.pop(0)
        if written > self._next_kept_time:
            hours = self.saver_def.keep_checkpoint_every_n_hours
            self._next_kept_time += hours * _SECONDS_PER_HOUR
            return
        try:
            management.delete_checkpoint(
                path, self.saver_def.version, meta_graph_suffix
            )
        except Exception as error:  # as in TF: the new checkpoint is what counts
            get_logger().warning(f"Ignoring: {error}")
