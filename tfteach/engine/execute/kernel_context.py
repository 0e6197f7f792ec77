"""The context of a stateful kernel: session resources, op state, device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tfteach.framework.errors import CancelledError
from tfteach.framework.function_attribute import Function
from tfteach.framework.operation import Operation
from tfteach.framework.variable_cell import Cell
from tfteach.framework.waiting import Cancellation, wait_until

if TYPE_CHECKING:
    from tfteach.engine.devices.devices import Device

_T = TypeVar("_T")


class Resources:
    """The state of one session: variables, queues, random streams, by key.

    Attributes:
      cancellation: ends the runs that wait when the session closes.
    """

    def __init__(self) -> None:
        self.cancellation = Cancellation()
        self._lock = threading.RLock()
        self._items: dict[Hashable, Any] = {}

    def get(self, key: Hashable, factory: Callable[[], _T]) -> _T:
        """The item of that key, created on the first call."""
        with self._lock:
            if key not in self._items:
                self._items[key] = factory()
            return self._items[key]  # type: ignore[no-any-return]

    def find(self, key: Hashable) -> Any:
        """The item of that key, or None."""
        return self._items.get(key)

    def remove(self, key: Hashable) -> None:
        """Forget an item, if there is one of that key."""
        with self._lock:
            self._items.pop(key, None)

    def items(self) -> list[tuple[Hashable, Any]]:
        with self._lock:
            return list(self._items.items())

    def clear(self, containers: list[str] | None = None) -> None:
        """Forget the resources of some containers (of all, if None or empty)."""
        with self._lock:
            for key, item in list(self._items.items()):
                container = key[1] if isinstance(key, tuple) and len(key) > 2 else ""
                if containers and container not in containers:
                    continue
                if hasattr(item, "clear"):
                    item.clear()
                del self._items[key]

    def release(self) -> None:
        """Forget everything, and end the threads of iterators.

        Variables keep their values: runs of other threads may still read them.
        """
        with self._lock:
            for item in self._items.values():
                if hasattr(item, "clear") and not isinstance(item, Cell):
                    item.clear()
            self._items.clear()


class OpStates(Resources):
    """A session's resources, except for the objects private to an op.

    Args:
      shared: the session's resources.
    """

    def __init__(self, shared: Resources) -> None:
        super().__init__()
        self._shared = shared

    def get(self, key: Hashable, factory: Callable[[], _T]) -> _T:
        if isinstance(key, tuple) and key[0] == "op":
            return super().get(key, factory)
        return self._shared.get(key, factory)

    def find(self, key: Hashable) -> Any:
        if isinstance(key, tuple) and key[0] == "op":
            return super().find(key)
        return self._shared.find(key)


class Context:
    """Passed to the kernel of a stateful op instead of `xp`.

    Attributes:
      xp: numpy or cupy.
      op: the operation that runs.
      device: the device it runs on.
      session: the session it runs in.
      may_defer: no later op of the step observes the variables it updates.
    """

    __slots__ = ("_resources", "device", "may_defer", "op", "session", "xp")

    def __init__(
        self, op: Operation, device: Device, resources: Resources, session: Any
    ) -> None:
        self.op = op
        self.device = device
        self.xp = device.xp
        self.session = session
        self.may_defer = False
        self._resources = resources

    def function(
        self, function: Function, state: OpStates | None = None
    ) -> Callable[[Sequence[Any]], list[Any]]:
        """A function of the graph's library as a Python function.

        Its body is compiled once per session, with the session's resources.

        Args:
          function: an attribute of the op.
          state: holds what the body's ops have private, such as random streams; by
            default the session does.

        Returns:
          A function of a list of arrays, for the arguments and the captures, which
          returns a list of arrays.  Threads can call it concurrently; an error names
          the line of the op that failed in the body.

        Raises:
          NotFoundError: the function is not in the graph's library.
        """
        session = self.session
        return session.planner.functions.get(  # type: ignore[no-any-return]
            function,
            self.op.graph,
            self._resources if state is None else state,
            session,
        )

    def op_states(self) -> OpStates:
        """New private objects for the ops of functions, beside the session's resources.

        An iterator has such ones, so that its random numbers start again when it is
        initialized.
        """
        return OpStates(self._resources)

    def once(self, factory: Callable[[], _T]) -> _T:
        """An object private to this op, as long-lived as the session."""
        return self._resources.get(("op", self.op.name), factory)

    def resource(
        self, kind: str, name: str, factory: Callable[[], _T], container: str = ""
    ) -> _T:
        """A resource shared by all ops of the session that name it."""
        return self._resources.get((kind, container, name), factory)

    def check_open(self) -> None:
        """Raise CancelledError if the session was closed during the run."""
        if self._resources.cancellation.is_cancelled:
            raise CancelledError(None, None, "Run call was cancelled")

    def wait_until(
        self,
        condition: threading.Condition,
        predicate: Callable[[], bool],
        cancelled_message: str,
        timeout_s: float | None = None,
    ) -> bool:
        """Wait until `predicate()`, in a kernel of an op that `may_wait`.

        Args:
          condition: held by the caller; notified whenever the predicate may have
            changed.
          predicate: called while the condition is held.
          cancelled_message: TensorFlow's words for a wait that the end of the session
            or the failure of another op of the step ended.
          timeout_s: how long to wait at most; None for as long as the run may take.

        Returns:
          Whether the predicate is true; False only after the timeout.

        Raises:
          CancelledError: the session was closed, or another op of the step failed.
          DeadlineExceededError: the time limit of the run was exceeded.
          KeyboardInterrupt: Ctrl-C, on the main thread.
        """
        session = self._resources.cancellation
        return wait_until(condition, predicate, cancelled_message, session, timeout_s)
