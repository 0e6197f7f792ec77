"""Where the executors of a step meet: one sends a value, another one receives it.

Source: core/framework/rendezvous.h (the interface, and the format of keys).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from tfteach.engine.devices.devices import Device

# Called with the value, or with the error that ended the step.
Done = Callable[[Any, BaseException | None], None]

# TensorFlow's DirectSession gives all devices this incarnation, as theirs never change.
INCARNATION = 1


def create_key(
    source: Device, target: Device, edge_name: str, frame_and_iteration: str = "0:0"
) -> str:
    """The name of a channel, as TensorFlow's `Rendezvous::CreateKey` builds it.

    Example:
      >>> create_key(cpu, gpu, "edge_3_x")
      '/job:.../device:CPU:0;0000000000000001;/job:.../device:GPU:0;edge_3_x;0:0'
    """
    return (
        f"{source.name};{INCARNATION:016x};{target.name};{edge_name};"
        f"{frame_and_iteration}"
    )


class Rendezvous:
    """The channels of one step.

    A sender never waits.  A receiver may ask before or after the value was sent, and
    gets the values of a channel in the order in which they were sent.

    Args:
      step_id: the number of the step, for messages.
    """

    def __init__(self, step_id: int) -> None:
        self.step_id = step_id
        self._lock = threading.Lock()
        self._sent: dict[str, deque[Any]] = {}
        self._waiting: dict[str, deque[Done]] = {}
        self._error: BaseException | None = None

    def send(self, key: str, value: Any) -> None:
        """Hand a value to the channel's first receiver, or keep it for the next one.

        Raises:
          BaseException: that of `start_abort`.
        """
        with self._lock:
            if self._error is not None:
                raise self._error
            waiting = self._waiting.get(key)
            if not waiting:
                self._sent.setdefault(key, deque()).append(value)
                return
            done = waiting.popleft()
        done(value, None)

    def recv_async(self, key: str, done: Done) -> None:
        """Call `done(value, None)` once the channel has a value.

        After `start_abort` it is `done(None, error)`.  `done` may be called at once, or
        on the sender's thread.
        """
        with self._lock:
            error = self._error
            sent = self._sent.get(key)
            if error is None and not sent:
                self._waiting.setdefault(key, deque()).append(done)
                return
            value = sent.popleft() if error is None and sent else None
        done(value, error)

    def start_abort(self, error: BaseException) -> None:
        """End all pending and later calls with the error; only the first one counts."""
        with self._lock:
            if self._error is not None:
                return
            self._error = error
            pending = [done for queue in self._waiting.values() for done in queue]
            self._waiting.clear()
            self._sent.clear()
        for done in pending:
            done(None, error)

    def __repr__(self) -> str:
        return f"<Rendezvous of step {self.step_id}>"
