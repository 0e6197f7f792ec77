"""Ops of one step that run concurrently, since they may wait for each other.

TensorFlow runs the ops of a step on its pool of threads.  Here a step runs on one
thread, but independent ops that may wait get a thread each: py_funcs, and ops that wait
for a queue.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from tfteach.engine.plan.frames import frames_of
from tfteach.engine.plan.step import Node, Step
from tfteach.framework.waiting import slice_s


def may_wait(node: Node) -> bool:
    """Whether the node may wait for another one, directly or in a user's function."""
    return node.values is None and (node.spec.calls_python or node.spec.may_wait)


def waiting_nodes(step: Step) -> list[Node]:
    """The nodes that may wait."""
    return [node for node in step.nodes if may_wait(node)]


def may_wait_for_each_other(step: Step) -> bool:
    """Whether two nodes that may wait do not depend on each other.

    Or one waits for another process, and that perhaps for any other node.
    """
    calls = waiting_nodes(step)
    if any(node.spec.waits_for_peers for node in calls):
        return True
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


class ConcurrentCalls:
    """The pending calls of one run."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting = 0  # those that a cancellation ends
        self._ended: SimpleQueue[tuple[Any, bool, Any, BaseException | None]] = (
            SimpleQueue()
        )

    def __len__(self) -> int:
        return self._count

    def start(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        tag: Any,
        is_cancellable: bool,
    ) -> None:
        """Call the function on a thread.

        Args:
          function: a kernel.
          arguments: its arguments.
          tag: returned with the result.
          is_cancellable: whether it ends soon after its run has been cancelled.
        """
        context = contextvars.copy_context()  # NumPy's error state, the run's limits

        def run() -> None:
            try:
                result = context.run(function, *arguments)
            except BaseException as error:  # the caller's thread raises it
                self._ended.put((tag, is_cancellable, None, error))
            else:
                self._ended.put((tag, is_cancellable, result, None))

        # A daemon: a function that never returns must not keep the process alive.
        name = "tfteach-waiting-op" if is_cancellable else "tfteach-py_func"
        threading.Thread(target=run, daemon=True, name=name).start()
        self._count += 1
        self._waiting += is_cancellable

    def wait(self) -> tuple[Any, Any, BaseException | None]:
        """The tag of the next call to finish, its result, and its error or None."""
        while True:
            try:
                tag, is_cancellable, result, error = self._ended.get(
                    timeout=slice_s(None)
                )
                break
            except Empty:
                continue
        self._count -= 1
        self._waiting -= is_cancellable
        return tag, result, error

    def wait_for_cancelled(self) -> None:
        """After the run was cancelled: wait for the calls that this ends."""
        while self._waiting:
            self.wait()
