"""Files that appear under their path only once they are complete."""

from __future__ import annotations

import contextlib
import os
import secrets
from types import TracebackType
from typing import BinaryIO, Self

from tfteach.framework.files.os_errors import local, os_errors_translated

MARK = ".tempstate"  # precedes a random number, as in TensorFlow


class PendingFile:
    """A new file, written beside the place where `commit` puts it.

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
      file: to be written to.  It is not buffered.
    """

    def __init__(self, path: str) -> None:
        self.path = local(path)
        self.scratch_path = f"{self.path}{MARK}{secrets.randbits(63)}"
        with os_errors_translated(self.scratch_path):
            self.file: BinaryIO = open(  # noqa: SIM115 - closed by commit or discard
                self.scratch_path, "xb", buffering=0
            )

    def write(self, data: bytes | memoryview) -> None:
        """Append data.

        Raises:
          ResourceExhaustedError: the disk is full.
        """
        rest = memoryview(data)
        with os_errors_translated(self.scratch_path):
            while rest:  # Linux writes at most 2 GB at once
                rest = rest[self.file.write(rest) :]

    def close(self) -> None:
        """Complete the file where it was written; `commit` may follow."""
        with os_errors_translated(self.scratch_path):
            self.file.close()

    def commit(self) -> None:
        """Put the file in its place, instead of the one that may stand there."""
        self.close()
        with os_errors_translated(self.path):
            os.replace(self.scratch_path, self.path)

    def discard(self) -> None:
        """Delete the file, unless it was committed."""
        with contextlib.suppress(OSError):
            self.file.close()
        with contextlib.suppress(OSError):
            os.unlink(self.scratch_path)

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


def make_folder_of(path: str) -> None:
    """Create the directory of a file that will be written.

    If that is impossible, so is writing the file, whose error says more.
    """
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)


def write_file(path: str, data: bytes) -> None:
    """Write a file at once: readers find the old one or the whole new one."""
    with PendingFile(path) as pending:
        pending.write(data)
