"""Hooks that end a loop, or delay its start.

Source: python/training/basic_session_run_hooks.py.
"""

from __future__ import annotations

import time

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import (
    SessionLike,
    TensorLike,
)
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.training.global_step import required_global_step_read
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

_POLL_S = 0.5  # of a worker that waits for the global step
_STEPS_PER_MESSAGE = 1000


@export("train.StopAtStepHook", "estimator.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Ends the loop at a global step.

    Args:
      num_steps: how many steps to run after the session was created; what a restored
        checkpoint has counted comes on top.
      last_step: the global step at which to end; exactly one of the two is given.

    Raises:
      ValueError: both are None, or neither is.
      RuntimeError: when the session begins, the graph has no global step.

    Example:
      >>> hooks = [tf.train.StopAtStepHook(last_step=1000)]

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(
        self, num_steps: int | None = None, last_step: int | None = None
    ) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step
        self._reached_step: int | None = None

    @property
    def last_step(self) -> int | None:
        """The global step at which the loop ends; None before it is known."""
        return self._last_step

    @property
    def reached_step(self) -> int | None:
        """The global step after the last run, to one step; None before the first."""
        return self._reached_step

    def begin(self) -> None:
        """Add the read of the global step to the graph."""
        self._global_step_tensor = required_global_step_read("StopAtStepHook")

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Compute the last step, the first time only."""
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Request a stop at the last step."""
        assert self._last_step is not None
        # The value that was fetched may precede the run's own increment.
        self._reached_step = run_values.results + 1
        if self._reached_step >= self._last_step:
            step = run_context.session.run(self._global_step_tensor)
            self._reached_step = step
            if step >= self._last_step:
                run_context.request_stop()


@export("train.NanLossDuringTrainingError", "estimator.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """The loss has become NaN: most often the learning rate is too large.

    Source: python/training/basic_session_run_hooks.py.
    """

    def __str__(self) -> str:
        return "NaN loss during training."


@export("train.NanTensorHook", "estimator.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """Ends the loop when the loss becomes NaN.

    Args:
      loss_tensor: the loss, a scalar.
      fail_on_nan_loss: whether to raise NanLossDuringTrainingError; otherwise a
        warning is logged and a stop requested.

    Example:
      >>> hooks = [tf.train.NanTensorHook(loss)]

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(self, loss_tensor: TensorLike, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the loss."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Fail, or request a stop, if the loss is NaN."""
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            get_logger().error(message)
            raise NanLossDuringTrainingError
        get_logger().warning(message)
        run_context.request_stop()


@export("train.GlobalStepWaiterHook", "estimator.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Lets the first run wait until others have brought the global step to a value.

    Args:
      wait_until_step: that value.

    Raises:
      RuntimeError: when the session begins, the graph has no global step.

    Example:
      >>> hooks = [tf.train.GlobalStepWaiterHook(500)]

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Add the read of the global step to the graph."""
        self._worker_is_started = False
        self._global_step_tensor = required_global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait, before the first run."""
        if self._worker_is_started:
            return
        if self._wait_until_step > 0:
            self._wait(run_context.session)
        self._worker_is_started = True

    def _wait(self, session: SessionLike) -> None:
        goal = f"Waiting for global step {self._wait_until_step} before starting"
        get_logger().info(f"{goal} training.")
        logged = 0
        while (step := session.run(self._global_step_tensor)) < self._wait_until_step:
            if step - logged > _STEPS_PER_MESSAGE:
                get_logger().info(f"{goal} training. Current step is {step}.")
                logged = step
            time.sleep(_POLL_S)
