"""Sessions on servers: the client of TensorFlow's MasterService.

Source: core/protobuf/master.proto, core/distributed_runtime/rpc/grpc_session.cc.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from tfteach.engine.session.device_list import DeviceAttributes, attributes_of_proto
from tfteach.engine.session.feeds import (
    converter_for,
    flatten_feeds,
    parts,
    resolve_feed,
)
from tfteach.engine.session.fetches import Element, Fetches
from tfteach.engine.session.targets import RemotePartialRun, RemoteProgram
from tfteach.framework import errors, protos
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.graph_def import graph_bytes
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos.tensor_wire import (
    Piece,
    fields,
    octets,
    read_tensor,
)
from tfteach.framework.protos.wire_format import chunk, varint
from tfteach.framework.type_aliases import FeedDict, Proto
from tfteach.framework.waiting import Deadline
from tfteach.lib.distributed_runtime.certificates import PROTOCOL
from tfteach.lib.distributed_runtime.channel import Connection, error_of_status
from tfteach.lib.distributed_runtime.run_messages import (
    RunStepRequest,
    named_tensor,
    split_named_tensor,
)
from tfteach.lib.distributed_runtime.service import LocalConnection, connect

_CLOSE_TIMEOUT_S = 10.0
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")


class _GrpcSessions:
    """Opens and resets the sessions of targets such as "grpc://host:port"."""

    def open(self, target: str, graph: Graph, config: Proto | None) -> RemoteMaster:
        return RemoteMaster(target, graph, config)

    def reset(
        self, target: str, containers: Sequence[str], config: Proto | None
    ) -> None:
        timeout_s = 0.0 if config is None else config.operation_timeout_in_ms / 1000
        request = protos.ResetRequest(container=containers).SerializeToString()
        address, is_secure = _address_of(target)
        channel = connect(address, is_secure=is_secure)
        channel.call("MasterService/Reset", request, timeout_s, waits_for_server=True)


GRPC_SESSIONS = _GrpcSessions()


def _address_of(target: str) -> tuple[str, bool]:
    """The address in a target, and whether TLS is used."""
    scheme, _, address = target.partition("://")
    return address, scheme == PROTOCOL


class RemoteMaster:
    """One session of a server.

    The session is created on the server when it is first needed; new operations are
    sent before each run.

    Args:
      target: "grpc://host:port".
      graph: of the session.
      config: its ConfigProto, or None.

    Raises:
      InvalidArgumentError: `target` names no host and port.
    """

    def __init__(self, target: str, graph: Graph, config: Proto | None) -> None:
        self.graph = graph
        self.config: Proto = protos.ConfigProto() if config is None else config
        self.timeout_s = self.config.operation_timeout_in_ms / 1000
        self._target = target
        self._address, self._is_secure = _address_of(target)
        self._channel: Connection | None = None
        self._handle = b""
        self._version = 0  # of the graph, as the server counts
        self._sent = 0  # operations that the server knows
        self._lock = threading.Lock()

    # ---- the protocol of the engine

    def program(
        self, elements: tuple[Element, ...], fed: tuple[Tensor, ...]
    ) -> RemoteProgram:
        """What runs these fetches; sends the operations that the server lacks."""
        self.extend()
        return _Program(self, elements, fed)

    def partial_run(self, fetches: Any, feeds: Any) -> RemotePartialRun:
        """A new partial run."""
        self.extend()
        return _PartialRun(self, fetches, feeds)

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of all tasks that the session can use."""
        self.extend()
        request = protos.ListDevicesRequest(session_handle=self._handle)
        answer = self._message("ListDevices", request, protos.ListDevicesResponse)
        every = (*answer.local_device, *answer.remote_device)
        return [attributes_of_proto(device) for device in every]

    def close(self) -> None:
        """End the session, if the server has it."""
        handle, self._handle = self._handle, b""
        if handle:
            request = protos.CloseSessionRequest(session_handle=handle)
            timeout_s = self.timeout_s or _CLOSE_TIMEOUT_S
            self.call("CloseSession", request.SerializeToString(), timeout_s)

    # ---- calls

    def extend(self) -> None:
        """Create the session, or send the operations added since."""
        with self._lock:
            count = self.graph.version
            if not self._handle:
                self._create(count)
            elif count > self._sent:
                self._extend(count)

    def _create(self, count: int) -> None:
        pieces = [
            chunk(b"\x0a", graph_bytes(self.graph)),
            chunk(b"\x12", self.config.SerializeToString()),
            chunk(b"\x1a", self._target.encode()),
        ]
        data = self.call(
            "CreateSession", b"".join(pieces), self.timeout_s, waits_for_server=True
        )
        answer = protos.CreateSessionResponse.FromString(data)
        self._handle = answer.session_handle.encode()
        self._version, self._sent = answer.graph_version, count

    def _extend(self, count: int) -> None:
        pieces = [
            chunk(b"\x0a", self._handle),
            chunk(b"\x12", graph_bytes(self.graph, from_version=self._sent)),
            b"\x18" + varint(self._version),
        ]
        data = self.call("ExtendSession", b"".join(pieces), self.timeout_s)
        answer = protos.ExtendSessionResponse.FromString(data)
        self._version, self._sent = answer.new_graph_version, count

    def run_step(self, request: Iterable[Piece], timeout_s: float) -> _Answer:
        """The answer of a RunStep; `request` has all fields but the session."""
        whole = b"".join((chunk(b"\x0a", self._handle), *request, b"\x38\x01"))
        answer = _Answer(self.call("RunStep", whole, timeout_s))
        if answer.code:
            raise self._attributed(error_of_status(answer.code, answer.message))
        return answer

    @property
    def local(self) -> LocalConnection | None:
        """The connection to a server of this process."""
        found = self._channel
        return found if isinstance(found, LocalConnection) else None

    def run_local(
        self,
        local: LocalConnection,
        fetches: tuple[list[str], list[str]],
        feeds: dict[str, Any],
        settings: tuple[Proto | None, Proto | None],
        partial_run: bytes = b"",
    ) -> list[Any]:
        """The values of a step that a server of this process runs.

        Args:
          local: the server.
          fetches: the names of tensors and of operations.
          feeds: arrays by tensor name.
          settings: a RunOptions proto and a RunMetadata proto to fill, or None.
          partial_run: its handle.
        """
        options, metadata = settings
        request = RunStepRequest(
            self._handle.decode(), feeds, *fetches, options, partial_run.decode()
        )
        filled = None if metadata is None else protos.RunMetadata()
        try:
            values = local.run_step(request, filled)
        except errors.OpError as error:
            raise self._attributed(error) from None
        if metadata is not None:
            metadata.CopyFrom(filled)
        return values

    def _message(self, method: str, request: Proto, kind: Any) -> Any:
        data = request.SerializeToString()
        return kind.FromString(self.call(method, data, self.timeout_s))

    def call(
        self,
        method: str,
        request: bytes,
        timeout_s: float,
        waits_for_server: bool = False,
    ) -> bytes:
        """The answer of a method of the MasterService."""
        if self._channel is None:
            by_rpc = self.config.rpc_options.use_rpc_for_inprocess_master
            self._channel = connect(self._address, by_rpc, self._is_secure)
        try:
            return self._channel.call(
                f"MasterService/{method}", request, timeout_s, waits_for_server
            )
        except errors.OpError as error:
            raise self._attributed(error) from None

    def _attributed(self, error: errors.OpError) -> errors.OpError:
        """The error, with the operation that its message names and where it was made.

        As in a local session, the message includes the location.
        """
        found = _NODE.search(error.message)
        if found is None:
            return error
        try:
            op = self.graph.get_operation_by_name(found[1])
        except (KeyError, ValueError):  # a node that the server added
            return error
        source = op.source
        where = "" if source is None else f" (defined at {source.file}:{source.line})"
        shown = f"node {op.name}{where} "
        message = _NODE.sub(shown, error.message, count=1)
        return type(error)(None, op, message)


