"""The master's side of a step: parts of the graph for tasks, run by their workers.

Source: core/distributed_runtime/master_session.cc, core/graph/graph_partition.cc.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from tfteach.engine.devices.devices import Device
from tfteach.engine.plan.frames import frames_of, path_behind
from tfteach.engine.plan.partition import partition
from tfteach.engine.plan.place import Placement, Placer
from tfteach.engine.plan.step import Step, argument_names, return_names
from tfteach.engine.session.lru import MAX_PROGRAMS, Recent
from tfteach.engine.session.partition_graphs import ExecutedGraph, ExecutedNode
from tfteach.engine.session.planner import StepPlanner
from tfteach.framework import errors, protos
from tfteach.framework.graphdef.graph_def import versions
from tfteach.framework.operation import Tensor
from tfteach.framework.protos.tensor_wire import Piece, fields, read_tensor
from tfteach.framework.protos.wire_format import chunk, varint
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import caller_is_gone, slice_s
from tfteach.lib.distributed import channel
from tfteach.lib.distributed.channel import error_of_status
from tfteach.lib.distributed.cluster import WORKERS_TIMEOUT_S, Cluster
from tfteach.lib.distributed.partition_session import IS_LIVE
from tfteach.lib.distributed.rendezvous import DERIVED, Key
from tfteach.lib.distributed.run_messages import named_tensor, split_named_tensor
from tfteach.lib.distributed.task import Task
from tfteach.lib.distributed.task_session import Element, TaskSession

# How long the cause of a failure may take to arrive after what follows from it.
_CAUSE_S = 5.0
_LOOKS_EVERY_S = 1.0  # whether the client gave up
_ABORT_S = 2.0  # how long parts of a step that failed may take to end


class RemoteDevice(Device):
    """A device of another task, from its DeviceAttributes proto."""

    def __init__(self, attributes: Proto) -> None:
        kind = attributes.device_type
        super().__init__(kind, int(attributes.name.rpartition(":")[2]))
        self.name = attributes.name
        self.incarnation = attributes.incarnation
        self.memory_limit_bytes = attributes.memory_limit
        self.physical_device_desc = attributes.physical_device_desc


def task_of(device: Device) -> str:
    """The name of a device's task."""
    return device.name.partition("/device:")[0]


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
        partition(step, self.client, self.transfers)


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


