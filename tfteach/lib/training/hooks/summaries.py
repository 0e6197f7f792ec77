"""Hooks that write event files and traces: SummarySaverHook and ProfilerHook.

Source: python/training/basic_session_run_hooks.py.
"""

from __future__ import annotations

import os
from typing import Any

from tfteach.engine.session.timeline import Timeline
from tfteach.framework.export import export
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.pending_file import write_file
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import RunOptions, SessionLog
from tfteach.framework.type_aliases import (
    Fetches,
    PathLike,
    SessionLike,
)
from tfteach.lib.files.file_writer import FileWriter, FileWriterCache
from tfteach.lib.training.global_step import required_global_step_read
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfteach.lib.training.hooks.timer import SecondOrStepTimer
from tfteach.lib.training.scaffold import Scaffold


@export("train.SummarySaverHook", "estimator.SummarySaverHook")
class SummarySaverHook(SessionRunHook):
    """Writes summaries at the first run, then every some steps or seconds.

    Args:
      save_steps: the steps from one summary to the next.
      save_secs: the seconds between them; exactly one of the two is given.
      output_dir: the directory of the event file; None for no file.
      summary_writer: a FileWriter to use instead.
      scaffold: the Scaffold whose `summary_op` to run.
      summary_op: the summary op, or a list of them; exactly one of the two is given.

    Raises:
      ValueError: the arguments are not as described.
      RuntimeError: when the session begins, the graph has no global step.

    Example:
      >>> summary_op = tf.summary.merge_all()
      >>> hook = tf.train.SummarySaverHook(10, None, "logs", summary_op=summary_op)

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: PathLike | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op: Fetches = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Open the event file, and add the read of the global step to the graph."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(os.fspath(self._output_dir))
        self._next_step: int | None = None
        self._global_step_tensor = required_global_step_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step, and for the summaries if it is time."""
        self._request_summary = (
            self._next_step is None
            or self._timer.should_trigger_for_step(self._next_step)
        )
        fetches = {"global_step": self._global_step_tensor}
        if self._request_summary:
            summary_ops = self._get_summary_op()
            if summary_ops is not None:
                fetches["summary"] = summary_ops
        return SessionRunArgs(fetches)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Write the summaries that were fetched."""
        writer = self._summary_writer
        if writer is None:
            return
        step = run_values.results["global_step"] + 1
        if self._request_summary:  # the step to write is that after the run
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: SessionLike | None = None) -> None:
        """Flush the event file."""
        if self._summary_writer is not None:
            self._summary_writer.flush()

    def _get_summary_op(self) -> Any:
        """The summary ops as a list; None if there are none."""
        found = self._summary_op
        if found is None and self._scaffold is not None:
            found = self._scaffold.summary_op
        return found if found is None or isinstance(found, list) else [found]


@export("train.ProfilerHook", "estimator.ProfilerHook")
class ProfilerHook(SessionRunHook):
    """Traces a run every some steps or seconds: files "timeline-STEP.json" for Chrome.

    The traces are written to an event file, too.

    Args:
      save_steps: the steps from one trace to the next.
      save_secs: the seconds between them; exactly one of the two is given.
      output_dir: the directory.
      show_dataflow: whether to draw arrows between the ops.
      show_memory: whether to show the lives of Tensors.

    Raises:
      ValueError: both intervals are None, or neither is.
      RuntimeError: when the session begins, the graph has no global step.

    Example:
      >>> hooks = [tf.train.ProfilerHook(save_steps=1000, output_dir="logs")]

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: PathLike = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_file = os.path.join(os.fspath(output_dir), "timeline-{}.json")
        # First, as it refuses wrong intervals: then no file is opened.
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._file_writer = FileWriterCache.get(os.fspath(output_dir))
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory

    def begin(self) -> None:
        """Add the read of the global step to the graph."""
        self._next_step: int | None = None
        self._global_step_tensor = required_global_step_read("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step, and for a trace if it is time; the first run never.

        The first run compiles the step, so that its trace would mislead.
        """
        self._request_summary = (
            self._next_step is not None
            and self._timer.should_trigger_for_step(self._next_step)
        )
        options = (
            RunOptions(trace_level=RunOptions.FULL_TRACE)
            if self._request_summary
            else None
        )
        fetches = {"global_step": self._global_step_tensor}
        return SessionRunArgs(fetches, options=options)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Write the trace."""
        before = run_values.results["global_step"]
        if self._next_step is None:
            self._timer.update_last_triggered_step(before)
        step = before + 1
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            metadata: Any = run_values.run_metadata
            self._save(step, self._output_file.format(step), metadata.step_stats)
            self._file_writer.add_run_metadata(metadata, f"step_{step}")
        self._next_step = step + 1

    def _save(self, step: int, save_path: str, step_stats: Any) -> None:
        get_logger().info(f"Saving timeline for {step} into '{save_path}'.")
        trace = Timeline(step_stats).generate_chrome_trace_format(
            show_dataflow=self._show_dataflow, show_memory=self._show_memory
        )
        write_file(resolve(save_path), trace.encode())