class _Answer:
    """A RunStepResponse."""

    def __init__(self, data: bytes) -> None:
        self.tensors: dict[str, memoryview] = {}
        self.metadata = b""
        self.code, self.message = 0, ""
        for number, value in fields(memoryview(data)):
            if number == 1:
                name, tensor = split_named_tensor(value)
                self.tensors[name] = tensor
            elif number == 2:
                self.metadata = octets(value)
            elif number == 3:
                self.code = value
            elif number == 4:
                self.message = octets(value).decode(errors="replace")

    def values(self, names: Sequence[str]) -> list[Any]:
        """The arrays of tensors, scalars as in a local session."""
        found = []
        for name in names:
            if name not in self.tensors:
                raise errors.InternalError(
                    None, None, f"the server's answer lacks the fetched {name}"
                )
            array = read_tensor(self.tensors[name])
            found.append(array[()] if array.ndim == 0 else array)
        return found


def _feed(tensor: Tensor, value: Any) -> list[Piece]:
    return named_tensor(b"\x12", tensor.name, value, tensor.dtype)


class _Program(RemoteProgram):
    """Fetches and feeds of a run, by name."""

    def __init__(
        self,
        master: RemoteMaster,
        elements: tuple[Element, ...],
        fed: tuple[Tensor, ...],
    ) -> None:
        self._master = master
        self._fed = fed
        self._names = [e.name for e in elements if isinstance(e, Tensor)]
        self._targets = [e.name for e in elements if isinstance(e, Operation)]
        self._fetches = b"".join(
            chunk(tag, name.encode())
            for tag, names in ((b"\x1a", self._names), (b"\x22", self._targets))
            for name in names
        )
        self._options = _encoded_options(master, None)

    def run(
        self,
        fed: Sequence[Any],
        observers: Sequence[Any] = (),
        deadline: Deadline | None = None,
    ) -> list[Any]:
        local = self._master.local
        if local is not None:
            return self._run_local(local, fed, None, None)
        return self._run(fed, self._options, self._master.timeout_s, None)

    def run_with(
        self, fed: Sequence[Any], options: Proto | None, metadata: Proto | None
    ) -> list[Any]:
        local = self._master.local
        if local is not None:
            return self._run_local(local, fed, options, metadata)
        timeout_s = self._master.timeout_s
        if options is not None and options.timeout_in_ms:
            timeout_s = options.timeout_in_ms / 1000
        encoded = _encoded_options(self._master, options)
        return self._run(fed, encoded, timeout_s, metadata)

    def _run_local(
        self,
        local: LocalConnection,
        fed: Sequence[Any],
        options: Proto | None,
        metadata: Proto | None,
    ) -> list[Any]:
        feeds = {t.name: value for t, value in zip(self._fed, fed, strict=True)}
        fetches = self._names, self._targets
        return self._master.run_local(local, fetches, feeds, (options, metadata))

    def _run(
        self,
        fed: Sequence[Any],
        options: bytes,
        timeout_s: float,
        metadata: Proto | None,
    ) -> list[Any]:
        request: list[Piece] = []
        for tensor, value in zip(self._fed, fed, strict=True):
            request += _feed(tensor, value)
        request += (self._fetches, options)
        answer = self._master.run_step(request, timeout_s)
        if metadata is not None:
            metadata.ParseFromString(answer.metadata)
        return answer.values(self._names)


