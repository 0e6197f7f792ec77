"""Ops of one step that run concurrently, since they may wait for each other.

TensorFlow runs the ops of a step on its pool of threads.  Here a step runs on one
thread, but independent ops that may wait get a thread each: py_funcs, and ops that wait
for a queue.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from tfteach.engine.plan.frames import frames_of
from tfteach.engine.plan.step import Node, Step
from tfteach.framework.waiting import Cancellation, Deadline, limited, slice_s


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
        self._waiting: list[threading.Thread] = []  # those that a cancellation ends
        self._ended: SimpleQueue[tuple[Any, Any, BaseException | None]] = SimpleQueue()

    def __len__(self) -> int:
        return self._count

    @contextmanager
    def limited(self, deadline: Deadline | None) -> Iterator[None]:
        """The run: if it fails, the calls that wait have ended when it ends."""
        cancellation = Cancellation()
        with limited(deadline, cancellation):
            try:
                yield
            except BaseException:
                self._end_waits(cancellation)
                raise

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
                self._ended.put((tag, None, error))
            else:
                self._ended.put((tag, result, None))

        # A daemon: a function that never returns must not keep the process alive.
        name = "tfteach-waiting-op" if is_cancellable else "tfteach-py_func"
        thread = threading.Thread(target=run, daemon=True, name=name)
        if is_cancellable:
            self._waiting.append(thread)
        thread.start()
        self._count += 1

    def wait(self) -> tuple[Any, Any, BaseException | None]:
        """The tag of the next call to finish, its result, and its error or None."""
        while True:
            try:
                found = self._ended.get(timeout=slice_s(None))
                break
            except Empty:
                continue
        self._count -= 1
        return found

    def _end_waits(self, cancellation: Cancellation) -> None:
        """Cancel the run, and wait for the calls that this ends.

        Raises:
          BaseException: an interrupt that came meanwhile, once they have ended.
        """
        interrupt = None
        while True:
            try:
                cancellation.cancel()
                for thread in self._waiting:
                    if thread.ident is not None:  # it was started
                        thread.join()
                break
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt
