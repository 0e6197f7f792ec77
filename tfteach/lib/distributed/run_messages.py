"""The messages of a step, which hold its tensors: read as views, written as pieces.

Source: core/protobuf/master.proto, worker.proto (RunStep, RunGraph).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework import protos
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import OpError
from tfteach.framework.protos.tensor_wire import (
    Piece,
    fields,
    nested,
    read_tensor,
    tensor_pieces,
)
from tfteach.framework.protos.wire_format import chunk, varint
from tfteach.framework.type_aliases import Proto


def named_tensor(tag: bytes, name: str, value: Any, dtype: DType) -> list[Piece]:
    """A field that holds a NamedTensorProto."""
    held = nested(b"\x12", tensor_pieces(value, dtype))
    return nested(tag, [chunk(b"\x0a", name.encode()), *held])


def split_named_tensor(message: memoryview) -> tuple[str, memoryview]:
    """The name of a NamedTensorProto, and its encoded tensor."""
    name, tensor = "", memoryview(b"")
    for number, value in fields(message):
        if number == 1:
            name = bytes(value).decode()
        elif number == 2:
            tensor = value
    return name, tensor


class RunStepRequest:
    """A RunStepRequest.

    Raises:
      ValueError: the message is malformed.
    """

    def __init__(self, data: bytes) -> None:
        self.handle = self.partial_run = ""
        self.feeds: dict[str, Any] = {}
        self.fetches: list[str] = []
        self.targets: list[str] = []
        self.options: Proto = protos.RunOptions()
        self.answers_errors = False
        for number, value in fields(memoryview(data)):
            if number == 1:
                self.handle = bytes(value).decode()
            elif number == 2:
                name, tensor = split_named_tensor(value)
                self.feeds[name] = read_tensor(tensor)
            elif number == 3:
                self.fetches.append(bytes(value).decode())
            elif number == 4:
                self.targets.append(bytes(value).decode())
            elif number == 5:
                self.options.ParseFromString(bytes(value))
            elif number == 6:
                self.partial_run = bytes(value).decode()
            elif number == 7:
                self.answers_errors = bool(value)


def run_step_response(
    values: Iterable[tuple[str, Any, DType]], metadata: Proto | None
) -> bytes:
    """A RunStepResponse with the fetched values, by name."""
    pieces: list[Piece] = []
    for name, value, dtype in values:
        pieces += named_tensor(b"\x0a", name, value, dtype)
    if metadata is not None:
        pieces.append(chunk(b"\x12", metadata.SerializeToString()))
    return b"".join(pieces)


def failed_step_response(error: OpError) -> bytes:
    """A RunStepResponse that holds an error, whose message may be long."""
    text = error.message.encode()
    return b"\x18" + varint(error.error_code) + chunk(b"\x22", text)


class RunGraphRequest:
    """A RunGraphRequest.

    Raises:
      ValueError: the message is malformed.
    """

    def __init__(self, data: bytes) -> None:
        self.graph_handle = ""
        self.step_id = 0
        self.feeds: dict[str, Any] = {}
        self.fetches: list[str] = []
        self.is_partial = self.answers_errors = False
        self.records_timeline = self.records_partition_graphs = False
        for number, value in fields(memoryview(data)):
            if number == 1:
                self.graph_handle = bytes(value).decode()
            elif number == 2:
                self.step_id = value - (1 << 64) if value >> 63 else value
            elif number == 3:
                key, tensor = split_named_tensor(value)
                self.feeds[key] = read_tensor(tensor)
            elif number == 4:
                self.fetches.append(bytes(value).decode())
            elif number == 5:
                options = protos.ExecutorOpts.FromString(bytes(value))
                self.records_timeline = options.record_timeline
                self.records_partition_graphs = options.record_partition_graphs
            elif number == 6:
                self.is_partial = bool(value)
            elif number == 9:
                self.answers_errors = bool(value)


def run_graph_response(
    values: Iterable[tuple[str, Any, DType]], metadata: Proto
) -> bytes:
    """A RunGraphResponse with the fetched values, by key."""
    pieces: list[Piece] = []
    for key, value, dtype in values:
        pieces += named_tensor(b"\x0a", key, value, dtype)
    if metadata.HasField("step_stats"):
        pieces.append(chunk(b"\x12", metadata.step_stats.SerializeToString()))
    for graph in metadata.partition_graphs:
        pieces.append(chunk(b"\x22", graph.SerializeToString()))
    return b"".join(pieces)


def failed_graph_response(error: OpError) -> bytes:
    """A RunGraphResponse that holds an error."""
    text = error.message.encode()
    return b"\x28" + varint(error.error_code) + chunk(b"\x32", text)
