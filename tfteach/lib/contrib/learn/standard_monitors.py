"""Monitors that print, capture, summarize and stop.

Source: contrib/learn/python/learn/monitors.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.protos import Summary
from tfteach.framework.type_aliases import Fetches, PathLike, SessionLike
from tfteach.lib.contrib.learn.monitors import BaseMonitor, EveryN
from tfteach.lib.files.file_writer import FileWriter, FileWriterCache
from tfteach.lib.training.scaffold import Scaffold


@export("contrib.learn.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """The loss is NaN.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __str__(self) -> str:
        return "NaN loss during training."


@export("contrib.learn.monitors.StopAtStep")
class StopAtStep(BaseMonitor):
    """Ends the training at a step.

    Args:
      num_steps: how many steps to train.
      last_step: the last step; exactly one of the two is given.

    Raises:
      ValueError: both are given, or none.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(
        self, num_steps: int | None = None, last_step: int | None = None
    ) -> None:
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self) -> bool:
        """True."""
        return True

    def step_begin(self, step: int) -> list[Any]:
        """Compute the last step before the first one."""
        super().step_begin(step)
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """Whether this is the last step."""
        super().step_end(step, output)
        assert self._last_step is not None
        return step >= self._last_step


def _line(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{tag} = {value!s}" for tag, value in values.items())


@export("contrib.learn.monitors.PrintTensor")
class PrintTensor(EveryN):
    """Logs values every some steps, as "Step 101: loss = 0.5".

    Args:
      tensor_names: names of tensors, or a dict from the words to log to these.
      every_n: the steps from one line to the next.
      first_n: how many steps at the beginning to log.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(
        self,
        tensor_names: Sequence[str] | Mapping[str, str],
        every_n: int = 100,
        first_n: int = 1,
    ) -> None:
        super().__init__(every_n, first_n)
        if not isinstance(tensor_names, Mapping):
            tensor_names = {name: name for name in tensor_names}
        self._tensor_names = dict(tensor_names)

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Ask for the values."""
        super().every_n_step_begin(step)
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Log them."""
        super().every_n_step_end(step, outputs)
        found = {
            tag: outputs[name]
            for tag, name in self._tensor_names.items()
            if name in outputs
        }
        get_logger().info("Step %d: %s", step, _line(found))
        return False


@export("contrib.learn.monitors.LoggingTrainable")
class LoggingTrainable(EveryN):
    """Logs the trainable variables of a scope.

    Args:
      scope: the beginning of their names; None for all.
      every_n: the steps from one line to the next.
      first_n: how many steps at the beginning to log.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(
        self, scope: str | None = None, every_n: int = 100, first_n: int = 1
    ) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Ask for the variables."""
        super().every_n_step_begin(step)
        graph = get_default_graph()
        found = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, self._scope)
        self._names = [variable.name for variable in found]
        return list(self._names)

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Log them."""
        super().every_n_step_end(step, outputs)
        found = {name: outputs[name] for name in self._names if name in outputs}
        get_logger().info("Logging Trainable: Step %d: %s", step, _line(found))
        return False


@export("contrib.learn.monitors.CaptureVariable")
class CaptureVariable(EveryN):
    """Keeps a tensor's values.

    Args:
      var_name: the tensor's name, with ":0".
      every_n: the steps from one value to the next.
      first_n: how many steps at the beginning to keep.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values by their steps."""
        return self._var_values

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Ask for the value."""
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Keep it."""
        super().every_n_step_end(step, outputs)
        self._var_values[step] = outputs[self._var_name]
        return False


@export("contrib.learn.monitors.SummarySaver")
class SummarySaver(EveryN):
    """Writes summaries every some steps.

    Args:
      summary_op: the summaries; None for those of `scaffold`, or none.
      save_steps: the steps from one to the next.
      output_dir: the directory of the event file.
      summary_writer: a FileWriter in its place.
      scaffold: a Scaffold, with a `summary_op`.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(
        self,
        summary_op: Tensor | None,
        save_steps: int = 100,
        output_dir: PathLike | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
    ) -> None:
        super().__init__(every_n_steps=save_steps)
        self._summary_op: Fetches = summary_op
        self._scaffold = scaffold
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(os.fspath(output_dir))

    def set_estimator(self, estimator: object) -> None:
        """Write into the estimator's directory, unless another is given."""
        super().set_estimator(estimator)
        if self._summary_writer is None:
            folder: str = self._estimator.model_dir
            self._summary_writer = FileWriterCache.get(folder)

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Ask for the summaries."""
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Write them."""
        super().every_n_step_end(step, outputs)
        if self._summary_op is not None and self._summary_writer is not None:
            self._summary_writer.add_summary(outputs[self._summary_op.name], step)
        return False

    def end(self, session: SessionLike | None = None) -> None:
        """Write what is held back."""
        super().end(session)
        if self._summary_writer is not None:
            self._summary_writer.flush()


