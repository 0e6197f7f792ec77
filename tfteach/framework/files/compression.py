"""GZIP and ZLIB streams, as TensorFlow reads and writes them in TFRecord files.

Source: core/lib/io/{zlib_inputstream,zlib_outputbuffer,zlib_compression_options}.cc.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, Self

from tfteach.framework.errors import DataLossError, invalid_argument

GZIP_WINDOW, ZLIB_WINDOW = zlib.MAX_WBITS + 16, zlib.MAX_WBITS
WINDOW_BITS = {"GZIP": GZIP_WINDOW, "ZLIB": ZLIB_WINDOW}
_GZIP_MAGIC = b"\x1f\x8b"
_PIECE_BYTES = 64 * 1024  # of compressed input


class PlainSource:
    """A file that is not compressed, as a source of records.

    Args:
      file: open, unbuffered or not.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.read = file.read

    @contextmanager
    def lookahead(self) -> Iterator[Self]:
        """Itself; the position is restored afterwards."""
        here = self._file.tell()
        try:
            yield self
        finally:
            self._file.seek(here)


class InflatedSource:
    """What a compressed file is decompressed to, a piece at a time.

    Several GZIP streams one after another are read as one, as by gzip(1).  Other bytes
    after the end of the stream are ignored.

    Args:
      file: open at its beginning.
      path: its name, for messages.
      window_bits: zlib's: the format, and the size of the window.
    """

    def __init__(self, file: BinaryIO, path: str, window_bits: int) -> None:
        self._file, self._path, self._window_bits = file, path, window_bits
        self._stream = zlib.decompressobj(window_bits)
        self._input = b""
        self._error: str | None = None

    @contextmanager
    def lookahead(self) -> Iterator[Self]:
        """A copy, which reads the same file; the position is restored afterwards."""
        copy = type(self)(self._file, self._path, self._window_bits)
        copy._stream, copy._input = self._stream.copy(), self._input
        copy._error = self._error
        here = self._file.tell()
        try:
            yield copy
        finally:
            self._file.seek(here)

    def read(self, limit: int) -> bytes:
        """At most `limit` bytes; none only at the end.

        Raises:
          DataLossError: the file is damaged, and all before that was read.
        """
        while True:
            if self._error is not None:
                raise DataLossError(None, None, f"{self._error} ({self._path})")
            if self._stream.eof and not self._begins_again():
                return b""
            if not self._input:
                self._input = self._file.read(_PIECE_BYTES)
            ended = not self._input
            data = self._inflate(limit)
            if data or ended:
                return data

    def _begins_again(self) -> bool:
        """Begin with the next GZIP stream, if there is one."""
        if len(self._input) < 2:
            self._input += self._file.read(_PIECE_BYTES)
        if self._window_bits != GZIP_WINDOW or not self._input.startswith(_GZIP_MAGIC):
            return False
        self._stream = zlib.decompressobj(self._window_bits)
        return True

    def _inflate(self, limit: int) -> bytes:
        before = self._stream.copy()
        try:
            data = self._stream.decompress(self._input, limit)
            stream = self._stream
            self._input = stream.unused_data if stream.eof else stream.unconsumed_tail
            return data
        except zlib.error as error:
            code, _, reason = str(error).removeprefix("Error ").partition(" while ")
            reason = reason.partition(": ")[2]
            self._error = f"inflate() failed with error {code}: {reason}"
            if "header" in reason:
                self._error += "; is the file compressed in this way?"
        # zlib does not return what it decompressed before the error: decompress only
        # what is before.
        good, bad = 0, len(self._input)
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                before.copy().decompress(self._input[:middle], limit)
                good = middle
            except zlib.error:
                bad = middle
        return before.decompress(self._input[:good], limit)


def opened_source(
    file: BinaryIO, path: str, compression: str
) -> PlainSource | InflatedSource:
    """An open file as a source of records.

    Args:
      file: open at its beginning.
      path: its name, for messages.
      compression: "GZIP" or "ZLIB"; anything else for a file that is not compressed.
    """
    window_bits = WINDOW_BITS.get(compression)
    if window_bits is None:
        return PlainSource(file)
    return InflatedSource(file, path, window_bits)


