"""`tf.TextLineReader` and its siblings: readers as objects of a program.

Source: python/ops/io_ops.py (API and names of nodes).
"""

from __future__ import annotations

from typing import Any, Protocol

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.io.reader_ops import (
    FixedLengthRecordReaderV2,
    IdentityReaderV2,
    ReaderNumRecordsProducedV2,
    ReaderNumWorkUnitsCompletedV2,
    ReaderReadUpToV2,
    ReaderReadV2,
    ReaderResetV2,
    ReaderRestoreStateV2,
    ReaderSerializeStateV2,
    TextLineReaderV2,
    TFRecordReaderV2,
    WholeFileReaderV2,
)


class HasHandle(Protocol):
    """A queue."""

    @property
    def queue_ref(self) -> Tensor: ...


class _HasCompressionType(Protocol):
    """`tf.python_io.TFRecordOptions`."""

    def get_compression_type_string(self, options: Any) -> str: ...


@export("ReaderBase")
class ReaderBase:
    """Reads records, each a key and a value, of files whose names a queue has.

    Args:
      reader_ref: the reader's handle.
      supports_serialize: whether its state can be saved.

    Source: ReaderBase in python/ops/io_ops.py.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        require_graph(
            "Readers are not supported when eager execution is enabled. Instead, "
            "please use tf.data to get data into your model."
        )
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether its state can be saved."""
        return self._supports_serialize

    def read(
        self, queue: HasHandle | Tensor, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """Tensors: key and value of the next record, string scalars.

        A new file's name is dequeued when the last one ended; the op then waits while
        the queue is empty.

        Args:
          queue: a queue of strings, or its handle.
          name: the op's name.

        Raises:
          tf.errors.OutOfRangeError: in a run, the queue is closed and empty.
          tf.errors.NotFoundError: in a run, there is no such file.

        Example:
          >>> queue = tf.FIFOQueue(10, tf.string, [[]])
          >>> key, line = tf.TextLineReader().read(queue)

        Source: ReaderReadV2 in core/ops/io_ops.cc.
        """
        key, value = ReaderReadV2()(self._reader_ref, _handle(queue), name=name)
        return key, value

    def read_up_to(
        self,
        queue: HasHandle | Tensor,
        num_records: TensorLike,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Tensors: keys and values of at most `num_records` records, string vectors.

        They are of one file, so there may be fewer although others follow.

        Args:
          queue: a queue of strings, or its handle.
          num_records: an int64 scalar.
          name: the op's name.

        Raises:
          tf.errors.OutOfRangeError: in a run, the queue is closed and empty.
          tf.errors.NotFoundError: in a run, there is no such file.

        Source: ReaderReadUpToV2 in core/ops/io_ops.cc.
        """
        op = ReaderReadUpToV2()
        keys, values = op(self._reader_ref, _handle(queue), num_records, name=name)
        return keys, values

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """The number of records read so far, an int64 scalar."""
        return ReaderNumRecordsProducedV2()(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """The number of files read to their ends, an int64 scalar."""
        return ReaderNumWorkUnitsCompletedV2()(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """The state, a string scalar.

        Raises:
          tf.errors.UnimplementedError: in a run, the reader does not support that.
        """
        return ReaderSerializeStateV2()(self._reader_ref, name=name)

    def restore_state(self, state: TensorLike, name: str | None = None) -> Operation:
        """An op that gives the reader a saved state, a string scalar.

        Raises:
          tf.errors.UnimplementedError: in a run, the reader does not support that.
          tf.errors.InvalidArgumentError: in a run, `state` is none.
        """
        return ReaderRestoreStateV2()(self._reader_ref, convert(state), name=name)

    def reset(self, name: str | None = None) -> Operation:
        """An op that returns the reader to its first state."""
        return ReaderResetV2()(self._reader_ref, name=name)


def _handle(queue: HasHandle | Tensor) -> Tensor:
    return queue if isinstance(queue, Tensor) else queue.queue_ref


@export("TextLineReader")
class TextLineReader(ReaderBase):
    """Reads lines of text files; a key is "file:line", counted from 1.

    Args:
      skip_header_lines: how many lines to skip in each file.  Default 0.
      name: the op's name.

    Example:
      >>> queue = tf.FIFOQueue(10, tf.string, [[]])
      >>> key, line = tf.TextLineReader(skip_header_lines=1).read(queue)

    Source: TextLineReaderV2 in core/ops/io_ops.cc.
    """

    def __init__(
        self, skip_header_lines: int | None = None, name: str | None = None
    ) -> None:
        op = TextLineReaderV2(skip_header_lines or 0)
        super().__init__(op(name=name))


@export("WholeFileReader")
class WholeFileReader(ReaderBase):
    """Reads whole files; a key is the file's name.

    Args:
      name: the op's name.

    Example:
      >>> queue = tf.FIFOQueue(10, tf.string, [[]])
      >>> name, content = tf.WholeFileReader().read(queue)

    Source: WholeFileReaderV2 in core/ops/io_ops.cc.
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(WholeFileReaderV2()(name=name), supports_serialize=True)


@export("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """Reads records of one size; a key is "file:number", counted from 0.

    Args:
      record_bytes: the size of a record.
      header_bytes: the bytes before a file's first record.  Default 0.
      footer_bytes: those after its last record.  Default 0.
      hop_bytes: the distance of records' starts; None or 0 for `record_bytes`.
      name: the op's name.
      encoding: "ZLIB" or "GZIP" for compressed files.  Default: they are not.

    Raises:
      tf.errors.InvalidArgumentError: in a run, a size is negative.

    Example:
      >>> queue = tf.FIFOQueue(10, tf.string, [[]])
      >>> key, record = tf.FixedLengthRecordReader(3073).read(queue)  # CIFAR-10

    Source: FixedLengthRecordReaderV2 in core/ops/io_ops.cc.
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        op = FixedLengthRecordReaderV2(
            header_bytes=header_bytes or 0,
            record_bytes=record_bytes,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
        )
        super().__init__(op(name=name))


@export("TFRecordReader")
class TFRecordReader(ReaderBase):
    """Reads records of TFRecord files; a key is "file:offset".

    Args:
      name: the op's name.
      options: `tf.python_io.TFRecordOptions`, for compressed files; or None.

    Example:
      >>> queue = tf.FIFOQueue(10, tf.string, [[]])
      >>> key, example = tf.TFRecordReader().read(queue)

    Source: TFRecordReaderV2 in core/ops/io_ops.cc.
    """

    def __init__(
        self, name: str | None = None, options: _HasCompressionType | None = None
    ) -> None:
        kind = "" if options is None else options.get_compression_type_string(options)
        super().__init__(TFRecordReaderV2(compression_type=kind)(name=name))


@export("IdentityReader")
class IdentityReader(ReaderBase):
    """Returns what the queue has as key and as value.

    Args:
      name: the op's name.

    Example:
      >>> queue = tf.FIFOQueue(10, tf.string, [[]])
      >>> key, same = tf.IdentityReader().read(queue)

    Source: IdentityReaderV2 in core/ops/io_ops.cc.
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(IdentityReaderV2()(name=name), supports_serialize=True)
