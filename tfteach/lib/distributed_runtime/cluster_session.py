"""The master's side of a step: parts of the graph for tasks, run by their workers.

Source: core/distributed_runtime/master_session.cc, core/graph/graph_partition.cc.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.compile import own_copy
from tfteach.engine.plan.partition import partition
from tfteach.engine.plan.place import Placement, Placer
from tfteach.engine.plan.step import Step
from tfteach.engine.session.lru import MAX_PROGRAMS, Recent
from tfteach.engine.session.planner import StepPlanner
from tfteach.framework import errors, protos
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import caller_is_gone
from tfteach.lib.distributed_runtime.call_threads import call_threads
from tfteach.lib.distributed_runtime.cluster import WORKERS_TIMEOUT_S, Cluster
from tfteach.lib.distributed_runtime.control_loops import task_of
from tfteach.lib.distributed_runtime.parts import Part, number_transfers, parts_of_step
from tfteach.lib.distributed_runtime.step_run import PartialCall, StepRun, end_step
from tfteach.lib.distributed_runtime.task import Task
from tfteach.lib.distributed_runtime.task_session import Element, TaskSession

_FORGET_S = 10.0  # time limit of the calls that release a part


class RemoteDevice(Device):
    """A device of another task, from its DeviceAttributes proto."""

    def __init__(self, attributes: Proto) -> None:
        kind = attributes.device_type
        super().__init__(kind, int(attributes.name.rpartition(":")[2]))
        self.name = attributes.name
        self.incarnation = attributes.incarnation
        self.memory_limit_bytes = attributes.memory_limit
        self.physical_device_desc = attributes.physical_device_desc


class _ClusterPlacer(Placer):
    """Places feeds on the master's task."""

    def __init__(self, devices: list[Device], client: Device, *settings: Any) -> None:
        super().__init__(devices, *settings)
        self._client = client

    def place(self, step: Step) -> list[Placement]:
        rows = super().place(step)
        for feed in step.feeds.values():
            feed.device = self._client
        return rows


class _ClusterPlanner(StepPlanner):
    """Plans steps that several tasks run."""

    def __init__(
        self, options: Any, config: Proto, devices: list[Device], client: Device
    ) -> None:
        super().__init__(options, config, devices)
        self.client = client
        self.placer = _ClusterPlacer(
            devices, client, options.allow_soft_placement, options.place_pruned_graph
        )

    def partition(self, step: Step) -> None:
        # Each task divides its part among its devices.
        partition(step, self.client, self.transfers, task_of)


