"""The messages of a step, which hold its tensors: read as views, written as pieces.

Source: core/protobuf/master.proto, worker.proto (RunStep, RunGraph).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tfteach.framework import protos
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import OpError
from tfteach.framework.protos.tensor_wire import (
    Piece,
    fields,
    nested,
    octets,
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
            name = octets(value).decode()
        elif number == 2:
            tensor = value
    return name, tensor


def tensors_of(answer: bytes) -> Iterator[tuple[str, memoryview]]:
    """The keys and encoded tensors of a RunGraphResponse."""
    for number, value in fields(memoryview(answer)):
        if number == 1:
            yield split_named_tensor(value)


def tensor_in(answer: bytes) -> memoryview:
    """The encoded tensor of a RecvTensorResponse."""
    return next(v for n, v in fields(memoryview(answer)) if n == 1)


def fed_array(tensor: memoryview, index: int) -> Any:
    """The array of a tensor that is fed.

    Raises:
      ValueError: it is malformed: its content does not fit its shape, say.
    """
    try:
        return read_tensor(tensor)
    except (ValueError, TypeError, OverflowError) as error:
        message = f"Invalid TensorProto for feed value {index}: {error}"
        raise ValueError(message) from None


@dataclass(slots=True)
class RunStepRequest:
    """A step that a client asks for.

    Attributes:
      handle: of the session.
      feeds: arrays by tensor name.
      fetches, targets: names of tensors and of operations.
      options: a RunOptions proto, or None.
      partial_run: the handle of the partial run that the step is a part of, or "".
      answers_errors: whether the answer holds the error of the step.
    """

    handle: str = ""
    feeds: dict[str, Any] = field(default_factory=dict)
    fetches: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    options: Proto | None = None
    partial_run: str = ""
    answers_errors: bool = False

    @classmethod
    def decode(cls, data: bytes) -> RunStepRequest:
        """Read a RunStepRequest.

        Raises:
          ValueError: the message is malformed.
        """
        found = cls()
        for number, value in fields(memoryview(data)):
            if number == 1:
                found.handle = octets(value).decode()
            elif number == 2:
                name, tensor = split_named_tensor(value)
                found.feeds[name] = fed_array(tensor, len(found.feeds))
            elif number == 3:
                found.fetches.append(octets(value).decode())
            elif number == 4:
                found.targets.append(octets(value).decode())
            elif number == 5:
                if len(value):
                    found.options = protos.RunOptions.FromString(octets(value))
            elif number == 6:
                found.partial_run = octets(value).decode()
            elif number == 7:
                found.answers_errors = bool(value)
        return found


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
        self.is_partial = self.is_last_partial_run = self.answers_errors = False
        self.records_timeline = self.records_partition_graphs = False
        for number, value in fields(memoryview(data)):
            if number == 1:
                self.graph_handle = octets(value).decode()
            elif number == 2:
                self.step_id = value - (1 << 64) if value >> 63 else value
            elif number == 3:
                key, tensor = split_named_tensor(value)
                self.feeds[key] = fed_array(tensor, len(self.feeds))
            elif number == 4:
                self.fetches.append(octets(value).decode())
            elif number == 5:
                options = protos.ExecutorOpts.FromString(octets(value))
                self.records_timeline = options.record_timeline
                self.records_partition_graphs = options.record_partition_graphs
            elif number == 6:
                self.is_partial = bool(value)
            elif number == 7:
                self.is_last_partial_run = bool(value)
            elif number == 9:
                self.answers_errors = bool(value)


# A field that TensorFlow does not have: the task holds no state of the step.
_FORGETS_ITSELF = 1000
_FORGOTTEN = varint(_FORGETS_ITSELF << 3) + b"\x01"


def forgets_itself(answer: bytes) -> bool:
    """Whether a RunGraphResponse says that no CleanupGraph is needed."""
    return any(number == _FORGETS_ITSELF for number, _ in fields(memoryview(answer)))


def run_graph_response(
    values: Iterable[tuple[str, Any, DType]], metadata: Proto, is_forgotten: bool
) -> bytes:
    """A RunGraphResponse.

    Args:
      values: the fetched ones, with their keys and types.
      metadata: a RunMetadata proto.
      is_forgotten: whether the task holds no state of the step.
    """
    pieces: list[Piece] = []
    for key, value, dtype in values:
        pieces += named_tensor(b"\x0a", key, value, dtype)
    if metadata.HasField("step_stats"):
        pieces.append(chunk(b"\x12", metadata.step_stats.SerializeToString()))
    for graph in metadata.partition_graphs:
        pieces.append(chunk(b"\x22", graph.SerializeToString()))
    if is_forgotten:
        pieces.append(_FORGOTTEN)
    return b"".join(pieces)


def failed_graph_response(error: OpError) -> bytes:
    """A RunGraphResponse that holds an error."""
    text = error.message.encode()
    return b"\x28" + varint(error.error_code) + chunk(b"\x32", text)
