"""Readers, and the ops that read with them.

Each op exists for a resource handle, which today's readers have, and for a reference,
which graphs of TensorFlow before 1.2 have.
Source: core/ops/io_ops.cc, core/kernels/reader_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import OpError, UnimplementedError, invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.resource_names import resource_name
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, Gradient, KernelContext
from tfteach.ops.io.reader_kinds import (
    FixedLengthRecords,
    Identities,
    Reader,
    TextLines,
    TFRecords,
    WholeFiles,
)
from tfteach.ops.text.byte_string_arrays import strings


class _ReaderOp(StatefulOp, abstract=True):
    """Readers stay on the CPU and have no gradients."""

    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class _ReaderHandle(_ReaderOp, abstract=True):
    """A reader, shared by name."""

    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return (2,) if self.outputs[0].is_ref else ()

    def make(self, name: str) -> Reader:
        """A new reader."""
        raise NotImplementedError

    def compute(self, ctx: KernelContext) -> Any:
        own: Any = self
        key = own.shared_name or f"node {ctx.op.name}"

        def make() -> Reader:
            reader = self.make(own.shared_name or ctx.op.name)
            reader.name = resource_name(own.shared_name, ctx.op.name)
            return reader

        try:
            return ctx.resource("reader", key, make, own.container)
        except OpError as error:
            raise error.at(ctx.op) from None


class _TextLineReader(_ReaderHandle, abstract=True):
    skip_header_lines: int = 0
    container: str = ""
    shared_name: str = ""

    def make(self, name: str) -> Reader:
        return TextLines(name, self.skip_header_lines)


class TextLineReaderV2(_TextLineReader):
    """Reads lines.  Source: io_ops.cc, TextLineReaderV2."""

    signature = "-> reader_handle: resource"


class TextLineReader(_TextLineReader):
    """Reads lines.  Source: io_ops.cc, TextLineReader."""

    signature = "-> reader_handle: ref string"


class _WholeFileReader(_ReaderHandle, abstract=True):
    container: str = ""
    shared_name: str = ""

    def make(self, name: str) -> Reader:
        return WholeFiles(name)


class WholeFileReaderV2(_WholeFileReader):
    """Reads whole files.  Source: io_ops.cc, WholeFileReaderV2."""

    signature = "-> reader_handle: resource"


class WholeFileReader(_WholeFileReader):
    """Reads whole files.  Source: io_ops.cc, WholeFileReader."""

    signature = "-> reader_handle: ref string"


class _IdentityReader(_ReaderHandle, abstract=True):
    container: str = ""
    shared_name: str = ""

    def make(self, name: str) -> Reader:
        return Identities(name)


class IdentityReaderV2(_IdentityReader):
    """Returns what the queue has.  Source: io_ops.cc, IdentityReaderV2."""

    signature = "-> reader_handle: resource"


class IdentityReader(_IdentityReader):
    """Returns what the queue has.  Source: io_ops.cc, IdentityReader."""

    signature = "-> reader_handle: ref string"


class _FixedLengthRecordReader(_ReaderHandle, abstract=True):
    header_bytes: int = 0
    record_bytes: int  # type: ignore[misc]  # the order is TensorFlow's
    footer_bytes: int = 0
    hop_bytes: int = 0
    container: str = ""
    shared_name: str = ""

    def make(self, name: str) -> Reader:
        sizes = self.header_bytes, self.record_bytes, self.footer_bytes, self.hop_bytes
        return FixedLengthRecords(name, *sizes, getattr(self, "encoding", ""))


class FixedLengthRecordReaderV2(_FixedLengthRecordReader):  # type: ignore[misc]
    """Reads records of one size.  Source: io_ops.cc, FixedLengthRecordReaderV2."""

    signature = "-> reader_handle: resource"
    encoding: str = ""


class FixedLengthRecordReader(_FixedLengthRecordReader):  # type: ignore[misc]
    """Reads records of one size; TensorFlow 1.15 itself fails on it in a run.

    Its kernel reads an attribute `encoding` that the op has not.
    Source: io_ops.cc, FixedLengthRecordReader.
    """

    signature = "-> reader_handle: ref string"


class LMDBReader(_ReaderHandle):
    """Records of LMDB databases, which tfteach does not read.

    Source: io_ops.cc, LMDBReader.
    """

    signature = "-> reader_handle: ref string"
    container: str = ""
    shared_name: str = ""

    def make(self, name: str) -> Reader:
        raise UnimplementedError(
            None,
            None,
            f"LMDBReader '{name}' needs LMDB, which tfteach does not have. Write the "
            "records to TFRecord files, and read these with TFRecordReader.",
        )


class _TFRecordReader(_ReaderHandle, abstract=True):
    container: str = ""
    shared_name: str = ""
    compression_type: str = ""

    def make(self, name: str) -> Reader:
        return TFRecords(name, self.compression_type)


class TFRecordReaderV2(_TFRecordReader):
    """Reads records of TFRecord files.  Source: io_ops.cc, TFRecordReaderV2."""

    signature = "-> reader_handle: resource"


class TFRecordReader(_TFRecordReader):
    """Reads records of TFRecord files.  Source: io_ops.cc, TFRecordReader."""

    signature = "-> reader_handle: ref string"


# ---- reading


class _Read(_ReaderOp, MultiOutputOp, abstract=True):
    may_wait: ClassVar[bool] = True

    def infer_shape(self, reader_handle: Shape, queue_handle: Shape) -> list[Shape]:
        return [(), ()]

    def compute(
        self, ctx: KernelContext, reader_handle: Reader, queue_handle: Any
    ) -> tuple[Any, Any]:
        key, value = reader_handle.read(ctx, queue_handle)
        return strings([key], ()), strings([value], ())


class ReaderReadV2(_Read):
    """The next record.  Source: io_ops.cc, ReaderReadV2."""

    signature = (
        "reader_handle: resource, queue_handle: resource -> key: string, value: string"
    )


class ReaderRead(_Read):
    """The next record.  Source: io_ops.cc, ReaderRead."""

    signature = (
        "reader_handle: ref string, queue_handle: ref string -> "
        "key: string, value: string"
    )


class _ReadUpTo(_ReaderOp, MultiOutputOp, abstract=True):
    may_wait: ClassVar[bool] = True

    def infer_shape(
        self, reader_handle: Shape, queue_handle: Shape, num_records: Shape
    ) -> list[Shape]:
        shapes.with_rank(num_records, 0)
        return [(None,), (None,)]

    def compute(
        self,
        ctx: KernelContext,
        reader_handle: Reader,
        queue_handle: Any,
        num_records: Array,
    ) -> tuple[Any, Any]:
        found = reader_handle.read_up_to(ctx, queue_handle, int(num_records))
        keys, values = ([record[i] for record in found] for i in range(2))
        return strings(keys, (len(keys),)), strings(values, (len(values),))


class ReaderReadUpToV2(_ReadUpTo):
    """Some records.  Source: io_ops.cc, ReaderReadUpToV2."""

    signature = (
        "reader_handle: resource, queue_handle: resource, num_records: int64 -> "
        "keys: string, values: string"
    )


class ReaderReadUpTo(_ReadUpTo):
    """Some records.  Source: io_ops.cc, ReaderReadUpTo."""

    signature = (
        "reader_handle: ref string, queue_handle: ref string, num_records: int64 -> "
        "keys: string, values: string"
    )


class _NumRecordsProduced(_ReaderOp, abstract=True):
    def infer_shape(self, reader_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, reader_handle: Reader) -> Any:
        return np.int64(reader_handle.records_produced)


class ReaderNumRecordsProducedV2(_NumRecordsProduced):
    """The number of records read.  Source: io_ops.cc, ReaderNumRecordsProducedV2."""

    signature = "reader_handle: resource -> records_produced: int64"


class ReaderNumRecordsProduced(_NumRecordsProduced):
    """The number of records read.  Source: io_ops.cc, ReaderNumRecordsProduced."""

    signature = "reader_handle: ref string -> records_produced: int64"


class _NumWorkUnitsCompleted(_ReaderOp, abstract=True):
    def infer_shape(self, reader_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, reader_handle: Reader) -> Any:
        return np.int64(reader_handle.units_completed)


class ReaderNumWorkUnitsCompletedV2(_NumWorkUnitsCompleted):
    """The number of files read.  Source: io_ops.cc, ReaderNumWorkUnitsCompletedV2."""

    signature = "reader_handle: resource -> units_completed: int64"


class ReaderNumWorkUnitsCompleted(_NumWorkUnitsCompleted):
    """The number of files read.  Source: io_ops.cc, ReaderNumWorkUnitsCompleted."""

    signature = "reader_handle: ref string -> units_completed: int64"


class _SerializeState(_ReaderOp, abstract=True):
    def infer_shape(self, reader_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, reader_handle: Reader) -> Any:
        return strings([reader_handle.saved()], ())


class ReaderSerializeStateV2(_SerializeState):
    """A reader's state.  Source: io_ops.cc, ReaderSerializeStateV2."""

    signature = "reader_handle: resource -> state: string"