class ClusterSession(TaskSession):
    """A session whose graph is run by the tasks of a cluster.

    Args:
      task: of this process, the master.
      cluster: all tasks.
      config: the client's.
      is_isolated: whether it shares no variables with other sessions.

    Raises:
      DeadlineExceededError: a task did not start.
    """

    def __init__(
        self, task: Task, cluster: Cluster, config: Proto, is_isolated: bool
    ) -> None:
        super().__init__(task, config)
        self._cluster = cluster
        self._handle = secrets.token_hex(8)
        self._is_isolated = is_isolated
        # Whether the tasks have sessions of their own, as this one has.
        self._has_worker_sessions = is_isolated or config.HasField("cluster_def")
        timeout_s = config.operation_timeout_in_ms / 1000 or WORKERS_TIMEOUT_S
        tasks = cluster.filtered(config.device_filters)
        self.attributes: list[Proto] = []  # of the other tasks' devices
        devices = list(task.devices)
        for name in tasks:
            if name == task.name:
                continue
            found = cluster.devices_of(name, timeout_s)
            self.attributes += found
            remote = [RemoteDevice(attributes) for attributes in found]
            hosts = [device for device in remote if device.device_type == "CPU"]
            for device in remote:
                device.host = hosts[0] if hosts else None
            devices += remote
        self._devices = {device.name: device for device in devices}
        devices.sort(key=lambda device: device.name)
        self.planner = _ClusterPlanner(self._options, config, devices, task.devices[0])
        self._parts: Recent[Any, list[Part]] = Recent(MAX_PROGRAMS)
        self._numbered = 0  # names of transfers
        self._registered: list[tuple[str, str]] = []  # tasks and handles of parts
        self._steps_lock = threading.Lock()
        if self._has_worker_sessions:
            self._create_worker_sessions(tasks)

    def _create_worker_sessions(self, tasks: list[str]) -> None:
        self._tasks_with_sessions = tasks
        for task in tasks:
            request = protos.CreateWorkerSessionRequest(
                session_handle=self._handle,
                isolate_session_state=self._is_isolated,
            )
            if self._config.HasField("cluster_def"):
                request.server_def.CopyFrom(self._cluster.server_def(task))
            method = "WorkerService/CreateWorkerSession"
            self._cluster.call(task, method, request.SerializeToString(), 60.0)

    # ---- parts

    def parts_of(
        self,
        elements: tuple[Element, ...],
        fed: tuple[Tensor, ...],
        exchanges: bool = False,
    ) -> list[Part]:
        """The parts of a step, registered with their tasks.

        Args:
          elements, fed: what is fetched, run and fed.
          exchanges: whether the master's calls may carry tensors; see `Way`.
        """
        key = elements, fed, self.graph.mutations, exchanges
        with self._steps_lock:
            found = self._parts.get(key)
            if found is None:
                self._check_running()
                self._extend()
                step = self.planner.plan(elements, fed, unfolded=True)
                found = self._register(step, exchanges)
                self._parts[key] = found
            return found

    def _register(self, step: Step, exchanges: bool) -> list[Part]:
        found = parts_of_step(step, self._devices, self.task.name, exchanges)
        self._numbered = number_transfers(found, self._numbered)
        for part in found:
            part.graph_def.library.CopyFrom(self._library())
            request = protos.RegisterGraphRequest(
                session_handle=self._handle,
                create_worker_session_called=self._has_worker_sessions,
                graph_def=part.graph_def,
                graph_options=self._config.graph_options,
            )
            data = self._cluster.call(
                part.task, "WorkerService/RegisterGraph", request.SerializeToString()
            )
            part.handle = protos.RegisterGraphResponse.FromString(data).graph_handle
            self._registered.append((part.task, part.handle))
        return found

    def _library(self) -> Proto:
        library = protos.FunctionDefLibrary()
        if self.graph.functions:
            library.CopyFrom(self.graph.as_graph_def().library)
        return library

    # ---- steps

    def run_elements(
        self,
        elements: Sequence[Element],
        fed: dict[Tensor, Any],
        options: Proto | None,
        metadata: Proto | None,
    ) -> list[Any]:
        """The values of the tensors among the elements; see `TaskSession`."""
        self._check_running()
        if caller_is_gone():
            raise errors.CancelledError(None, None, "Step was cancelled")
        # Only the answer of a whole run carries what a part recorded.
        is_traced = metadata is not None and options is not None
        parts = self.parts_of(tuple(elements), tuple(fed), exchanges=not is_traced)
        found = self.run_parts(parts, fed, options, metadata)
        found.update((t, own_copy(value)) for t, value in fed.items())
        return [found[e] for e in elements if isinstance(e, Tensor)]

    def run_parts(
        self,
        parts: list[Part],
        fed: dict[Tensor, Any],
        options: Proto | None,
        metadata: Proto | None,
        partial_call: PartialCall | None = None,
    ) -> dict[Tensor, Any]:
        """What the parts of a step, or of a call of a partial run, return."""
        timeout_ms = self._options.timeout_ms
        if options is not None and options.timeout_in_ms:
            timeout_ms = options.timeout_in_ms
        session = self._handle if self._has_worker_sessions else ""
        steps = self.task.steps
        run = StepRun(self._cluster, parts, steps, timeout_ms, session, partial_call)
        run.start(fed, options)
        return run.values(metadata)

    def end_step(self, parts: list[Part], step_id: int) -> None:
        """Tell the tasks that a partial run will not be continued."""
        end_step(self._cluster, parts, step_id)

    def close(self) -> None:
        """End the session; the tasks forget its parts."""
        was_closed = self._closed
        super().close()
        if not was_closed and hasattr(self, "_registered"):
            call_threads.start(self._deregister)

    def _deregister(self) -> None:
        """Have the tasks, some of which may be gone, drop the session's parts."""
        with self._steps_lock:  # of a step that is being registered, too
            parts, self._registered = self._registered, []
        calls: list[tuple[str, str, Proto]] = []
        for task, handle in parts:
            deregister = protos.DeregisterGraphRequest(
                session_handle=self._handle,
                create_worker_session_called=self._has_worker_sessions,
                graph_handle=handle,
            )
            calls.append((task, "DeregisterGraph", deregister))
        if self._has_worker_sessions:
            delete = protos.DeleteWorkerSessionRequest(session_handle=self._handle)
            calls += [
                (t, "DeleteWorkerSession", delete) for t in self._tasks_with_sessions
            ]
        for task, method, request in calls:
            with suppress(errors.OpError):
                data = request.SerializeToString()
                self._cluster.call(task, f"WorkerService/{method}", data, _FORGET_S)
