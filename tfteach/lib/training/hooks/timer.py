"""`tf.train.SecondOrStepTimer`: when a hook acts again.

Source: python/training/basic_session_run_hooks.py.
"""

from __future__ import annotations

import time

from tfteach.framework.export import export


@export("train.SecondOrStepTimer", "estimator.SecondOrStepTimer")
class SecondOrStepTimer:
    """Triggers at the first step asked about, then every some steps or seconds.

    Args:
      every_secs: the seconds between two triggers.
      every_steps: the steps between them; exactly one of the two is given.

    Raises:
      ValueError: both are None, or neither is.

    Example:
      >>> timer = tf.train.SecondOrStepTimer(every_steps=10)
      >>> timer.should_trigger_for_step(0)
      True

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(
        self, every_secs: float | None = None, every_steps: int | None = None
    ) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        """Forget the last trigger."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is time again; never twice for a step."""
        last_step, last_s = self._last_triggered_step, self._last_triggered_time
        if last_step is None or last_s is None:
            return True
        if step == last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= last_s + self._every_secs
        assert self._every_steps is not None
        return step >= last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Record a trigger.

        Args:
          step: the step at which the caller acted.

        Returns:
          The seconds and the steps since the trigger before; (None, None) at the first.
        """
        now_s = time.time()
        elapsed: tuple[float | None, int | None] = None, None
        if self._last_triggered_time is not None:
            assert self._last_triggered_step is not None
            elapsed = (
                now_s - self._last_triggered_time,
                step - self._last_triggered_step,
            )
        self._last_triggered_time, self._last_triggered_step = now_s, step
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The step of the last trigger; None before the first."""
        return self._last_triggered_step


class NeverTriggerTimer(SecondOrStepTimer):
    """Never triggers: for hooks that act at the end only."""

    def __init__(self) -> None:
        super().__init__(every_steps=1)

    def should_trigger_for_step(self, step: int) -> bool:
        """False."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """(None, None): nothing is recorded."""
        return None, None
