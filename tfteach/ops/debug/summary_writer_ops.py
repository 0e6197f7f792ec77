"""Ops that write summaries to event files or databases, for `tf.contrib.summary`.

A summary is what the op of `tf.summary` of the same kind returns.
Source: core/ops/summary_ops.cc, core/kernels/summary_kernels.cc (messages).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import DataLossError, NotFoundError
from tfteach.framework.files.event_file import (
    GRAPH_DEF_FIELD,
    SUMMARY_FIELD,
    EventFile,
    event_bytes,
)
from tfteach.framework.files.file_system import makedirs, resolve
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.protos.pool import message
from tfteach.framework.protos.tensor_proto import make_tensor_proto
from tfteach.framework.resource_names import ReferencedResource
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, Gradient, KernelContext
from tfteach.ops.debug.summary_ops import (
    REALS,
    AudioSummaryV2,
    HistogramSummary,
    ImageSummary,
    ScalarSummary,
)

if TYPE_CHECKING:
    from tfteach.framework.files.summary_database import SummaryDatabase


class EventWriter(ReferencedResource):
    """What a writer's handle refers to: a file, from its creation to its end.

    Args:
      name: the writer's name among the session's resources.
    """

    shape: tuple[int, ...] = ()
    ndim = 0
    dtype = np.dtype(object)

    def __init__(self, name: str) -> None:
        self.name = name
        self._file: EventFile | SummaryDatabase | None = None
        self._was_created = False
        self._lock = threading.Lock()

    def create(self, make: Callable[[], EventFile | SummaryDatabase]) -> None:
        """Let `make` create the file, unless there is one."""
        with self._lock:
            if self._file is None:
                self._file, self._was_created = make(), True

    @property
    def file(self) -> EventFile | SummaryDatabase:
        """The event file or database.

        Raises:
          NotFoundError: it was not created yet, or is closed.
        """
        if self._file is None:
            raise NotFoundError(None, None, self._absence())
        return self._file

    def _absence(self) -> str:
        if self._was_created:
            kind = "N10tensorflow22SummaryWriterInterfaceE"
            return f"Resource localhost/{self.name}/{kind} does not exist."
        return (
            "Container localhost does not exist. (Could not find resource: "
            f"localhost/{self.name}): run tf.contrib.summary.initialize() first"
        )

    def close(self) -> None:
        """Write what waits, and close the file; the writer may be created again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


class SummaryWriter(StatefulOp):
    """A writer, shared by name.  Source: core/ops/summary_ops.cc, SummaryWriter."""

    signature = "-> writer: resource"
    shared_name: str = ""
    container: str = ""
    on_gpu: ClassVar[bool] = False
    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return ()

    def compute(self, ctx: KernelContext) -> Any:
        name = self.shared_name or ctx.op.name
        return ctx.resource(
            "summary_writer", name, lambda: EventWriter(name), self.container
        )


class _WriterOp(StatefulOp, NoOutputOp, abstract=True):
    """Writers stay on the CPU, and their ops have no gradients."""

    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class CreateSummaryFileWriter(_WriterOp):
    """Creates the event file.  Source: summary_ops.cc, CreateSummaryFileWriter."""

    signature = (
        "writer: resource, logdir: string, max_queue: int32, flush_millis: int32, "
        "filename_suffix: string -> "
    )

    def compute(
        self,
        ctx: KernelContext,
        writer: EventWriter,
        logdir: Array,
        max_queue: Array,
        flush_millis: Array,
        filename_suffix: Array,
    ) -> None:
        def make() -> EventFile:
            folder, suffix = resolve(_text(logdir)), _text(filename_suffix)
            makedirs(folder)
            flush_s = int(flush_millis) / 1000
            file = EventFile(folder, int(max_queue) + 1, flush_s, suffix)
            file.start()
            return file

        writer.create(make)


class CreateSummaryDbWriter(_WriterOp):
    """Opens the database.  Source: summary_ops.cc, CreateSummaryDbWriter."""

    signature = (
        "writer: resource, db_uri: string, experiment_name: string, run_name: string, "
        "user_name: string -> "
    )

    def compute(self, ctx: KernelContext, writer: EventWriter, *names: Array) -> None:
        # Few programs need SQLite.
        from tfteach.framework.files.summary_database import SummaryDatabase

        writer.create(lambda: SummaryDatabase(*map(_text, names)))


class FlushSummaryWriter(_WriterOp):
    """Writes what waits.  Source: summary_ops.cc, FlushSummaryWriter."""

    signature = "writer: resource -> "

    def compute(self, ctx: KernelContext, writer: EventWriter) -> None:
        writer.file.flush()


class CloseSummaryWriter(_WriterOp):
    """Closes the file.  Source: summary_ops.cc, CloseSummaryWriter."""

    signature = "writer: resource -> "

    def compute(self, ctx: KernelContext, writer: EventWriter) -> None:
        writer.close()


class WriteSummary(_WriterOp):
    """Writes a tensor as it is.  Source: summary_ops.cc, WriteSummary."""

    signature = (
        "writer: resource, step: int64, tensor: T, tag: string, "
        "summary_metadata: string -> "
    )

    def compute(
        self,
        ctx: KernelContext,
        writer: EventWriter,
        step: Array,
        tensor: Array,
        tag: Array,
        summary_metadata: Array,
    ) -> None:
        _write(writer, step, _tensor_summary(tag, tensor, _bytes(summary_metadata)))


