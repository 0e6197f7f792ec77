"""TFRecord files: `tf.python_io` and `tf.io`.

Source: python/lib/io/tf_record.py (API and error messages).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO, ClassVar, NoReturn, Self

from tfteach.framework.errors import FailedPreconditionError
from tfteach.framework.export import export
from tfteach.framework.files.compression import (
    GZIP_WINDOW,
    ZLIB_WINDOW,
    DeflateOptions,
    DeflatingFile,
    InflatedSource,
    PlainSource,
)
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.files.os_errors import os_errors_translated
from tfteach.framework.files.records import read_records, record_head, record_tail
from tfteach.framework.type_aliases import PathLike

_BUFFER_BYTES = 128 * 1024
_WINDOWS = {"GZIP": GZIP_WINDOW, "ZLIB": ZLIB_WINDOW}


@export("io.TFRecordCompressionType", "python_io.TFRecordCompressionType")
class TFRecordCompressionType:
    """How a TFRecord file is compressed.

    Attributes:
      NONE: not at all.
      ZLIB: with zlib's header (RFC 1950).
      GZIP: with gzip's header (RFC 1952).

    Example:
      >>> tf.io.TFRecordOptions(tf.io.TFRecordCompressionType.GZIP)
    """

    NONE = 0
    ZLIB = 1
    GZIP = 2


@export("io.TFRecordOptions", "python_io.TFRecordOptions")
class TFRecordOptions:
    """Options of a TFRecord file.

    Args:
      compression_type: "GZIP", "ZLIB", "" or None (not compressed), a
        TFRecordCompressionType or other TFRecordOptions.
      flush_mode: zlib's, for each full input buffer.  Default 0, Z_NO_FLUSH.
      input_buffer_size: bytes collected before they are compressed.  Default 256 KiB.
      output_buffer_size: bytes collected before they are written.  Default 256 KiB.
      window_bits: zlib's format and window: 8 to 15 ZLIB, 25 to 31 GZIP, -9 to -15
        without header.  Default 31 for GZIP, 15 for ZLIB.  Reading a file of another
        format than its `compression_type` needs the same `window_bits`.
      compression_level: 0 to 9.  Default -1, zlib's default.
      compression_method: zlib's.  Default 8, the only one.
      mem_level: zlib's, 1 to 9.  Default 9.
      compression_strategy: zlib's.  Default 0, Z_DEFAULT_STRATEGY.

    Raises:
      ValueError: the compression type is none of these.

    Example:
      >>> options = tf.io.TFRecordOptions("GZIP", compression_level=9)
      >>> with tf.io.TFRecordWriter("data.tfrecord.gz", options) as writer:
      ...   writer.write(b"record")

    Source: python/lib/io/tf_record.py.
    """

    compression_type_map: ClassVar[dict[int, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: TFRecordOptions | str | int | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)  # refuses others
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(
        cls, options: TFRecordOptions | str | int | None
    ) -> str:
        """The compression type as text: "GZIP", "ZLIB" or "".

        Args:
          options: TFRecordOptions, a TFRecordCompressionType, text or None.

        Raises:
          ValueError: it is none of these.
        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, int) and options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if isinstance(options, str) and options in cls.compression_type_map.values():
            return options
        raise ValueError(
            f'Not a valid compression_type: "{options}": expected "GZIP", "ZLIB", "", '
            "a tf.io.TFRecordCompressionType or tf.io.TFRecordOptions"
        )


def _deflate_options(options: TFRecordOptions) -> DeflateOptions | None:
    """The options given, with defaults for the others; None for no compression.

    Raises:
      TypeError: an option is not an int.
    """
    given: dict[str, int] = {}
    for name in DeflateOptions._fields:
        value = getattr(options, name)
        if value is None:
            continue
        if not isinstance(value, int):
            raise TypeError(
                f"TFRecordOptions: {name} has type {type(value).__name__}, expected int"
            )
        given[name] = value
    kind = options.get_compression_type_string(options)
    return DeflateOptions(**{"window_bits": _WINDOWS[kind], **given}) if kind else None