def _encoded_options(master: RemoteMaster, options: Proto | None) -> bytes:
    """The field of the RunOptions; the session's timeout where they have none."""
    encoded = protos.RunOptions()
    if options is not None:
        encoded.CopyFrom(options)
    if not encoded.timeout_in_ms:
        encoded.timeout_in_ms = master.config.operation_timeout_in_ms
    return chunk(b"\x2a", encoded.SerializeToString())


class _PartialRun(RemotePartialRun):
    """A partial run, set up on the server."""

    def __init__(self, master: RemoteMaster, fetches: Any, feeds: Any) -> None:
        self._master = master
        graph = master.graph
        wanted = Fetches(graph, fetches)
        targets = [e.name for e in wanted.elements if isinstance(e, Operation)]
        fed = [resolve_feed(graph, part) for key in feeds or () for part in parts(key)]
        request = protos.PartialRunSetupRequest(
            session_handle=master._handle,
            feed=[tensor.name for tensor in fed],
            fetch=[tensor.name for tensor in wanted.tensors],
            target=targets,
        )
        data = request.SerializeToString()
        answer = master.call("PartialRunSetup", data, master.timeout_s)
        found = protos.PartialRunSetupResponse.FromString(answer)
        self._handle = found.partial_run_handle.encode()

    def run(self, fetches: Any, feed_dict: FeedDict | None) -> Any:
        master = self._master
        wanted = Fetches(master.graph, fetches)
        if len(wanted.tensors) < len(wanted.elements):
            raise RuntimeError("partial_run() requires empty target_list.")
        names = [tensor.name for tensor in wanted.tensors]
        flat = flatten_feeds(master.graph, feed_dict or {})
        fed = {tensor: converter_for(tensor)(value) for tensor, value in flat.items()}
        local = master.local
        if local is not None:
            feeds = {tensor.name: value for tensor, value in fed.items()}
            settings, handle = (None, None), self._handle
            values = master.run_local(local, (names, []), feeds, settings, handle)
            return wanted.result(values)
        request: list[Piece] = []
        for tensor, value in fed.items():
            request += _feed(tensor, value)
        request += [chunk(b"\x1a", name.encode()) for name in names]
        request.append(_encoded_options(master, None))
        request.append(chunk(b"\x32", self._handle))
        answer = master.run_step(request, master.timeout_s)
        return wanted.result(answer.values(names))