class WriteScalarSummary(_WriterOp):
    """Writes a number.  Source: summary_ops.cc, WriteScalarSummary."""

    signature = "writer: resource, step: int64, tag: string, value: T -> "
    T = REALS

    def compute(
        self,
        ctx: KernelContext,
        writer: EventWriter,
        step: Array,
        tag: Array,
        value: Array,
    ) -> None:
        first = np.ravel(value)[:1].reshape(())  # of a vector, as TensorFlow
        if isinstance(writer.file, EventFile):
            data = ScalarSummary().compute(np, tag, first)[()]
        else:  # a database keeps its type
            data = _tensor_summary(tag, first, _SCALARS)
        _write(writer, step, data)


class WriteHistogramSummary(_WriterOp):
    """Writes a histogram.  Source: summary_ops.cc, WriteHistogramSummary."""

    signature = "writer: resource, step: int64, tag: string, values: T -> "
    T = REALS
    T_default = float32

    def compute(
        self,
        ctx: KernelContext,
        writer: EventWriter,
        step: Array,
        tag: Array,
        values: Array,
    ) -> None:
        _write(writer, step, HistogramSummary().compute(np, tag, values)[()])


class WriteImageSummary(_WriterOp):
    """Writes images as PNG.  Source: summary_ops.cc, WriteImageSummary."""

    signature = (
        "writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8 -> "
    )
    T = dtypes_of("uint8 float32 float16")
    T_default = float32
    max_images: int = 3
    minimum: ClassVar[dict[str, int]] = {"max_images": 1}

    def compute(
        self,
        ctx: KernelContext,
        writer: EventWriter,
        step: Array,
        tag: Array,
        tensor: Array,
        bad_color: Array,
    ) -> None:
        op = ImageSummary(max_images=self.max_images, bad_color=np.asarray(bad_color))
        _write(writer, step, op.compute(np, tag, tensor)[()])


class WriteAudioSummary(_WriterOp):
    """Writes sounds as WAV.  Source: summary_ops.cc, WriteAudioSummary."""

    signature = (
        "writer: resource, step: int64, tag: string, tensor: float32, "
        "sample_rate: float32 -> "
    )
    max_outputs: int = 3
    minimum: ClassVar[dict[str, int]] = {"max_outputs": 1}

    def compute(
        self,
        ctx: KernelContext,
        writer: EventWriter,
        step: Array,
        tag: Array,
        tensor: Array,
        sample_rate: Array,
    ) -> None:
        op = AudioSummaryV2(max_outputs=self.max_outputs)
        _write(writer, step, op.compute(np, tag, tensor, sample_rate)[()])


class WriteGraphSummary(_WriterOp):
    """Writes a serialized GraphDef.  Source: summary_ops.cc, WriteGraphSummary."""

    signature = "writer: resource, step: int64, tensor: string -> "

    def compute(
        self, ctx: KernelContext, writer: EventWriter, step: Array, tensor: Array
    ) -> None:
        data = _parsed("GraphDef", "Bad tf.GraphDef binary proto tensor string", tensor)
        writer.file.write(event_bytes(GRAPH_DEF_FIELD, data, int(step)))


class WriteRawProtoSummary(_WriterOp):
    """Writes serialized Summaries.  Source: summary_ops.cc, WriteRawProtoSummary."""

    signature = "writer: resource, step: int64, tensor: string -> "

    def compute(
        self, ctx: KernelContext, writer: EventWriter, step: Array, tensor: Array
    ) -> None:
        error = "Bad tf.compat.v1.Summary binary proto tensor string"
        items = np.asarray(tensor, object).ravel().tolist()
        # Messages one after the other are one of all their values.
        _write(writer, step, b"".join(_parsed("Summary", error, i) for i in items))


class ImportEvent(_WriterOp):
    """Writes a serialized Event.  Source: core/ops/summary_ops.cc, ImportEvent."""

    signature = "writer: resource, event: string -> "

    def compute(self, ctx: KernelContext, writer: EventWriter, event: Array) -> None:
        error = "Bad tf.Event binary proto tensor string"
        writer.file.write(_parsed("Event", error, event))


# The SummaryMetadata of numbers in TensorBoard.
_SCALARS = b"\x0a\x09\x0a\x07scalars"


def _tensor_summary(tag: Array, tensor: Array, metadata: bytes) -> bytes:
    """A Summary of a tensor as it is, with serialized SummaryMetadata."""
    summary = message("Summary")()
    value = summary.value.add(tag=_text(tag))
    value.tensor.CopyFrom(make_tensor_proto(np.asarray(tensor)))
    if metadata:
        value.metadata.MergeFromString(metadata)
    return summary.SerializeToString()  # type: ignore[no-any-return]


def _write(writer: EventWriter, step: Array, summary: bytes) -> None:
    writer.file.write(event_bytes(SUMMARY_FIELD, summary, int(step)))


def _bytes(value: Any) -> bytes:
    return bytes(np.asarray(value, object)[()])


def _text(value: Any) -> str:
    return _bytes(value).decode("utf-8", "replace")


def _parsed(kind: str, error: str, value: Any) -> bytes:
    """The bytes, which are a message of this kind."""
    data = _bytes(value)
    try:
        message(kind).FromString(data)
    except Exception:  # the exception class depends on protobuf's version
        raise DataLossError(None, None, error) from None
    return data
