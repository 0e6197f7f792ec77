"""py_funcs that run concurrently, since they may wait for each other.

TensorFlow runs the py_funcs of a step on its pool of threads.  Here a step runs on one
thread, but independent calls get a thread each.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from tfteach.engine.plan.frames import frames_of
from tfteach.engine.plan.step import Node, Step


def may_wait_for_each_other(step: Step) -> bool:
    """Whether two nodes call Python functions that do not depend on each other."""
    calls = [node for node in step.nodes if node.spec.calls_python]
    if len(calls) > 1 and step.has_control_flow:
        loops = frames_of(step)  # iterations run in sequence
        calls = [node for node in calls if not loops.get(node)]
    if len(calls) < 2:
        return False
    numbers = {node: i for i, node in enumerate(calls)}
    behind: dict[Node, int] = {}  # node -> a bit for each call that it depends on
    earlier = 0
    for node in step.nodes:
        found = 0
        for source, _ in node.inputs:
            found |= behind.get(source, 0)
        for other in node.control:
            found |= behind.get(other, 0)
        if node in numbers:
            if earlier & ~found:
                return True
            earlier |= 1 << numbers[node]
            found |= 1 << numbers[node]
        behind[node] = found
    return False


class PythonCalls:
    """The pending calls of one run."""

    def __init__(self) -> None:
        self._count = 0
        self._ended: SimpleQueue[tuple[Any, Any, Exception | None]] = SimpleQueue()

    def __len__(self) -> int:
        return self._count

    def start(
        self, function: Callable[..., Any], arguments: Sequence[Any], tag: Any
    ) -> None:
        """Call the function on a thread; `tag` is returned with the result."""
        context = contextvars.copy_context()  # NumPy's error state

        def run() -> None:
            try:
                result = context.run(function, *arguments)
            except Exception as error:
                self._ended.put((tag, None, error))
            else:
                self._ended.put((tag, result, None))

        # A daemon: a function that never returns must not keep the process alive.
        threading.Thread(target=run, daemon=True, name="tfteach-py_func").start()
        self._count += 1

    def wait(self) -> tuple[Any, Any, Exception | None]:
        """The tag of the next call to finish, its result, and its error or None."""
        ended = self._ended.get()
        self._count -= 1
        return ended
