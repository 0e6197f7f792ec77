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
from tfteach.framework.protos.tensor_wire import Piece, fields, octets, read_tensor
from tfteach.framework.protos.wire_format import chunk, varint
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import caller_is_gone, slice_s
from tfteach.lib.distributed import channel
from tfteach.lib.distributed.channel import error_of_status
from tfteach.lib.distributed.cluster import Cluster
from tfteach.lib.distributed.rendezvous import DERIVED
from tfteach.lib.distributed.run_messages import named_tensor, split_named_tensor

# How long the cause of a failure may take to arrive after what follows from it.
_CAUSE_S = 5.0
_LOOKS_EVERY_S = 1.0  # whether the client gave up
_FORGET_S = 60.0  # how long a task may take to forget a step
_ABORT_S = 2.0  # how long parts of a step that failed may take to end


class Part(NamedTuple):
    """A task's part of a step.

    Attributes:
      task: its name.
      handle: what the task calls the part.
      feeds: fed tensor -> key under which the task expects it.
      fetches: key -> fetched tensor.
    """

    task: str
    handle: str
    feeds: dict[Tensor, str]
    fetches: dict[str, Tensor]


class PartialCall(NamedTuple):
    """One of the calls that a partial run consists of.

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
      timeout_ms: its time limit, or 0.
      session: the handle of the tasks' sessions, if they have any.
      partial_call: if the step is a partial run: which of its calls this is.
    """

    def __init__(
        self,
        cluster: Cluster,
        parts: list[Part],
        timeout_ms: int,
        session: str,
        partial_call: PartialCall | None = None,
    ) -> None:
        self._session = session
        self._cluster = cluster
        self._parts = parts
        self._partial_call = partial_call
        self._step_id = new_step_id() if partial_call is None else partial_call.step_id
        self._condition = threading.Condition()
        self._answers: list[tuple[Part, bytes]] = []
        self._error: errors.OpError | None = None
        self._derived_s = 0.0  # when the error arrived
        self._running = {part.task for part in parts}
        self._calls: list[Any] = []
        self._ends_s = time.monotonic() + timeout_ms / 1000 if timeout_ms else None

    def start(self, part: Part, fed: dict[Tensor, Any], options: Proto | None) -> None:
        """Begin a part, or continue that of a partial run."""
        pieces: list[Piece] = [
            chunk(b"\x0a", part.handle.encode()),
            b"\x10" + varint(self._step_id),
        ]
        for tensor, key in part.feeds.items():
            if self._partial_call is None or tensor in fed:
                pieces += named_tensor(b"\x1a", key, fed[tensor], tensor.dtype)
        for key, tensor in part.fetches.items():
            if self._partial_call is None or tensor in self._partial_call.fetches:
                pieces.append(chunk(b"\x22", key.encode()))
        if options is not None:
            wanted = protos.ExecutorOpts(
                record_timeline=options.trace_level > 0,
                record_partition_graphs=options.output_partition_graphs,
            )
            pieces.append(chunk(b"\x2a", wanted.SerializeToString()))
        if self._partial_call is not None:
            pieces.append(b"\x30\x01")  # is_partial
            if self._partial_call.is_last:
                pieces.append(b"\x38\x01")  # is_last_partial_run
        if self._session:  # and create_worker_session_called
            pieces += [chunk(b"\x42", self._session.encode()), b"\x50\x01"]
        pieces.append(b"\x48\x01")  # store_errors_in_response_body
        method = "WorkerService/RunGraph"

        def arrived(answer: bytes | None, error: errors.OpError | None) -> None:
            with self._condition:
                self._running.discard(part.task)
                if error is None:
                    self._answers.append((part, answer or b""))
                    error = _error_in(answer or b"")
                if error is not None and is_worse(error, self._error):
                    self._error = error
                    self._derived_s = time.monotonic()
                self._condition.notify_all()

        self._calls.append(
            self._cluster.start(part.task, method, b"".join(pieces), arrived)
        )

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
            for number, value in fields(memoryview(data)):
                if number == 1:
                    key, tensor = split_named_tensor(value)
                    array = read_tensor(tensor)
                    found[part.fetches[key]] = array if array.ndim else array[()]
                elif number == 2 and metadata is not None:
                    metadata.step_stats.MergeFromString(octets(value))
                elif number == 4 and metadata is not None:
                    metadata.partition_graphs.add().ParseFromString(octets(value))
        return found

    def _wait(self) -> None:
        asks_s = time.monotonic() + channel.SILENCE_S
        while self._running:
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
                if self._running:
                    self._condition.wait(slice_s(left_s))

    def _clean_up(self) -> None:
        """Tell the tasks that the step is over; parts that still run are aborted."""
        end_step(self._cluster, self._parts, self._step_id)
        if self._running:
            end_s = time.monotonic() + _ABORT_S
            with self._condition:
                while self._running and time.monotonic() < end_s:
                    self._condition.wait(0.1)
            for call in self._calls:
                call.cancel()


def new_step_id() -> int:
    """The number of a step."""
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
    """Whether an error says more than another, which may follow from it."""
    return old is None or (_is_derived(old) and not _is_derived(new))


def _is_derived(error: errors.OpError) -> bool:
    return isinstance(error, errors.CancelledError) or DERIVED in error.message
