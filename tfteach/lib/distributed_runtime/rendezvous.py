"""The tensors in transit between the ops of a step, each under a key.

The sender puts a tensor, encoded as a RecvTensorResponse; the receiver, in the same
task or in another one, takes it.
Source: core/framework/rendezvous.cc, core/distributed_runtime/base_rendezvous_mgr.cc.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from tfteach.framework import errors

# Begins the message of an error that is derived from the failure of another part.
DERIVED = "[_Derived_]"
_ENDED_STEPS = 4096  # are remembered, for receivers that come late

# Waits with a condition until a predicate holds; see `Context.wait_until`.
Wait = Callable[[threading.Condition, Callable[[], bool]], object]
# Gets tensors, encoded as RecvTensorResponse.
Deliver = Callable[[list[bytes]], None]


class Key(NamedTuple):
    """The key of a tensor in transit.

    Attributes:
      sender: the device that sends it, by its full name.
      incarnation: of that device, unsigned.
      receiver: the device that takes it.
      name: of the edge.
      place: the frame and the iteration, "0:0" outside of loops.
    """

    sender: str
    incarnation: int
    receiver: str
    name: str
    place: str = "0:0"

    @property
    def text(self) -> str:
        """TensorFlow's form."""
        ends = f"{self.receiver};{self.name};{self.place}"
        return f"{self.sender};{self.incarnation:016x};{ends}"

    @property
    def sending_task(self) -> str:
        return self.sender.partition("/device:")[0]

    @classmethod
    def parse(cls, text: str) -> Key:
        """The parts of a key.

        Raises:
          InvalidArgumentError: it is malformed.
        """
        parts = text.split(";")
        try:
            sender, incarnation, receiver, name, place = parts
            return cls(sender, int(incarnation, 16), receiver, name, place)
        except ValueError:
            message = f"Invalid rendezvous key: {text}"
            raise errors.InvalidArgumentError(None, None, message) from None


class Rendezvous:
    """The tensors of one step in one task."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._items: dict[str, bytes] = {}
        self._requested: set[str] = set()
        self._failed: errors.OpError | None = None
        self._deliveries: list[tuple[list[str], Deliver]] = []

    @property
    def _is_aborted(self) -> bool:
        return self._failed is not None

    def put(self, key: str, encoded: bytes) -> None:
        """Put a tensor, encoded as a RecvTensorResponse."""
        with self._condition:
            self._items[key] = encoded
            self._condition.notify_all()
            due = self._due() if self._deliveries else []
        for deliver, found in due:
            deliver(found)

    def deliver(self, keys: list[str], deliver: Deliver) -> None:
        """Call a function with the tensors of these keys, once all are there.

        The thread that puts the last one calls it; none does if the step is aborted.
        """
        with self._condition:
            self._deliveries.append((keys, deliver))
            due = self._due()
        for deliver, found in due:
            deliver(found)

    def _due(self) -> list[tuple[Deliver, list[bytes]]]:
        found, left = [], []
        for keys, deliver in self._deliveries:
            if self._is_aborted or not all(key in self._items for key in keys):
                left.append((keys, deliver))
            else:
                found.append((deliver, [self._items.pop(key) for key in keys]))
        self._deliveries = left
        return found

    def request(self, key: str) -> bool:
        """Whether to request a tensor of another task: True once per key."""
        with self._condition:
            is_first = key not in self._requested
            self._requested.add(key)
            return is_first

    def take(self, key: str, wait: Wait) -> bytes:
        """The tensor of that key, once it is there.

        Raises:
          OpError: the step was aborted.
        """
        with self._condition:
            wait(self._condition, lambda: key in self._items or self._is_aborted)
            if key in self._items:
                return self._items.pop(key)
            assert self._failed is not None
            message = self._failed.message.rpartition(DERIVED)[2]
            raise type(self._failed)(None, None, f"{DERIVED}{message}")

    def abort(self, error: errors.OpError) -> None:
        """Fail all current and later receivers with this error."""
        with self._condition:
            if self._failed is None:
                self._failed = error
            self._condition.notify_all()


class RendezvousTable:
    """The steps of one task that are in progress."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[int, Rendezvous] = {}
        self._ended: OrderedDict[int, None] = OrderedDict()

    def of(self, step_id: int) -> Rendezvous:
        """The rendezvous of a step, created by the first call."""
        with self._lock:
            found = self._steps.get(step_id)
            if found is None:
                found = self._steps[step_id] = Rendezvous()
                if step_id in self._ended:
                    del self._steps[step_id]
                    found.abort(errors.AbortedError(None, None, f"Cleanup {step_id}"))
            return found

    def has_ended(self, step_id: int) -> bool:
        """Whether a step has ended; the latest ones are remembered."""
        with self._lock:
            return step_id in self._ended

    def end(self, step_id: int) -> None:
        """Drop a step, and abort whatever still waits for it."""
        with self._lock:
            found = self._steps.pop(step_id, None)
            self._ended[step_id] = None
            if len(self._ended) > _ENDED_STEPS:
                self._ended.popitem(last=False)
        if found is not None:
            found.abort(errors.AbortedError(None, None, f"Cleanup {step_id}"))

    def end_all(self) -> None:
        """Abort all steps."""
        with self._lock:
            ended, self._steps = list(self._steps.values()), {}
        for rendezvous in ended:
            rendezvous.abort(errors.AbortedError(None, None, "Shutdown"))
