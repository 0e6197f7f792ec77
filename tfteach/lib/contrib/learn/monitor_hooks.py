"""Monitors of 2016 as hooks of a training loop.

Source: contrib/learn/python/learn/monitors.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    graph_element,
)


@export("contrib.learn.monitors.RunHookAdapterForMonitors")
class RunHookAdapterForMonitors(SessionRunHook):
    """A hook that calls monitors.

    Args:
      monitors: objects as `tf.contrib.learn.monitors.BaseMonitor`.

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(self, monitors: Iterable[Any]) -> None:
        self._monitors = list(monitors)

    def begin(self) -> None:
        """Begin the monitors."""
        self._last_step: int | None = None
        self._global_step_tensor = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the tensors that the monitors want to see."""
        if self._last_step is None:
            step = run_context.session.run(self._global_step_tensor)
            self._last_step = int(step) + 1
        graph = get_default_graph()
        requests = {
            wanted: graph_element(wanted, graph)
            for monitor in self._monitors
            for wanted in monitor.step_begin(self._last_step) or ()
        }
        return SessionRunArgs(requests)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Give the monitors the values; they may end the loop."""
        values = _named(run_values.results)
        step = self._last_step
        assert step is not None
        stops = [monitor.step_end(step, values) for monitor in self._monitors]
        if any(stops):
            run_context.request_stop()
        for monitor in self._monitors:
            if hasattr(monitor, "post_step"):
                monitor.post_step(step, run_context.session)
        # The step may grow by more than one.
        self._last_step = int(run_context.session.run(self._global_step_tensor)) + 1

    def end(self, session: SessionLike) -> None:
        """End the monitors."""
        self._last_step = None
        for monitor in self._monitors:
            # Monitors of older programs have no argument.
            if "session" in argument_names(monitor.end):
                monitor.end(session)
            else:
                monitor.end()


def _named(results: dict[Any, Any]) -> dict[str, Any]:
    """Values by the names of their tensors."""
    return {
        key if isinstance(key, str) else key.name: value
        for key, value in results.items()
    }


@export("contrib.learn.monitors.replace_monitors_with_hooks")
def replace_monitors_with_hooks(
    monitors_or_hooks: Iterable[Any] | None, estimator: object
) -> list[Any]:
    """Hooks as they are, and one that calls all monitors.

    Args:
      monitors_or_hooks: monitors and hooks; None for none.
      estimator: the estimator that the monitors get to know.

    Returns:
      A list of hooks.

    Source: contrib/learn/python/learn/monitors.py.
    """
    hooks: list[Any] = []
    monitors: list[Any] = []
    for item in monitors_or_hooks or ():
        (hooks if isinstance(item, SessionRunHook) else monitors).append(item)
    for monitor in monitors:
        monitor.set_estimator(estimator)
    if monitors:
        hooks.append(RunHookAdapterForMonitors(monitors))
    return hooks
