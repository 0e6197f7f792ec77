"""The WorkerService: runs a task's parts of the steps that a master makes.

Source: core/distributed_runtime/{worker,graph_mgr}.cc, core/protobuf/worker.proto.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from tfteach.engine.execute.kernel_context import Context
from tfteach.framework import errors, protos
from tfteach.framework.defaults import default_graph
from tfteach.framework.dtypes import DType, as_dtype, int64
from tfteach.framework.operation import Tensor
from tfteach.framework.protos.tensor_wire import (
    fields,
    nested,
    read_tensor,
    tensor_pieces,
)
from tfteach.framework.type_aliases import Proto
from tfteach.lib.distributed.cluster import Cluster
from tfteach.lib.distributed.remote_code import check_graph
from tfteach.lib.distributed.rendezvous import Key, Rendezvous, RendezvousTable
from tfteach.lib.distributed.run_messages import (
    RunGraphRequest,
    failed_graph_response,
    run_graph_response,
)
from tfteach.lib.distributed.service import (
    Call,
    Method,
    encoded,
    status_of,
    until_given_up,
)
from tfteach.lib.distributed.task import Task
from tfteach.lib.distributed.task_session import Element, TaskSession
from tfteach.lib.distributed.transfer_ops import RecvTensor, SendTensor
from tfteach.ops.core.placeholder import Placeholder, placeholder

FULL_TRACE = 3  # RunOptions.TraceLevel
STEP_ID = "step_id"
_PUBLIC = {"Snapshot": "Identity"}  # op types of TensorFlow's optimizer
# TensorFlow's masters write the second where a tensor is in host memory.
_SENDS, _RECVS = ("_Send", "_HostSend"), ("_Recv", "_HostRecv")


class PartitionSession(TaskSession):
    """Runs the part of a graph that belongs to a task.

    `_Send` and `_Recv` at its borders become feeds and fetches where the client is at
    the other end, and operations that wait for it where another task is.

    Args:
      worker: whose part it is.
      graph_def: the part; each node has its device.
      config: of the session.
      shared: the variables and queues that it uses.
    """

    def __init__(
        self, worker: WorkerService, graph_def: Proto, config: Proto, shared: Any
    ) -> None:
        super().__init__(worker.task, config, shared=shared)
        self._worker = worker
        self.feeds: dict[str, Tensor] = {}
        self.fetches: dict[str, Tensor] = {}
        with default_graph(self.graph):
            self._step_id = placeholder(int64, [], name=STEP_ID)
            self._import(graph_def)
        ends = [op for op in self.graph.operations if not self._is_used(op)]
        self._elements: list[Element] = [*dict.fromkeys(self.fetches.values()), *ends]

    def _is_used(self, op: Any) -> bool:
        if isinstance(op.spec, Placeholder) or self.graph.control_outputs_of(op):
            return True
        return any(tensor.consumers() for tensor in op.outputs)

    def _import(self, graph_def: Proto) -> None:
        inner = protos.GraphDef(versions=graph_def.versions, library=graph_def.library)
        sends, received = [], {}
        for node in graph_def.node:
            if node.op in _SENDS:
                sends.append(node)
            elif node.op in _RECVS:
                received[node.name] = self._recv(node)
            else:
                added = inner.node.add()
                added.CopyFrom(node)
                added.op = _PUBLIC.get(node.op, node.op)
        used = {name for node in inner.node for name in node.input}
        mapped = {f"{name}:0": t for name, t in received.items() if name in used}
        mapped |= {f"^{n}": t for n, t in received.items() if f"^{n}" in used}
        self.add(inner, mapped)
        for node in sends:
            source, key = node.input[0], key_of(node)
            tensor = received[source] if source in received else self.tensor(source)
            if node.attr["client_terminated"].b:
                self.fetches[key] = tensor
            else:
                spec = SendTensor(key)
                with self.graph.control_dependencies(self._controls(node)):
                    spec(tensor, self._step_id, name=_valid(node.name))

    def _controls(self, node: Proto) -> list[Element]:
        names = [name[1:] for name in node.input if name[0] == "^"]
        return [self.operation(name) for name in names]

    def _recv(self, node: Proto) -> Tensor:
        dtype, key = as_dtype(node.attr["tensor_type"].type), key_of(node)
        if node.attr["client_terminated"].b:
            fed = self.feeds[key] = placeholder(dtype, name=_valid(node.name))
            return fed
        found: Tensor = RecvTensor(key, dtype)(self._step_id, name=_valid(node.name))
        return found

    def run_part(
        self, request: RunGraphRequest, metadata: Proto
    ) -> list[tuple[str, Any, DType]]:
        """Run the part in a step; returns the fetches that the master asks for."""
        options = protos.RunOptions()
        if request.records_timeline:
            options.trace_level = FULL_TRACE
        options.output_partition_graphs = request.records_partition_graphs
        fed: dict[Tensor, Any] = {self._step_id: np.int64(request.step_id)}
        for key, value in request.feeds.items():
            if key in self.feeds:
                fed[self.feeds[key]] = value
        values = self.run_elements(self._elements, fed, options, metadata)
        found = dict(zip(dict.fromkeys(self.fetches.values()), values, strict=False))
        answered = []
        for key in request.fetches:
            tensor = self.fetches.get(key)
            if tensor is not None:
                answered.append((key, found[tensor], tensor.dtype))
        return answered

    # ---- for the kernels

    def send(self, step_id: int, key: str, value: Any, dtype: DType) -> None:
        """Put a tensor into the rendezvous of a step."""
        pieces = nested(b"\x0a", tensor_pieces(value, dtype))
        self._worker.steps.of(step_id).put(key, b"".join(pieces))

    def receive(self, step_id: int, key: str, ctx: Context) -> Any:
        """Take a tensor from the rendezvous of a step, or from another task."""
        rendezvous = self._worker.steps.of(step_id)
        parsed = Key.parse(key)
        if parsed.sending_task != self._worker.task.name and rendezvous.request(key):
            self._worker.fetch(step_id, parsed, rendezvous)
        answer = rendezvous.take(
            key,
            lambda condition, is_there: ctx.wait_until(
                condition, is_there, "Call was cancelled"
            ),
        )
        for number, value in fields(memoryview(answer)):
            if number == 1:
                array = read_tensor(value)
                return array[()] if array.ndim == 0 and array.dtype != object else array
        raise errors.InternalError(None, None, f"RecvTensor without a tensor: {key}")


def _valid(name: str) -> str:
    """A node's name as users may choose it: not with an underscore first."""
    return name.lstrip("_")


