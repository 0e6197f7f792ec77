"""The threads of a Supervisor, each of which does one thing at intervals.

Source: python/training/supervisor.py.
"""

from __future__ import annotations

import time
from typing import Any

from tfteach.framework.logger import get_logger
from tfteach.framework.protos import SessionLog, Summary
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.queues.coordinator import LooperThread
from tfteach.lib.training.global_step import global_step

# How often a process logs the speed; event files have all of them.
_MAX_LINES = 10
_lines_left = _MAX_LINES


class SVSummaryThread(LooperThread):
    """Writes the summaries."""

    def __init__(self, sv: Any, sess: SessionLike) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Compute and write them."""
        supervisor = self._sv
        step = None
        if supervisor.global_step is None:
            summary = self._sess.run(supervisor.summary_op)
        else:
            fetches = [supervisor.summary_op, supervisor.global_step]
            summary, step = self._sess.run(fetches)
        if supervisor.summary_writer:
            get_logger().info(f"Recording summary at step {step}.")
            supervisor.summary_writer.add_summary(summary, step)


class SVStepCounterThread(LooperThread):
    """Writes and logs the speed."""

    def __init__(self, sv: Any, sess: SessionLike, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._last_time, self._last_step = 0.0, 0
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"

    def start_loop(self) -> None:
        """Take the first time."""
        self._last_time = time.time()
        self._last_step = global_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        """Write the speed since the last time."""
        global _lines_left
        step, now_s = global_step(self._sess, self._step_counter), time.time()
        steps, elapsed_s = step - self._last_step, now_s - self._last_time
        self._last_step, self._last_time = step, now_s
        speed = steps / elapsed_s if elapsed_s > 0 else float("inf")
        if self._sv.summary_writer:
            value = Summary.Value(tag=self._summary_tag, simple_value=speed)
            self._sv.summary_writer.add_summary(Summary(value=[value]), step)
        if _lines_left > 0:
            _lines_left -= 1
            get_logger().info("%s: %g", self._summary_tag, speed)


class SVTimerCheckpointThread(LooperThread):
    """Saves checkpoints."""

    def __init__(self, sv: Any, sess: SessionLike) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Save one."""
        supervisor = self._sv
        path = supervisor.save_path
        get_logger().info(f"Saving checkpoint to path {path}")
        supervisor.saver.save(self._sess, path, global_step=supervisor.global_step)
        if supervisor.summary_writer and supervisor.global_step is not None:
            step = global_step(self._sess, supervisor.global_step)
            log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=path)
            supervisor.summary_writer.add_session_log(log, step)