@export("io.TFRecordWriter", "python_io.TFRecordWriter")
class TFRecordWriter:
    """Writes byte strings to a TFRecord file, which is created or replaced.

    What was written is in the file after `flush` or `close`, at the latest.  Several
    threads may write to it.

    Args:
      path: the file.
      options: TFRecordOptions, a TFRecordCompressionType, or "GZIP", "ZLIB", "".

    Raises:
      NotFoundError: the directory does not exist.
      FailedPreconditionError: the path is a directory.
      InvalidArgumentError: an option is none of zlib's.
      ValueError: the compression type is not known.

    Example:
      >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
      ...   for value in range(3):
      ...     feature = tf.train.Feature(
      ...       int64_list=tf.train.Int64List(value=[value]))
      ...     features = tf.train.Features(feature={"value": feature})
      ...     example = tf.train.Example(features=features)
      ...     writer.write(example.SerializeToString())

    Source: python/lib/io/tf_record.py.
    """

    def __init__(
        self, path: PathLike, options: TFRecordOptions | str | int | None = None
    ) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        deflate = _deflate_options(options)
        if deflate is not None:
            deflate.check()  # before the file is replaced
        self._path = resolve(path)
        self._parts: list[bytes] = []
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._file: BinaryIO | DeflatingFile | None = None
        file = open_file(self._path, "wb")
        self._file = file if deflate is None else DeflatingFile(file, deflate)

    def write(self, record: bytes) -> None:
        """Append a record.

        Raises:
          TypeError: it is not bytes.
          FailedPreconditionError: the file is closed.
          ResourceExhaustedError: the disk is full.
        """
        if not isinstance(record, bytes):
            raise TypeError(f"expected bytes, {type(record).__name__} found")
        length = len(record)
        with self._lock:
            file = self._file or self._refuse()
            self._parts += (record_head(length), record, record_tail(record))
            self._waiting_bytes += length + 16
            if self._waiting_bytes >= _BUFFER_BYTES:
                self._write_parts(file)

    def flush(self) -> None:
        """Write all records to the file.

        Raises:
          FailedPreconditionError: the file is closed.
        """
        with self._lock:
            file = self._file or self._refuse()
            self._write_parts(file)
            with os_errors_translated(self._path):
                file.flush()

    def close(self) -> None:
        """Write all records and close the file.  It may be closed already."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                with os_errors_translated(self._path):
                    try:
                        file.write(b"".join(self._parts))
                    finally:
                        file.close()

    def _write_parts(self, file: BinaryIO | DeflatingFile) -> None:
        data = b"".join(self._parts)
        self._parts.clear()
        self._waiting_bytes = 0
        with os_errors_translated(self._path):
            file.write(data)

    def _refuse(self) -> NoReturn:
        raise FailedPreconditionError(
            None,
            None,
            f"Writer not initialized or previously closed: {self._path}",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # TensorFlow's files close with their last reference, so scripts leave them.
        if getattr(self, "_file", None) is not None:
            self.close()


@export("io.tf_record_iterator", "python_io.tf_record_iterator")
def tf_record_iterator(
    path: PathLike, options: TFRecordOptions | str | int | None = None
) -> Iterator[bytes]:
    """The records of a TFRecord file, in their order.

    The file is opened for the first record.

    Args:
      path: the file.
      options: TFRecordOptions, a TFRecordCompressionType, or "GZIP", "ZLIB", "".

    Yields:
      The records, as bytes.

    Raises:
      NotFoundError: there is no such file.
      DataLossError: the file is damaged, truncated or compressed otherwise.  The
        records before the damage were yielded.
      ResourceExhaustedError: a record is larger than the machine's memory.
      ValueError: the compression type is not known.

    Example:
      >>> for record in tf.python_io.tf_record_iterator("data.tfrecord"):
      ...   print(tf.train.Example.FromString(record))

    Source: python/lib/io/tf_record.py.
    """
    kind = TFRecordOptions.get_compression_type_string(options)
    name = resolve(path)
    with os_errors_translated(name), open_file(name, "rb", buffering=0) as file:
        if not kind:
            yield from read_records(PlainSource(file), name)
            return
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(kind)
        window = options.window_bits or _WINDOWS[kind]
        yield from read_records(InflatedSource(file, name, window), name)