class DeflateOptions(NamedTuple):
    """How to compress; zlib's parameters, with TensorFlow's defaults.

    Attributes:
      window_bits: the format, and the size of the window.
      flush_mode: how each full input buffer is compressed.
      input_buffer_size: how many bytes are collected before they are compressed.
      output_buffer_size: how many compressed bytes are collected before writing them.
    """

    window_bits: int
    flush_mode: int = zlib.Z_NO_FLUSH
    input_buffer_size: int = 256 * 1024
    output_buffer_size: int = 256 * 1024
    compression_level: int = zlib.Z_DEFAULT_COMPRESSION
    compression_method: int = zlib.DEFLATED
    mem_level: int = 9
    compression_strategy: int = zlib.Z_DEFAULT_STRATEGY

    def check(self) -> None:
        """Raises InvalidArgumentError if a parameter is none of zlib's."""
        for name, valid, meaning in _VALID:
            value = getattr(self, name)
            if value not in valid:
                raise invalid_argument(
                    f"{name} of a compressed file: expected {meaning}, found {value}"
                )


_SIZES = range(1 << 40)
_VALID: tuple[tuple[str, Any, str], ...] = (
    (
        "window_bits",
        {*range(-15, -8), *range(8, 16), *range(25, 32)},
        "8 to 15 (ZLIB), 25 to 31 (GZIP) or -9 to -15 (without header)",
    ),
    # Z_FINISH would end the stream with the first buffer.
    ("flush_mode", {0, 1, 2, 3, 5}, "zlib's 0, 1, 2, 3 or 5"),
    ("input_buffer_size", _SIZES, "a number of bytes"),
    ("output_buffer_size", _SIZES[2:], "a number of bytes greater than 1"),
    ("compression_level", range(-1, 10), "-1 (default) or 0 to 9"),
    ("compression_method", {zlib.DEFLATED}, "8, zlib's only one"),
    ("mem_level", range(1, 10), "1 to 9"),
    ("compression_strategy", range(5), "zlib's 0 to 4"),
)


class DeflatingFile:
    """Compresses what is written to it.

    Args:
      file: open for writing.  `close` closes it.
      options: how.

    Raises:
      InvalidArgumentError: an option is none of zlib's.
    """

    def __init__(self, file: BinaryIO, options: DeflateOptions) -> None:
        options.check()
        self._file, self._options = file, options
        self._stream = zlib.compressobj(
            options.compression_level,
            options.compression_method,
            options.window_bits,
            options.mem_level,
            options.compression_strategy,
        )
        self._input: list[bytes] = []
        self._output: list[bytes] = []
        self._input_bytes = self._output_bytes = 0

    def write(self, data: bytes, /) -> None:
        """Append data."""
        self._input.append(data)
        self._input_bytes += len(data)
        if self._input_bytes >= self._options.input_buffer_size:
            self._deflate(self._options.flush_mode)

    def flush(self) -> None:
        """Write all to the file, so that it can be decompressed up to here."""
        self._deflate(zlib.Z_PARTIAL_FLUSH)
        self._write_output()
        self._file.flush()

    def close(self) -> None:
        """End the stream and close the file."""
        with self._file:
            self._deflate(zlib.Z_FINISH)
            self._write_output()

    def _deflate(self, mode: int) -> None:
        compressed = self._stream.compress(b"".join(self._input))
        if mode != zlib.Z_NO_FLUSH:
            compressed += self._stream.flush(mode)
        self._input.clear()
        self._input_bytes = 0
        self._output.append(compressed)
        self._output_bytes += len(compressed)
        if self._output_bytes >= self._options.output_buffer_size:
            self._write_output()

    def _write_output(self) -> None:
        output = b"".join(self._output)
        self._output.clear()
        self._output_bytes = 0
        self._file.write(output)
