"""A task's part of a graph, as a session of the worker that runs it.

Source: core/distributed_runtime/graph_mgr.cc, core/kernels/sendrecv_ops.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.engine.execute.kernel_context import Context
from tfteach.engine.flow.flow_nodes import DEAD
from tfteach.framework import errors, protos
from tfteach.framework.defaults import default_graph
from tfteach.framework.dtypes import DType, as_dtype, int64
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos.tensor_wire import (
    Piece,
    fields,
    nested,
    read_tensor,
    tensor_pieces,
)
from tfteach.framework.type_aliases import Proto
from tfteach.lib.distributed_runtime.fused_nodes import unfused
from tfteach.lib.distributed_runtime.rendezvous import Key
from tfteach.lib.distributed_runtime.run_messages import RunGraphRequest
from tfteach.lib.distributed_runtime.task_session import Element, TaskSession
from tfteach.lib.distributed_runtime.transfer_ops import (
    TRANSFERS,
    RecvPerhapsDead,
    RecvTensor,
    RecvTensors,
    SendPerhapsDead,
    SendTensor,
    step_of_part,
)
from tfteach.lib.distributed_runtime.worker_session import WorkerSession
from tfteach.ops.core.placeholder import Placeholder, placeholder

FULL_TRACE = 3  # RunOptions.TraceLevel
STEP_ID = "step_id"
# TensorFlow's masters use the second for tensors in host memory.
_SENDS, _RECVS = ("_Send", "_HostSend"), ("_Recv", "_HostRecv")


# Our masters set it on transfers outside of control flow.
IS_LIVE = "_is_live"
# Our masters set it on tensors of a part's last call: one op waits for all of them.
IN_LAST_CALL = "_in_last_call"
_IS_DEAD = b"\x10\x01"  # the field of RecvTensorResponse


class PartitionSession(TaskSession):
    """Runs a task's part of a graph.

    The `_Send` and `_Recv` nodes at its edges become ops that transfer tensors. Those
    with the client at the other end become fetches and feeds, except in partial runs.

    Args:
      worker: whose part it is.
      graph_def: the part; each node has its device.
      config: of the session.
    """

    def __init__(self, worker: WorkerSession, graph_def: Proto, config: Proto) -> None:
        super().__init__(worker.task, config)
        self._worker = worker
        self.feeds: dict[str, Tensor] = {}
        self.fetches: dict[str, Tensor] = {}
        self._to_client: list[Operation] = []  # sends of the fetches
        with default_graph(self.graph):
            self._step_id = placeholder(int64, [], name=STEP_ID)
            self._import(graph_def)
        for op in self.graph.operations:
            op._origin = None  # the line is the client's
        at_client = {*self._to_client, *(t.op for t in self.feeds.values())}
        ends = [
            op
            for op in self.graph.operations
            if not self._is_used(op) and op not in at_client
        ]
        # Whether no other task takes part in its steps.
        self.has_no_peers = not any(
            isinstance(op.spec, TRANSFERS) and op not in at_client
            for op in self.graph.operations
        )
        self._elements: list[Element] = [*dict.fromkeys(self.fetches.values()), *ends]
        self._elements_of_partial_run: list[Element] = [*self._to_client, *ends]

    def _is_used(self, op: Operation) -> bool:
        if isinstance(op.spec, Placeholder) or self.graph.control_outputs_of(op):
            return True
        return any(tensor.consumers() for tensor in op.outputs)

    def _import(self, graph_def: Proto) -> None:
        inner = protos.GraphDef(versions=graph_def.versions, library=graph_def.library)
        sends, last = [], []
        received: dict[str, Tensor] = {}
        for node in unfused(graph_def):
            if node.op in _SENDS:
                sends.append(node)
            elif node.op in _RECVS and node.attr[IN_LAST_CALL].b:
                last.append(node)
            elif node.op in _RECVS:
                received[node.name] = self._recv(node)
            else:
                inner.node.append(node)
        if last:
            received |= self._recv_together(last)
        used = {name for node in inner.node for name in node.input}
        mapped = {f"{name}:0": t for name, t in received.items() if name in used}
        mapped |= {f"^{n}": t for n, t in received.items() if f"^{n}" in used}
        self.add(inner, mapped)
        for node in graph_def.node:
            if node.name in received:
                # The control inputs of the loop that it is in.
                controls = self._controls(node, received)
                received[node.name].op._add_control_inputs(controls)
        for node in sends:
            source, key = node.input[0], key_of(node)
            tensor = received[source] if source in received else self.tensor(source)
            if node.attr["client_terminated"].b:
                self.fetches[key] = tensor
                self._to_client.append(self._send(node, key, tensor))
            else:
                with self.graph.control_dependencies(self._controls(node, received)):
                    self._send(node, key, tensor)

    def _controls(self, node: Proto, received: dict[str, Tensor]) -> list[Operation]:
        names = [name[1:] for name in node.input if name[0] == "^"]
        return [
            received[name].op if name in received else self.operation(name)
            for name in names
        ]

    def _send(self, node: Proto, key: str, tensor: Tensor) -> Operation:
        name = _valid(node.name)
        found: Any
        if node.attr[IS_LIVE].b:
            found = SendTensor(key)(tensor, self._step_id, name=name)
        else:
            found = SendPerhapsDead(key)(tensor, name=name)
        assert isinstance(found, Operation)
        return found

    def _recv(self, node: Proto) -> Tensor:
        dtype, key = as_dtype(node.attr["tensor_type"].type), key_of(node)
        is_fed = node.attr["client_terminated"].b
        found: Tensor
        if is_fed or node.attr[IS_LIVE].b:
            found = RecvTensor(key, dtype)(self._step_id, name=_valid(node.name))
            if is_fed:
                self.feeds[key] = found
        else:
            found = RecvPerhapsDead(key, dtype)(name=_valid(node.name))
        return found

    def _recv_together(self, nodes: list[Proto]) -> dict[str, Tensor]:
        keys = tuple(key_of(node) for node in nodes)
        dtypes = tuple(as_dtype(node.attr["tensor_type"].type) for node in nodes)
        made: Any = RecvTensors(keys, dtypes)(self._step_id, name=_valid(nodes[0].name))
        found = dict(zip(keys, made, strict=True))
        self.feeds |= found
        return {node.name: found[key_of(node)] for node in nodes}

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
        step_of_part.set(request.step_id)
        values = self.run_elements(self._elements, fed, options, metadata)
        found = dict(zip(dict.fromkeys(self.fetches.values()), values, strict=False))
        answered = []
        for key in request.fetches:
            tensor = self.fetches.get(key)
            if tensor is not None:
                answered.append((key, found[tensor], tensor.dtype))
        return answered

    def run_partially(self, step_id: int) -> None:
        """Run the part in a step whose feeds and fetches go through the rendezvous."""
        step_of_part.set(step_id)
        fed = {self._step_id: np.int64(step_id)}
        self.run_elements(self._elements_of_partial_run, fed, None, None)

    # ---- for the kernels

    def exchanges_with_tensorflow_2(self, key: str) -> bool:
        """Whether TensorFlow 2 is at the other end of an edge."""
        parsed, own = Key.parse(key), self._worker.task.name
        ends = (parsed.sender, parsed.receiver)
        tasks = {end.partition("/device:")[0] for end in ends} - {own}
        return any(self._worker.cluster.is_of_tensorflow_2(task) for task in tasks)

    def send(self, step_id: int, key: str, value: Any, dtype: DType) -> None:
        """Put a tensor into the rendezvous of a step."""
        pieces: list[Piece]
        if value is DEAD:
            nothing = np.empty(0, dtype.numpy_dtype)
            pieces = [*nested(b"\x0a", tensor_pieces(nothing, dtype)), _IS_DEAD]
        else:
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
        return received(answer, key)


def received(answer: bytes, key: str) -> Any:
    """The array of a RecvTensorResponse, or DEAD."""
    tensor: memoryview | None = None
    for number, value in fields(memoryview(answer)):
        if number == 1:
            tensor = value
        elif number == 2 and value:
            return DEAD
    if tensor is None:
        raise errors.InternalError(None, None, f"RecvTensor without a tensor: {key}")
    array = read_tensor(tensor)
    return array[()] if array.ndim == 0 and array.dtype != object else array


def _valid(name: str) -> str:
    """A node's name without leading underscores, which users may not choose."""
    return name.lstrip("_")


def key_of(node: Proto) -> str:
    """The rendezvous key of a `_Send` or `_Recv`."""
    attr = node.attr
    return Key(
        attr["send_device"].s.decode(),
        attr["send_device_incarnation"].i & (2**64 - 1),
        attr["recv_device"].s.decode(),
        attr["tensor_name"].s.decode(),
    ).text
