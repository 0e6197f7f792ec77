"""`tf.gfile.GFile`: an open file.

Source: python/lib/io/file_io.py, FileIO (API and error messages).
"""

from __future__ import annotations

import uuid
import zlib
from typing import IO, Any

from tfteach.compat.platform import gfile
from tfteach.compat.platform.text import as_bytes, as_str_any, path_to_str
from tfteach.framework import errors
from tfteach.framework.export import export
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.files.os_errors import error, os_errors_translated

_BLOCK_BYTES = 1 << 24
_MODES = ("r", "w", "a", "r+", "w+", "a+")


class FileIO:
    """A file, opened when it is first read or written.

    Reading returns str, or bytes if the mode has a "b"; writing accepts both.  As in
    TensorFlow, reading and writing have separate positions, written data is
    read after `flush`, and writing with mode "r+" replaces the file.
    """

    def __init__(self, name: Any, mode: str) -> None:
        self._name = name
        self._mode = mode
        self._plain_mode = mode.replace("b", "")
        self._reader: IO[bytes] | None = None
        self._writer: IO[bytes] | None = None
        if self._plain_mode not in _MODES:
            listed = " or ".join(f"'{known}'" for known in _MODES)
            raise error(errors.INVALID_ARGUMENT, f"mode is not {listed}")

    @property
    def name(self) -> Any:
        """The path it was opened with."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode it was opened with."""
        return self._mode

    def _readable(self) -> bool:
        return self._plain_mode not in ("w", "a")

    def _open_reader(self) -> IO[bytes]:
        if self._reader is None:
            if not self._readable():
                raise error(errors.PERMISSION_DENIED, "File isn't open for reading")
            self._reader = open_file(resolve(self._name), "rb")
        return self._reader

    def _open_writer(self) -> IO[bytes]:
        if self._writer is None:
            if self._plain_mode == "r":
                raise error(errors.PERMISSION_DENIED, "File isn't open for writing")
            mode = "ab" if "a" in self._plain_mode else "wb"
            self._writer = open_file(resolve(self._name), mode)
        return self._writer

    def _shown(self, value: bytes) -> Any:
        return value if "b" in self._mode else as_str_any(value)

    def size(self) -> int:
        """The length of the file in bytes."""
        return gfile.stat(self._name).length

    def write(self, file_content: Any) -> None:
        """Append text or bytes."""
        writer = self._open_writer()
        with os_errors_translated(resolve(self._name)):
            writer.write(as_bytes(file_content))

    def read(self, n: int = -1) -> Any:
        """Read the next `n` bytes, or the rest."""
        return self._shown(self._open_reader().read(n))

    def seek(
        self, offset: int | None = None, whence: int = 0, position: int | None = None
    ) -> None:
        """Set the position for reading.

        Args:
          offset: bytes, relative to `whence`.
          whence: 0 the start of the file, 1 the current position, 2 the end.
          position: old name of `offset`.

        Raises:
          OutOfRangeError: the position is beyond the end.
          InvalidArgumentError: it is before the start, or `whence` is invalid.
        """
        reader = self._open_reader()
        if offset is not None and position is not None:
            raise TypeError(
                "seek(): offset and position may not be set simultaneously."
            )
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise error(
                errors.INVALID_ARGUMENT,
                f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.",
            )
        start = (0, reader.tell(), self.size())[whence]
        target = start + offset
        if target < 0:
            raise error(
                errors.INVALID_ARGUMENT, f"Seeking to a negative position: {target}"
            )
        if target > self.size():
            reader.seek(self.size())
            raise error(errors.OUT_OF_RANGE, "reached end of file")
        reader.seek(target)

    def readline(self) -> Any:
        """Read the next line with its end; empty at the end of the file."""
        return self._shown(self._open_reader().readline())

    def readlines(self) -> list[Any]:
        """Read the remaining lines."""
        return list(self)

    def tell(self) -> int:
        """The position of the next byte to read or, in mode "w" or "a", to write."""
        file = self._open_reader() if self._readable() else self._open_writer()
        return file.tell()

    def seekable(self) -> bool:
        """True."""
        return True

    def flush(self) -> None:
        """Flush written data to the operating system."""
        if self._writer is not None:
            with os_errors_translated(resolve(self._name)):
                self._writer.flush()

    def close(self) -> None:
        """Flush and close the file; another read or write opens it again."""
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        if reader is not None:
            reader.close()
        if writer is not None:
            with os_errors_translated(resolve(self._name)):
                writer.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __del__(self) -> None:
        # TensorFlow's files close with their last reference, so scripts leave them.
        self.close()


@export("gfile.GFile", "gfile.Open", "io.gfile.GFile")
class GFile(FileIO):
    """An open file: a local one, or with fsspec any that has a URL.

    Args:
      name: its path.
      mode: "r", "w", "a", "r+", "w+" or "a+", with "b" for bytes.

    Raises:
      NotFoundError: at the first read or write, there is no such file or directory.
      InvalidArgumentError: the mode is invalid.

    Example:
      >>> with tf.gfile.GFile("notes.txt", "w") as file:
      ...   file.write("loss 0.25")
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        super().__init__(name, mode)


@export("gfile.FastGFile")
class FastGFile(FileIO):
    """The old name of `tf.gfile.GFile`."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        super().__init__(name, mode)


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """Read a whole file, as text or bytes."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Write text or bytes to a file, replacing its contents."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(
    filename: Any, contents: Any, overwrite: bool = True
) -> None:
    """Write text or bytes as a whole file: readers see the old file or the new one.

    Raises:
      AlreadyExistsError: there is a file, and `overwrite` is False.
    """
    name = as_str_any(path_to_str(filename))
    temporary = f"{name}.tmp{uuid.uuid4().hex}"
    write_string_to_file(temporary, contents)
    try:
        gfile.rename(temporary, name, overwrite)
    except errors.OpError:
        gfile.remove(temporary)
        raise


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files have the same content.

    Raises:
      NotFoundError: one of them does not exist.
    """
    if gfile.stat(filename_a).length != gfile.stat(filename_b).length:
        return False
    with FileIO(filename_a, "rb") as a, FileIO(filename_b, "rb") as b:
        block = None
        while block != b"":
            block = a.read(_BLOCK_BYTES)
            if block != b.read(_BLOCK_BYTES):
                return False
    return True


def file_crc32(filename: Any, block_size: int = _BLOCK_BYTES) -> str:
    """The CRC32 of a file's content, as in "0x8607e4f4".

    Args:
      filename: its path.
      block_size: how many bytes to read at once; -1 for the whole file.
    """
    crc = 0
    with FileIO(filename, "rb") as file:
        while block := file.read(block_size):
            crc = zlib.crc32(block, crc)
    return hex(crc)