def key_of(node: Proto) -> str:
    """The key under which a `_Send` or `_Recv` hands its tensor over."""
    attr = node.attr
    return Key(
        attr["send_device"].s.decode(),
        attr["send_device_incarnation"].i & (2**64 - 1),
        attr["recv_device"].s.decode(),
        attr["tensor_name"].s.decode(),
    ).text


class WorkerService:
    """The parts of graphs that a task runs, and the methods by which masters do so.

    Args:
      task: the server's.
      cluster: the other tasks.
    """

    def __init__(self, task: Task, cluster: Cluster) -> None:
        self.task = task
        self.cluster = cluster
        self.steps = RendezvousTable()
        self._graphs: dict[str, PartitionSession] = {}
        self._isolated: dict[str, Any] = {}  # resources by session
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def methods(self) -> dict[str, Method]:
        """The methods by their names on the wire."""
        return {
            "WorkerService/GetStatus": self._get_status,
            "WorkerService/CreateWorkerSession": self._create_session,
            "WorkerService/DeleteWorkerSession": self._delete_session,
            "WorkerService/RegisterGraph": self._register_graph,
            "WorkerService/DeregisterGraph": self._deregister_graph,
            "WorkerService/RunGraph": self._run_graph,
            "WorkerService/CleanupGraph": self._cleanup_graph,
            "WorkerService/CleanupAll": self._cleanup_all,
            "WorkerService/RecvTensor": self._recv_tensor,
            "WorkerService/Logging": self._logging,
            "WorkerService/Tracing": self._tracing,
        }

    def fetch(self, step_id: int, key: Key, rendezvous: Rendezvous) -> None:
        """Ask the sending task for a tensor, and put it there when it comes."""
        request = protos.RecvTensorRequest(step_id=step_id, rendezvous_key=key.text)

        def arrived(answer: bytes | None, error: errors.OpError | None) -> None:
            if error is not None:
                rendezvous.abort(error)
            else:
                rendezvous.put(key.text, answer or b"")

        self.cluster.post(
            key.sending_task,
            "WorkerService/RecvTensor",
            request.SerializeToString(),
            arrived,
        )

    def _get_status(self, call: Call) -> bytes:
        protos.GetStatusRequest.FromString(call.request)
        attributes = self.task.attributes()
        return encoded(protos.GetStatusResponse(device_attributes=attributes))

    def _create_session(self, call: Call) -> bytes:
        request = protos.CreateWorkerSessionRequest.FromString(call.request)
        if request.server_def.HasField("cluster"):
            raise NotImplementedError("clusters that a session brings along")
        if request.isolate_session_state:
            self._isolated[request.session_handle] = self.task.isolated()
        return encoded(protos.CreateWorkerSessionResponse())

    def _delete_session(self, call: Call) -> bytes:
        request = protos.DeleteWorkerSessionRequest.FromString(call.request)
        found = self._isolated.pop(request.session_handle, None)
        if found is not None:
            found.clear()
        return encoded(protos.DeleteWorkerSessionResponse())

    def _register_graph(self, call: Call) -> bytes:
        request = protos.RegisterGraphRequest.FromString(call.request)
        check_graph(request.graph_def, call)
        shared = self._isolated.get(request.session_handle, self.task.resources)
        config = protos.ConfigProto(graph_options=request.graph_options)
        part = PartitionSession(self, request.graph_def, config, shared)
        handle = f"{next(self._numbers):016x}"
        with self._lock:
            self._graphs[handle] = part
        return encoded(protos.RegisterGraphResponse(graph_handle=handle))

    def _deregister_graph(self, call: Call) -> bytes:
        request = protos.DeregisterGraphRequest.FromString(call.request)
        with self._lock:
            found = self._graphs.pop(request.graph_handle, None)
        if found is None:
            raise errors.AbortedError(
                None,
                None,
                f"Graph handle is not found: {request.graph_handle}. Possibly, this "
                "worker just restarted.",
            )
        found.close()
        return encoded(protos.DeregisterGraphResponse())

    def _run_graph(self, call: Call) -> bytes:
        request = RunGraphRequest(call.request)
        try:
            with until_given_up(call):
                return self._run_part(request)
        except Exception as error:
            failure = status_of(error, "RunGraph")
        # The tensors that others wait for will not come.
        kind = errors.exception_type_from_error_code(failure.error_code)
        aborted = kind(None, None, failure.message)
        self.steps.of(request.step_id).abort(aborted)
        if request.answers_errors:
            return failed_graph_response(failure)
        raise failure

    def _run_part(self, request: RunGraphRequest) -> bytes:
        part = self._graphs.get(request.graph_handle)
        if part is None:
            raise errors.AbortedError(
                None, None, f"Graph handle is not found: {request.graph_handle}"
            )
        if request.is_partial:
            raise NotImplementedError("partial runs of several tasks")
        metadata = protos.RunMetadata()
        return run_graph_response(part.run_part(request, metadata), metadata)

    def _cleanup_graph(self, call: Call) -> bytes:
        request = protos.CleanupGraphRequest.FromString(call.request)
        self.steps.end(request.step_id)
        return encoded(protos.CleanupGraphResponse())

    def _cleanup_all(self, call: Call) -> bytes:
        request = protos.CleanupAllRequest.FromString(call.request)
        self.task.resources.clear(list(request.container))
        return encoded(protos.CleanupAllResponse())

    def _recv_tensor(self, call: Call) -> bytes:
        request = protos.RecvTensorRequest.FromString(call.request)
        key = Key.parse(request.rendezvous_key)
        own = {device.name: device.incarnation for device in self.task.devices}
        if key.sender not in own:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid rendezvous key (src): {key.text} @ {self.task.name}",
            )
        if own[key.sender] != key.incarnation:
            raise errors.AbortedError(
                None,
                None,
                "RecvTensor expects a different device incarnation: "
                f"{key.incarnation} vs. {own[key.sender]}. Your worker job "
                f"({self.task.name}) was probably restarted. Check your worker job for "
                "the reason why it was restarted.",
            )
        rendezvous = self.steps.of(request.step_id)
        gone = threading.Event()
        call.at_end(gone.set)

        def wait(condition: threading.Condition, is_there: Any) -> None:
            while not is_there() and not gone.is_set():
                condition.wait(1.0)
            if not is_there():
                raise errors.CancelledError(None, None, "RecvTensor was cancelled")

        return rendezvous.take(request.rendezvous_key, wait)

    def _logging(self, call: Call) -> bytes:
        request = protos.LoggingRequest.FromString(call.request)
        steps = [protos.LabeledStepStats(step_id=i) for i in request.fetch_step_id]
        return encoded(protos.LoggingResponse(step=steps))

    def _tracing(self, call: Call) -> bytes:
        raise NotImplementedError("Tracing")

    def close(self) -> None:
        """End all parts and all steps."""
        self.steps.end_all()
        with self._lock:
            ended, self._graphs = list(self._graphs.values()), {}
        for part in ended:
            part.close()
