"""Summaries that ops write to event files, instead of returning them.

Source: core/ops/summary_ops.cc, core/summary/summary_file_writer.cc.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import NotFoundError, invalid_argument
from tfteach.framework.files import event_file, file_system
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.protos import pool
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.debug.summary_ops import (
    REALS,
    AudioSummaryV2,
    HistogramSummary,
    ImageSummary,
    ScalarSummary,
    TensorSummaryV2,
)

_MILLISECONDS = 1000


class Writer:
    """What a writer's handle refers to: an event file, once it is created.

    Args:
      name: its name in the session, for messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._file: event_file.EventFile | None = None

    def create(self, folder: str, queue: int, flush_s: float, suffix: str) -> None:
        """Open the file; no effect if it is open."""
        if self._file is None:
            path = file_system.resolve(folder)
            file_system.makedirs(path)
            self._file = event_file.EventFile(path, queue, flush_s, suffix)
            self._file.open()

    @property
    def file(self) -> event_file.EventFile:
        """The file.

        Raises:
          NotFoundError: it is not open.
        """
        if self._file is None:
            raise NotFoundError(
                None,
                None,
                "Container localhost does not exist. (Could not find resource: "
                f"localhost/{self._name}): run tf.contrib.summary.initialize() first",
            )
        return self._file

    def close(self) -> None:
        """Write what is buffered and close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class _WriterOp(StatefulOp, abstract=True):
    on_gpu: ClassVar[bool] = False

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class SummaryWriter(_WriterOp):
    """A writer, shared by name.  Source: core/ops/summary_ops.cc."""

    signature = "-> writer: resource"
    shared_name: str = ""
    container: str = ""
    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return ()

    def compute(self, ctx: KernelContext) -> Any:
        name = self.shared_name or ctx.op.name
        make = functools.partial(Writer, name)
        return ctx.resource("summary writer", name, make, self.container)


class _WritingOp(_WriterOp, NoOutputOp, abstract=True):
    def infer_shape(self, *inputs: Any) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, writer: Writer, *inputs: Any) -> Any:
        self.write(writer, *inputs)
        return ()

    def write(self, writer: Writer, *inputs: Any) -> None:
        """Do what the op does to a writer."""
        raise NotImplementedError


def _bytes(value: Any) -> bytes:
    """A string tensor's only element."""
    found: Any = np.asarray(value, object)[()]
    return bytes(found)


def _text(value: Any) -> str:
    return _bytes(value).decode()


class CreateSummaryFileWriter(_WritingOp):
    """Open the event file of a writer.  Source: core/ops/summary_ops.cc."""

    signature = (
        "writer: resource, logdir: string, max_queue: int32, flush_millis: int32, "
        "filename_suffix: string ->"
    )

    def write(self, writer: Writer, *inputs: Any) -> None:
        logdir, max_queue, flush_millis, suffix = inputs
        flush_s = int(flush_millis) / _MILLISECONDS
        writer.create(_text(logdir), int(max_queue), flush_s, _text(suffix))


class FlushSummaryWriter(_WritingOp):
    """Write what is buffered to the file.  Source: core/ops/summary_ops.cc."""

    signature = "writer: resource ->"

    def write(self, writer: Writer, *inputs: Any) -> None:
        writer.file.flush()


class CloseSummaryWriter(_WritingOp):
    """Close the event file of a writer.  Source: core/ops/summary_ops.cc."""

    signature = "writer: resource ->"

    def write(self, writer: Writer, *inputs: Any) -> None:
        writer.close()


class _SummaryWritingOp(_WritingOp, abstract=True):
    def write(self, writer: Writer, *inputs: Any) -> None:
        step, *rest = inputs
        data = _bytes(self.summary(*rest))
        event = event_file.event_bytes(event_file.SUMMARY_FIELD, data, int(step))
        writer.file.write(event)

    def summary(self, *inputs: Any) -> Any:
        """The Summary proto, as a string tensor."""
        raise NotImplementedError


