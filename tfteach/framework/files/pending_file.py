"""Files that appear under their path only once they are complete."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import secrets
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

from tfteach.framework.errors import OpError
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.files.os_errors import os_errors_translated

if TYPE_CHECKING:
    from tfteach.framework.files.remote_file_system import Upload

MARK = ".tempstate"  # precedes a random number, as in TensorFlow


class PendingFile:
    """A new file, written beside the place where `commit` puts it.

    An object store is sent the file as it is written, and shows it once committed.

    Whatever happens before, the file that stands there stays as it is: the process may
    be killed, or the disk be full.  As a context manager it commits if no exception is
    raised, and otherwise leaves nothing behind.

    Args:
      path: where the file will stand; its directory must exist.

    Raises:
      NotFoundError: the directory does not exist.
      PermissionDeniedError: it cannot be written to.

    Attributes:
      path: as given.
      file: to be written to.  A local one is not buffered.
    """

    def __init__(self, path: str) -> None:
        self.path = resolve(path)
        self.scratch_path = f"{self.path}{MARK}{secrets.randbits(63)}"
        self._upload = file_system.begin_upload(self.path)
        self.file: BinaryIO | Upload = self._upload or open_file(
            self.scratch_path, "xb", buffering=0
        )
        self._size = 0

    def reserve(self, size: int) -> None:
        """Ask the file system for the room of data that will be written next.

        Otherwise ext4 looks for it when the file replaces another, which takes longer
        than writing.  Nothing depends on success: whether the disk is full shows when
        the data are written.
        """
        fallocate = _fallocate()
        if fallocate is not None and not file_system.is_remote(self.path):
            file = cast(BinaryIO, self.file)
            fallocate(file.fileno(), 0, self._size, size)

    def write(self, data: bytes | memoryview) -> None:
        """Append data.

        Raises:
          ResourceExhaustedError: the disk is full.
        """
        rest = memoryview(data)
        with os_errors_translated(self.scratch_path):
            while rest:  # Linux writes at most 2 GB at once
                written = self.file.write(rest)
                self._size += written
                rest = rest[written:]

    def close(self) -> None:
        """Complete the file where it was written; `commit` may follow."""
        with os_errors_translated(self.scratch_path):
            self.file.close()

    def commit(self) -> None:
        """Put the file in its place, instead of the one that may stand there."""
        self.close()
        if self._upload is None:
            file_system.rename(self.scratch_path, self.path)
        else:
            with os_errors_translated(self.path):
                self._upload.commit()

    def discard(self) -> None:
        """Delete the file, unless it was committed."""
        if self._upload is not None:
            self._upload.discard()
            return
        with contextlib.suppress(OSError):
            self.file.close()
        with contextlib.suppress(OpError):
            file_system.remove(self.scratch_path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                self.commit()
            except BaseException:
                self.discard()
                raise
        else:
            self.discard()


@functools.cache
def _fallocate() -> Any:
    """Linux's function of this name; None elsewhere.

    `os.posix_fallocate` would write zeros where the file system cannot reserve room.
    """
    try:
        found = ctypes.CDLL(None).fallocate
    except (AttributeError, OSError, TypeError):
        return None
    offset = ctypes.c_ssize_t
    found.argtypes = ctypes.c_int, ctypes.c_int, offset, offset
    return found


def make_folder_of(path: str) -> None:
    """Create the directory of a file that will be written, but none above it.

    If that is impossible, so is writing the file, whose error says more.
    """
    with contextlib.suppress(OpError):
        file_system.mkdir(file_system.dirname(path))


def write_file(path: str, data: bytes) -> None:
    """Write a file at once: readers find the old one or the whole new one."""
    with PendingFile(path) as pending:
        pending.write(data)
