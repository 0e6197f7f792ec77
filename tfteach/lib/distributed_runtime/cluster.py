"""The tasks of a cluster as one of them sees the others: addresses and connections.

Source: core/distributed_runtime/rpc/{grpc_channel,grpc_worker_cache}.cc.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from tfteach.engine.devices.device_name import DeviceName
from tfteach.framework import errors, protos
from tfteach.framework.logger import get_logger
from tfteach.framework.protos.tensor_wire import fields
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import caller_is_gone
from tfteach.lib.distributed_runtime.call_threads import call_threads
from tfteach.lib.distributed_runtime.certificates import PROTOCOL
from tfteach.lib.distributed_runtime.channel import (
    Channel,
    error_of_future,
    error_of_status,
    shared_channel,
)
from tfteach.lib.distributed_runtime.service import (
    Call,
    Method,
    local_methods,
    status_of,
)

# How long a session waits for other tasks to start, and how often it logs for which
# one, in seconds; TensorFlow waits forever.
WORKERS_TIMEOUT_S = 600.0
_XLA_GLOBAL_ID = 8  # a field of DeviceAttributes that TensorFlow 1.15 lacks
_SAYS_EVERY_S = 10.0
_ASKS_EVERY_S = 0.2
# Methods that may wait for something to happen elsewhere.
MAY_WAIT = ("WorkerService/RunGraph", "WorkerService/RecvTensor")

# Receives the encoded answer, or an error.
Arrived = Callable[[bytes | None, errors.OpError | None], None]


class Cluster:
    """The tasks of a cluster, by name such as "/job:ps/replica:0/task:0".

    Args:
      cluster_def: the cluster.
      own: the name of this process's task.
      methods: of this process's own services, which need no connection.
      protocol: of all tasks, "grpc" or "grpc+tls".

    Attributes:
      cluster_def, own, methods, protocol: see the arguments.
    """

    def __init__(
        self, cluster_def: Proto, own: str, methods: dict[str, Method], protocol: str
    ) -> None:
        self.protocol = protocol
        self.cluster_def = cluster_def
        self.own = own
        self.methods = methods
        self._are_of_tensorflow_2: dict[str, bool] = {}
        self._addresses = {
            f"/job:{job.name}/replica:0/task:{index}": str(address)
            for job in cluster_def.job
            for index, address in job.tasks.items()
        }

    def server_def(self, task: str) -> Proto:
        """The ServerDef of a task."""
        name = DeviceName.parse(task) or DeviceName()
        return protos.ServerDef(
            cluster=self.cluster_def,
            job_name=name.job,
            task_index=name.task,
            protocol=self.protocol,
        )

    @property
    def tasks(self) -> list[str]:
        """The names of all tasks."""
        return sorted(self._addresses)

    def call(
        self, task: str, method: str, request: bytes, timeout_s: float = 0.0
    ) -> bytes:
        """The encoded answer of a task's method.

        Raises:
          OpError: the class of the status that it answers.
        """
        methods = self._methods_of(task)
        if methods is None:
            return self._channel(task).call(method, request, timeout_s)
        try:
            return methods[method](Call(request))
        except Exception as error:
            failure = status_of(error, method)
        raise error_of_status(failure.error_code, failure.message)

    def start(self, task: str, method: str, request: bytes, arrived: Arrived) -> Any:
        """Call a task's method without waiting.

        Returns:
          An object whose `cancel()` cancels the call.
        """
        methods = self._methods_of(task)
        if methods is not None:
            return _LocalCall(methods[method], method, request, arrived)
        future = self._channel(task).start(method, request)

        def ended(done: Any) -> None:
            error = error_of_future(done)
            arrived(None if error else done.result(), error)

        future.add_done_callback(ended)
        return future

    def post(
        self,
        task: str,
        method: str,
        request: bytes,
        arrived: Arrived,
        timeout_s: float = 0.0,
    ) -> None:
        """Call a task's method on a thread of its own; it cannot be cancelled.

        This switches threads less often than `start` does.
        """
        methods = self._methods_of(task)
        if methods is not None:
            _LocalCall(methods[method], method, request, arrived)
            return
        channel = self._channel(task)

        def run() -> None:
            try:
                answer = channel.block(method, request, timeout_s)
            except errors.OpError as error:
                arrived(None, error)
            else:
                arrived(answer, None)

        call_threads.start(run)

    def check_alive(self, task: str) -> None:
        """Ask whether another task still answers.

        Raises:
          UnavailableError: it does not.
        """
        if self._methods_of(task) is None:
            self._channel(task).check_alive()

    def _methods_of(self, task: str) -> dict[str, Method] | None:
        """The methods of a task of this process; None if it is in another one."""
        if task == self.own:
            return self.methods
        return local_methods(self._addresses.get(task, ""))

    def _channel(self, task: str) -> Channel:
        if task not in self._addresses:
            message = f"No worker known as {task}"
            raise errors.InvalidArgumentError(None, None, message)
        return shared_channel(self._addresses[task], self.protocol == PROTOCOL)

    def devices_of(self, task: str, timeout_s: float) -> list[Proto]:
        """The devices of a task as DeviceAttributes protos, once it has started.

        The cluster may use another name for a task than it was started with.

        Raises:
          DeadlineExceededError: it did not start in time.
          CancelledError: the caller gave up.
        """
        began_s = said_s = time.monotonic()
        request = protos.GetStatusRequest().SerializeToString()
        while True:
            try:
                data = self.call(task, "WorkerService/GetStatus", request, 10.0)
                found = protos.GetStatusResponse.FromString(data).device_attributes
                for device in found:
                    device.name = task + "/device:" + device.name.split("/device:")[1]
                return list(found)
            except (errors.UnavailableError, errors.DeadlineExceededError):
                now_s = time.monotonic()
            if caller_is_gone():
                raise errors.CancelledError(None, None, "CreateSession") from None
            if now_s - began_s >= timeout_s:
                raise errors.DeadlineExceededError(
                    None,
                    None,
                    f"CreateSession: no response from worker {task} at "
                    f"{self._addresses[task]} within {timeout_s:.0f} s",
                ) from None
            if now_s - said_s >= _SAYS_EVERY_S:
                said_s = now_s
                get_logger().info(
                    "CreateSession still waiting for response from worker: %s", task
                )
            time.sleep(_ASKS_EVERY_S)

    def is_of_tensorflow_2(self, task: str) -> bool:
        """Whether a task runs TensorFlow 2: its DeviceAttributes have another field."""
        known = self._are_of_tensorflow_2
        if task not in known:
            devices = self.devices_of(task, _SAYS_EVERY_S)
            known[task] = any(
                number == _XLA_GLOBAL_ID
                for device in devices
                for number, _ in fields(memoryview(device.SerializeToString()))
            )
        return known[task]

    def filtered(self, filters: Iterable[str]) -> list[str]:
        """The tasks that match `ConfigProto.device_filters`: all without any filter."""
        wanted = [DeviceName.parse(text) or DeviceName() for text in filters]
        found = []
        for task in self.tasks:
            name = DeviceName.parse(task) or DeviceName()
            if not wanted or any(w.conflict(name) is None for w in wanted):
                found.append(task)
        return found


class _LocalCall:
    """A call of a method of this process, on a thread if it may wait."""

    def __init__(
        self, method: Method, name: str, request: bytes, arrived: Arrived
    ) -> None:
        self._ends: list[Callable[[], None]] = []

        def run() -> None:
            try:
                answer = method(Call(request, at_end=self._ends.append))
            except Exception as error:
                failure = status_of(error, name)
                arrived(None, error_of_status(failure.error_code, failure.message))
            else:
                arrived(answer, None)

        if name in MAY_WAIT:
            call_threads.start(run)
        else:
            run()

    def cancel(self) -> None:
        """Tell the method that nobody waits for its answer."""
        for end in self._ends:
            end()