@export("contrib.learn.monitors.StepCounter")
class StepCounter(EveryN):
    """Records the speed as the summary "global_step/sec".

    Args:
      every_n_steps: the steps from one measurement to the next.
      output_dir: the directory of the event file.
      summary_writer: a FileWriter in its place.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(
        self,
        every_n_steps: int = 100,
        output_dir: PathLike | None = None,
        summary_writer: FileWriter | None = None,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._last_reported_step: int | None = None
        self._last_reported_time: float | None = None
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(os.fspath(output_dir))

    def set_estimator(self, estimator: object) -> None:
        """Write into the estimator's directory, unless another is given."""
        super().set_estimator(estimator)
        if self._summary_writer is None:
            folder: str = self._estimator.model_dir
            self._summary_writer = FileWriterCache.get(folder)

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Record the speed since the last time."""
        super().every_n_step_end(step, outputs)
        now = time.time()
        last_step, last_time = self._last_reported_step, self._last_reported_time
        if last_step is not None and last_time is not None:
            speed = (step - last_step) / (now - last_time)
            value = Summary.Value(tag="global_step/sec", simple_value=speed)
            if self._summary_writer is not None:
                self._summary_writer.add_summary(Summary(value=[value]), step)
        self._last_reported_step, self._last_reported_time = step, now
        return False


@export("contrib.learn.monitors.NanLoss")
class NanLoss(EveryN):
    """Ends the training, or fails, if the loss is NaN.

    Args:
      loss_tensor: the loss, or its name.
      every_n_steps: the steps from one check to the next.
      fail_on_nan_loss: whether to fail.

    Raises:
      NanLossDuringTrainingError: at a step with a loss of NaN.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(
        self,
        loss_tensor: Tensor | str,
        every_n_steps: int = 100,
        fail_on_nan_loss: bool = True,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Ask for the loss."""
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Check it."""
        super().every_n_step_end(step, outputs)
        loss = self._loss_tensor
        name = loss if isinstance(loss, str) else loss.name
        if not np.isnan(outputs[name]):
            return False
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            get_logger().error(message)
            raise NanLossDuringTrainingError
        get_logger().warning(message)
        return True


@export("contrib.learn.monitors.get_default_monitors")
def get_default_monitors(
    loss_op: Tensor | None = None,
    summary_op: Tensor | None = None,
    save_summary_steps: int = 100,
    output_dir: PathLike | None = None,
    summary_writer: FileWriter | None = None,
) -> list[EveryN]:
    """The monitors of a loop: of the loss, and of summaries.

    Args:
      loss_op: the loss; None for no line.
      summary_op: the summaries; None for none.
      save_summary_steps, output_dir, summary_writer: as in `SummarySaver`.

    Source: contrib/learn/python/learn/monitors.py.
    """
    found: list[EveryN] = []
    if loss_op is not None:
        found.append(PrintTensor({"loss": loss_op.name}))
    if summary_op is not None:
        found.append(
            SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer)
        )
    return found


def _refused(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"tf.contrib.learn.monitors.{name}: {instead}")


@export("contrib.learn.monitors.ExportMonitor")
def ExportMonitor(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: it writes session bundles.

    Raises:
      NotImplementedError: always.
    """
    _refused("ExportMonitor", "export a SavedModel after the training")