class WriteSummary(_SummaryWritingOp):
    """Write a tensor.  Source: core/ops/summary_ops.cc, WriteSummary."""

    signature = (
        "writer: resource, step: int64, tensor: T, tag: string, "
        "summary_metadata: string ->"
    )

    def summary(self, *inputs: Any) -> Any:
        tensor, tag, metadata = inputs
        data = TensorSummaryV2().compute(np, tag, tensor, metadata)
        if _bytes(metadata):
            return data
        summary = pool.message("Summary").FromString(_bytes(data))
        summary.value[0].ClearField("metadata")
        return summary.SerializeToString()


class WriteRawProtoSummary(_WritingOp):
    """Write serialized Summary protos.  Source: core/ops/summary_ops.cc."""

    signature = "writer: resource, step: int64, tensor: string ->"

    def write(self, writer: Writer, *inputs: Any) -> None:
        step, tensor = inputs
        for data in np.asarray(tensor, object).ravel():
            event = event_file.event_bytes(event_file.SUMMARY_FIELD, data, int(step))
            writer.file.write(event)


class ImportEvent(_WritingOp):
    """Write a serialized Event proto.  Source: core/ops/summary_ops.cc."""

    signature = "writer: resource, event: string ->"

    def write(self, writer: Writer, *inputs: Any) -> None:
        data = _bytes(inputs[0])
        try:
            pool.message("Event").FromString(data)
        except Exception:  # the exception class depends on protobuf's version
            raise invalid_argument("Could not parse Event proto") from None
        writer.file.write(data)


class WriteScalarSummary(_SummaryWritingOp):
    """Write a number.  Source: core/ops/summary_ops.cc, WriteScalarSummary."""

    signature = "writer: resource, step: int64, tag: string, value: T ->"
    T = REALS

    def summary(self, *inputs: Any) -> Any:
        return ScalarSummary().compute(np, *inputs)


class WriteHistogramSummary(_SummaryWritingOp):
    """Write a histogram of values.  Source: core/ops/summary_ops.cc."""

    signature = "writer: resource, step: int64, tag: string, values: T ->"
    T = REALS
    T_default = float32

    def summary(self, *inputs: Any) -> Any:
        return HistogramSummary().compute(np, *inputs)


class WriteImageSummary(_SummaryWritingOp):
    """Write images as PNG.  Source: core/ops/summary_ops.cc, WriteImageSummary."""

    signature = (
        "writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8 ->"
    )
    T = dtypes_of("uint8 float32 float16")
    T_default = float32
    max_images: int = 3
    minimum: ClassVar[dict[str, int]] = {"max_images": 1}

    def summary(self, *inputs: Any) -> Any:
        tag, tensor, bad_color = inputs
        op = ImageSummary(self.max_images, np.asarray(bad_color))
        return op.compute(np, tag, tensor)


class WriteAudioSummary(_SummaryWritingOp):
    """Write sounds as WAV.  Source: core/ops/summary_ops.cc, WriteAudioSummary."""

    signature = (
        "writer: resource, step: int64, tag: string, tensor: float32, "
        "sample_rate: float32 ->"
    )
    max_outputs: int = 3
    minimum: ClassVar[dict[str, int]] = {"max_outputs": 1}

    def summary(self, *inputs: Any) -> Any:
        return AudioSummaryV2(self.max_outputs).compute(np, *inputs)


class WriteGraphSummary(_WritingOp):
    """Write a serialized GraphDef.  Source: core/ops/summary_ops.cc."""

    signature = "writer: resource, step: int64, tensor: string ->"

    def write(self, writer: Writer, *inputs: Any) -> None:
        step, tensor = inputs
        data = _bytes(tensor)
        event = event_file.event_bytes(event_file.GRAPH_DEF_FIELD, data, int(step))
        writer.file.write(event)
