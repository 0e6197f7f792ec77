"""A step in progress, whose parts the tasks of a cluster run.

Source: core/distributed_runtime/master_session.cc (RunPartitions).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Collection
from typing import Any, NamedTuple

from tfteach.framework import errors, protos
from tfteach.framework.operation import Tensor
from tfteach.framework.protos.tensor_wire import (
    Piece,
    fields,
    nested,
    octets,
    read_tensor,
)
from tfteach.framework.protos.wire_format import chunk, varint
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import caller_is_gone, slice_s
from tfteach.lib.distributed_runtime import channel
from tfteach.lib.distributed_runtime.channel import error_of_status
from tfteach.lib.distributed_runtime.cluster import Cluster
from tfteach.lib.distributed_runtime.parts import Calls, Part
from tfteach.lib.distributed_runtime.rendezvous import DERIVED, RendezvousTable
from tfteach.lib.distributed_runtime.run_messages import (
    forgets_itself,
    named_tensor,
    tensor_in,
    tensors_of,
)
from tfteach.lib.distributed_runtime.service import status_of

# How long to wait for the cause of an error that is only derived from it.
_CAUSE_S = 5.0
_LOOKS_EVERY_S = 1.0  # to see whether the client gave up
_FORGET_S = 60.0  # time limit of CleanupGraph
_ABORT_S = 2.0  # how long to wait for the parts of a failed step


class PartialCall(NamedTuple):
    """One call of a partial run.

    Attributes:
      step_id: the run's.
      fetches: what this call fetches.
      is_last: whether the step ends with it.
    """

    step_id: int
    fetches: Collection[Tensor]
    is_last: bool


class StepRun:
    """A step in progress.

    Args:
      cluster: whose tasks run it.
      parts: those of the step.
      steps: the tensors in transit at the master's task.
      timeout_ms: its time limit, or 0.
      session: the handle of the worker sessions, or "".
      partial_call: which call of a partial run this is; None for a whole run.
    """

    def __init__(
        self,
        cluster: Cluster,
        parts: list[Part],
        steps: RendezvousTable,
        timeout_ms: int,
        session: str,
        partial_call: PartialCall | None = None,
    ) -> None:
        self._session = session
        self._cluster = cluster
        self._parts = parts
        self._steps = steps
        self._partial_call = partial_call
        self._step_id = new_step_id() if partial_call is None else partial_call.step_id
        self._condition = threading.Condition()
        self._answers: list[tuple[Part, bytes]] = []
        self._error: errors.OpError | None = None
        self._is_over = False
        self._derived_s = 0.0  # when the error arrived
        self._running = {part.task for part in parts}
        self._called: set[str] = set()  # the tasks with a call in progress
        self._calls: list[Any] = []
        self._to_forget = list(parts)  # parts whose tasks may hold state of the step
        self._ends_s = time.monotonic() + timeout_ms / 1000 if timeout_ms else None
        # The tasks whose first answers the master's part awaits, and what has arrived.
        self._awaited = {part.task for part in parts if part.answered}
        self._answered: dict[str, memoryview] = {}

    def start(self, fed: dict[Tensor, Any], options: Proto | None) -> None:
        """Call the tasks, or continue a partial run."""
        self._fed, self._options = fed, options
        for part in self._parts:
            if part.calls in (Calls.AT_ONCE, Calls.TWICE):
                self._call(part, {}, is_last=part.calls is Calls.AT_ONCE)
            elif part.calls is Calls.AFTER_MASTER:
                self._call_with_brought(part)

    def _call_with_brought(self, part: Part) -> None:
        """Make a part's last call, once the master's part has computed its inputs."""

        def call(encoded: list[bytes]) -> None:
            tensors = map(tensor_in, encoded)
            self._call(part, dict(zip(part.brought.values(), tensors, strict=True)))

        if part.brought:
            self._steps.of(self._step_id).deliver(list(part.brought), call)
        else:
            self._call(part, {})

    def _call(
        self, part: Part, brought: dict[str, memoryview], is_last: bool = True
    ) -> None:
        """Call a task's RunGraph.

        Args:
          part: its part.
          brought: encoded tensors by their keys at the part.
          is_last: whether no other call follows.
        """
        with self._condition:
            if self._error is not None or self._is_over:
                return
            self._called.add(part.task)
        is_first = part.calls is not Calls.TWICE or not is_last

        def arrived(answer: bytes | None, error: errors.OpError | None) -> None:
            self._arrived(part, (is_first, is_last), answer or b"", error)

        try:
            request = self._request(part, brought, is_first, is_last)
            method = "WorkerService/RunGraph"
            call = self._cluster.start(part.task, method, request, arrived)
            self._calls.append(call)
        except Exception as error:
            failure = status_of(error, "RunGraph")
            arrived(None, error_of_status(failure.error_code, failure.message))

    def _request(
        self, part: Part, brought: dict[str, memoryview], is_first: bool, is_last: bool
    ) -> bytes:
        of_run = self._partial_call
        pieces: list[Piece] = [
            chunk(b"\x0a", part.handle.encode()),
            b"\x10" + varint(self._step_id),
        ]
        for key, tensor in brought.items():
            named = [chunk(b"\x0a", key.encode()), *nested(b"\x12", [tensor])]
            pieces += nested(b"\x1a", named)
        if is_first:
            for key, fed in part.feeds.items():
                if of_run is None or fed in self._fed:
                    value = self._fed[fed]
                    pieces += named_tensor(b"\x1a", key, value, fed.dtype)
            pieces += [chunk(b"\x22", key.encode()) for key in part.answered]
        if is_last:
            for key, fetched in part.fetches.items():
                if of_run is None or fetched in of_run.fetches:
                    pieces.append(chunk(b"\x22", key.encode()))
        if self._options is not None:
            wanted = protos.ExecutorOpts(
                record_timeline=self._options.trace_level > 0,
                record_partition_graphs=self._options.output_partition_graphs,
            )
            pieces.append(chunk(b"\x2a", wanted.SerializeToString()))
        if of_run is not None or part.calls is Calls.TWICE:
            pieces.append(b"\x30\x01")  # is_partial
            if is_last and (of_run is None or of_run.is_last):
                pieces.append(b"\x38\x01")  # is_last_partial_run
        if self._session:  # and create_worker_session_called
            pieces += [chunk(b"\x42", self._session.encode()), b"\x50\x01"]
        pieces.append(b"\x48\x01")  # store_errors_in_response_body
        return b"".join(pieces)

    def _arrived(
        self,
        part: Part,
        which: tuple[bool, bool],
        answer: bytes,
        error: errors.OpError | None,
    ) -> None:
        """Handle the answer of a call: a part's first one, its last one, or both."""
        is_first, is_last = which
        begins_master = has_forgotten = False
        tensors: list[tuple[str, memoryview]] = []
        try:
            error = error or _error_in(answer)
            has_forgotten = forgets_itself(answer)
            if is_first and part.answered:
                tensors += tensors_of(answer)
        except (ValueError, TypeError) as malformed:
            text = f"{part.task} answered RunGraph with a malformed message: "
            error = errors.InternalError(None, None, f"{text}{malformed}")
        with self._condition:
            self._called.discard(part.task)
            if error is not None and is_worse(error, self._error):
                self._error = error
                self._derived_s = time.monotonic()
            if error is not None or is_last:
                self._running.discard(part.task)
            if error is None and is_first and part.answered:
                for key, tensor in tensors:
                    if key in part.answered:
                        self._answered[part.answered[key]] = tensor
                self._awaited.discard(part.task)
                begins_master = not self._awaited
            if error is None and is_last:
                self._answers.append((part, answer))
                if has_forgotten:
                    self._to_forget.remove(part)
            self._condition.notify_all()
        if error is not None:
            return
        if begins_master:
            for other in self._parts:
                if other.calls is Calls.AFTER_ANSWERS:
                    self._call(other, self._answered)
        if not is_last:
            self._call_with_brought(part)

    def values(self, metadata: Proto | None) -> dict[Any, Any]:
        """The fetched values, once all parts have answered.

        Raises:
          OpError: a part failed, or the time limit was exceeded.
        """
        goes_on = self._partial_call is not None and not self._partial_call.is_last
        try:
            self._wait()
            goes_on = goes_on and self._error is None
        except BaseException:
            goes_on = False
            raise
        finally:
            if not goes_on:
                self._clean_up()
        if self._error is not None:
            error = self._error
            raise type(error)(None, None, error.message.rpartition(DERIVED)[2])
        found: dict[Any, Any] = {}
        for part, data in self._answers:
            for key, tensor in tensors_of(data):
                if key in part.fetches:
                    array = read_tensor(tensor)
                    found[part.fetches[key]] = array if array.ndim else array[()]
            for number, value in fields(memoryview(data)):
                if number == 2 and metadata is not None:
                    metadata.step_stats.MergeFromString(octets(value))
                elif number == 4 and metadata is not None:
                    metadata.partition_graphs.add().ParseFromString(octets(value))
        return found

    def _goes_on(self) -> bool:
        """Whether to wait for answers: after an error, of calls in progress only."""
        return bool(self._running if self._error is None else self._called)

    def _wait(self) -> None:
        asks_s = time.monotonic() + channel.SILENCE_S
        while self._goes_on():
            if time.monotonic() >= asks_s:
                for task in list(self._running):
                    self._cluster.check_alive(task)
                asks_s = time.monotonic() + channel.SILENCE_S
            if caller_is_gone():
                raise errors.CancelledError(None, None, "Step was cancelled")
            with self._condition:
                left_s = _LOOKS_EVERY_S
                if self._error is not None:
                    if not _is_derived(self._error):
                        return
                    left_s = min(left_s, self._derived_s + _CAUSE_S - time.monotonic())
                    if left_s <= 0:
                        return
                elif self._ends_s is not None:
                    left_s = min(left_s, self._ends_s - time.monotonic())
                    if left_s <= 0:
                        raise errors.DeadlineExceededError(
                            None, None, "Timed out waiting for notification"
                        )
                if self._goes_on():
                    self._condition.wait(slice_s(left_s))

    def _clean_up(self) -> None:
        """Tell the tasks that the step is over; parts that still run are aborted."""
        with self._condition:
            self._is_over = True
        end_step(self._cluster, self._to_forget, self._step_id)
        if self._called:
            end_s = time.monotonic() + _ABORT_S
            with self._condition:
                while self._called and time.monotonic() < end_s:
                    self._condition.wait(0.1)
            for call in self._calls:
                call.cancel()


def new_step_id() -> int:
    """A new, random step ID."""
    return secrets.randbits(62)


def end_step(cluster: Cluster, parts: list[Part], step_id: int) -> None:
    """Tell the tasks that a step is over; parts that still run are aborted."""
    request = protos.CleanupGraphRequest(step_id=step_id).SerializeToString()
    for part in parts:
        method = "WorkerService/CleanupGraph"
        cluster.post(part.task, method, request, lambda a, e: None, _FORGET_S)


def _error_in(answer: bytes) -> errors.OpError | None:
    """The error that a RunGraphResponse holds."""
    code, message = 0, ""
    for number, value in fields(memoryview(answer)):
        if number == 5:
            code = value
        elif number == 6:
            message = octets(value).decode(errors="replace")
    return error_of_status(code, message) if code else None


def is_worse(new: errors.OpError, old: errors.OpError | None) -> bool:
    """Whether an error replaces another, which may only be derived from it."""
    return old is None or (_is_derived(old) and not _is_derived(new))


def _is_derived(error: errors.OpError) -> bool:
    return isinstance(error, errors.CancelledError) or DERIVED in error.message