class ClusterSession(TaskSession):
    """A session whose graph is run by the tasks of a cluster.

    Args:
      task: of this process, the master.
      cluster: all tasks.
      config: the client's.

    Raises:
      DeadlineExceededError: a task did not start.
    """

    def __init__(self, task: Task, cluster: Cluster, config: Proto) -> None:
        super().__init__(task, config)
        self._cluster = cluster
        self._handle = secrets.token_hex(8)
        self._is_isolated = config.isolate_session_state
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
        self._steps_lock = threading.Lock()
        if self._is_isolated:
            self._create_worker_sessions(tasks)

    def _create_worker_sessions(self, tasks: list[str]) -> None:
        request = protos.CreateWorkerSessionRequest(
            session_handle=self._handle, isolate_session_state=True
        )
        self._isolated_tasks = tasks
        for task in tasks:
            method = "WorkerService/CreateWorkerSession"
            self._cluster.call(task, method, request.SerializeToString(), 60.0)

    # ---- parts

    def _parts_of(
        self, elements: tuple[Element, ...], fed: tuple[Tensor, ...]
    ) -> list[Part]:
        """The parts of a step, registered with their tasks."""
        key = elements, fed, self.graph.mutations
        with self._steps_lock:
            found = self._parts.get(key)
            if found is None:
                self._extend()
                step = self.planner.plan(elements, fed, unfolded=True)
                found = self._register(step)
                self._parts[key] = found
            return found

    def _register(self, step: Step) -> list[Part]:
        _check_flow(step)
        graph = ExecutedGraph(step)
        by_task: dict[str, list[ExecutedNode]] = {}
        for node in graph.nodes:
            by_task.setdefault(task_of(node.device), []).append(node)
        arguments = {name: node for node, name in argument_names(step).items()}
        fed = {node: tensor for tensor, node in step.feeds.items()}
        returned = {name: tensor for tensor, name in return_names(step).items()}
        found = []
        for task, nodes in sorted(by_task.items()):
            graph_def = protos.GraphDef(versions=versions())
            graph_def.library.CopyFrom(self._library())
            feeds: dict[Tensor, str] = {}
            fetches: dict[str, Tensor] = {}
            for node in nodes:
                if node.op_type == "_Arg":
                    tensor = fed[arguments[node.name]]
                    feeds[tensor] = self._border(node, tensor, "_Recv", "tensor_type")
                elif node.op_type == "_Retval":
                    tensor = returned[node.name]
                    fetches[self._border(node, tensor, "_Send", "T")] = tensor
                elif node.is_transfer:
                    self._set_incarnation(node)
                    if not step.has_control_flow:
                        node.attrs[IS_LIVE] = ("b", True)
                node.write(graph_def)
            request = protos.RegisterGraphRequest(
                session_handle=self._handle,
                create_worker_session_called=self._is_isolated,
                graph_def=graph_def,
                graph_options=self._config.graph_options,
            )
            data = self._cluster.call(
                task, "WorkerService/RegisterGraph", request.SerializeToString()
            )
            handle = protos.RegisterGraphResponse.FromString(data).graph_handle
            found.append(Part(task, handle, feeds, fetches))
        return found

    def _library(self) -> Proto:
        library = protos.FunctionDefLibrary()
        if self.graph.functions:
            library.CopyFrom(self.graph.as_graph_def().library)
        return library

    def _border(
        self, node: ExecutedNode, tensor: Tensor, op_type: str, dtype_name: str
    ) -> str:
        """Make a node of a feed or fetch one that the client is connected to."""
        device = node.device
        node.op_type = op_type
        node.attrs = {
            dtype_name: ("type", tensor.dtype.base_dtype),
            "client_terminated": ("b", True),
            "recv_device": ("s", device.name),
            "send_device": ("s", device.name),
            "send_device_incarnation": ("i", _signed(device.incarnation)),
            "tensor_name": ("s", tensor.name),
        }
        return Key(device.name, device.incarnation, device.name, tensor.name).text

    def _set_incarnation(self, node: ExecutedNode) -> None:
        device = self._devices[node.attrs["send_device"][1]]
        number = _signed(device.incarnation)
        node.attrs = {**node.attrs, "send_device_incarnation": ("i", number)}

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
        parts = self._parts_of(tuple(elements), tuple(fed))
        timeout_ms = self._options.timeout_ms
        if options is not None and options.timeout_in_ms:
            timeout_ms = options.timeout_in_ms
        run = _StepRun(self._cluster, parts, timeout_ms)
        for part in parts:
            run.start(part, fed, options)
        found = run.values(metadata)
        found.update((t, fed[t]) for t in elements if t in fed)  # type: ignore[index]
        return [found[e] for e in elements if isinstance(e, Tensor)]

    def close(self) -> None:
        """End the session; the tasks forget its parts."""
        was_closed = self._closed
        super().close()
        if was_closed or not hasattr(self, "_parts"):
            return
        for parts in self._parts.values():
            for part in parts:
                request = protos.DeregisterGraphRequest(
                    session_handle=self._handle,
                    create_worker_session_called=self._is_isolated,
                    graph_handle=part.handle,
                )
                method = "WorkerService/DeregisterGraph"
                self._send(part.task, method, request)
        if self._is_isolated:
            for task in self._isolated_tasks:
                request = protos.DeleteWorkerSessionRequest(session_handle=self._handle)
                self._send(task, "WorkerService/DeleteWorkerSession", request)

    def _send(self, task: str, method: str, request: Proto) -> None:
        """Call a method, and wait for no answer."""
        data = request.SerializeToString()
        self._cluster.post(task, method, data, lambda answer, error: None)