class ReaderSerializeState(_SerializeState):
    """A reader's state.  Source: io_ops.cc, ReaderSerializeState."""

    signature = "reader_handle: ref string -> state: string"


class _RestoreState(_ReaderOp, NoOutputOp, abstract=True):
    def infer_shape(self, reader_handle: Shape, state: Shape) -> list[Shape]:
        shapes.with_rank(state, 0)
        return []

    def compute(
        self, ctx: KernelContext, reader_handle: Reader, state: Array
    ) -> tuple[()]:
        if state.ndim:
            raise invalid_argument(
                "Reader state must be scalar, but had shape: "
                f"{shapes.text(state.shape)}"
            )
        reader_handle.restore(state.item())
        return ()


class ReaderRestoreStateV2(_RestoreState):
    """Give a reader a saved state.  Source: io_ops.cc, ReaderRestoreStateV2."""

    signature = "reader_handle: resource, state: string ->"


class ReaderRestoreState(_RestoreState):
    """Give a reader a saved state.  Source: io_ops.cc, ReaderRestoreState."""

    signature = "reader_handle: ref string, state: string ->"


class _Reset(_ReaderOp, NoOutputOp, abstract=True):
    def infer_shape(self, reader_handle: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, reader_handle: Reader) -> tuple[()]:
        with reader_handle.lock:
            reader_handle.clear()
        return ()


class ReaderResetV2(_Reset):
    """Return a reader to its first state.  Source: io_ops.cc, ReaderResetV2."""

    signature = "reader_handle: resource ->"


class ReaderReset(_Reset):
    """Return a reader to its first state.  Source: io_ops.cc, ReaderReset."""

    signature = "reader_handle: ref string ->"
