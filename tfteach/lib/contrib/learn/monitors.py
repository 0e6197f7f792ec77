"""Monitors: what happens around the steps of an Estimator's training.

Hooks replaced them; `monitor_hooks.py` calls them from a hook.
Source: contrib/learn/python/learn/monitors.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import SessionLike


@export("contrib.learn.monitors.BaseMonitor")
class BaseMonitor:
    """Does nothing; subclasses override what they need and call this class.

    `begin`; for each step `step_begin`, `step_end`, `post_step`; `end`.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None
        self._estimator_locked = False

    @property
    def run_on_all_workers(self) -> bool:
        """Whether it runs in all processes of a cluster."""
        return False

    def set_estimator(self, estimator: object) -> None:
        """Called by the estimator before its first training.

        Args:
          estimator: the estimator.

        Raises:
          ValueError: it is None.
        """
        if self._estimator_locked:
            return
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Called before the first step.

        Args:
          max_steps: the number of steps, or None.

        Raises:
          ValueError: it has begun already.
        """
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session: SessionLike | None = None) -> None:
        """Called after the last step.

        Args:
          session: the session, still open.

        Raises:
          ValueError: it has not begun.
        """
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch: int) -> None:
        """Called before an epoch.

        Args:
          epoch: its number.

        Raises:
          ValueError: one has begun already.
        """
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """Called after an epoch.

        Args:
          epoch: its number.

        Raises:
          ValueError: another one has begun.
        """
        if self._current_epoch != epoch:
            raise ValueError(
                "epoch_end expected %s but got %s.", self._current_epoch, epoch
            )
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Called before a step.

        Args:
          step: its number.

        Returns:
          Tensors or their names, whose values `step_end` gets.
        """
        self._current_step = step
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """Called after a step.

        Args:
          step: its number.
          output: the values by the tensors' names.

        Returns:
          Whether to end the training.

        Raises:
          ValueError: another step has begun.
        """
        if self._current_step != step:
            raise ValueError(
                "step_end expected %s but got %s.", self._current_step, step
            )
        self._current_step = None
        return False

    def post_step(self, step: int, session: SessionLike) -> None:
        """Called after `step_end`.

        Args:
          step: its number.
          session: the session.
        """


@export("contrib.learn.monitors.EveryN")
class EveryN(BaseMonitor):
    """Acts at the first steps, every some steps, and at the last one.

    Args:
      every_n_steps: the steps from one to the next.
      first_n_steps: how many steps at the beginning to act at.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        # The last step it acted at, and the last one there was.
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._every_n_step_begin_called = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Called before a step at which it acts; returns tensors to fetch.

        Args:
          step: its number.
        """
        return []

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Called after it; returns whether to end the training.

        Args:
          step: its number.
          outputs: the values by the tensors' names.
        """
        return False

    def every_n_post_step(self, step: int, session: SessionLike | None) -> None:
        """Called at last; also at the last step of all.

        Args:
          step: its number.
          session: the session.
        """

    def step_begin(self, step: int) -> list[Any]:
        """Ask for tensors if it acts at this step."""
        super().step_begin(step)
        if (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        ):
            self._every_n_step_begin_called = True
            return self.every_n_step_begin(step)
        self._every_n_step_begin_called = False
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """Act if it asked for tensors."""
        super().step_end(step, output)
        if self._every_n_step_begin_called:
            return self.every_n_step_end(step, output)
        return False

    def post_step(self, step: int, session: SessionLike) -> None:
        """Note the step."""
        super().post_step(step, session)
        if self._every_n_step_begin_called:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: SessionLike | None = None) -> None:
        """Act after the last step, if it did not."""
        super().end(session)
        last = self._last_successful_step
        if last is not None and last != self._last_active_step:
            self.every_n_post_step(last, session)