class _StepRun:
    """A step in progress.

    Args:
      cluster: whose tasks run it.
      parts: those of the step.
      timeout_ms: its time limit, or 0.
    """

    def __init__(self, cluster: Cluster, parts: list[Part], timeout_ms: int) -> None:
        self._cluster = cluster
        self._parts = parts
        self._step_id = secrets.randbits(62)
        self._condition = threading.Condition()
        self._answers: list[tuple[Part, bytes]] = []
        self._error: errors.OpError | None = None
        self._derived_s = 0.0  # when the error arrived
        self._running = {part.task for part in parts}
        self._calls: list[Any] = []
        self._ends_s = time.monotonic() + timeout_ms / 1000 if timeout_ms else None

    def start(self, part: Part, fed: dict[Tensor, Any], options: Proto | None) -> None:
        """Begin a part."""
        pieces: list[Piece] = [
            chunk(b"\x0a", part.handle.encode()),
            b"\x10" + varint(self._step_id),
        ]
        for tensor, key in part.feeds.items():
            pieces += named_tensor(b"\x1a", key, fed[tensor], tensor.dtype)
        pieces += [chunk(b"\x22", key.encode()) for key in part.fetches]
        if options is not None:
            wanted = protos.ExecutorOpts(
                record_timeline=options.trace_level > 0,
                record_partition_graphs=options.output_partition_graphs,
            )
            pieces.append(chunk(b"\x2a", wanted.SerializeToString()))
        pieces.append(b"\x48\x01")  # store_errors_in_response_body
        method = "WorkerService/RunGraph"

        def arrived(answer: bytes | None, error: errors.OpError | None) -> None:
            with self._condition:
                self._running.discard(part.task)
                if error is None:
                    self._answers.append((part, answer or b""))
                    error = _error_in(answer or b"")
                if error is not None and _is_worse(error, self._error):
                    self._error = error
                    self._derived_s = time.monotonic()
                self._condition.notify_all()

        self._calls.append(
            self._cluster.start(part.task, method, b"".join(pieces), arrived)
        )

    def values(self, metadata: Proto | None) -> dict[Any, Any]:
        """The fetched values, once all parts have ended.

        Raises:
          OpError: a part failed, or the time limit was exceeded.
        """
        try:
            self._wait()
        finally:
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
                    metadata.step_stats.MergeFromString(bytes(value))
                elif number == 4 and metadata is not None:
                    metadata.partition_graphs.add().ParseFromString(bytes(value))
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
        request = protos.CleanupGraphRequest(step_id=self._step_id).SerializeToString()
        for part in self._parts:
            method = "WorkerService/CleanupGraph"
            self._cluster.post(part.task, method, request, lambda a, e: None)
        if self._running:
            end_s = time.monotonic() + _ABORT_S
            with self._condition:
                while self._running and time.monotonic() < end_s:
                    self._condition.wait(0.1)
            for call in self._calls:
                call.cancel()


def _error_in(answer: bytes) -> errors.OpError | None:
    """The error that a RunGraphResponse holds."""
    code, message = 0, ""
    for number, value in fields(memoryview(answer)):
        if number == 5:
            code = value
        elif number == 6:
            message = bytes(value).decode(errors="replace")
    return error_of_status(code, message) if code else None


def _is_worse(new: errors.OpError, old: errors.OpError | None) -> bool:
    """Whether an error says more than another, which may follow from it."""
    return old is None or (_is_derived(old) and not _is_derived(new))


def _is_derived(error: errors.OpError) -> bool:
    return isinstance(error, errors.CancelledError) or DERIVED in error.message


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _check_flow(step: Step) -> None:
    """Refuse loops that several tasks run.

    Raises:
      UnimplementedError: there is one.
    """
    if not step.has_control_flow:
        return
    for node, path in frames_of(step).items():
        loop = path_behind(node, path)
        if not loop or node.spec is None:
            continue
        before = [source for source, _ in node.inputs] + node.control
        others = {task_of(other.device) for other in before if not other.is_feed}
        if others - {task_of(node.device)}:
            raise errors.UnimplementedError(
                None,
                None,
                f"{{{{node {node.name}}}}} on {node.device.name} takes a value inside "
                f"the loop '{loop[-1]}' from another task. Place the whole loop on "
                "one task.",
            )
