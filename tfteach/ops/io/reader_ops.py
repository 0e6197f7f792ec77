"""Readers, and the ops that read with them.

Source: core/ops/io_ops.cc, core/kernels/reader_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
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

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class _ReaderHandle(_ReaderOp, abstract=True):
    """A reader, shared by name."""

    signature = "-> reader_handle: resource"
    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return ()

    def make(self, name: str) -> Reader:
        """A new reader."""
        raise NotImplementedError

    def compute(self, ctx: KernelContext) -> Any:
        own: Any = self
        key = own.shared_name or f"node {ctx.op.name}"
        name = own.shared_name or ctx.op.name
        try:
            return ctx.resource("reader", key, lambda: self.make(name), own.container)
        except OpError as error:
            raise error.at(ctx.op) from None


class TextLineReaderV2(_ReaderHandle):
    """Reads lines.  Source: io_ops.cc, TextLineReaderV2."""

    skip_header_lines: int = 0
    container: str = ""
    shared_name: str = ""

    def make(self, name: str) -> Reader:
        return TextLines(name, self.skip_header_lines)


class WholeFileReaderV2(_ReaderHandle):
    """Reads whole files.  Source: io_ops.cc, WholeFileReaderV2."""

    container: str = ""
    shared_name: str = ""

    def make(self, name: str) -> Reader:
        return WholeFiles(name)


class IdentityReaderV2(_ReaderHandle):
    """Returns what the queue has.  Source: io_ops.cc, IdentityReaderV2."""

    container: str = ""
    shared_name: str = ""

    def make(self, name: str) -> Reader:
        return Identities(name)


class FixedLengthRecordReaderV2(_ReaderHandle):
    """Reads records of one size.  Source: io_ops.cc, FixedLengthRecordReaderV2."""

    header_bytes: int = 0
    record_bytes: int  # type: ignore[misc]  # the order is TensorFlow's
    footer_bytes: int = 0
    hop_bytes: int = 0
    container: str = ""
    shared_name: str = ""
    encoding: str = ""

    def make(self, name: str) -> Reader:
        sizes = self.header_bytes, self.record_bytes, self.footer_bytes, self.hop_bytes
        return FixedLengthRecords(name, *sizes, self.encoding)


class TFRecordReaderV2(_ReaderHandle):
    """Reads records of TFRecord files.  Source: io_ops.cc, TFRecordReaderV2."""

    container: str = ""
    shared_name: str = ""
    compression_type: str = ""

    def make(self, name: str) -> Reader:
        return TFRecords(name, self.compression_type)


# ---- reading


class ReaderReadV2(_ReaderOp, MultiOutputOp):
    """The next record.  Source: io_ops.cc, ReaderReadV2."""

    signature = (
        "reader_handle: resource, queue_handle: resource -> key: string, value: string"
    )
    may_wait: ClassVar[bool] = True

    def infer_shape(self, reader_handle: Shape, queue_handle: Shape) -> list[Shape]:
        return [(), ()]

    def compute(
        self, ctx: KernelContext, reader_handle: Reader, queue_handle: Any
    ) -> tuple[Any, Any]:
        key, value = reader_handle.read(ctx, queue_handle)
        return strings([key], ()), strings([value], ())


class ReaderReadUpToV2(_ReaderOp, MultiOutputOp):
    """Some records.  Source: io_ops.cc, ReaderReadUpToV2."""

    signature = (
        "reader_handle: resource, queue_handle: resource, num_records: int64 -> "
        "keys: string, values: string"
    )
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


class ReaderNumRecordsProducedV2(_ReaderOp):
    """The number of records read.  Source: io_ops.cc, ReaderNumRecordsProducedV2."""

    signature = "reader_handle: resource -> records_produced: int64"

    def infer_shape(self, reader_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, reader_handle: Reader) -> Any:
        return np.int64(reader_handle.records_produced)


class ReaderNumWorkUnitsCompletedV2(_ReaderOp):
    """The number of files read.  Source: io_ops.cc, ReaderNumWorkUnitsCompletedV2."""

    signature = "reader_handle: resource -> units_completed: int64"

    def infer_shape(self, reader_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, reader_handle: Reader) -> Any:
        return np.int64(reader_handle.units_completed)


class ReaderSerializeStateV2(_ReaderOp):
    """A reader's state.  Source: io_ops.cc, ReaderSerializeStateV2."""

    signature = "reader_handle: resource -> state: string"

    def infer_shape(self, reader_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, reader_handle: Reader) -> Any:
        return strings([reader_handle.saved()], ())


class ReaderRestoreStateV2(_ReaderOp, NoOutputOp):
    """Give a reader a saved state.  Source: io_ops.cc, ReaderRestoreStateV2."""

    signature = "reader_handle: resource, state: string ->"

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


class ReaderResetV2(_ReaderOp, NoOutputOp):
    """Return a reader to its first state.  Source: io_ops.cc, ReaderResetV2."""

    signature = "reader_handle: resource ->"

    def infer_shape(self, reader_handle: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, reader_handle: Reader) -> tuple[()]:
        with reader_handle.lock:
            reader_handle.clear()
        return ()
