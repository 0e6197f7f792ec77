"""Hooks that log: LoggingTensorHook and StepCounterHook.

Source: python/training/basic_session_run_hooks.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import Summary
from tfteach.framework.type_aliases import (
    PathLike,
    SessionLike,
)
from tfteach.lib.files.file_writer import FileWriter, FileWriterCache
from tfteach.lib.training.global_step import (
    get_global_step,
    required_global_step_read,
)
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    graph_element,
)
from tfteach.lib.training.hooks.timer import NeverTriggerTimer, SecondOrStepTimer


@export("train.LoggingTensorHook", "estimator.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """Logs values every some runs or seconds, as "loss = 0.5, step = 100 (0.123 sec)".

    The time in parentheses is that since the line before.

    Args:
      tensors: tensors or their names; or a dict from the words to log to these.
      every_n_iter: the number of runs from one line to the next.
      every_n_secs: the seconds from one to the next; exactly one of the two is given,
        or none with `at_end`.
      at_end: whether to log at the end, too.
      formatter: a function from a dict, of the words (or tensors) to values, to the
        line.

    Raises:
      ValueError: the intervals are not as described; or when the session begins, a
        tensor is of another graph.

    Example:
      >>> hooks = [tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=100)]

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(
        self,
        tensors: Iterable[Any] | Mapping[str, Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        both_missing = every_n_iter is None and every_n_secs is None
        both_given = every_n_iter is not None and every_n_secs is not None
        if both_given or (both_missing and not at_end):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs "
                "must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tag_order: list[Any]
        if isinstance(tensors, Mapping):
            self._tag_order, self._tensors = sorted(tensors), dict(tensors)
        else:
            self._tag_order = list(tensors)
            self._tensors = {item: item for item in self._tag_order}
        self._formatter = formatter
        self._timer = (
            NeverTriggerTimer()
            if both_missing
            else SecondOrStepTimer(every_n_secs, every_n_iter)
        )
        self._log_at_end = at_end
        self._last_values: dict[Any, Any] = {}

    @property
    def last_values(self) -> dict[Any, Any]:
        """The values that were logged last, by tag; empty before the first line."""
        return self._last_values

    def begin(self) -> None:
        """Look the tensors up in the default graph."""
        self._timer.reset()
        self._iter_count = 0
        graph = get_default_graph()
        self._current_tensors = {
            tag: graph_element(tensor, graph) for tag, tensor in self._tensors.items()
        }

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for the values if they are to be logged."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Log them."""
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: SessionLike) -> None:
        """Log the values at the end, under `at_end`."""
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        elapsed_s, _ = self._timer.update_last_triggered_step(self._iter_count)
        self._last_values = values
        with np.printoptions(suppress=True):
            if self._formatter is not None:
                get_logger().info(self._formatter(values))
                return
            # `!s`, because a NumPy scalar's format is that of a Python float.
            line = ", ".join(f"{t!s} = {values[t]!s}" for t in self._tag_order)
        if elapsed_s is None:
            get_logger().info("%s", line)
        else:
            get_logger().info("%s (%.3f sec)", line, elapsed_s)


# How often a process warns of a global step that does not increase.
_MAX_WARNINGS = 5
_warnings_left = _MAX_WARNINGS


def _warn_of_constant_step(step: int, last_step: int) -> None:
    global _warnings_left
    if _warnings_left <= 0:
        return
    _warnings_left -= 1
    get_logger().warning(
        "It seems that global step (tf.train.get_global_step) has not been increased. "
        f"Current value (could be stable): {step} vs previous value: {last_step}. You "
        "could increase the global step by passing tf.train.get_global_step() to "
        "Optimizer.apply_gradients or Optimizer.minimize."
    )


@export("train.StepCounterHook", "estimator.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """Logs and records the speed, as "global_step/sec: 123.4".

    Args:
      every_n_steps: the steps from one measurement to the next.
      every_n_secs: the seconds between them; exactly one of the two is given.
      output_dir: the directory of the event file; None for no file.
      summary_writer: a FileWriter to use instead.

    Raises:
      ValueError: both intervals are None, or neither is.
      RuntimeError: when the session begins, the graph has no global step.

    Example:
      >>> hooks = [tf.train.StepCounterHook(every_n_steps=100, output_dir="logs")]

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: PathLike | None = None,
        summary_writer: FileWriter | None = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError(
                "exactly one of every_n_steps and every_n_secs should be provided."
            )
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        """How much one run increments the global step, for a loop inside the graph."""
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Open the event file, and add the read of the global step to the graph."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(os.fspath(self._output_dir))
        self._global_step_tensor = required_global_step_read("StepCounterHook")
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Log the speed if it is time; warn of a global step that does not increase."""
        before = run_values.results  # maybe without the run's own increment
        if self._timer.should_trigger_for_step(before + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                elapsed_s, steps = self._timer.update_last_triggered_step(step)
                if elapsed_s is not None and steps is not None:
                    self._log_and_record(steps, elapsed_s, step)
        if self._last_global_step is not None and before == self._last_global_step:
            _warn_of_constant_step(before, self._last_global_step)
        self._last_global_step = before

    def _log_and_record(
        self, elapsed_steps: int, elapsed_time: float, global_step: int
    ) -> None:
        speed = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            value = Summary.Value(tag=self._summary_tag, simple_value=speed)
            self._summary_writer.add_summary(Summary(value=[value]), global_step)
        get_logger().info("%s: %g", self._summary_tag, speed)
