"""The progress bar of a loop whose length is known, as tqdm draws it.

It appears in notebooks and in terminals, once a loop has lasted a second, and never in
a pipe or a file.  The environment variable TFTEACH_PROGRESS decides otherwise: "0" for
no bars, "1" for bars everywhere.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any

from tfteach.framework.logger import get_logger
from tfteach.lib.training.hooks.logged_values import LoggingTensorHook
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfteach.lib.training.hooks.stopping import StopAtStepHook

SETTING = "TFTEACH_PROGRESS"
_DELAY_S = 1.0  # shorter loops have no bar
_INTERVAL_S = 0.1  # between two drawings
_MOST_VALUES = 3  # that are shown beside the bar


def is_shown() -> bool:
    """Whether loops show a bar: to a person who watches, or as TFTEACH_PROGRESS says.

    Raises:
      ValueError: the variable is neither "0" nor "1".
    """
    setting = os.environ.get(SETTING, "").strip()
    if setting not in ("", "0", "1"):
        raise ValueError(
            f"{SETTING} must be 0 (no progress bars) or 1 (also in pipes and files), "
            f"not {setting!r}; unset it for bars in notebooks and terminals."
        )
    return setting == "1" if setting else _in_notebook() or _is_terminal(sys.stderr)


def _in_notebook() -> bool:
    kernel = sys.modules.get("ipykernel.kernelapp")
    return kernel is not None and kernel.IPKernelApp.initialized()


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


class ProgressBar:
    """Steps done, steps per second, the time left, and values such as the loss.

    Args:
      last_step: the global step at which the loop ends.
    """

    def __init__(self, last_step: int) -> None:
        self._last_step = last_step
        self._first_step: int | None = None
        self._start_s = 0.0
        self._drawn_s = 0.0
        self._bar: Any = None

    @property
    def is_visible(self) -> bool:
        """Whether it has appeared, and is not closed."""
        return self._bar is not None

    def is_due(self) -> bool:
        """Whether `update` draws now: ask before computing what it shows."""
        now_s = time.monotonic()
        if self._first_step is None:
            return True
        return now_s - max(self._start_s + _DELAY_S, self._drawn_s) >= _INTERVAL_S

    def update(self, step: int, values: Mapping[Any, Any] | None = None) -> None:
        """Draw the bar at a global step, if it is time.

        Args:
          step: the step; lower than before after a recovery.
          values: numbers to show beside it, by name; others are left out.
        """
        if self._first_step is None:
            self._first_step, self._start_s = step, time.monotonic()
        elif self.is_due():
            self._draw(step, values)

    def _draw(self, step: int, values: Mapping[Any, Any] | None) -> None:
        self._drawn_s = time.monotonic()
        if self._bar is None:
            self._bar = _tqdm_class()(
                total=self._last_step,
                initial=self._first_step,
                unit="step",
                delay=1e-9,  # no drawing by the constructor, which lacks the rate
                mininterval=0,
                miniters=0,
                dynamic_ncols=True,
                file=sys.stderr,
            )
            # The rate is that of the whole loop, not of its part with a bar.
            self._bar.start_t -= self._drawn_s - self._start_s
            get_logger().addFilter(self._before_log_line)
        if values:
            self._bar.set_postfix(_numbers(values), refresh=False)
        self._bar.n = step
        self._bar.refresh()

    def _before_log_line(self, record: logging.LogRecord) -> bool:
        """A filter of the logger: a log line takes the place of a terminal's bar."""
        self._bar.clear()
        return True

    def close(self, step: int | None = None) -> None:
        """Leave the bar as it is, with the last step, if it ever appeared."""
        if self._bar is not None:
            get_logger().removeFilter(self._before_log_line)
            if step is not None:
                self._bar.n = step
            self._bar.refresh()
            self._bar.close()
            self._bar = None


def _tqdm_class() -> Any:
    """tqdm for the page or the terminal, without its thread."""
    from tqdm import tqdm

    base: Any = tqdm
    if _in_notebook():
        try:
            import ipywidgets  # noqa: F401
        except ImportError:
            pass  # the bar of characters
        else:
            from tqdm.notebook import tqdm_notebook

            base = tqdm_notebook
    return type("tqdm", (base,), {"monitor_interval": 0})


def _numbers(values: Mapping[Any, Any]) -> dict[str, Any]:
    """The first scalars: a Tensor has its name, and the step is shown already."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = str(getattr(key, "name", key)).removesuffix(":0")
        is_step = name.rpartition("/")[2] in ("step", "global_step")
        if isinstance(value, Real) and not is_step and len(found) < _MOST_VALUES:
            found[name] = value
    return found


class ProgressBarHook(SessionRunHook):
    """Shows how far a StopAtStepHook is from its last step, and what a hook logged.

    It fetches nothing itself.
    """

    def __init__(
        self, stop: StopAtStepHook, logged: Sequence[LoggingTensorHook]
    ) -> None:
        self._stop, self._logged = stop, logged
        self._bar: ProgressBar | None = None

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Draw the bar if it is time."""
        step, last = self._stop.reached_step, self._stop.last_step
        if step is None or last is None:
            return
        if self._bar is None:
            self._bar = ProgressBar(last)
        values: dict[Any, Any] = {}
        if self._bar.is_due():
            for hook in self._logged:
                values |= hook.last_values
        self._bar.update(step, values)

    def close(self) -> None:
        """Leave the bar, also after an error."""
        if self._bar is not None:
            self._bar.close(self._stop.reached_step)
            self._bar = None


def progress_bar_hook(hooks: Sequence[SessionRunHook]) -> ProgressBarHook | None:
    """A hook that shows the progress of a loop with these hooks, if it is to be shown.

    It comes after them, and its `close` must be called.
    """
    stops = [hook for hook in hooks if isinstance(hook, StopAtStepHook)]
    if not stops or not is_shown():
        return None
    return ProgressBarHook(
        stops[0], [hook for hook in hooks if isinstance(hook, LoggingTensorHook)]
    )


@contextmanager
def progress_of(
    last_step: int | None, read_step: Callable[[], int]
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Progress of a loop without hooks: call what this yields after each step.

    Args:
      last_step: the global step at which it ends; None for a loop without an end.
      read_step: returns the global step; called when the bar is drawn.

    Yields:
      A function of the values to show.
    """
    if last_step is None or not is_shown():
        yield lambda values: None
        return
    bar = ProgressBar(last_step)

    def update(values: Mapping[str, Any]) -> None:
        if bar.is_due():
            bar.update(read_step(), values)

    try:
        yield update
    except BaseException:
        bar.close()
        raise
    bar.close(read_step() if bar.is_visible else None)
